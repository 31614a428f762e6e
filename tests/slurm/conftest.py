"""A cluster for the tests marked `slurm`, and a project that is small enough for it."""

import copy
import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.slurm.cluster import cluster, missing
from tests.slurm.runs import Run, Slurm, new_run, scores, wait_for, weights
from tests.workflow.configs import shipped
from tests.workflow.running import copy_project
from workflow.configuration.studies import shipped as paper_studies

PLUGIN = "snakemake_executor_plugin_slurm"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder needs Slurm."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.slurm)


@pytest.fixture(scope="session")
def slurm(tmp_path_factory) -> Iterator[Slurm]:
    """A running cluster, whose nodes cannot write to the home."""
    if reason := missing():
        pytest.fail(reason, pytrace=False)
    if not importlib.util.find_spec(PLUGIN):
        pytest.fail(f"{PLUGIN} is not installed; use make test-slurm", pytrace=False)
    with cluster(tmp_path_factory.mktemp("slurm")) as environment:
        # Nothing can be written to the home, so Snakemake is given another place for its cache.
        own = {"HOME": "/sys", "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}
        own["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
        yield Slurm({**environment, **own})


@pytest.fixture(autouse=True)
def _nothing_runs_on(slurm) -> Iterator[None]:
    """Whatever a test that failed has left is ended."""
    yield
    for process in slurm.started:
        process.kill()
    slurm("scancel", "--me")
    wait_for(lambda: not slurm.jobs("running,pending,completing"))


@pytest.fixture(scope="session")
def config() -> dict[str, Any]:
    """One task, one zero-shot task, a transformer of two layers."""
    config = shipped("smoke")
    experiment = config["experiment"]
    experiment["model"] = {
        "n_ctx": 32,
        "transformer": {"n_layer": 2, "n_embd": 16, "n_head": 2, "n_ff": 32},
    }
    experiment["tasks"] = {"rte": {"limit_train": 16}}
    experiment["zero_shot"] = {"limit": 8, "tasks": {"sst2": {}}}
    experiment["studies"] = studies = copy.deepcopy(paper_studies(has_lstm=False))
    studies["layer_transfer"]["values"] = ["none", 2]
    experiment["pretrain"] |= {"updates": 20, "checkpoints": 2}
    del experiment["submission"], experiment["keep"]
    # With one of this size 1 and 2 processes have the same dropout masks.
    config["runtime"]["micro_batch"] = experiment["pretrain"]["batch"] // 2
    # A second attempt gets twice the time, which the partition of an hour must allow.
    config["runtime"]["minutes"] = {"pretrain": 10, "finetune": 10, "data": 10}
    return config | {"results": "results"}


@pytest.fixture(scope="session")
def project(tmp_path_factory) -> Path:
    """The project's sources. GPT1_TEST_SECONDS in the environment slows each update down."""
    project = tmp_path_factory.mktemp("project")
    copy_project(project)
    file = project / "gpt1" / "training" / "windows.py"
    text = file.read_text(encoding="utf-8")
    assert text.count("def heldout_windows") == 1
    slow = """\
_windows = windows


def windows(*arguments):
    import os
    import time

    time.sleep(float(os.environ.get("GPT1_TEST_SECONDS", 0)))
    return _windows(*arguments)


"""
    file.write_text(text.replace("def heldout_windows", slow + "def heldout_windows"))
    return project


@pytest.fixture(scope="session")
def pretrained(slurm, project, config, tmp_path_factory) -> Path:
    """The folder of a run without Slurm, up to the table of the pre-training."""
    run = new_run(slurm, project, tmp_path_factory.mktemp("local"), config)
    run.local("results/pretraining.csv")
    assert len(weights(run.folder)) == 3
    return run.folder


@pytest.fixture(scope="session")
def local(slurm, project, pretrained) -> Path:
    """The folder of a whole run without Slurm."""
    Run(slurm, project, pretrained).local("all")
    assert len(scores(pretrained)) > 10
    return pretrained
