"""Is what a run made complete? Called after the smoke run:

python -m tests.check_results workflow/config/smoke.yaml
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from gpt1.predict import Predictor
from gpt1.training import cell_files
from tasks.common.files import read_json
from workflow.analysis import report
from workflow.configuration.model import Config
from workflow.configuration.paths import cloze_file
from workflow.configuration.read import parse, read
from workflow.grid import Grid
from workflow.plan import Plan

TABLES = ("main", "ablation", "layer_transfer", "zero_shot", "pretraining", "contamination")
FIGURES = ("layer_transfer", "zero_shot", "ablation", "pretraining")
FIGURES += ("differences", "figure2")


def problems(config: Config) -> Iterator[str]:
    """What is missing or empty in the results of `config`, one line each."""
    results, grid = Path(config.results), Plan(config).grid()
    if missing := list(missing_tables(results)):
        yield from missing
        return  # what follows reads them
    yield from _cells(results, grid)
    cloze = ("cloze",) if cloze_file(config) else ()
    for name in (*TABLES, *cloze):
        rows = pd.read_csv(results / f"{name}.csv")
        rows = rows[rows["arch"].notna()]  # the others are published systems
        values = rows["accuracy" if name in cloze else "mean"]
        if name == "zero_shot":
            values = values.where(rows["task"] != "mean", rows["relative"])
        yield from _not_finite(f"{name}.csv", values)
    claims = pd.read_csv(results / "claims.csv")
    yield from _not_finite("claims.csv", claims.loc[claims["verdict"] != "not run", "ours"])
    for name in ("cells", "cost_pretraining", *TABLES, *cloze):
        lines = (results / f"{name}.md").read_text(encoding="utf-8").splitlines()
        if any("missing" in line for line in lines if line.startswith("|")):
            yield f"{name}.md: a cell is missing"
    for cell in config.kept():
        folder = cell.kept(config.results)
        for seed in config.experiment.seeds.finetune:
            Predictor(folder, seed)  # or it says what it lacks
        if read_json(folder / cell_files.CELL) != read_json(cell.path(config.results)):
            yield f"{folder}: of another cell"
    made = {path.stem for path in (results / "studies").glob("*.csv")}
    studies = set(config.experiment.studies) - made  # which are made when they are asked for
    gaps = (results / "index.html").read_text(encoding="utf-8").count("Not made yet")
    if gaps > len(studies):
        yield f"index.html: {gaps} gaps, of which {len(studies)} are studies"
    gone = {*grid.examples} - {*pd.read_csv(results / "data.csv")["task"]}
    yield from (f"data.csv: nothing on {name}" for name in sorted(gone))
    for name in (f"figures/{name}" for name in (*FIGURES, *cloze)):
        for form, end in (("png", b"IEND\xaeB`\x82"), ("svg", b"</svg>"), ("pdf", b"%%EOF")):
            picture = results / f"{name}.{form}"
            if not picture.read_bytes().rstrip().endswith(end):
                yield f"{picture}: not a complete picture"


def missing_tables(results: Path) -> Iterator[str]:
    """Tables that are not there, or have no Markdown beside them."""
    made = {path.stem for path in results.glob("*.csv")}
    of_some_runs = {"cloze", "confusion"}  # the latter of the user's own tasks
    known = {*report.TABLES} - of_some_runs
    for name in sorted(made | known | {"cells"}):
        path, page = results / f"{name}.csv", results / f"{name}.md"
        if not (path.is_file() and page.is_file()):
            yield f"{name}: {path.name} or {page.name} is missing"


def _cells(results: Path, grid: Grid) -> Iterator[str]:
    """Cells whose files or rows of `cells.csv` are not there, or not of all their seeds."""
    rows = pd.read_csv(results / "cells.csv", dtype={"n_transfer": str}, keep_default_na=False)
    yield from _not_finite("cells.csv", pd.to_numeric(rows["score"], errors="coerce"))
    keys = ["line", "task"]
    seeds = rows.groupby(keys)["seed"].agg(set).to_dict()
    expected = set(grid.seeds.finetune)
    for cell in grid.cells():
        key = (cell.variant, cell.task)
        if (found := seeds.get(key, set())) != expected:
            yield f"cells.csv: {cell.name}: seeds {sorted(found)}, expected {sorted(expected)}"
        for path in (cell.path(results), cell.predictions(results)):
            if not path.is_file():
                yield f"{path}: missing"


def _not_finite(name: str, values: pd.Series) -> Iterator[str]:
    """The values of a table's column that are none, and a column without any."""
    if values.empty:
        yield f"{name}: no rows"
    for row in values.index[~np.isfinite(values)]:
        yield f"{name}: line {row + 2}: {values.name} is {values[row]}"


if __name__ == "__main__":
    found = list(problems(parse(read([sys.argv[1]]))))
    print("\n".join(found) or "the results are complete")
    sys.exit(bool(found))
