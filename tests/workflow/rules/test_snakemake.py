"""What the suite asks of Snakemake beyond its documentation: attributes, and its scheduler."""

import json
import re
import signal
import subprocess
import sys
import time
from importlib.metadata import version

import pytest

from tests.workflow.configs import ROOT
from tests.workflow.running import copy_project, snakemake

SEEN_WITH = "9.27.1"  # a later version: read what became of each attribute, then change this
LOOKS = """
from operator import attrgetter

def look():
    for name in {names}:
        try:
            attrgetter(name)(workflow)
            print("there:", name)
        except (AttributeError, AssertionError):
            pass

look()  # while the rules are read
rule one:
    output: touch("one")

onstart:
    look()
"""


def test_every_attribute_is_there_in_the_version_that_it_was_seen_with(tmp_path):
    assert version("snakemake") == SEEN_WITH
    files = [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk"), ROOT / "workflow/Snakefile"]
    text = "".join(re.sub(r"#.*|from .*", "", path.read_text(encoding="utf-8")) for path in files)
    own = {path.stem for path in (ROOT / "workflow").iterdir()}
    found = {*re.findall(r"(?<![\w/])workflow\.([a-z_.]*[a-z])", text)}
    names = sorted(name for name in found if name.partition(".")[0] not in own)
    assert "modifier.skip_configfile" in names
    (tmp_path / "Snakefile").write_text(LOOKS.format(names=names))
    said = snakemake(tmp_path)
    assert sorted({*re.findall(r"there: (\S+)", said)}) == names


JOBS = 12
SECONDS = 60  # for the end of a run whose jobs take less than one
SLOW = """

onsuccess:
    scheduler = workflow.scheduler
    locks = [scheduler._lock, scheduler._open_jobs._cond]
    free = [lock.acquire(blocking=False) and lock.acquire(blocking=False) for lock in locks]
    [lock.release() for lock, is_free in zip(locks, free) for _ in range(2 if is_free else 0)]
    Path("locks.json").write_text(__import__("json").dumps(free))

rule slow:
    output: touch("slow/{n}")
    shell: "sleep 0.4"
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project with a rule whose jobs take longer than a pass of the scheduler."""
    project = tmp_path_factory.mktemp("scheduler")
    copy_project(project)
    with open(project / "Snakefile", "a", encoding="utf-8") as file:
        file.write(SLOW)
    return project


def passes(project, *options) -> int:
    """How often a run of the slow jobs, one at a time, looked for jobs to start."""
    targets = [f"slow/{n}" for n in range(JOBS)]
    options = ("--cores", "1", "--forceall", "--verbose", *options)
    return snakemake(project, *options, "--", *targets).count("Ready jobs: ")


def test_a_run_looks_for_jobs_once_for_each_that_ends_and_answers_a_signal_with_locks_held(project):
    assert passes(project) <= JOBS + 1
    free, said = json.loads((project / "locks.json").read_text()), version("snakemake")
    assert free == [True, True], f"Snakemake {said} has other locks; see begin_run in run.smk"


def test_a_limit_that_the_user_gives_is_kept(project):
    assert passes(project, "--max-jobs-per-timespan", "99/1s") > JOBS + 1


def test_a_run_that_is_told_to_end_does_so_when_its_jobs_have_ended(project):
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--forceall", "--"]
    command += [f"slow/{n}" for n in range(200)]
    with subprocess.Popen(command, cwd=project, stderr=subprocess.PIPE, text=True) as run:
        for line in run.stderr:
            if "Execute 1 jobs" in line:
                break
        time.sleep(0.1)
        run.send_signal(signal.SIGTERM)
        began, (_, said) = time.monotonic(), run.communicate(timeout=SECONDS)
    assert run.returncode and "Will exit after finishing currently running jobs" in said
    assert time.monotonic() - began < SECONDS
    snakemake(project, "--cores", "1", "--", "slow/0")  # its folder is free


def test_a_job_ends_in_a_line_where_its_code_was_edited_after_its_run_was_planned(project):
    rule = """
rule edited:
    output: "edited"
    shell: "python -m gpt1 cloze --help > {output}; echo '# more' >> gpt1/cloze.py;"
           " python -m gpt1 encode --help > {output}; ! python -m gpt1 cloze --help 2> said"
"""
    with open(project / "Snakefile", "a", encoding="utf-8") as file:
        file.write(rule)
    snakemake(project, "--cores", "1", "--", "edited")
    said = (project / "said").read_text()
    assert said == (
        f"error: {project}/gpt1/cloze.py: edited since this run was planned; start the run again, "
        "which makes anew what depends on it\n"
    )
    snakemake(project, "--cores", "1", "--forcerun", "slow", "--", "slow/0")  # planned anew
