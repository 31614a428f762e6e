"""Ways out of a folder, by links, `..` and names in JSON: refused, each by name."""

import json
import shutil

import pytest

from gpt1.settings import CorpusSettings
from gpt1.text.sources import list_documents
from gpt1.text.tokens import open_tokens
from tasks import task
from tasks.common.arrow import read_split, split_names
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, write_json
from tasks.hub import Snapshot
from tests.gpt1 import examples, toy
from tests.tasks.both_layouts import glue_original, pin, write
from tests.tasks.hub_files import manifest
from tests.workflow.configs import changed, small
from workflow.configuration.read import ConfigError, parse

NAMES = ["../outside", "/etc/passwd", "..", "", "a\0b", "x" * 300]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_named_in_json_is_one_of_its_folder(tmp_path, name):
    facts = toy.corpus(tmp_path)
    stored = json.loads(facts.read_text())
    del stored["checksum"]
    stored["splits"]["train"]["file"] = name
    facts.write_text(json.dumps(stored))
    with pytest.raises(InputError, match=r"corpus\.json: .* is not the name of a file"):
        open_tokens(facts, "train")


@pytest.mark.parametrize("name", ["../../outside/x.arrow", "/etc/passwd", None])
def test_a_saved_data_set_names_no_file_outside_it(tmp_path, name):
    rows = examples.random_pairs(2, 0)
    folder = examples.write_examples(tmp_path / "rte", "rte", {"train": rows})
    state = folder / "train" / "state.json"
    state.write_text(json.dumps({"_data_files": [{"filename": name}]}))
    with pytest.raises(InputError, match=r"state\.json: .* is not the name of a file"):
        read_split(folder, "train")
    (folder / "dataset_dict.json").write_text(json.dumps({"splits": ["../rte"]}))
    with pytest.raises(InputError, match="'../rte' is not the name of a file"):
        split_names(folder)


def moved(path, place):
    """Move a file to `place` and leave a link to it."""
    place.mkdir(exist_ok=True)
    shutil.move(path, place / path.name)
    path.symlink_to(place / path.name)


def test_a_link_out_of_the_folder_is_refused_and_a_linked_folder_is_not(tmp_path):
    outside, folder = tmp_path / "outside", tmp_path / "data" / "RTE"
    for split in ("train", "dev"):
        glue_original(folder, "rte", split)
    (folder / "test.tsv").write_text("index\tsentence1\tsentence2\n0\ta\tb\n")
    (tmp_path / "linked").symlink_to(folder)
    rows = task("rte").read(tmp_path / "linked", "train")
    moved(folder / "train.tsv", tmp_path / "data" / "RTE" / "inside")
    assert task("rte").read(folder, "train") == rows
    for split in ("dev", "test"):
        moved(folder / f"{split}.tsv", outside)
    with pytest.raises(InputError, match=r"dev\.tsv: a link that leads out of .*RTE; put"):
        task("rte").read(folder, "dev")
    with pytest.raises(InputError, match=r"test\.tsv: a link that leads out of"):
        task("rte").read_unlabelled(folder)


def test_a_linked_book_token_file_or_split_is_refused(tmp_path):
    outside, books = tmp_path / "outside", tmp_path / "books"
    books.mkdir()
    for name in ("a.txt", "b.txt"):
        (books / name).write_text("A book.\n")
    settings = CorpusSettings(heldout=1)
    assert len(list_documents(books, settings)) == 2
    moved(books / "b.txt", outside)
    with pytest.raises(InputError, match=r"b\.txt: a link that leads out of"):
        list_documents(books, settings)
    facts = toy.corpus(tmp_path / "corpus")
    moved(tmp_path / "corpus" / "train.bin", outside)
    with pytest.raises(InputError, match=r"train\.bin: a link that leads out of"):
        open_tokens(facts, "train")
    rows = {"train": examples.random_pairs(2, 0)}
    folder = examples.write_examples(tmp_path / "rte", "rte", rows)
    moved(folder / "train", outside)
    with pytest.raises(InputError, match=r"rte/train: a link that leads out of"):
        split_names(folder)


@pytest.mark.parametrize("name", ["../outside.parquet", "rte/train-/../../outside.parquet"])
def test_a_manifest_of_the_hub_names_no_file_outside_its_folder(tmp_path, name):
    _, hub = write("rte", tmp_path)
    (hub.parent / "outside.parquet").write_bytes(b"PAR1")
    manifest(hub, "rte")
    stored = read_json(hub / "manifest.json")
    stored["files"][name] = {"size": 4, "sha256": sha256_file(hub.parent / "outside.parquet")}
    write_json(hub / "manifest.json", stored)
    snapshot = Snapshot(task("rte").hub, hub, pin("rte"))
    assert all(path.parent.parent == hub for path in snapshot.checked_files("train"))


def test_a_linked_file_of_the_hub_is_refused(tmp_path):
    _, hub = write("rte", tmp_path)
    snapshot = Snapshot(task("rte").hub, hub, pin("rte"))
    first = snapshot.checked_files("train")[0]
    moved(first, tmp_path / "outside")
    with pytest.raises(InputError, match=r"\.parquet: a link that leads out of"):
        snapshot.checked_files("train")


PATHS = {
    "corpus.folder": ("a/../../b", "corpus.folder"),
    "tasks.rte.folder": ("..", "tasks.rte.folder"),
    "tokenizer": ({"folder": "../bpe"}, "tokenizer.folder"),
    "pretrained": ({"path": "../bpe", "format": "openai", "updates": 1}, "pretrained.path"),
    "cloze": ("../bpe", "cloze"),
}


@pytest.mark.parametrize("key", PATHS)
def test_a_path_of_the_config_is_below_the_data_folder(key):
    value, place = PATHS[key]
    with pytest.raises(ConfigError) as error:
        parse(changed(small(), f"experiment.{key}", value) | {"data": "data"})
    faults = [fault for fault in error.value.faults if fault.startswith(f"experiment.{place}: ")]
    assert len(faults) == 1 and "leads out of the data folder" in faults[0]
