"""Contamination of invented rows by invented books: which are marked, and files that do not fit."""

import json
import subprocess
import sys

import numpy as np
import pytest

from gpt1 import corpus
from gpt1.contamination import contamination
from gpt1.encode import encode
from gpt1.text import tokenizer as bpe
from gpt1.text import vocabulary
from gpt1.text.normalise import words
from gpt1.text.settings import CorpusSettings
from gpt1.text.tokens import open_tokens
from gpt1.training.encoded import load
from tasks.common.arrow import split_digest
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tasks.examples import read
from tests.gpt1.examples import write_examples


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
    """Books, tokenizer, corpus; a task of single texts, one of pairs, one of choices."""
    root = tmp_path_factory.mktemp("results")
    for name, text in BOOKS.items():
        (root / "books").mkdir(exist_ok=True)
        (root / "books" / name).write_text(text, encoding="utf-8")
    corpus.documents(root / "books", HELD_OUT, root / "corpus" / "documents")
    counts = bpe.read_counts(root / "corpus" / "words.tsv")
    # Enough merges to make a word one token, but for the words of the held-out book.
    vocabulary.save(root / "tokenizer", *bpe.train({w: 9 * n for w, n in counts.items()}, 2000))
    corpus.tokens(root / "corpus" / "documents", root / "tokenizer", root / "corpus")
    wanted, other = part("alpha", 3, 16), part("held", 0, 20)
    write(root, "cola", {"dev": [{"first": text} for text, _ in TEXTS.values()]})
    pairs = [
        {"first": other, "second": wanted},
        {"first": wanted, "second": other},
        {"first": part("alpha", 3, 10), "second": part("alpha", 10, 16)},  # not across texts
    ]
    planted = [{"first": wanted, "second": other}]
    unlabelled = [{"first": wanted, "second": other, "label": -1}]
    write(root, "rte", {"train": planted, "select": planted, "dev": pairs, "test": unlabelled})
    choices = [["a", "b", "c", wanted], ["a", "b", "c", "d"]]
    write(root, "race", {"dev": [{"first": other, "second": "q", "choices": c} for c in choices]})
    return root


def write(root, task, splits):
    folder = write_examples(root / "examples" / task, task, splits, unlabelled=["test"])
    encode(task, folder, root / "tokenizer", root / "encoded" / task)


def run(root, out, tasks=("cola", "rte", "race")):
    folders = (root / "corpus/corpus.json", root / "corpus/documents")
    contamination(list(tasks), *folders, root / "examples", root / "encoded", out)
    return {task: json.loads((out / f"{task}.json").read_text()) for task in tasks}


@pytest.fixture(scope="module")
def marks(results):
    return run(results, results / "out")


def test_planted_words_are_marked_and_nothing_else(marks):
    marked = set(marks["cola"]["splits"]["dev"]["words"]["contaminated"])
    assert {name: at in marked for at, name in enumerate(TEXTS)} == {
        name: wanted for name, (_, wanted) in TEXTS.items()
    }


def test_tokens_are_marked_as_the_stream_has_them(marks, results):
    newline = bpe.Tokenizer.load(results / "tokenizer").newline_id
    stream = open_tokens(results / "corpus/corpus.json", "train").tolist()
    assert newline in stream
    stream = [token for token in stream if token != newline]
    known = {tuple(stream[i : i + 13]) for i in range(len(stream) - 12)}
    texts = [ids[ids != newline] for ids in load(results / "encoded/cola").splits["dev"].first]
    wanted = [
        any(tuple(ids[i : i + 13].tolist()) in known for i in range(len(ids) - 12)) for ids in texts
    ]
    marked = marks["cola"]["splits"]["dev"]["tokens"]
    assert marked["contaminated"] == np.flatnonzero(wanted).tolist()
    assert marked["too_short"] == [i for i, ids in enumerate(texts) if len(ids) < 13]
    # The token file has its documents in a row.
    assert wanted[list(TEXTS).index("across two books")]


def test_an_ngram_lies_within_one_text_whichever_that_is(marks):
    pairs, choices = marks["rte"]["splits"]["dev"], marks["race"]["splits"]["dev"]
    assert pairs["rows"] == 3 and pairs["words"]["contaminated"] == [0, 1]
    assert choices["words"]["contaminated"] == [0]


def test_a_story_and_its_ending_are_one_text(results, tmp_path):
    stories = [
        {"first": part("alpha", 3, 10), "choices": ["no", part("alpha", 10, 16)]},
        {"first": part("alpha", 3, 10), "choices": ["no", part("alpha", 11, 17)]},
    ]
    write(results, "story_cloze", {"dev": stories})
    of_split = run(results, tmp_path, ["story_cloze"])["story_cloze"]["splits"]["dev"]
    assert of_split["words"]["contaminated"] == of_split["tokens"]["contaminated"] == [0]


def test_a_corpus_of_one_sentence_a_line_hides_no_row(results, tmp_path):
    (tmp_path / "books").mkdir()
    for name, text in BOOKS.items():
        lines = text.replace(" ", "\n")
        (tmp_path / "books" / name).write_text(lines + "\n", encoding="utf-8")
    corpus.documents(tmp_path / "books", HELD_OUT, tmp_path / "corpus" / "documents")
    corpus.tokens(tmp_path / "corpus/documents", results / "tokenizer", tmp_path / "corpus")
    here, there = tmp_path / "corpus", results / "corpus"
    marked = []
    for place in (here, there):
        out = tmp_path / place.parent.name
        folders = (results / "examples", results / "encoded", out)
        contamination(["cola"], place / "corpus.json", place / "documents", *folders)
        of_split = json.loads((out / "cola.json").read_text())["splits"]["dev"]
        marked.append([of_split[symbol]["contaminated"] for symbol in ("tokens", "words")])
    assert marked[0] == marked[1] and all(marked[0])


def test_rows_too_short_to_tell_are_listed(marks):
    assert marks["cola"]["splits"]["dev"]["words"]["too_short"] == [list(TEXTS).index("short")]
    assert marks["rte"]["splits"]["dev"]["words"]["too_short"] == [2]


def test_only_reported_splits_are_searched(marks, results):
    assert list(marks["rte"]["splits"]) == ["dev"]
    assert marks["rte"]["examples"] == {"dev": split_digest(results / "examples/rte", "dev")}


def test_words_equal_a_search_in_plain_python(marks, results):
    known = set()
    for name in ("a.txt", "b.txt"):
        book = [word for word in words(BOOKS[name]) if word != "\n"]
        known |= {tuple(book[i : i + 13]) for i in range(len(book) - 12)}
    for task in marks:
        rows = read(results / f"examples/{task}", "dev")
        wanted = []
        for at, e in enumerate(rows):
            texts = [words(text) for text in (e.first, e.second, *e.choices)]
            texts = [[word for word in text if word != "\n"] for text in texts]
            grams = {tuple(t[i : i + 13]) for t in texts for i in range(len(t) - 12)}
            wanted += [at] if grams & known else []
        assert marks[task]["splits"]["dev"]["words"]["contaminated"] == wanted


def test_one_task_alone_has_the_same_marks(marks, results, tmp_path):
    assert run(results, tmp_path, ["rte"]) == {"rte": marks["rte"]}


def test_files_that_do_not_belong_together_are_refused(results, tmp_path):
    def damaged(path, edit):
        before = path.read_bytes()
        path.write_bytes(edit(before))
        with pytest.raises(InputError) as error:
            run(results, tmp_path, ["rte"])
        path.write_bytes(before)
        return str(error.value)

    documents = results / "corpus/documents/train/data-00000-of-00001.arrow"
    said = damaged(documents, lambda data: data.replace(b"alphaab", b"alphaxx"))
    assert "a.txt is not the document described in documents.json; make the documents" in said
    said = damaged(documents, lambda data: data[:-900])
    assert "data-00000-of-00001.arrow: not a whole Arrow file" in said
    rows = results / "examples/rte/dev/data-00000-of-00001.arrow"
    said = damaged(rows, lambda data: data.replace(b"alphaad", b"alphaxx"))
    assert "encoded/rte: made with other examples than" in said
    facts = results / "corpus/corpus.json"
    other = read_json(facts) | {"tokenizer": "another"}
    said = damaged(facts, lambda data: json.dumps(other).encode())
    assert "encoded/rte: made with another tokenizer than the corpus" in said
    said = damaged(facts, lambda data: data.replace(b'"tokenizer": "', b'"tokenizer": "0'))
    assert "corpus.json: damaged or edited, its checksum does not fit" in said
    assert not list(tmp_path.iterdir())


def test_the_program_prints_its_counts(results, tmp_path):
    command = [sys.executable, "-m", "gpt1.contamination", "rte", "cola"]
    for option, path in (("corpus", "corpus/corpus.json"), ("documents", "corpus/documents")):
        command += [f"--{option}", str(results / path)]
    for option in ("examples", "encoded"):
        command += [f"--{option}", str(results / option)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "rte: dev 3 rows, contaminated 2 by tokens, 2 by words" in done.stdout
    assert (tmp_path / "cola.json").is_file()
