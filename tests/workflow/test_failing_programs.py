"""A program that fails fails its job, whenever and however it does, and its own line is shown."""

import json
import re
from pathlib import Path

import pytest

from tests.workflow.configs import changed, shipped
from tests.workflow.running import copy_project, snakemake, write

COMMIT = "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c"
LINE = "error: the stand-in failed; look elsewhere"
# Takes the place of a program: makes its output, but for what the environment says.
PROGRAM = f"""\
import os, signal, sys
from pathlib import Path

def fail(moment):
    if os.environ["FAIL"] == moment:
        sys.exit("{LINE}")

name = "--folder" if "--revision" in sys.argv else "--out"
out = Path(sys.argv[sys.argv.index(name) + 1])
fail("before")
out.mkdir(parents=True, exist_ok=True)
print("half of it is done", flush=True)
(out / "manifest.json").write_text("half")
fail("in the middle")
if os.environ["FAIL"] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
(out / "manifest.json").write_text("whole")
fail("after its outputs")
"""
PROGRAMS = {  # the program and what it is asked for
    "tasks/world/__main__.py": "made/world/manifest.json",
    "tasks/fetch.py": f"made/raw/rte/{COMMIT}/manifest.json",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project whose programs are stand-ins."""
    project = tmp_path_factory.mktemp("failing")
    copy_project(project)
    for name in PROGRAMS:
        (project / name).write_text(PROGRAM)
    write(project / "workflow" / "config" / "world.yaml", from_the_hub())
    return project


def from_the_hub():
    """A config with a task from the hub."""
    config = changed(shipped("smoke"), "experiment.tasks.rte", {"source": "hub"})
    return config | {"results": "made"}


@pytest.mark.parametrize("fail", ["before", "in the middle", "after its outputs", "killed"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_failing_program_fails_its_job(program, fail, project, tmp_path, monkeypatch):
    target = PROGRAMS[program]
    manifest = tmp_path / "made" / "world" / "manifest.json"
    if not target.startswith("made/world"):
        manifest.parent.mkdir(parents=True)
        manifest.write_text("there")
    monkeypatch.setenv("FAIL", fail)
    options = ("--directory", str(tmp_path), "--snakefile", str(project / "Snakefile"))
    options += ("--rerun-triggers", "mtime", "--", target)
    said = snakemake(project, *options, code=1)
    assert (LINE in said) == (fail != "killed")
    assert ("exit status 137" in said) == (fail == "killed")
    assert ("half of it is done" in said) == (fail != "before")
    assert "Error in rule" in said and not (tmp_path / target).exists()
    if fail == "killed":  # the next run is not in the way of what is left
        monkeypatch.setenv("FAIL", "never")
        assert "1 of 1 steps (100%) done" in snakemake(project, *options)


TOLD = """

import json
commands = {rule.name: rule.shellcmd for rule in workflow.rules if rule.shellcmd}
Path("told.json").write_text(json.dumps(commands))
"""


@pytest.mark.parametrize("config", [from_the_hub(), shipped("published")], ids=["all", "published"])
def test_every_rule_is_one_program_whose_words_go_to_the_log(config, tmp_path):
    """Of two commands Snakemake would show the last alone to fail; a pipe would hide its end."""
    copy_project(tmp_path)
    with open(tmp_path / "Snakefile", "a", encoding="utf-8") as file:
        file.write(TOLD)
    snakemake(tmp_path, "--list-rules", "--configfile", write(tmp_path / "config.yaml", config))
    commands = json.loads((tmp_path / "told.json").read_text())
    assert len(commands) > 15
    for command in commands.values():
        start = r"(?:exec |\w+=\S+ )?(?:python|\$PRETRAIN_WITH) -m "
        assert re.fullmatch(rf"{start}[^|;&<>\n]+ &> {{log}}", command), command
