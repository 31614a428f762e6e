"""Whatever stands in files that the suite wrote itself, or that others published, is read or is
refused in one line; JSON loses its checksum first, which would refuse any change at once."""

import hashlib
import json
from pathlib import Path

import pytest

from gpt1.corpus import documents
from gpt1.encode import encode
from gpt1.probes import read_probes
from gpt1.text.documents import read_documents
from gpt1.text.settings import CorpusSettings
from gpt1.text.sources import list_documents
from gpt1.text.tokenizer import Tokenizer, read_words
from gpt1.text.tokens import open_tokens
from gpt1.training import encoded
from gpt1.training.run_cache import RunCache
from gpt1.weights.checkpoint import (
    CheckpointFacts,
    build,
    check_checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from gpt1.weights.published import READERS
from tasks.common.arrow import split_digest
from tasks.common.files import read_json, sha256_file
from tasks.examples import read as read_examples
from tests.fuzz.mutations import fuzz
from tests.gpt1 import examples as toy_examples
from tests.gpt1 import published_files, toy
from tests.gpt1.corpora import write_manifest, write_parquet


def open_checksums(folder: Path) -> None:
    """Rewrite all JSON objects of a folder without their checksums."""
    for path in folder.rglob("*.json"):
        value = json.loads(path.read_text())
        if isinstance(value, dict) and value.pop("checksum", None):
            path.write_text(json.dumps(value))


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_checkpoints(tmp_path, arch):
    path, settings = tmp_path / "update-3.safetensors", toy.model(arch)
    facts = CheckpointFacts(model=settings, tokenizer="t" * 64)
    save_checkpoint(path, build(arch, settings, toy.N_VOCAB), facts)
    open_checksums(tmp_path)
    facts_path = path.with_suffix(".json")

    def read():
        check_checkpoint(path)
        load_checkpoint(path, arch, settings, "t" * 64)

    def recorded():
        text = facts_path.read_text(errors="replace")
        stored = json.loads(whole)["sha256"]
        facts_path.write_text(text.replace(stored, sha256_file(path)))

    whole = facts_path.read_text()
    fuzz(tmp_path, read, repair=recorded)
    fuzz(tmp_path, lambda: load_checkpoint(path, arch, settings, "t" * 64))


@pytest.fixture
def rows(tmp_path):
    """The folder of RTE's examples."""
    some = {split: toy_examples.random_pairs(4, 0) for split in ("train", "select", "dev")}
    return toy_examples.write_examples(tmp_path / "examples" / "rte", "rte", some)


def test_saved_examples(rows):
    open_checksums(rows.parent)
    fuzz(rows.parent, lambda: [read_examples(rows, split) for split in ("train", "dev")])


def test_examples_that_are_encoded(tmp_path, rows):
    toy_examples.write_tokenizer(tmp_path / "tokenizer")
    open_checksums(rows.parent)
    encode_rows = ("rte", rows, tmp_path / "tokenizer", tmp_path / "out" / "rte")
    fuzz(rows.parent, lambda: encode(*encode_rows))


def test_encoded_tasks(tmp_path, rows):
    out = tmp_path / "out" / "rte"
    toy_examples.write_tokenizer(tmp_path / "tokenizer")
    encode("rte", rows, tmp_path / "tokenizer", out)
    open_checksums(out.parent)
    digests = {split: split_digest(out, split) for split in ("train", "select", "dev")}
    facts = (out.parent / "rte.json").read_text()

    def recorded():
        if (out.parent / "rte.json").read_text(errors="replace") != facts:
            return
        changed = facts
        for split, digest in digests.items():
            files = sorted((out / split).glob("*.arrow"))
            assert len(files) == 1
            changed = changed.replace(digest, split_digest_of(files[0]))
        (out.parent / "rte.json").write_text(changed)

    fuzz(out.parent, lambda: encoded.load(out), repair=recorded)


def split_digest_of(path: Path) -> str:
    """What `split_digest` gives for a split of this one file."""
    return hashlib.sha256(bytes.fromhex(sha256_file(path))).hexdigest()


def test_token_files(tmp_path):
    facts = toy.corpus(tmp_path)
    open_checksums(tmp_path)
    fuzz(tmp_path, lambda: open_tokens(facts, "train"))


def test_books_and_documents(tmp_path):
    for name in ("a.txt", "b.txt"):
        path = tmp_path / "books" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('"Naïve?" she said. <table> It\'s 3 - 4...\n\nThe end — &amp; no more.\n')
    out, settings = tmp_path / "made" / "documents", CorpusSettings(heldout=["b.txt"])
    documents(tmp_path / "books", settings, out)
    open_checksums(out.parent)

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
        write_manifest(folder, "wikitext103")

    def read():
        list_documents(folder, settings)

    recorded()
    fuzz(folder, read, lambda path: path.suffix == ".parquet", recorded)
    open_checksums(folder)
    fuzz(folder, read, lambda path: path.suffix == ".json")


def test_vocabularies(tmp_path):
    published_files.write_tokenizer(tmp_path)
    fuzz(tmp_path, lambda: Tokenizer.load(tmp_path))


@pytest.mark.parametrize("kind", published_files.FORMATS)
def test_published_weights(tmp_path, kind):
    published_files.write_small(tmp_path)
    fuzz(
        tmp_path / kind,
        lambda: READERS[kind](tmp_path / kind, 11, published_files.SMALL),
    )


def test_probes(tmp_path):
    toy_examples.write_tokenizer(tmp_path / "tokenizer")
    tokenizer = Tokenizer.load(tmp_path / "tokenizer")
    item = {"skill": "s", "context": "a b", "choices": ["c", "d"], "label": 1}
    path = tmp_path / "probes" / "probes.jsonl"
    path.parent.mkdir()
    path.write_text(f"{json.dumps(item)}\n" * 3)
    fuzz(path.parent, lambda: read_probes(path, tokenizer))


def test_json_and_records_of_runs(tmp_path, capsys):
    cache, key = RunCache(tmp_path), {"seed": 1}
    cache.put(key, {"scores": {"dev": 81.25}, "rows": [1, None]})
    fuzz(tmp_path, lambda: (cache.get(key), read_json(cache.path(key))))
    open_checksums(tmp_path)
    fuzz(tmp_path, lambda: cache.get(key))
