"""The world's files: deterministic, complete, of the configured sizes; refused if changed."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats

from gpt1 import corpus
from gpt1.cloze import read_items
from gpt1.records import CorpusFacts
from gpt1.text.settings import CorpusSettings
from gpt1.text.sources import list_documents
from gpt1.text.tokenizer import Tokenizer
from tasks import PAPER_TASKS, task
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.world.make import make_world
from tasks.world.settings import SHARES, WorldSettings
from tasks.world.tasks import WORLD_TASKS, make_splits
from tests.gpt1.examples import write_tokenizer
from tests.support.programs import refusal

ROWS = dict.fromkeys(WORLD_TASKS, 90)
SMOKE = WorldSettings(seed=1, words=10_000, books=6, rows=ROWS, report=16, cloze=20)
MANIFEST = "09cf7b9fae94615bf8680ff9285ff4c31fe368e98277d3422efe534e917b432b"  # SMOKE's
TINY = WorldSettings(seed=1, words=2_000, books=2, scale=0.05, report=10, cloze=10)

NO_DISCOURSE = json.dumps({"discourse": dict.fromkeys(SHARES, 0)})
NO_DEGREE = '{"degrees": {"lexical": 0, "relational": 0, "compositional": 0}}'


def with_(**changes) -> WorldSettings:
    return SMOKE.model_copy(update=changes)


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_world_of_a_seed_is_the_same_byte_for_byte_as_ever(hash_seed: str, tmp_path: Path):
    command = [sys.executable, "-m", "tasks", "world", "--settings", SMOKE.to_json()]
    environment = {"PYTHONHASHSEED": hash_seed}
    subprocess.run([*command, "--out", str(tmp_path)], check=True, env=environment)
    assert sha256_file(tmp_path / "manifest.json") == MANIFEST


def test_tasks_are_ranked_by_their_sizes_as_the_published_sets_are():
    made = [WORLD_TASKS[t.name].rows for t in PAPER_TASKS]
    published = [t.rows[t.train] for t in PAPER_TASKS]
    assert stats.spearmanr(made, published).statistic > 0.95


def test_a_seed_whose_training_words_all_take_one_article_has_rows_of_each_degree():
    rows = make_splits(with_(seed=0), "cola")["train"]
    assert {row.degree for row in rows} == {"lexical", "relational", "compositional"}


def test_another_seed_gives_other_rows_and_books(tmp_path: Path):
    one = make_world(SMOKE, tmp_path / "one")["files"]
    two = make_world(with_(seed=2), tmp_path / "two")["files"]
    same = [path for path in one if path in two and one[path] == two[path]]
    assert same == []


def test_the_manifest_lists_every_file_and_an_earlier_world_leaves_none(tmp_path: Path):
    make_world(with_(books=9), tmp_path)
    manifest = make_world(SMOKE, tmp_path)
    there = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert there == set(manifest["files"]) | {"manifest.json"}
    for path, facts in manifest["files"].items():
        assert sha256_file(tmp_path / path) == facts["sha256"]


def test_a_world_takes_the_place_of_an_earlier_one_alone(tmp_path: Path):
    """Snakemake deletes the manifest first; a killed program has moved the mark first."""
    book = tmp_path / "books" / "mine.txt"
    book.parent.mkdir()
    book.write_text("my own")
    with pytest.raises(InputError, match="exists and is no earlier output of this program"):
        make_world(SMOKE, tmp_path)
    made = tmp_path / "made"
    make_world(SMOKE, made)
    book = book.replace(made / "books" / "mine.txt")
    with pytest.raises(InputError, match="mine.txt: not of the earlier world; move it"):
        make_world(SMOKE, made)
    assert book.read_text() == "my own" and (made / "manifest.json").exists()
    (made / "manifest.json").unlink()
    with pytest.raises(InputError, match="mine.txt: not of the earlier world; move it"):
        make_world(SMOKE, made)
    book.unlink()
    make_world(with_(books=4, scale=0.02), made)
    assert len([*(made / "books").iterdir()]) == 4


def test_settings_change_sizes(tmp_path: Path):
    rows = make_world(with_(rows={"rte": 50}, scale=0.02), tmp_path)["rows"]
    assert rows["rte"]["train"] == 50
    assert rows["qqp"]["train"] == round(WORLD_TASKS["qqp"].rows * 0.02)
    assert rows["cola"]["dev"] == SMOKE.report
    books = [path.read_text(encoding="utf-8") for path in tmp_path.glob("books/*.txt")]
    assert len(books) == SMOKE.books
    assert len(" ".join(books).split()) == pytest.approx(SMOKE.words, rel=0.05)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (NO_DISCOURSE, "discourse: found .*above 0"),
        (NO_DEGREE, "degrees: found .*above 0"),
    ],
)
def test_a_world_without_any_discourse_or_degree_is_refused(settings: str, message: str):
    assert re.search(message, refusal(WorldSettings.parse, settings))


def test_both_layouts_of_scitail_have_the_same_rows(world: Path, splits, tmp_path: Path):
    shutil.copytree(world / "SciTail" / "tsv_format", tmp_path / "tsv_format")
    assert [(e.first, e.second, e.label) for e in task("scitail").read(tmp_path, "test")] == [
        (e.first, e.second, e.label) for e in splits("scitail")["test"]
    ]


@pytest.mark.parametrize("folder", ["CoLA", "SST-2", "MRPC", "STS-B", "QQP", "QNLI", "RTE"])
def test_glue_test_files_contain_no_labels(world: Path, folder: str):
    test = (world / folder / "test.tsv").read_text(encoding="utf-8").splitlines()
    assert test[0].lstrip("\ufeff").split("\t")[0] in ("index", "id")
    for name in ("label", "Quality", "score", "is_duplicate", "gold_label"):
        assert name not in test[0].split("\t")
    assert len({line.count("\t") for line in test}) == 1
    assert len(test) > 1


def read_books(world: Path) -> None:
    list_documents(world / "books", CorpusSettings(heldout=1))


def books_are_made(world: Path, name: str) -> bool:
    """What the corpus of a folder of books says of them."""
    write_tokenizer(world / "tokenizer")
    corpus.documents(world / name, CorpusSettings(heldout=1), world / "out/documents")
    corpus.tokens(world / "out/documents", world / "tokenizer", world / "out")
    return CorpusFacts.read(world / "out/corpus.json").made


def read_rows(world: Path) -> None:
    prepare(task("rte"), world / "RTE", PrepareSettings(published=False))


def read_cloze(world: Path) -> None:
    write_tokenizer(world / "tokenizer")
    read_items(world / "Cloze" / "items.jsonl", Tokenizer.load(world / "tokenizer"))


@pytest.mark.parametrize(
    ("read", "name", "text"),
    [
        (read_books, "books/book001.txt", None),
        (read_books, "books/book001.txt", "Another book.\n"),
        (read_rows, "RTE/train.tsv", "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tentailment\n"),
        (read_cloze, "Cloze/items.jsonl", '{"skill": "s"}\n'),
    ],
)
def test_a_file_that_is_not_the_one_that_was_written_is_refused(
    tmp_path: Path, read: Callable[[Path], None], name: str, text: str | None
):
    make_world(TINY, tmp_path)
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
    make_world(TINY, tmp_path)
    assert books_are_made(tmp_path, "books")
    (tmp_path / "books" / "more.txt").write_text("One more.\n")
    with pytest.raises(InputError, match=r"books/more\.txt: a file that manifest\.json does not"):
        read_books(tmp_path)
    (tmp_path / "books").rename(tmp_path / "own")
    assert not books_are_made(tmp_path, "own")


@pytest.mark.parametrize("text", ['{"files": null}', '{"files": {"RTE/train.tsv": 3}}', "[]"])
def test_a_manifest_that_lists_no_files_is_refused(text: str, tmp_path: Path):
    make_world(TINY, tmp_path)
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(InputError, match="does not list files; make it again"):
        read_rows(tmp_path)
