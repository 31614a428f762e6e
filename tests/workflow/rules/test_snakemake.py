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
from workflow.provenance import STAMP

SEEN_WITH = "9.27.1"  # a later version: read what became of each name, then change this
DOCUMENTED = {"snakemake.utils.min_version"}
USED = {  # in Snakemake's objects, beside the names that `private` finds
    "job": "jobid output params rule",
    "metadata": "endtime",
    "record": "event job_id msg rule_name stats",  # of its log
    "rule": "conda_env message params products resources snakefile",
    "workflow.scheduler.job_rate_limiter": "max_jobs timespan",
}
SAID = (r"^Elapsed time: ", r"No rule\sto produce absent \(if you use")  # as run.smk reads it
LOOKS = """
from operator import attrgetter

import snakemake

def look(place, of):
    for name in {names}:
        if name.startswith(place + "."):
            try:
                attrgetter(name.partition(".")[2])(of)
                print("there:", name, flush=True)
            except (AttributeError, AssertionError):
                pass

look("snakemake", snakemake)
look("workflow", workflow)  # while the rules are read
logger.addFilter(lambda record: look("record", record) or True)

rule one:
    output: directory("one")
    shell: "mkdir {{output}}"

onstart:
    look("workflow", workflow)
    look("job", *workflow.dag.jobs)
    look("rule", *workflow.rules)
    look("metadata", workflow.persistence.metadata(rules.one.output[0]))  # of the run before
"""


def private() -> list[str]:
    """The names in Snakemake that the workflow uses though its documentation has none of them."""
    files = [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk"), ROOT / "workflow/Snakefile"]
    files.append(ROOT / "workflow/profiles/default/profile.yaml")
    text = "".join(re.sub(r"#.*", "", path.read_text(encoding="utf-8")) for path in files)
    imported = re.findall(r"from (snakemake(?:\.\w+)*) import (.*)", text)
    found = {f"{module}.{name}" for module, names in imported for name in names.split(", ")}
    own = "|".join(path.stem for path in (ROOT / "workflow").iterdir())
    found |= {*re.findall(rf"(?<![\w/])workflow\.(?!(?:{own})\b)[a-z_.]*[a-z]", text)}
    found |= {f"{place}.{name}" for place, names in USED.items() for name in names.split()}
    return sorted(found - DOCUMENTED)


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What two small runs and one of an unknown target print, and their folder."""
    folder = tmp_path_factory.mktemp("looks")
    (folder / "Snakefile").write_text(LOOKS.format(names=private()))
    said = snakemake(folder) + snakemake(folder, "--forceall")
    return said + snakemake(folder, "absent", code=1), folder


def test_the_version_is_the_one_that_its_names_were_read_in():
    assert version("snakemake") == SEEN_WITH
    assert {"workflow.modifier.skip_configfile", "snakemake.io.contains_wildcard"} <= {*private()}


@pytest.mark.parametrize("name", [*private(), *SAID, STAMP])
def test_a_name_or_message_that_is_not_documented_is_there(seen, name):
    said, folder = seen
    looked = rf"^there: {re.escape(name)}$" if name not in SAID else name
    is_there = re.search(looked, said, re.MULTILINE) or (folder / "one" / name).is_file()
    assert is_there, f"Snakemake {version('snakemake')} lacks {name}; see what workflow/ does by it"


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
