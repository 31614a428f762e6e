"""`--software-deployment-method conda`: the programs run in the environment that was made.

No conda is needed: a stand-in for it makes an environment whose `python` leaves a mark.
"""

import os
import sys
from pathlib import Path

from tests.workflow.configs import ROOT, shipped
from tests.workflow.running import snakemake, write

CONDA = f"""\
#!{sys.executable}
import json, os, sys
from pathlib import Path

command = sys.argv[1:]
if "info" in command:
    print(json.dumps({{"conda_prefix": os.environ["CONDA_ROOT"], "platform": "linux-64"}}))
elif "--version" in command:
    print("conda 25.1.0")
elif "--get" in command:
    print(json.dumps({{"get": {{"channel_priority": "strict"}}}}))
elif "create" in command:
    prefix = Path(command[command.index("--prefix") + 1])
    (prefix / "bin").mkdir(parents=True)
    python = prefix / "bin" / "python"
    python.write_text('#!/bin/sh\\ntouch "$CONDA_ROOT/used"\\nexec {sys.executable} "$@"\\n')
    python.chmod(0o755)
"""
ACTIVATE = 'export PATH="$1/bin:$PATH"\n'


def executable(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def test_the_programs_run_in_a_conda_environment_where_one_is_asked_for(tmp_path, monkeypatch):
    executable(tmp_path / "bin" / "conda", CONDA)
    executable(tmp_path / "bin" / "activate", ACTIVATE)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CONDA_ROOT", str(tmp_path))
    config = shipped("smoke")
    config["experiment"]["world"] |= {"words": 2000, "books": 4}
    options = ("-d", str(tmp_path), "--configfile", write(tmp_path / "c.yaml", config))
    target = "results/smoke/world/manifest.json"
    snakemake(ROOT, *options, "--", target)
    assert not (tmp_path / "used").exists()
    snakemake(ROOT, *options, "--sdm", "conda", "--force", "--", target)
    assert (tmp_path / "used").exists()
