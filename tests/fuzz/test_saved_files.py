"""Whatever stands in files that the suite wrote itself, or that others published, is read or is
refused in one line; JSON loses its checksum first, which would refuse any change at once."""

import pytest

from gpt1.corpus import documents
from gpt1.data import load_task
from gpt1.encode import encode
from gpt1.settings import CorpusSettings
from gpt1.text.sources import list_documents
from gpt1.text.tokenizer import Tokenizer, read_words
from gpt1.text.tokens import open_tokens
from gpt1.weights.checkpoint import load_checkpoint, save_checkpoint
from gpt1.weights.published import read_huggingface, read_openai
from tasks.common.arrow import read_documents
from tasks.examples import read as read_examples
from tests.fuzz.mutations import fuzz, renewed, without_checksums
from tests.gpt1 import examples as toy_examples
from tests.gpt1 import toy
from tests.gpt1.text.corpora import write_parquet
from tests.gpt1.weights import published_files
from tests.tasks.hub_files import manifest


def test_checkpoints(tmp_path):
    path, settings = tmp_path / "update-3.safetensors", toy.model("lstm")
    save_checkpoint(path, toy.random_model("lstm"), tokenizer="t" * 64, update=3)
    without_checksums(tmp_path)
    digest = renewed(path.with_suffix(".json"), path)
    fuzz(tmp_path, lambda: load_checkpoint(path, "lstm", settings, "t" * 64), repair=digest)


def test_examples_and_what_is_encoded_of_them(tmp_path):
    some = {split: toy_examples.random_pairs(4, 0) for split in ("train", "select", "dev")}
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


@pytest.mark.parametrize("kind", published_files.FORMATS)
def test_published_weights(tmp_path, kind):
    published_files.write_small(tmp_path)
    read = read_huggingface if kind == "huggingface" else read_openai
    fuzz(tmp_path / kind, lambda: read(tmp_path / kind, 11, published_files.SMALL))
