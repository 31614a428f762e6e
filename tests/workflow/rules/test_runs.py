"""Jobs that fail, and the workflow as a module of another one or in a conda environment."""

import json
import os
import re
import shutil
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distributions

import pytest

import gpt1
from gpt1.cell import WEIGHT_FILES
from gpt1.text.vocabulary import HUB_FILES
from tests.workflow.configs import ROOT, changed, shipped
from tests.workflow.running import command_line, copy_project, snakemake, with_config

LINE = "error: the stand-in failed; look elsewhere"
# Takes the place of a program: makes half of its output, then ends as the environment says.
PROGRAM = f"""\
import os, signal, sys
from pathlib import Path


out = Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(parents=True, exist_ok=True)
print("half of it is done", flush=True)
(out / "manifest.json").write_text("half")
if os.environ["FAIL"] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if os.environ["FAIL"] == "says so":
    sys.exit("{LINE}")

main = lambda: None
"""
TARGET = "results/smoke/world/manifest.json"


@pytest.mark.parametrize("fail", ["says so", "killed"])
def test_a_failing_program_fails_its_job_and_its_words_are_shown(fail, tmp_path, monkeypatch):
    copy_project(tmp_path)
    (tmp_path / "tasks" / "world" / "make.py").write_text(PROGRAM)
    monkeypatch.setenv("FAIL", fail)
    options = (*with_config(tmp_path, "smoke"), TARGET)
    said = snakemake(tmp_path, *options, code=1)
    assert (LINE in said, "exit status 137" in said) == (fail == "says so", fail == "killed")
    assert "half of it is done" in said and not (tmp_path / TARGET).exists()
    monkeypatch.setenv("FAIL", "never")  # the next run is not in the way of what is left
    assert "1 of 1 steps (100%) done" in snakemake(tmp_path, *options)


TOLD = """

import json
commands = {rule.name: rule.shellcmd for rule in workflow.rules if rule.shellcmd}
Path("told.json").write_text(json.dumps(commands))
"""


@pytest.mark.parametrize("name", ["smoke", "laptop"])
def test_every_rule_is_one_program_whose_words_go_to_the_log(name, tmp_path):
    """Of two commands Snakemake would show the last alone to fail; a pipe would hide its end."""
    copy_project(tmp_path)
    with open(tmp_path / "Snakefile", "a", encoding="utf-8") as file:
        file.write(TOLD)
    weights = tmp_path / "openai-gpt"  # as laptop.yaml has them
    weights.mkdir()
    for file in (*WEIGHT_FILES, *HUB_FILES):
        (weights / file).touch()
    snakemake(tmp_path, "--list-rules", *with_config(tmp_path, name))
    commands = json.loads((tmp_path / "told.json").read_text())
    assert len(commands) > 15
    for command in commands.values():
        start = r"(?:exec |\w+=\S+ )?(?:python|\$PRETRAIN_WITH) -m "
        assert re.fullmatch(rf"{start}[^|;&<>\n]+ &> {{log}}", command), command


@pytest.mark.parametrize(("device", "first"), [("cuda", "python -m gpt1 devices 2 "), ("cpu", "")])
def test_processes_that_train_together_are_given_their_gpus_at_once(device, first, tmp_path):
    copy_project(tmp_path)
    with open(tmp_path / "Snakefile", "a", encoding="utf-8") as file:
        file.write('\nopen("told", "w").write(os.environ["PRETRAIN_WITH"])\n')
    config = shipped("smoke") | {"runtime": {"device": device, "pretrain_processes": 2}}
    snakemake(tmp_path, "--list-rules", *with_config(tmp_path, config))
    assert (tmp_path / "told").read_text().startswith(f"{first}torchrun --standalone")


OWN = 'rule own:\n    input: "mine/examples/rte.json"\n    output: touch("own.txt")\n'


def module(name, statement):
    file = f'    snakefile: "{ROOT}/workflow/Snakefile"\n'
    return f"module {name}:\n{file}    {statement}\nuse rule * from {name} as {name}_*\n"


def test_another_workflow_runs_the_first_jobs_of_the_smoke_graph_with_its_config(tmp_path):
    targets = ("--", "own", "mine/corpus/words.tsv")
    for seed, code in ((7, 0), (7, 0), (9, 1)):
        config = changed(shipped("smoke") | {"results": "mine"}, "experiment.world.seed", seed)
        (tmp_path / "Snakefile").write_text(module("g", f"config: {config!r}") + OWN)
        said = snakemake(tmp_path, *targets, code=code)
        assert (tmp_path / "own.txt").exists()
        shutil.rmtree(tmp_path / ".snakemake")
    assert "was made with another config (experiment.world.seed) or other code, and" in said
    assert (tmp_path / "mine" / ".work" / "run.lock").exists()


def test_the_config_files_of_another_workflow_are_its_own(tmp_path):
    """With what this one's would not have, such as an alias."""
    outer = tmp_path / "outer.yaml"
    outer.write_text("samples: &all [a, b]\nalso: *all\nresults: elsewhere\n")
    config = shipped("smoke") | {"results": "mine"}
    (tmp_path / "Snakefile").write_text(module("g", f"config: {config!r}") + OWN)
    said = snakemake(tmp_path, "--dry-run", "--configfile", str(outer), "--", "own")
    assert "results: " not in said


TWO = module("g", "config: {'results': 'a'}") + module("h", "config: {'results': 'b'}")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (module("g", "config: {'experiments': {}}"), "config: experiments: unknown key; did you"),
        (module("g", "prefix: 'x'"), "module: x/results/ as results; give config with results"),
        (TWO, "module: a second one with another config; start another run for it"),
    ],
)
def test_what_a_module_cannot_be_given_is_one_line(text, fault, tmp_path):
    (tmp_path / "Snakefile").write_text(text)
    said = snakemake(tmp_path, "--dry-run", code=1)
    assert said.startswith(f"error: {fault}") and said.count("\n") == 1


@pytest.fixture
def served():
    """The project's rules behind an address such as that of github(..., tag="v0.2.0")."""

    class Handler(SimpleHTTPRequestHandler):
        def translate_path(self, path):
            return str(ROOT.joinpath(*path.split("/")[2:]))

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def installed(folder):
    """The packages as pip installs them, without what a clone has beside them."""
    copy_project(folder)
    for name in ("Snakefile", "environment.yml", "profiles"):
        (folder / name).unlink()
    return folder


def test_the_rules_of_a_tag_run_with_the_installed_package(served, tmp_path, monkeypatch):
    site, outer = installed(tmp_path / "site"), tmp_path / "outer"
    outer.mkdir()
    (outer / "smoke.yaml").symlink_to(ROOT / "workflow/config/smoke.yaml")
    text = module("g", "config: config").replace(str(ROOT), f"{served}/v{gpt1.__version__}")
    (outer / "Snakefile").write_text(f'configfile: "smoke.yaml"\n{text}')
    monkeypatch.setenv("PYTHONPATH", str(site))
    target = ("--", "results/smoke/world/manifest.json")
    assert "1 of 1 steps (100%) done" in command_line(outer, *target)
    assert "world/manifest.json" in (outer / "results/smoke/provenance.json").read_text()
    shutil.rmtree(outer / ".snakemake")  # the list beside the results tells of the code alone
    assert "Nothing to be done" in command_line(outer, *target)
    shutil.rmtree(outer / ".snakemake")
    with open(site / "tasks" / "world" / "draw.py", "a", encoding="utf-8") as file:
        file.write("EDITED = True\n")
    assert "was made with another config or other code" in command_line(outer, *target, code=1)


@pytest.mark.parametrize("is_installed", [True, False])
def test_the_rules_of_a_tag_need_the_package_of_that_version(
    is_installed, served, tmp_path, monkeypatch
):
    if is_installed:
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
    elif any(distributions(name="gpt1-suite")):
        pytest.skip("gpt1-suite is installed here")
    text = module("g", "config: {'results': 'mine'}").replace(str(ROOT), f"{served}/v9.9.9")
    (tmp_path / "Snakefile").write_text(text)
    found = command_line(tmp_path, "--dry-run", code=1).splitlines()[-1]
    place = re.escape(f"error: module: {served}/v9.9.9/workflow")
    said = rf", but gpt1-suite {gpt1.__version__} is" if is_installed else " needs gpt1-suite here,"
    assert re.match(f"{place}{said}", found), found


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


def test_the_programs_run_in_a_conda_environment_where_one_is_asked_for(tmp_path, monkeypatch):
    (tmp_path / "bin").mkdir()
    for name, text in (("conda", CONDA), ("activate", 'export PATH="$1/bin:$PATH"\n')):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CONDA_ROOT", str(tmp_path))
    config = shipped("smoke")
    config["experiment"]["world"] |= {"words": 2000, "books": 4}
    options = (*with_config(tmp_path, config), TARGET)
    snakemake(ROOT, *options)
    assert not (tmp_path / "used").exists()
    snakemake(ROOT, "--sdm", "conda", "--force", *options)
    assert (tmp_path / "used").exists()
