"""Refused by name: code in YAML and in arrays, words of the shell, ways out of a folder."""

import itertools
import json
import os
import pickle
import shutil
from pathlib import Path

import pytest

from gpt1.settings import CorpusSettings
from gpt1.text.sources import list_documents
from gpt1.text.tokens import open_tokens
from gpt1.weights.published import read_weights
from tasks import task
from tasks.common.arrow import read_split, split_names
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, write_json
from tasks.hub import Snapshot
from tests.gpt1 import cell_jobs, examples, toy
from tests.gpt1.weights import published_files
from tests.tasks.both_layouts import glue_original, pin
from tests.tasks.both_layouts import write as write_task
from tests.tasks.hub_files import manifest
from tests.workflow.configs import ROOT, changed, raw_data, small
from tests.workflow.running import snakemake, with_config


class Touch:
    """Makes a folder when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("__use_yte__: true\n{0}", "{1}: __use_yte__ lets the file run code; remove it"),
        ("<<: {{__use_yte__: true}}\n{0}", "{1}: __use_yte__ lets the file run code; remove it"),
        ("experiment: &a {{world: *a}}", "{1}: an alias; write it out"),
        ("pathvars: {{Results: 5}}", "pathvars: unknown key"),
    ],
)
@pytest.mark.parametrize("is_last", [False, True])
def test_what_snakemake_would_act_on_in_a_config_is_refused_before(text, fault, is_last, tmp_path):
    own, smoke = tmp_path / "c.yaml", ROOT / "workflow" / "config" / "smoke.yaml"
    code = f'__definitions__: ["import os; os.mkdir({str(tmp_path / "made")!r})"]\n'
    own.write_text(text.format(code))
    files = map(str, [smoke, own] if is_last else [own, smoke])
    said = snakemake(ROOT, "-n", "-d", str(tmp_path / "run"), "--configfile", *files, code=1)
    assert said.splitlines()[-1].startswith("error: config: " + fault.format("", own))
    assert not (tmp_path / "made").exists()


def pickled(path, payload):
    path.write_bytes(pickle.dumps(payload))


def test_pickled_weights_of_the_hub_are_never_loaded(tmp_path):
    published_files.write_small(tmp_path)
    folder = tmp_path / "weights"
    (folder / "model.safetensors").unlink()
    pickled(folder / "pytorch_model.bin", Touch(tmp_path / "made"))
    with pytest.raises(InputError, match="in one file, never a pickle"):
        read_weights(folder, 11, published_files.SMALL)
    pickled(folder / "model.safetensors", Touch(tmp_path / "made"))
    with pytest.raises(InputError, match="not a whole safetensors file"):
        read_weights(folder, 11, published_files.SMALL)
    assert not (tmp_path / "made").exists()


def test_words_of_the_shell_in_the_name_of_a_data_folder_are_a_name(tmp_path):
    data = tmp_path / "a b'c\"; touch made; $(touch made) `touch made` & touch made #"
    for name, split in itertools.product(("rte", "cola"), ("train", "dev")):
        glue_original(data / task(name).folder, name, split)
    (data / "books").mkdir()
    for name in ("a.txt", "$(touch made);b.txt"):
        (data / "books" / name).write_text("A book.\n")
    config = changed(small(), "experiment.tasks.rte", {"min_rows": {"train": 1, "dev": 1}})
    config = changed(config, "experiment.corpus", {"heldout": 1})
    config = changed(config, "experiment.world", ...) | {"data": str(data)}
    targets = [f"{config['results']}/{name}" for name in ("examples/rte.json", "corpus/words.tsv")]
    snakemake(ROOT, *with_config(tmp_path, config), *targets)
    assert all((tmp_path / target).exists() for target in targets)
    assert not list(tmp_path.rglob("made"))


@pytest.mark.parametrize("name", ["raw/books/{b}.txt", "{data}/books/b.txt"])
def test_braces_in_a_name_of_the_data_folder_are_an_error_with_the_name(name, tmp_path):
    data = tmp_path / Path(name).parts[0]
    config = changed(small(), "experiment.world", ...) | {"data": str(data)}
    raw_data(data, config)
    (tmp_path / name).touch()
    said = snakemake(ROOT, *with_config(tmp_path, config), "all", code=1)
    (line,) = [line for line in said.splitlines() if line.startswith(f"error: {data}/")]
    assert "{" in line and line.endswith("braces in a name are Snakemake's wildcards; rename it")


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
    rows = cell_jobs.rows_of("rte", 2, 0)
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
    rows = {"train": cell_jobs.rows_of("rte", 2, 0)}
    folder = examples.write_examples(tmp_path / "rte", "rte", rows)
    moved(folder / "train", outside)
    with pytest.raises(InputError, match=r"rte/train: a link that leads out of"):
        split_names(folder)


@pytest.mark.parametrize("name", ["../outside.parquet", "rte/train-/../../outside.parquet"])
def test_a_manifest_of_the_hub_names_no_file_outside_its_folder(tmp_path, name):
    _, hub = write_task("rte", tmp_path)
    (hub.parent / "outside.parquet").write_bytes(b"PAR1")
    manifest(hub, "rte")
    stored = read_json(hub / "manifest.json")
    stored["files"][name] = {"size": 4, "sha256": sha256_file(hub.parent / "outside.parquet")}
    write_json(hub / "manifest.json", stored)
    snapshot = Snapshot(task("rte").hub, hub, pin("rte"))
    assert all(path.parent.parent == hub for path in snapshot.checked_files("train"))


def test_a_linked_file_of_the_hub_is_refused(tmp_path):
    _, hub = write_task("rte", tmp_path)
    snapshot = Snapshot(task("rte").hub, hub, pin("rte"))
    first = snapshot.checked_files("train")[0]
    moved(first, tmp_path / "outside")
    with pytest.raises(InputError, match=r"\.parquet: a link that leads out of"):
        snapshot.checked_files("train")
