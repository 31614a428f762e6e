"""Files of a world that are not those that were written are refused where they are read."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from gpt1 import corpus
from gpt1.cloze import read_items
from gpt1.records import CorpusFacts
from gpt1.text.settings import CorpusSettings
from gpt1.text.sources import list_documents
from gpt1.text.tokenizer import Tokenizer
from tasks import task
from tasks.common.errors import InputError
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.world.make import make_world
from tasks.world.settings import WorldSettings
from tests.gpt1.examples import write_tokenizer

SETTINGS = WorldSettings(seed=1, words=2_000, books=2, scale=0.05, report=10, cloze=10)


def books(world: Path) -> None:
    list_documents(world / "books", CorpusSettings(heldout=1))


def books_are_made(world: Path, name: str) -> bool:
    """What the corpus of a folder of books says of them."""
    write_tokenizer(world / "tokenizer")
    corpus.documents(world / name, CorpusSettings(heldout=1), world / "out/documents")
    corpus.tokens(world / "out/documents", world / "tokenizer", world / "out")
    return CorpusFacts.read(world / "out/corpus.json").made


def rows(world: Path) -> None:
    prepare(task("rte"), world / "RTE", PrepareSettings(published=False))


def cloze(world: Path) -> None:
    write_tokenizer(world / "tokenizer")
    read_items(world / "Cloze" / "items.jsonl", Tokenizer.load(world / "tokenizer"))


@pytest.mark.parametrize(
    ("read", "name", "text"),
    [
        (books, "books/book001.txt", None),
        (books, "books/book001.txt", "Another book.\n"),
        (rows, "RTE/train.tsv", "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tentailment\n"),
        (cloze, "Cloze/items.jsonl", '{"skill": "s"}\n'),
    ],
)
def test_a_file_that_is_not_the_one_that_was_written_is_refused(
    tmp_path: Path, read: Callable[[Path], None], name: str, text: str | None
):
    make_world(SETTINGS, tmp_path)
    if text is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as error:
        read(tmp_path)
    fault = "no such file" if text is None else "not the file that manifest.json describes (sha256)"
    again = f"snakemake --cores 1 --force {shlex.quote(str(tmp_path / 'manifest.json'))}"
    assert str(error.value).startswith(f"{tmp_path / name}: {fault}; ")
    assert str(error.value).endswith(again) and "\n" not in str(error.value)


def test_a_book_more_is_refused_and_files_of_ones_own_are_not_checked(tmp_path: Path):
    make_world(SETTINGS, tmp_path)
    assert books_are_made(tmp_path, "books")
    (tmp_path / "books" / "more.txt").write_text("One more.\n")
    with pytest.raises(InputError, match=r"books/more\.txt: a file that manifest\.json does not"):
        books(tmp_path)
    (tmp_path / "books").rename(tmp_path / "own")
    assert not books_are_made(tmp_path, "own")


@pytest.mark.parametrize("text", ['{"files": null}', '{"files": {"RTE/train.tsv": 3}}', "[]"])
def test_a_manifest_that_lists_no_files_is_refused(text: str, tmp_path: Path):
    make_world(SETTINGS, tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="does not list files; make it again"):
        rows(tmp_path)
