"""Is what a run made complete? Called after the smoke run:

python -m tests.check_results workflow/config/smoke.yaml
"""

import csv
import json
import math
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from gpt1.predict import Predictor
from workflow.analysis import tables
from workflow.configuration.model import Config
from workflow.configuration.paths import probes_file
from workflow.configuration.read import parse, read
from workflow.grid import Grid

TABLES = ("main", "ablation", "layer_transfer", "zero_shot", "pretraining", "contamination")
FIGURES = ("layer_transfer", "zero_shot", "ablation", "pretraining", "cost", "cost_score")
FIGURES += ("differences", "aux_gain", "heat_map")


def problems(config: Config) -> Iterator[str]:
    """What is missing or empty in the results of `config`, one line each."""
    results, grid = Path(config.results), config.grid()
    if missing := list(missing_tables(results)):
        yield from missing
        return  # what follows reads them
    yield from _cells(results, grid)
    probes = ("probes",) if probes_file(config) else ()
    for number, row in enumerate(rows_of(results / "probes.csv") if probes else [], start=2):
        if not _finite(row["accuracy"]):
            yield f"probes.csv: line {number}: accuracy is {row['accuracy']!r}"
    for name in TABLES:
        rows = rows_of(results / f"{name}.csv")
        if not rows:
            yield f"{name}.csv: no rows"
        for number, row in enumerate(rows, start=2):
            key = "relative" if row["task"] == "mean" and name == "zero_shot" else "mean"
            if row["arch"] and not _finite(row[key]):  # without: a published system
                yield f"{name}.csv: line {number}: {key} is {row[key]!r}"
    for name in ("cells", "cost_pretraining", *TABLES, *probes):
        lines = (results / f"{name}.md").read_text(encoding="utf-8").splitlines()
        if any("missing" in line for line in lines if line.startswith("|")):
            yield f"{name}.md: a cell is missing"
    for number, row in enumerate(rows_of(results / "claims.csv"), start=2):
        if row["verdict"] != "not run" and not _finite(row["ours"]):
            yield f"claims.csv: line {number}: ours is {row['ours']!r}"
    yield from _submission(results, grid)
    yield from _kept(config)
    made = {path.stem for path in (results / "studies").glob("*.csv")}
    studies = set(config.experiment.studies) - made  # which are made when they are asked for
    gaps = (results / "index.html").read_text(encoding="utf-8").count("Not made yet")
    if gaps > len(studies):
        yield f"index.html: {gaps} gaps, of which {len(studies)} are studies"
    cards = [f"cards/{task}" for task in grid.examples]
    page = (results / "data_cards.md").read_text(encoding="utf-8")
    yield from (f"data_cards.md: nothing on {name}" for name in cards if f"{name}.png" not in page)
    for name in [*(f"figures/{name}" for name in (*FIGURES, *probes)), *cards]:
        png, svg = (results / f"{name}.{form}" for form in ("png", "svg"))
        if png.stat().st_size < 10_000 or not png.read_bytes().startswith(b"\x89PNG"):
            yield f"{png}: not a complete picture"
        if not svg.read_text(encoding="utf-8").rstrip().endswith("</svg>"):
            yield f"{svg}: not a complete picture"


def missing_tables(results: Path) -> Iterator[str]:
    """Tables that are not there, or have no Markdown beside them."""
    made = {path.stem for path in results.glob("*.csv")}
    known = {path.stem for path in Path(tables.__file__).parent.glob("[!_]*.py")} - {"probes"}
    for name in sorted(made | known | {"cells"}):
        path, page = results / f"{name}.csv", results / f"{name}.md"
        if not (path.is_file() and page.is_file()):
            yield f"{name}: {path.name} or {page.name} is missing"


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV."""
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _cells(results: Path, grid: Grid) -> Iterator[str]:
    """Cells whose files or rows of `cells.csv` are not there, or not of all their seeds."""
    seeds = defaultdict(set)
    for number, row in enumerate(rows_of(results / "cells.csv"), start=2):
        place = (row[key] for key in ("arch", "corpus", "task", "aux", "n_transfer"))
        seeds[tuple(place)].add(row["seed"])
        if not _finite(row["score"]):
            yield f"cells.csv: line {number}: score is {row['score']!r}"
    expected = {str(seed) for seed in grid.seeds.finetune}
    for cell in grid.cells():
        found = seeds[cell.arch, cell.corpus, cell.task, cell.aux, str(cell.n_transfer)]
        if found != expected:
            yield f"cells.csv: {cell.place}: seeds {sorted(found)}, expected {sorted(expected)}"
        for path in (cell.path(results), cell.predictions(results)):
            if not path.is_file():
                yield f"{path}: missing"


def _kept(config: Config) -> Iterator[str]:
    """Weights that do not load, of the cells that are to be kept."""
    for cell in config.kept():
        for seed in config.experiment.seeds.finetune:
            folder = cell.kept(config.results)
            if Predictor(folder, seed).facts.cell != cell:
                yield f"{folder}: of another cell"


def _submission(results: Path, grid: Grid) -> Iterator[str]:
    """What is missing in the files for the GLUE server, where they are asked for."""
    if not grid.unlabelled:
        return
    facts = json.loads((results / "glue_submission.json").read_text())["files"]
    with zipfile.ZipFile(results / "glue_submission.zip") as archive:
        for name, fact in facts.items():
            lines = archive.read(name).decode().splitlines()
            if lines[0] != "index\tprediction" or len(lines) != 1 + fact["rows"]:
                yield f"glue_submission.zip: {name}: {len(lines)} lines, first {lines[0]!r}"
    tasks = {fact["task"] for fact in facts.values() if fact["answers"] == "run"}
    for name in set(grid.unlabelled) - tasks:
        yield f"glue_submission.zip: no predictions of {name}"


def _finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


if __name__ == "__main__":
    found = list(problems(parse(read([sys.argv[1]]))))
    print("\n".join(found) or "the results are complete")
    sys.exit(bool(found))
