"""A finished run of a small config, pretended, and the plans of what a change would rerun.

Its outputs are empty, and `snakemake --touch` records the params and the code of the rules as a
real run does.
"""

import csv
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.configs import ROOT, small
from tests.workflow.running import copy_project, planned, snakemake, with_config, write

ANALYSIS = ("tables_", "page", "all")
LSTM = {"finetune_ablation_lstm": 2, "finetune_layer_transfer_lstm": 2}  # of two tasks
FINETUNE = {
    **{"finetune_ablation_transformer": 2, "finetune_layer_transfer_transformer": 2},
    **LSTM,
    **{"finetune_ablation_from_scratch": 2, "finetune_layer_transfer_from_scratch": 2},
}


def upstream(plan: dict[str, int]) -> dict[str, int]:
    """The jobs of a plan that come before the analysis."""
    return {rule: n for rule, n in plan.items() if not rule.startswith(ANALYSIS)}


def groups(plan: dict[str, int]) -> set[str]:
    """The groups of tables and figures of a plan, each by its first table; `page` has the costs."""
    made = {rule.removeprefix("tables_") for rule in plan if rule.startswith("tables_")}
    return made | ({"page"} & {*plan})


def plan_of(run: Path, config: dict[str, Any] | None = None, target: str = "all") -> dict[str, int]:
    """The jobs that a config, or the small one, would start in the folder of a finished run."""
    return planned(ROOT, *with_config(run, config or small()), target)


@pytest.fixture(scope="session")
def finished(tmp_path_factory) -> Path:
    """A folder with a finished run of the small config."""
    folder = tmp_path_factory.mktemp("finished")
    finish(folder, small())
    return folder


def finish(folder: Path, config: dict[str, Any]) -> None:
    """Pretend that a config was run in a folder."""
    for row in summary(folder, config):
        output = folder / row["output_file"]
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.suffix:
            output.write_text("{}")
        else:
            output.mkdir()
    snakemake(ROOT, "--touch", "--forceall", *with_config(folder, config), "all")


def summary(run: Path, config: dict[str, Any]) -> list[dict[str, str]]:
    """Every output of a run, with its rule and its log."""
    said = snakemake(ROOT, "--summary", *with_config(run, config), "all").splitlines()
    start = next(i for i, line in enumerate(said) if line.startswith("output_file"))
    return list(csv.DictReader(said[start:], delimiter="\t"))


@pytest.fixture(scope="session")
def outputs(finished: Path) -> list[dict[str, str]]:
    """Every output of the small run, with its rule and its log."""
    return summary(finished, small())


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A finished run of its own, file times kept."""
    return Path(shutil.copytree(finished, tmp_path / "run"))


@pytest.fixture(scope="session")
def project(finished: Path, tmp_path_factory) -> Path:
    """A copy of the project, whose default config is the small one, with its finished run."""
    run = Path(shutil.copytree(finished, tmp_path_factory.mktemp("project") / "run"))
    copy_project(run)
    write(run / "workflow" / "config" / "world.yaml", small())
    return run


@pytest.fixture(scope="session")
def everything(finished: Path) -> dict[str, int]:
    """The jobs of a whole run of the small config."""
    return planned(ROOT, "--forceall", *with_config(finished, small()), "all")
