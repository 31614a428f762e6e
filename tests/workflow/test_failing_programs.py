"""A program that fails fails its job, whenever and however it does, and its own line is shown.

Three programs as Snakemake's jobs; then the shell command of every rule, as it stands.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.workflow.configs import ROOT, changed, shipped
from tests.workflow.running import command_line, copy_project, snakemake, write

COMMIT = "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c"
LINE = "error: the stand-in failed; look elsewhere"
KILLED = "error: the program was ended by SIGKILL; start again, with fewer jobs at once"
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
    "gpt1/corpus.py": "made/corpus/shards/1-of-2",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A copy of the project whose programs are stand-ins."""
    project = tmp_path_factory.mktemp("failing")
    copy_project(project)
    for name in PROGRAMS:
        (project / name).write_text(PROGRAM)
    write(project / "workflow" / "config" / "world.yaml", sharded())
    return project


def sharded():
    """A config with a task from the hub and books in two parts."""
    config = changed(shipped("smoke"), "experiment.tasks.rte", {"source": "hub"})
    return changed(config, "runtime.corpus_shards", 2) | {"results": "made"}


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
    assert (LINE in said) == (fail != "killed") and (KILLED in said) == (fail == "killed")
    assert ("half of it is done" in said) == (fail != "before")
    assert "Error in rule" in said and not (tmp_path / target).exists()
    if fail == "killed":  # the next run is not in the way of what is left
        monkeypatch.setenv("FAIL", "never")
        assert "1 of 1 steps (100%) done" in snakemake(project, *options)


@pytest.mark.parametrize(("fail", "line"), [("in the middle", LINE), ("killed", KILLED)])
def test_the_last_lines_of_a_run_are_those_of_its_failed_jobs(
    fail, line, project, tmp_path, monkeypatch
):
    monkeypatch.setenv("FAIL", fail)
    options = ("--directory", str(tmp_path), "--snakefile", str(project / "Snakefile"))
    targets = [PROGRAMS["tasks/world/__main__.py"], PROGRAMS["tasks/fetch.py"]]
    said = command_line(project, *options, "--keep-going", "--", *targets, code=1)
    one, two = sorted(said.splitlines()[-2:])
    assert one.startswith(f"made/logs/fetch/rte/{COMMIT}.log: {line}")
    assert two.startswith(f"made/logs/world.log: {line}")


# What Snakemake puts before every command, and the commands, whose placeholders bash leaves alone.
TOLD = """

import json
commands = {rule.name: rule.shellcmd for rule in workflow.rules if rule.shellcmd}
Path("told.json").write_text(json.dumps([shell._process_prefix, commands]))
"""
ANY_PROGRAM = f"""\
import os, signal, sys

print("half of it is done", flush=True)
if os.environ["FAIL"].startswith("SIG"):
    os.kill(os.getpid(), getattr(signal, os.environ["FAIL"]))
sys.exit({{"with a line": "{LINE}", "with 255": 255}}.get(os.environ["FAIL"], 0))
"""


@pytest.fixture(scope="module")
def commands(tmp_path_factory) -> dict[str, str]:
    """The command of each rule of the project, with stand-ins for all programs."""
    project = tmp_path_factory.mktemp("project")
    copy_project(project)
    with open(project / "Snakefile", "a", encoding="utf-8") as file:
        file.write(TOLD)
    commands, programs = {}, project / "programs"
    for config in (sharded(), shipped("published")):
        file = write(project / "config.yaml", config)
        snakemake(project, "--list-rules", "--configfile", file)
        prefix, found = json.loads((project / "told.json").read_text())
        prefix = prefix.replace(f"PYTHONPATH={project};", f"PYTHONPATH={programs};")
        assert str(programs) in prefix
        commands |= {name: f"{prefix} {command}" for name, command in found.items()}
    for command in commands.values():
        for program in re.findall(r"python -m ([\w.]+)", command):
            file = programs.joinpath(*program.split(".")).with_suffix(".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(ANY_PROGRAM)
    return commands


def test_every_rule_is_among_them(commands):
    text = "".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    written = set(re.findall(r"^ *rule (\w+):", text, re.MULTILINE))
    written |= set(re.findall(r"^ *use rule \w+ as (\w+)", text, re.MULTILINE))
    assert len(written) > 15 and written <= commands.keys()


@pytest.mark.parametrize("fail", ["never", "with a line", "SIGKILL"])
def test_the_command_of_every_rule_fails_with_its_program(fail, commands, tmp_path):
    wrong, log = [], tmp_path / "{log}"
    for command in dict.fromkeys(commands.values()):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=os.environ | {"FAIL": fail},
            text=True,
            capture_output=True,
            check=False,
        )
        said = done.stdout
        good = (done.returncode == 0) == (fail == "never") and "half of it is done" in said
        good &= (LINE in said) == (fail == "with a line")
        good &= (KILLED in said) == (fail == "SIGKILL")
        good &= log.is_file() and log.read_text() == said
        log.unlink(missing_ok=True)
        if not good:
            wrong.append((command.partition("python -m ")[2], done))
    assert not wrong


@pytest.mark.parametrize("fail", ["SIGKILL", "SIGSEGV", "SIGABRT", "SIGTERM", "with 255"])
def test_memory_is_named_where_it_may_have_run_out_alone(fail, commands, tmp_path):
    done = subprocess.run(
        ["bash", "-c", next(iter(commands.values()))],
        cwd=tmp_path,
        env=os.environ | {"FAIL": fail},
        text=True,
        capture_output=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("error: ")]
    end = ", with fewer jobs at once if the memory ran out" if fail == "SIGKILL" else ""
    line = f"error: the program was ended by {fail}; start again{end}"
    assert done.returncode and lines == ([line] if fail.startswith("SIG") else [])
