"""`make` lets the project read a config before Snakemake does, which would run its code."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.workflow.running import ROOT


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("results: café\n".encode("latin-1"), "unacceptable character #x00e9: invalid"),
        (b"runtime:\n\tshards: 2\n", "while scanning for the next token found character '\\t'"),
        (
            b"__use_yte__: true\n__definitions__: [\"import os; os.mkdir('MADE')\"]\n",
            "__use_yte__ lets the file run code; remove it",
        ),
    ],
    ids=["Latin-1", "a tab", "code"],
)
def test_make_tells_of_a_config_that_snakemake_cannot_read_and_runs_none_of_its_code(
    tmp_path, content, fault
):
    file, made = tmp_path / "config.yaml", tmp_path / "made"
    file.write_bytes(content.replace(b"MADE", bytes(made)))
    # The Python of the tests in the place of .venv's, which `install` would make.
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = text.replace(".venv/bin/python", sys.executable)
    rules = rules.replace(".venv/bin/snakemake", f"{sys.executable} -m snakemake --dry-run")
    command = ["make", "-f", "-", "--old-file=install", "all", f"CONFIG={file}"]
    env = {key: value for key, value in os.environ.items() if key not in ("MAKELEVEL", "MAKEFLAGS")}
    done = subprocess.run(command, input=rules, cwd=ROOT, env=env, text=True, capture_output=True)
    assert done.returncode and done.stderr.startswith(f"error: config: {file}: {fault}")
    assert "\nmake: ***" in done.stderr
    assert not made.exists()
