"""Whatever stands in a run's results, from which the tables and figures are made, is read or is
refused in one line; digests are renewed, or they would refuse any change at once."""

import json

import pytest

from gpt1.records import CellRecord, ZeroShotScore
from tasks.examples import ExamplesFacts
from tests.analysis.conftest import make_grid, write_all, write_predictions
from tests.facts import EXAMPLES, SCORED
from tests.fuzz.mutations import fuzz, without_checksums
from workflow.analysis.predictions import read_predictions
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import read_csv

LAYERS = {"transformer": ["none", 12]}
GRID = make_grid("rte", layers=LAYERS, arch=("transformer",), aux=("on",))
CELL = GRID.cells()[0]
ROWS = [(0, "dev", f"rte/dev/{row}", "", 1.0, float(row % 2)) for row in range(6)]


def test_samples(tmp_path):
    write_all(tmp_path / "made", GRID)
    samples, path = Samples(), tmp_path / "samples" / "x.parquet"
    samples.add(CELL, tmp_path / "made", [0])
    samples.write(path)
    fuzz(path.parent, lambda: Samples.read([path]))


def test_tables(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("arch,seed,score\ntransformer,0,57.5\nlstm,1,48.25\n")
    fuzz(tmp_path, lambda: read_csv(path))


def test_predictions(tmp_path):
    write_predictions(tmp_path, CELL, ROWS)
    fuzz(tmp_path, lambda: read_predictions(tmp_path, CELL))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (CellRecord, None),
        (ExamplesFacts, {**EXAMPLES, "task": "rte", "rows": {"dev": 1}}),
        (ZeroShotScore, {**SCORED, "metric": "accuracy", "split": "dev", "score": 50.0}),
    ],
)
def test_records(tmp_path, kind, value):
    write_all(tmp_path / "made", GRID)
    path = tmp_path / "record" / "x.json"
    path.parent.mkdir()
    place = {"task": "rte", "arch": "lstm", "seed": 0, "update": 3, "tokens": 9}
    text = CELL.path(tmp_path / "made").read_text() if value is None else json.dumps(value | place)
    path.write_text(text)
    without_checksums(path.parent)
    fuzz(path.parent, lambda: kind.read(path))
