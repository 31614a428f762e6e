"""Runs of snakemake whose data sets all come from the stand-in hub."""

from typing import Any

from tasks import TASKS as ALL_TASKS
from tasks import task
from tasks.fetch import source_named
from tests.hub.repositories import revision
from tests.tasks.hub_files import PIN
from tests.workflow.configs import shipped

TASKS = [each.name for each in (*ALL_TASKS, task("dprd")) if each.hub.repo]
OTHER = "fedcba9876543210fedcba9876543210fedcba98"


def config() -> dict[str, Any]:
    """The paper's experiment with all its data from the hub, which has only a few rows."""
    found = shipped("paper") | {"results": "out", "runtime": {}}
    experiment = found["experiment"]
    experiment["corpus"] = {
        **{"source": "wikitext103", "heldout": "official"},
        "min_rows": {"train": 1, "test": 1},
    }
    experiment["tokenizer"] = {"merges": 100}
    entries = {
        name: {"source": "hub", "min_rows": {split: 1 for split in task(name).rows}}
        for name in TASKS
    }
    dprd = entries.pop("dprd") | {"revision": PIN}
    experiment["tasks"] = entries
    experiment["zero_shot"] = {"tasks": {"dprd": dprd}}
    return found


def manifest(name: str) -> str:
    """Where the manifest of a task or a corpus of the hub lies."""
    return f"out/raw/{name}/{revision(source_named(name))}/manifest.json"
