"""RACE with one of its halves, and tasks whose splits the config carves, from files to tables."""

import json
import re
import shutil
import string
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from gpt1 import encode, finetune
from gpt1.settings import CellSettings, JobSettings
from gpt1.weights.checkpoint import save_checkpoint
from tasks import baselines, prepare, task
from tasks.examples import read
from tasks.splits import plain
from tests.analysis.conftest import make_grid
from tests.gpt1 import toy
from tests.gpt1.examples import CHARACTERS, write_tokenizer
from tests.support.programs import call
from tests.tasks.both_layouts import tsv
from tests.tasks.conftest import write as write_published
from workflow.analysis.report import make
from workflow.analysis.stats import samples
from workflow.grid import Line

TABLES = ("ablation", "main", "layer_transfer", "cost", "data")
SETTINGS = {
    "race": {"min_rows": {"train": 1, "dev": 1, "test": 1}},
    "scitail": {"train_from": "test", "carve": {"train": 0.8, "test": 0.2}},
    "qqp": {"train_from": "dev", "carve": {"train": 0.7, "dev": 0.3}},
}
GRID = make_grid(
    *SETTINGS,
    arch=("transformer",),
    layers={"transformer": ["none", 12]},
    seeds={"pretrain": [0], "finetune": [0, 1]},
    has_corpus=False,
    examples=[*SETTINGS],
)


def write_files(folder: Path) -> None:
    """RACE's middle schools; SciTail's test rows and QQP's dev rows alone."""
    write_published("race", folder / "race")
    for high in (folder / "race").glob("*/high"):
        shutil.rmtree(high)
    rng = np.random.default_rng(3)
    words = [" ".join(rng.choice(list(CHARACTERS), 4)) for _ in range(40)]
    tsv(
        folder / "scitail" / "tsv_format" / "scitail_1.0_test.tsv",
        [[words[k], f"{words[k // 2]} a", ("neutral", "entails")[k % 2]] for k in range(40)],
    )
    header = ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"]
    pairs = [(words[k], words[k + (k % 2 == 0)]) for k in range(39)]  # linked in twos
    rows = [[str(k), "1", "2", *pair, str(k % 2)] for k, pair in enumerate(pairs)]
    tsv(folder / "qqp" / "dev.tsv", [header, *rows])


def done(main, *words) -> None:
    """A program that must end well."""
    ended = call(main, *words)
    assert ended.returncode == 0, ended.stderr


def settings_of(line: Line) -> CellSettings:
    """How the cells of a line are trained: the toy model has two layers."""
    own = toy.settings("transformer", lm_coef=0.5 * (line.aux == "on"), epochs=1)
    n_transfer = "none" if line.n_transfer == "none" else 2
    return CellSettings(**own.model_dump(), n_transfer=n_transfer)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results folder after the programs of a run, one after the other."""
    folder = tmp_path_factory.mktemp("run")
    write_files(folder / "data")
    n_vocab = write_tokenizer(folder / "tokenizer", string.ascii_lowercase)
    for name, given in SETTINGS.items():
        examples, encoded = folder / "examples" / name, folder / "encoded" / name
        settings = json.dumps({**given, "published": False, "select_fraction": 0.2})
        files = ("--folder", folder / "data" / name, "--settings", settings)
        facts = examples.with_suffix(".json")
        done(prepare.main, name, *files, "--out", examples, "--facts", facts)
        best = folder / "baselines" / f"{name}.json"
        done(baselines.main, name, "--examples", examples, "--out", best)
        made = ("--tokenizer", folder / "tokenizer", "--out", encoded)
        done(encode.main, name, "--examples", examples, *made)
    weights, started = folder / "update-1.safetensors", toy.random_model("transformer", 5, n_vocab)
    digest = json.loads((folder / "encoded" / "race.json").read_text())["tokenizer"]
    save_checkpoint(weights, started, tokenizer=digest, update=1)
    for name in SETTINGS:
        mine = [cell for cell in GRID.cells() if cell.task == name]
        inputs = ("--encoded", folder / "encoded" / name, "--checkpoints", weights)
        inputs += ("--baselines", folder / "baselines" / f"{name}.json")
        settings = {cell.line: settings_of(GRID.line(cell)) for cell in mine}
        runs = (
            "--settings",
            JobSettings(lines=settings).to_json(),
            "--seeds",
            0,
            1,
            "--cache",
            folder / "cache",
        )
        runs += ("--code", "c")
        outputs = [cell.path(folder) for cell in mine]
        answers = [cell.predictions(folder) for cell in mine]
        done(finetune.main, *outputs, "--predictions", *answers, *inputs, *runs)
    for part, of_part in GRID.parts().items():
        paths = [str(cell.path(folder)) for cell in of_part]
        argv = ["--results", str(folder), "--seeds", "0", "1", "--out"]
        samples.main([*paths, *argv, str(samples.part_path(folder, part))])
    for name in ("cells", *TABLES):
        make(f"{name}.csv", folder, GRID)
    return folder


def test_tables_have_the_half_of_race_that_is_there_and_nothing_for_the_other(results):
    main = pd.read_csv(results / "main.csv")
    ours = main[main["source"] == "this run"].set_index("column")
    assert (ours.loc[["RACE-m", "RACE"], "n_seeds"] == 2).all()
    assert "RACE-h" not in ours.index or (ours.loc[["RACE-h"], "n_seeds"] == 0).all()
    assert ours.loc["RACE-m", "mean"].tolist() == ours.loc["RACE", "mean"].tolist()
    text = (results / "main.md").read_text()
    assert "nan" not in text and "RACE-m" in text
    scored = pd.read_csv(results / "cells.csv")
    splits = set(scored[scored["task"] == "race"]["split"])
    assert {"test_middle", "dev_middle"} < splits and not any("high" in s for s in splits)


@pytest.mark.parametrize(("name", "split"), [("scitail", "test"), ("qqp", "dev")])
def test_carved_rows_are_scored_and_none_is_half_known(results, name, split):
    rows = {
        part: {
            plain(text)
            for row in read(results / "examples" / name, part)
            for text in ((row.second,) if name == "scitail" else (row.first, row.second))
        }
        for part in ("train", "select", split)
    }
    assert rows[split] and not rows[split] & (rows["train"] | rows["select"])
    facts = json.loads((results / "examples" / f"{name}.json").read_text())
    assert facts["half_known"][split] == 0
    for table in ("ablation", "layer_transfer"):
        frame = pd.read_csv(results / f"{table}.csv")
        assert frame[frame["task"] == name]["n_seeds"].max() == 2, table
    scored = pd.read_csv(results / "cells.csv")
    assert split in set(scored[scored["task"] == name]["split"])


@pytest.mark.parametrize("name", SETTINGS)
def test_the_table_of_the_data_says_what_the_rows_are(results, name):
    text = (results / "data.md").read_text(encoding="utf-8")
    assert re.search(f"^- {task(name).title}: .*; rows: made data", text, re.MULTILINE)
