"""Is what a run made whole? Called after the smoke run:

python -m tests.check_results workflow/config/smoke.yaml
"""

import csv
import json
import math
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from workflow import plan, settings

FIGURES = ("layer_transfer", "zero_shot", "ablation", "pretraining")


def problems(config: dict[str, Any]) -> Iterator[str]:
    """What is missing or empty in the results of `config`, one line each."""
    results = Path(config["results"])
    for cell in plan.cells(config):
        path = Path(cell.path(str(results)))
        if not path.is_file():
            yield f"{path}: not there"
            continue
        seeds = [run["seed"] for run in json.loads(path.read_text())["seeds"]]
        at_an_end = cell.n_transfer in ("none", str(plan.n_layer(config, cell.arch)))
        if seeds != config["experiment"]["seeds"]["ends" if at_an_end else "between"]:
            yield f"{path}: seeds {seeds}"
    for name in settings.TABLES:
        with open(results / f"{name}.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        if not rows:
            yield f"{name}.csv: no rows"
        for number, row in enumerate(rows, start=2):
            key = "relative" if row["task"] == "mean" and name == "zero_shot" else "mean"
            if row["arch"] and not _finite(row[key]):  # without: a published system
                yield f"{name}.csv: line {number}: {key} is {row[key]!r}"
        lines = (results / f"{name}.md").read_text(encoding="utf-8").splitlines()
        if any("missing" in line for line in lines if line.startswith("|")):
            yield f"{name}.md: a cell is missing"
    yield from _uncovered(results, config)
    yield from _hand_in(results, config)
    cards = [f"cards/{task}" for task in plan.example_tasks(config)]
    page = (results / "data_cards.md").read_text(encoding="utf-8")
    yield from (f"data_cards.md: nothing on {name}" for name in cards if f"{name}.png" not in page)
    for name in [*(f"figures/{name}" for name in FIGURES), *cards]:
        png, svg = (results / f"{name}.{form}" for form in ("png", "svg"))
        if png.stat().st_size < 10_000 or not png.read_bytes().startswith(b"\x89PNG"):
            yield f"{png}: not a whole picture"
        if not svg.read_text(encoding="utf-8").rstrip().endswith("</svg>"):
            yield f"{svg}: not a whole picture"


def _uncovered(results: Path, config: dict[str, Any]) -> Iterator[str]:
    """Cells of the grid that `cells.csv` does not speak of."""
    with open(results / "cells.csv", encoding="utf-8", newline="") as file:
        told = {
            (row["arch"], row["task"], row["aux"], row["n_transfer"])
            for row in csv.DictReader(file)
        }
    for cell in plan.cells(config):
        if (cell.arch, cell.task, cell.aux, cell.n_transfer) not in told:
            yield f"cells.csv: nothing on {cell}"


def _hand_in(results: Path, config: dict[str, Any]) -> Iterator[str]:
    """What is missing in the files for the GLUE server, where they are asked for."""
    if not config["experiment"]["submission"]:
        return
    facts = json.loads((results / "glue_submission.json").read_text())["files"]
    with zipfile.ZipFile(results / "glue_submission.zip") as archive:
        for name, fact in facts.items():
            lines = archive.read(name).decode().splitlines()
            if lines[0] != "index\tprediction" or len(lines) != 1 + fact["rows"]:
                yield f"glue_submission.zip: {name}: {len(lines)} lines, first {lines[0]!r}"
    tasks = {fact["task"] for fact in facts.values() if fact["answers"] == "run"}
    for name in set(plan.hidden_tasks(config)) - tasks:
        yield f"glue_submission.zip: no answers of {name}"


def _finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


if __name__ == "__main__":
    found = list(problems(yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))))
    print("\n".join(found) or "the results are whole")
    sys.exit(bool(found))
