"""The table of the data: numbers that fit rows and windows, and where the rows come from."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pandas as pd
import pytest

from gpt1 import encode
from gpt1.text import tokenizer
from tasks import prepare, task
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tasks.settings import OwnTask
from tests.analysis.conftest import make_grid, write
from tests.gpt1.examples import write_words
from tests.tasks import conftest as published_files
from workflow.analysis import report
from workflow.analysis.page.run import Run
from workflow.analysis.table import Table
from workflow.grid import PagePlan

WORDS = ("train", "dev", "test", "fact", "guess", "why", "story", "a", "?", "0", "1", "2")


def run(main: Callable[[], None], *arguments: object) -> None:
    with patch.object(sys, "argv", ["program", *map(str, arguments)]):
        main()


def put(results: Path, name: str, **settings: object) -> None:
    """The examples and the encoded rows of a task, as the rules make them."""
    folder, examples, encoded = (results / k / name for k in ("data", "examples", "encoded"))
    if not folder.exists():
        published_files.write(name, folder)
    given = json.dumps({"published": False, **settings})
    files = ["--out", examples, "--facts", f"{examples}.json"]
    run(prepare.main, name, "--folder", folder, "--settings", given, *files)
    vocabulary = results / "tokenizer"
    if not vocabulary.is_dir():
        words = write_words(results, "".join(f"{word}\t5\n" for word in WORDS))
        run(tokenizer.main, "--documents", words, "--merges", 20, "--out", vocabulary)
    run(encode.main, name, "--examples", examples, "--tokenizer", vocabulary, "--out", encoded)


def change(path: Path, **values: object) -> None:
    write(path, read_json(path) | values)


def table(results: Path, *names: str) -> Table:
    return report.build("data", results, make_grid("rte", examples=[*names]))


def lines(results: Path, name: str) -> pd.DataFrame:
    """The rows of a task by split."""
    return table(results, name).frame.set_index("split")


@pytest.mark.parametrize(
    ("cut", "unknown", "said"),
    [
        (2, 0.06, "20% of the rows are cut at n_ctx 16; 6% of the tokens are unknown"),
        (1, 0.05, ""),
    ],
)
def test_cut_rows_and_unknown_tokens_are_shares_and_many_raise_an_alarm(
    cut, unknown, said, tmp_path
):
    put(tmp_path, "rte")
    path = tmp_path / "encoded" / "rte.json"
    facts = read_json(path)
    facts["splits"]["dev"] |= {"n_ctx_needed": {"16": 10 - cut, "17": cut}, "unknown": unknown}
    facts["splits"]["train"] |= {"n_ctx_needed": {"16": 9}, "unknown": 0.0}
    facts["splits"]["select"] |= {"n_ctx_needed": {"16": 1}, "unknown": 0.0}
    write(path, facts)
    grid = make_grid("rte", examples=["rte"], n_ctx=16)
    change(tmp_path / "examples" / "rte.json", alarms=["all have one; label"])
    found = report.build("data", tmp_path, grid)
    of_splits = found.frame.set_index("split")
    assert of_splits["cut"].to_dict() == {"train": 0, "select": 0, "dev": 10 * cut}
    assert of_splits["unknown"].to_dict() == {"train": 0, "select": 0, "dev": 100 * unknown}
    assert of_splits["alarms"].to_dict() == {
        "train": "all have one; label",
        "select": "",
        "dev": said,
    }
    assert "lose tokens at n_ctx 16" in found.markdown
    assert (f"- RTE, dev: {said}" in found.markdown) == bool(said)
    found.write(tmp_path / "data.csv")
    told = ["RTE, train: all have one; label", *[f"RTE, dev: {said}"] * bool(said)]
    assert Run(tmp_path, grid, PagePlan(tables=["data"], figures=[])).of_rows == told


def test_a_published_set_has_its_licence_origin_and_subset(tmp_path):
    put(tmp_path, "rte", published=True, min_rows={"train": 10, "dev": 10})
    row = lines(tmp_path, "rte").loc["dev"]
    assert row["licence"] == task("rte").hub.licence
    assert row["origin"].startswith("files dev.tsv (sha256 ")
    assert row["note"] == "train: 10 of 2,490 rows; dev: 10 of 277 rows"
    put(tmp_path, "race")
    path = tmp_path / "examples" / "race.json"  # whose published rows may not be passed on
    change(path, settings=read_json(path)["settings"] | {"published": True})
    assert "; caution: " in table(tmp_path, "race").markdown
    origin = {"source": "hub", "repo": "nyu-mll/glue", "config": "rte", "revision": "c0ffee"}
    change(tmp_path / "examples" / "rte.json", origin=origin)
    found = lines(tmp_path, "rte").loc["dev", "origin"]
    assert found == "the hub's nyu-mll/glue (rte) at commit c0ffee"


def test_rows_of_the_users_own_are_not_taken_for_the_published_ones(tmp_path):
    published_files.write("rte", tmp_path / "data" / "mine")
    files = {"train": "train.tsv", "dev": "dev.tsv"}
    columns = {"text": "sentence1", "second": "sentence2"}
    given = {"kind": "pair", "files": files, "columns": columns, "title": "My pairs"}
    own = OwnTask.model_validate(given | {"labels": ["entailment", "not_entailment"]})
    put(tmp_path, "mine", own=own.model_dump())
    found = report.build("data", tmp_path, make_grid("rte", examples=["mine"], own={"mine": own}))
    row = found.frame.set_index("split").loc["dev"]
    assert row["licence"] == "yours to state" and row["origin"].startswith("own files dev.tsv")
    assert row["note"] == "" and "| My pairs, dev " in found.markdown


def test_dropped_rows_and_rows_known_from_training_are_stated(tmp_path):
    folder = tmp_path / "data" / "snli"
    published_files.write("snli", folder)
    published = (folder / "snli_1.0_train.jsonl").read_text()
    (folder / "snli_1.0_dev.jsonl").write_text(published)
    put(tmp_path, "snli")
    found = lines(tmp_path, "snli")
    assert found["dropped"].iloc[0] == (
        "train: no gold label 1; dev: no gold label 1; test: no gold label 1"
    )
    assert found["overlap"].to_dict() == {"train": 0, "select": 3, "test": 0}
    assert found["half_known"].to_dict() == {"train": 0, "select": 3, "test": 3}
    assert "CSV quoting" not in table(tmp_path, "snli").markdown
    change(tmp_path / "examples" / "snli.json", unquoted={"train": 2})
    assert "CSV quoting undone: train 2" in table(tmp_path, "snli").markdown


def test_encoded_rows_of_other_examples_are_refused(tmp_path):
    put(tmp_path, "rte")
    path = tmp_path / "examples" / "rte.json"
    digests = read_json(path)["sha256"]
    change(path, sha256=digests | {"dev": "other rows"})
    with pytest.raises(InputError, match=r"rte.json: its dev rows are not those of .*examples"):
        table(tmp_path, "rte")
