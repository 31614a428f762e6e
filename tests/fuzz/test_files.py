"""Whatever stands in a file (of a task, of others, of our own) is read, or refused in one line.

Digests are renewed and checksums of JSON left out, which would refuse any change at once.
"""

import json

import pytest

from gpt1.corpus import documents
from gpt1.data import load_task
from gpt1.encode import encode
from gpt1.predict import Predictor, Row, read_rows
from gpt1.pretrain import Pretraining
from gpt1.records import CellRecord, ZeroShotScore
from gpt1.settings import CorpusSettings
from gpt1.text.sources import list_documents
from gpt1.text.tokenizer import Tokenizer, read_words
from gpt1.text.tokens import open_tokens
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import load_checkpoint, save_checkpoint
from gpt1.weights.published import read_weights
from tasks import task
from tasks.common.arrow import read_documents
from tasks.common.files import MANIFEST, described, write_json
from tasks.examples import ExamplesFacts
from tasks.examples import read as read_examples
from tasks.hub import Snapshot
from tests.analysis.conftest import make_grid, write_all, write_predictions
from tests.facts import EXAMPLES, SCORED
from tests.fuzz.mutations import fuzz, renewed, without_checksums
from tests.gpt1 import cell_jobs, toy
from tests.gpt1 import examples as toy_examples
from tests.gpt1.examples import write_parquet
from tests.gpt1.weights import published_files
from tests.tasks import conftest
from tests.tasks.both_layouts import pin, write
from tests.tasks.hub_files import manifest
from workflow.analysis.rows import read_predictions
from workflow.analysis.table import read_csv

# One task for each way of reading: tables with and without a header, scores, JSON lines, tables
# without names, whole files of JSON, five lines to an item.
NAMES = ("cola", "stsb", "qqp", "snli", "scitail", "race", "dprd")


def splits(name, source):
    for split in task(name).rows:
        task(name).read(source, split)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_as_published(tmp_path, name):
    original, _ = write(name, tmp_path)
    fuzz(original, lambda: splits(name, original))


def test_damaged_stories(tmp_path):
    conftest.write("story_cloze", tmp_path)
    fuzz(tmp_path, lambda: splits("story_cloze", tmp_path))


@pytest.mark.parametrize("name", ["rte", "race"])
def test_damaged_files_of_the_hub(tmp_path, name):
    _, hub = write(name, tmp_path)
    snapshot = Snapshot(task(name).hub, hub, pin(name))

    def recorded():
        manifest(hub, name)

    fuzz(hub, lambda: splits(name, snapshot), "*.parquet", recorded)
    without_checksums(hub)
    fuzz(hub, lambda: splits(name, snapshot), "manifest.json")


def test_checkpoints(tmp_path):
    path, settings = tmp_path / "update-3.safetensors", toy.model("lstm")
    save_checkpoint(path, toy.random_model("lstm"), tokenizer="t" * 64, update=3)
    without_checksums(tmp_path)
    digest = renewed(path.with_suffix(".json"), path)
    fuzz(tmp_path, lambda: load_checkpoint(path, "lstm", settings, "t" * 64), repair=digest)


def test_examples_and_what_is_encoded_of_them(tmp_path):
    some = {split: cell_jobs.rows_of("rte", 4, 0) for split in ("train", "select", "dev")}
    rows = toy_examples.write_examples(tmp_path / "examples" / "rte", "rte", some)
    toy_examples.write_tokenizer(tmp_path / "tokenizer")
    out = tmp_path / "out" / "rte"
    encode("rte", rows, tmp_path / "tokenizer", out)
    for folder in (rows.parent, out.parent):
        without_checksums(folder)
    fuzz(rows.parent, lambda: [read_examples(rows, split) for split in ("train", "dev")])
    fuzz(out.parent, lambda: load_task(out))


def test_token_files(tmp_path):
    facts = toy.corpus(tmp_path)
    without_checksums(tmp_path)
    fuzz(tmp_path, lambda: open_tokens(facts, "train"))


def test_books_and_documents(tmp_path):
    for name in ("a.txt", "b.txt"):
        path = tmp_path / "books" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('"Naïve?" she said. <table> It\'s 3 - 4...\n\nThe end — &amp; no more.\n')
    out, settings = tmp_path / "made" / "documents", CorpusSettings(heldout=["b.txt"])
    documents(tmp_path / "books", settings, out)
    without_checksums(out.parent)

    def read():
        list(read_documents(out, "train"))
        read_words(out)

    fuzz(out.parent, read)


def test_parquet_files_of_a_corpus(tmp_path):
    folder, settings = tmp_path / "raw", CorpusSettings(source="wikitext103", heldout="official")
    for split in ("train", "validation", "test"):
        path = folder / "wikitext-103-raw-v1" / f"{split}-00000-of-00001.parquet"
        write_parquet(path, ["a b", "", " = c = "])

    def recorded():
        manifest(folder, "wikitext103")

    recorded()
    fuzz(folder, lambda: list_documents(folder, settings), "*.parquet", recorded)
    without_checksums(folder)
    fuzz(folder, lambda: list_documents(folder, settings), "*.json")


def test_vocabularies(tmp_path):
    published_files.write_tokenizer(tmp_path)
    fuzz(tmp_path, lambda: Tokenizer.load(tmp_path))


def test_published_weights(tmp_path):
    folder = published_files.write_small(tmp_path) / "weights"
    fuzz(folder, lambda: read_weights(folder, 11, published_files.SMALL))


def test_states_of_a_run(tmp_path):
    facts, settings = toy.corpus(tmp_path / "corpus"), toy.pretrain_settings("lstm")

    def resume():
        run = Pretraining("lstm", facts, settings, Runtime(), tmp_path / "work")
        for path in run.work.folder.glob("*.damaged"):
            path.unlink()
        return run

    run = resume()
    run.train()
    fuzz(run.work.folder, resume, "*state.safetensors")


def test_kept_weights(tmp_path):
    cell_jobs.write_task(tmp_path, "rte")
    _, folder = cell_jobs.kept_cell(tmp_path, "rte")
    without_checksums(folder)
    files = [path.name for path in folder.iterdir() if path.name != MANIFEST]
    listed = {"files": described(folder, files)}
    write_json(folder / MANIFEST, listed, checksum=False)

    def read():
        Predictor(folder).answer([Row(text="a b", second="c")], "x")

    fuzz(folder, read)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.tsv", "text\tsecond\tchoice1\tchoice2\na\tb\tc\td\ne\tf\tg\th\n"),
        ("rows.jsonl", '{"text": "a", "second": "b", "choices": ["c", "d"]}\n' * 2),
    ],
)
def test_rows_to_answer(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    fuzz(tmp_path, lambda: read_rows(tmp_path / name))


LAYERS = {"transformer": ["none", 12]}
GRID = make_grid("rte", layers=LAYERS, arch=("transformer",), aux=("on",))
CELL = GRID.cells()[0]
ROWS = [(0, "dev", f"rte/dev/{row}", "", 1.0, float(row % 2)) for row in range(6)]


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
