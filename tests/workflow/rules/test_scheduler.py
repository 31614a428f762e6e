"""The scheduler of Snakemake looks for jobs when one has ended, and not once a second."""

import pytest

from tests.workflow.running import copy_project, snakemake

JOBS = 12
SLOW = """

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


def test_a_run_looks_for_jobs_once_for_each_that_ends(project):
    assert passes(project) <= JOBS + 1


def test_a_limit_that_the_user_gives_is_kept(project):
    assert passes(project, "--max-jobs-per-timespan", "99/1s") > JOBS + 1
