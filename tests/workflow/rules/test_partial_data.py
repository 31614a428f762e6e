"""RACE with one of its halves, from files to tables."""

import json
import re
import shutil
import string

import pandas as pd

from gpt1 import encode, finetune
from gpt1.settings import CellSettings, JobSettings
from gpt1.weights.checkpoint import save_checkpoint
from tasks import baselines, prepare, task
from tests.analysis.conftest import make_grid
from tests.gpt1 import toy
from tests.gpt1.examples import write_tokenizer
from tests.support.programs import call
from tests.tasks.conftest import write as write_published
from workflow.analysis.report import make
from workflow.grid import Variant

SETTINGS = {"min_rows": {"train": 1, "dev": 1, "test": 1}, "published": False}
GRID = make_grid(
    "race",
    arch=("transformer",),
    layers={"transformer": ["none", 12]},
    seeds={"pretrain": [0], "finetune": [0, 1]},
    has_corpus=False,
    examples=["race"],
)


def done(main, *words) -> None:
    """A program that must end well."""
    ended = call(main, *words)
    assert ended.returncode == 0, ended.stderr


def settings_of(line: Variant) -> CellSettings:
    """How the cells of a line are trained: the toy model has two layers."""
    own = toy.settings("transformer", lm_coef=0.5 * (line.aux == "on"), epochs=1)
    n_transfer = "none" if line.n_transfer == "none" else 2
    return CellSettings(**own.model_dump(), n_transfer=n_transfer)


def make_tables(folder) -> None:
    """The results folder after the programs of a run, one after the other."""
    write_published("race", folder / "data")
    for high in (folder / "data").glob("*/high"):
        shutil.rmtree(high)
    examples, encoded = folder / "examples" / "race", folder / "encoded" / "race"
    best, weights = folder / "baselines" / "race.json", folder / "update-1.safetensors"
    files = ("--folder", folder / "data", "--settings", json.dumps(SETTINGS))
    facts = ("--facts", examples.with_suffix(".json"))
    done(prepare.main, "race", *files, "--out", examples, *facts)
    done(baselines.main, "race", "--examples", examples, "--out", best)
    n_vocab = write_tokenizer(folder / "tokenizer", string.ascii_lowercase)
    read = ("--examples", examples, "--tokenizer", folder / "tokenizer")
    done(encode.main, "race", *read, "--out", encoded)
    digest = json.loads(encoded.with_suffix(".json").read_text())["tokenizer"]
    model = toy.random_model("transformer", 5, n_vocab)
    save_checkpoint(weights, model, tokenizer=digest, update=1)
    cells = GRID.cells()
    settings = JobSettings(
        variants={cell.variant: settings_of(GRID.variant(cell)) for cell in cells}
    )
    outputs = [cell.path(folder) for cell in cells]
    inputs = ("--encoded", encoded, "--checkpoints", weights, "--baselines", best)
    runs = ("--settings", settings.to_json(), "--seeds", 0, 1, "--cache", folder / "cache")
    done(finetune.main, *outputs, *inputs, *runs, "--code", "c")
    for name in ("cells", "ablation", "main", "layer_transfer", "cost", "data"):
        make(f"{name}.csv", folder, GRID)


def test_tables_have_the_half_of_race_that_is_there_and_nothing_for_the_other(tmp_path):
    make_tables(tmp_path)
    main = pd.read_csv(tmp_path / "main.csv")
    ours = main[main["source"] == "this run"].set_index("column")
    assert (ours.loc[["RACE-m", "RACE"], "n_seeds"] == 2).all()
    assert "RACE-h" not in ours.index or (ours.loc[["RACE-h"], "n_seeds"] == 0).all()
    assert ours.loc["RACE-m", "mean"].tolist() == ours.loc["RACE", "mean"].tolist()
    text = (tmp_path / "main.md").read_text()
    assert "nan" not in text and "RACE-m" in text
    splits = {*pd.read_csv(tmp_path / "cells.csv")["split"]}
    assert {"test_middle", "dev_middle"} < splits and not any("high" in s for s in splits)
    for table in ("ablation", "layer_transfer"):
        assert pd.read_csv(tmp_path / f"{table}.csv")["n_seeds"].max() == 2, table
    text = (tmp_path / "data.md").read_text(encoding="utf-8")
    assert re.search(f"^- {task('race').title}: .*; rows: made data", text, re.MULTILINE)
