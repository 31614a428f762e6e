"""Runs of words that invented rows share with invented books, and files that do not fit."""

import json

import numpy as np
import pytest

from gpt1 import contamination as module
from gpt1 import corpus
from gpt1.contamination import WordNumbers, contamination, main
from gpt1.settings import CorpusSettings
from tasks.common.arrow import split_digest
from tests.gpt1.examples import write_examples
from tests.support.programs import call


def sentence(name: str, count: int) -> str:
    """`count` words that no other name has."""
    return " ".join(f"{name}{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(count))


HELD_OUT = CorpusSettings(heldout=["held.txt"])
BOOKS = {
    "a.txt": f"{sentence('alpha', 40)}\nIt wasn't me, she said. {sentence('end', 6)}",
    "b.txt": f"{sentence('begin', 7)} and more.\n{sentence('beta', 30)}",
    "held.txt": sentence("held", 60),
}


def part(name: str, start: int, stop: int) -> str:
    return " ".join(sentence(name, 60).split()[start:stop])


# One text a row: (text, contaminated by words)
TEXTS = {
    "thirteen words": (f"Oh: {part('alpha', 3, 16)}!", True),
    "twelve words": (f"Oh: {part('alpha', 3, 15)} and something else instead of the rest", False),
    "other case and blanks": (part("alpha", 20, 33).upper().replace(" ", "   "), True),
    "across a line": (f"{part('alpha', 32, 40)}\n\nIt wasn't me, she said.", True),
    "without that line": (f"{part('alpha', 32, 40)} It wasn't me, she said", True),
    "across two books": (f"{part('end', 0, 6)}\n{part('begin', 0, 7)}", False),
    "the last words": (part("beta", 17, 30), True),
    "only held out": (part("held", 0, 40), False),
    "short": ("too short", False),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Books; a task of single texts, one of pairs, one of choices, one of stories."""
    root = tmp_path_factory.mktemp("results")
    make_documents(root, BOOKS)
    wanted, other = part("alpha", 3, 16), part("held", 0, 20)
    pairs = [
        {"first": other, "second": wanted},
        {"first": wanted, "second": other},
        {"first": part("alpha", 3, 10), "second": part("alpha", 10, 16)},  # not across texts
    ]
    planted = [{"first": wanted, "second": other}]
    unlabelled = [{"first": wanted, "second": other, "label": -1}]
    choices = [["a", "b", "c", wanted], ["a", "b", "c", "d"]]
    stories = [
        {"first": part("alpha", 3, 10), "choices": ["no", part("alpha", 10, 16)]},
        {"first": part("alpha", 3, 10), "choices": ["no", part("alpha", 11, 17)]},
    ]
    for task, splits in {
        "cola": {"dev": [{"first": text} for text, _ in TEXTS.values()]},
        "rte": {"train": planted, "select": planted, "dev": pairs, "test": unlabelled},
        "race": {"dev": [{"first": other, "second": "q", "choices": c} for c in choices]},
        "story_cloze": {"test": stories},
    }.items():
        facts = ["test"] if task == "rte" else []
        write_examples(root / "examples" / task, task, splits, unlabelled=facts)
    return root


def make_documents(root, books):
    for name, text in books.items():
        (root / "books").mkdir(exist_ok=True)
        (root / "books" / name).write_text(text, encoding="utf-8")
    corpus.documents(root / "books", HELD_OUT, root / "documents")


TASKS = ("cola", "rte", "race", "story_cloze")


def run(root, out, tasks=TASKS, documents=None):
    contamination(list(tasks), documents or root / "documents", root / "examples", out)
    return {task: json.loads((out / f"{task}.json").read_text()) for task in tasks}


@pytest.fixture(scope="module")
def found(results):
    return run(results, results / "out")


def marked(found, task, split="dev"):
    """The places of the contaminated rows."""
    match = found[task]["splits"][split]["match"]
    assert set(match) <= {0, 13}
    return [i for i, n in enumerate(match) if n]


def test_planted_words_are_marked_and_nothing_else(found):
    wanted = [i for i, (_, planted) in enumerate(TEXTS.values()) if planted]
    assert marked(found, "cola") == wanted


def test_a_run_lies_within_one_text_whichever_that_is(found):
    assert marked(found, "rte") == [0, 1] and marked(found, "race") == [0]
    assert marked(found, "story_cloze", "test") == [0]  # a story and its ending are one


def test_a_corpus_of_one_sentence_a_line_hides_no_row(results, found, tmp_path):
    make_documents(tmp_path, {name: text.replace(" ", "\n") for name, text in BOOKS.items()})
    there = run(results, tmp_path / "out", documents=tmp_path / "documents")
    assert all(there[task]["splits"] == found[task]["splits"] for task in TASKS)


def test_rows_have_the_length_of_their_longest_text(found):
    assert found["rte"]["splits"]["dev"]["words"] == [20, 20, 7]
    assert found["story_cloze"]["splits"]["test"]["words"] == [13, 13]


def test_only_reported_splits_are_searched(found, results):
    assert list(found["rte"]["splits"]) == ["dev"]
    assert found["rte"]["examples"] == {"dev": split_digest(results / "examples/rte", "dev")}


def runs(texts: list[np.ndarray], n: int) -> set[bytes]:
    return {t[i : i + n].tobytes() for t in texts for i in range(len(t) - n + 1)}


@pytest.mark.parametrize("base", [module.HASH_BASE, 0, 1], ids=["own", "all equal", "sums"])
@pytest.mark.parametrize("n", [1, 3, 6])
def test_the_rows_found_are_those_of_a_search_of_every_run(n, base, monkeypatch):
    """Whatever hashes collide."""
    monkeypatch.setattr(module, "HASH_BASE", np.uint64(base))
    rng = np.random.default_rng(1)

    def text(length: int) -> np.ndarray:
        return rng.integers(1, 4, length).astype(np.int32)

    documents = [text(60), text(40)]
    rows = [[text(a), text(b)] for a, b in rng.integers(0, 9, (60, 2))]
    rows += [[documents[0][7:33]], [np.concatenate((documents[0][-2:], documents[1][:2]))]]
    search = module.Search(n)
    for i, row in enumerate(rows):
        search.add(i, row)
    for of in documents:
        search.scan([of[:11], of[11:]])  # a run may cross blocks, not documents
    wanted = {i for i, row in enumerate(rows) if runs(row, n) & runs(documents, n)}
    assert search.contaminated == wanted and (n == 1 or 2 < len(wanted) < len(rows))


def test_words_are_numbered_by_the_rows_and_any_other_word_is_zero():
    numbers = WordNumbers()
    assert numbers.of_text("It was\n\nit, été IT").tolist() == [1, 2, 1, 3, 4, 1]
    (corpus,) = numbers.of_corpus("it was\nnot it , été\n")
    assert corpus.tolist() == [1, 2, 0, 1, 3, 4]
    assert numbers.of_text("\n ").tolist() == [] and not list(numbers.of_corpus(""))


def test_the_program_prints_its_counts(results, tmp_path):
    folders = ("--documents", results / "documents", "--examples", results / "examples")
    done = call(main, "rte", "cola", *folders, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "rte: dev 3 rows, contaminated 2\n" in done.stdout
    assert (tmp_path / "cola.json").is_file()
