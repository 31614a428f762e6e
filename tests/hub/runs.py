"""Runs of snakemake whose data sets all come from the stand-in hub."""

from typing import Any

from tasks import catalogue, task
from tests.hub.repositories import revision
from tests.tasks.hub_files import PIN
from tests.workflow.configs import shipped

TASKS = [each.name for each in catalogue.ENTRIES if each.repo]
OTHER = "fedcba9876543210fedcba9876543210fedcba98"


def config() -> dict[str, Any]:
    """The paper with all its data from the hub, which states that it has but a few rows."""
    found = shipped("paper") | {"results": "out"}
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
    experiment["zero_shot"]["tasks"] = {"dprd": dprd}
    experiment["zero_shot"]["normalise"] = {"dprd": {"random": 50, "best": 76.4}}
    return found


def manifest(name: str) -> str:
    return f"out/raw/{name}/{revision(catalogue.entry(name))}/manifest.json"
