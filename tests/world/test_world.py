"""A world's files, words and degrees: by its seed and settings; files that changed are refused."""

import json
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from scipy import stats

from gpt1 import corpus
from gpt1.cloze import read_items
from gpt1.records import CorpusFacts
from gpt1.settings import CorpusSettings
from gpt1.text.sources import list_documents
from gpt1.text.tokenizer import Tokenizer
from tasks import PAPER_TASKS, task
from tasks.common.files import sha256_file
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.world import read_degrees
from tasks.world.draw import FEELINGS, WORDS, Draw, half, words_of
from tasks.world.feelings import LINKS
from tasks.world.make import make_world
from tasks.world.settings import DEGREES, SHARES, WorldSettings
from tasks.world.tasks import WORLD_TASKS, make_splits
from tests.gpt1.examples import write_tokenizer
from tests.support.programs import refusal
from tests.world.conftest import LARGE
from tests.world.oracle import degree as degree_of

ROWS = dict.fromkeys(WORLD_TASKS, 90)
SMOKE = WorldSettings(seed=1, words=10_000, books=6, rows=ROWS, report=16, cloze=20)
MANIFEST = "60282ebb72bb8793d142992fb66a9530654d3d7b0b07904b3a8424c80b2ebf46"  # SMOKE's
TINY = WorldSettings(seed=1, words=2_000, books=2, scale=0.05, report=10, cloze=10)


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


def test_a_manifest_lists_every_file_of_another_seed_and_an_earlier_world_leaves_none(
    tmp_path: Path,
):
    earlier = make_world(with_(books=9, seed=2), tmp_path)["files"]
    files = make_world(SMOKE, tmp_path)["files"]
    there = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert there == {*files, "manifest.json"}
    for path, facts in files.items():
        assert sha256_file(tmp_path / path) == facts["sha256"] and facts != earlier.get(path)


def test_a_world_takes_the_place_of_an_earlier_one_alone(tmp_path: Path):
    """Snakemake deletes the manifest first; a killed program has moved the mark first."""
    book = tmp_path / "books" / "mine.txt"
    book.parent.mkdir()
    book.write_text("my own")
    assert "exists and is no earlier output of this program" in refusal(make_world, SMOKE, tmp_path)
    made = tmp_path / "made"
    make_world(SMOKE, made)
    book = book.replace(made / "books" / "mine.txt")
    for _ in range(2):  # with a manifest and without one
        said = refusal(make_world, SMOKE, made)
        assert "mine.txt: not of the earlier world; move it" in said and book.exists()
        (made / "manifest.json").unlink(missing_ok=True)
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


@pytest.mark.parametrize(("key", "kinds"), [("discourse", SHARES), ("degrees", DEGREES)])
def test_a_world_without_any_discourse_or_degree_is_refused(key: str, kinds):
    said = refusal(WorldSettings.parse, json.dumps({key: dict.fromkeys(kinds, 0)}))
    assert said.startswith(f"{key}: found ") and "above 0" in said


@pytest.mark.parametrize("left", [[], ["forms"]])
def test_a_world_that_leaves_out_every_discourse_is_refused(left: list[str]):
    given = {"discourse": dict.fromkeys(left, 0), "exclude": [*({*SHARES} - {*left})]}
    said = refusal(WorldSettings.parse, json.dumps(given))
    assert said.startswith("exclude: found ") and "no kind of discourse is left" in said


def test_a_degree_that_is_not_given_has_the_default_of_its_key():
    parsed = WorldSettings.parse('{"reported": {"lexical": 0}, "book_degrees": {"lexical": 0.5}}')
    assert parsed.reported == WorldSettings().reported.model_copy(update={"lexical": 0})
    assert parsed.book_degrees.shares() == {"lexical": 0.5, "relational": 1, "compositional": 1}


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
    (tmp_path / name).unlink()
    if text is not None:
        (tmp_path / name).write_text(text)
    said = refusal(read, tmp_path)
    fault = "not the file that manifest.json describes (sha256)" if text else "no such file"
    again = f"snakemake --cores 1 --force {shlex.quote(str(tmp_path / 'manifest.json'))}"
    assert said.startswith(f"{tmp_path / name}: {fault}; ") and said.endswith(again)


def test_a_book_more_is_refused_and_files_of_ones_own_are_not_checked(tmp_path: Path):
    make_world(TINY, tmp_path)
    assert books_are_made(tmp_path, "books")
    (tmp_path / "books" / "more.txt").write_text("One more.\n")
    assert "books/more.txt: a file that manifest.json does not" in refusal(read_books, tmp_path)
    (tmp_path / "books").rename(tmp_path / "own")
    assert not books_are_made(tmp_path, "own")


@pytest.mark.parametrize("text", ['{"files": null}', '{"files": {"RTE/train.tsv": 3}}', "[]"])
def test_a_manifest_that_lists_no_files_is_refused(text: str, tmp_path: Path):
    (tmp_path / "RTE").mkdir()
    (tmp_path / "manifest.json").write_text(text)
    assert "does not list files; make it again" in refusal(read_rows, tmp_path)


@pytest.fixture(scope="module")
def degrees(world: Path) -> dict[str, str]:
    """The degree of each row by its place, as `degrees.csv` says."""
    rows = read_degrees(world / "degrees.csv")
    return {row: degree for degree, places in rows.items() for row in places}


def test_each_degree_has_its_configured_share_of_training_and_of_other_rows(
    degrees: dict[str, str],
):
    splits: dict[tuple[str, str], Counter[str]] = {}
    for row, degree in degrees.items():
        name, split, _ = row.split("/")
        splits.setdefault((name, split), Counter())[degree] += 1
    for (name, split), counts in splits.items():
        is_training = split == task(name).train
        shares = (LARGE.degrees if is_training else LARGE.reported).shares()
        if name == "dprd":
            assert set(counts) == {"lexical"}
            continue
        for degree, share in shares.items():
            wanted = share / sum(shares.values())
            # Each label's rows are divided by themselves, and rounded.
            error = 0.01 + 4 / counts.total()
            assert counts[degree] / counts.total() == pytest.approx(wanted, abs=error)


def test_each_row_that_is_read_has_the_degree_of_its_number_in_the_world(
    degrees: dict[str, str], splits, name: str
):
    for rows in splits(name).values():
        for example in rows:
            assert degrees[task(name).place(example.guid)] == degree_of(name, example), example.guid


def test_another_seed_has_other_words_and_forms_of_the_same_classes():
    one, two = words_of(1), words_of(2)
    for sort, groups in WORDS.items():
        for pool, mine, other in zip(groups, one[sort], two[sort], strict=True):
            assert {*mine, *other} <= {*pool} and len(mine) == (len(pool) + 1) // 2
    mine, other = ({w for groups in ws.values() for g in groups for w in g} for ws in (one, two))
    assert 0.3 < len(mine & other) / len(mine) < 0.7
    assert words_of(1) == one and len({half(seed, LINKS) for seed in range(20)}) > 3


@pytest.mark.parametrize("world", range(4))
def test_training_rows_lack_the_combination_of_reversals_that_reported_rows_have(world: int):
    def drawn(**combined: float) -> Counter:
        draw = Draw(world, "x/train", **combined)
        return Counter(draw.reversals("compositional", *FEELINGS) for _ in range(2000))

    books, training, reported = drawn(), drawn(combined=0.0), drawn(combined=0.4)
    (held_out,) = set(books) - set(training)
    assert held_out[1:] == (True, True) and len(books) == 6
    # Each part of it is known by itself, and both parts of a row about the other feeling.
    feeling = held_out[0]
    (other,) = {*FEELINGS} - {feeling}
    assert {(feeling, True, False), (feeling, False, True), (other, True, True)} <= set(training)
    assert reported[held_out] / 2000 == pytest.approx(0.2, abs=0.04)
    # The second part is reversed as often whatever the row is about, which it would tell else.
    for of in FEELINGS:
        ways = Counter()
        for way, n in training.items():
            ways[way[2]] += n * (way[0] == of)
        assert ways[True] / ways.total() == pytest.approx(0.5, abs=0.06)


def test_each_task_holds_out_a_combination_of_its_own():
    def held_out(world: int, part: str) -> str:
        draw = Draw(world, part, combined=0.0)
        ways = {draw.reversals("compositional", *FEELINGS) for _ in range(100)}
        (feeling,) = {of for of in FEELINGS if (of, True, True) not in ways}
        return feeling

    parts = ("snli/train", "mnli/train", "race/train")
    assert len({tuple(held_out(world, part) for part in parts) for world in range(20)}) > 4
    assert all(held_out(w, "snli/train") == held_out(w, "snli/dev") for w in range(20))
