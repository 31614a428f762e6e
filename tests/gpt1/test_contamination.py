"""Contamination from made books and rows: who is marked, who is not, and files that do not fit."""

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
from gpt1.text.tokens import open_tokens
from gpt1.training.encoded import load
from tasks.common.errors import InputError
from tasks.examples import read_examples

ROWS = {"first": "", "second": "", "choices": [], "label": 0, "group": ""}


def sentence(name: str, count: int) -> str:
    """`count` words that no other name has."""
    return " ".join(f"{name}{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(count))


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
def made(tmp_path_factory):
    """Books, tokenizer, corpus; a task of single texts, one of pairs, one of choices."""
    root = tmp_path_factory.mktemp("made")
    for name, text in BOOKS.items():
        (root / "books").mkdir(exist_ok=True)
        (root / "books" / name).write_text(text, encoding="utf-8")
    corpus.clean(root / "books", root / "corpus" / "clean", ["held.txt"])
    counts = bpe.read_counts(root / "corpus" / "words.tsv")
    # Enough merges to make a word one piece, but for the words of the held-out book.
    vocabulary.save(root / "tokenizer", *bpe.train({w: 9 * n for w, n in counts.items()}, 2000))
    corpus.tokens(root / "corpus" / "clean.json", root / "tokenizer", root / "corpus")
    wanted, other = part("alpha", 3, 16), part("held", 0, 20)
    write(root, "cola", [{"first": text} for text, _ in TEXTS.values()])
    pair = [
        {"first": other, "second": wanted},
        {"first": wanted, "second": other},
        {"first": part("alpha", 3, 10), "second": part("alpha", 10, 16)},  # not across texts
        {"first": wanted, "second": other, "split": "train"},
    ]
    write(root, "rte", pair)
    choices = [["a", "b", "c", wanted], ["a", "b", "c", "d"]]
    write(root, "race", [{"first": other, "second": "q", "choices": c} for c in choices])
    return root


def write(root, task, rows):
    path = root / "examples" / f"{task}.jsonl"
    path.parent.mkdir(exist_ok=True)
    lines = []
    for i, row in enumerate(rows):
        row = {"split": "dev", "guid": f"{task}/dev/{i}", **ROWS, **row}
        keys = ("split", "guid", "first", "second", "choices", "label", "group")
        lines.append(json.dumps({key: row[key] for key in keys}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    encode(task, path, root / "tokenizer", root / "encoded" / f"{task}.npz")


def run(root, out, tasks=("cola", "rte", "race")):
    folders = (root / "corpus/corpus.json", root / "corpus/clean.json")
    contamination(list(tasks), *folders, root / "examples", root / "encoded", out)
    return {task: json.loads((out / f"{task}.json").read_text()) for task in tasks}


@pytest.fixture(scope="module")
def found(made):
    return run(made, made / "out")


def test_planted_words_are_found_and_nothing_else(found):
    marked = set(found["cola"]["splits"]["dev"]["words"]["contaminated"])
    assert {name: at in marked for at, name in enumerate(TEXTS)} == {
        name: wanted for name, (_, wanted) in TEXTS.items()
    }


def test_pieces_are_found_as_the_stream_has_them(found, made):
    newline = bpe.Tokenizer.load(made / "tokenizer").newline_id
    stream = open_tokens(made / "corpus/corpus.json", "train").tolist()
    assert newline in stream
    stream = [piece for piece in stream if piece != newline]
    known = {tuple(stream[i : i + 13]) for i in range(len(stream) - 12)}
    texts = [ids[ids != newline] for ids in load(made / "encoded/cola.npz").splits["dev"].first]
    wanted = [
        any(tuple(ids[i : i + 13].tolist()) in known for i in range(len(ids) - 12)) for ids in texts
    ]
    marked = found["cola"]["splits"]["dev"]["pieces"]
    assert marked["contaminated"] == np.flatnonzero(wanted).tolist()
    assert marked["too_short"] == [i for i, ids in enumerate(texts) if len(ids) < 13]
    # The token file has its books in a row.
    assert wanted[list(TEXTS).index("across two books")]


def test_an_ngram_lies_within_one_text_whichever_that_is(found):
    pairs, choices = found["rte"]["splits"]["dev"], found["race"]["splits"]["dev"]
    assert pairs["rows"] == 3 and pairs["words"]["contaminated"] == [0, 1]
    assert choices["words"]["contaminated"] == [0]


def test_a_story_and_its_ending_are_one_text(made, tmp_path):
    stories = [
        {"first": part("alpha", 3, 10), "choices": ["no", part("alpha", 10, 16)]},
        {"first": part("alpha", 3, 10), "choices": ["no", part("alpha", 11, 17)]},
    ]
    write(made, "story_cloze", stories)
    told = run(made, tmp_path, ["story_cloze"])["story_cloze"]["splits"]["dev"]
    assert told["words"]["contaminated"] == told["pieces"]["contaminated"] == [0]


def test_a_corpus_of_one_sentence_a_line_hides_no_row(made, tmp_path):
    (tmp_path / "books").mkdir()
    for name, text in BOOKS.items():
        lines = text.replace(" ", "\n")
        (tmp_path / "books" / name).write_text(lines + "\n", encoding="utf-8")
    corpus.clean(tmp_path / "books", tmp_path / "corpus" / "clean", ["held.txt"])
    corpus.tokens(tmp_path / "corpus" / "clean.json", made / "tokenizer", tmp_path / "corpus")
    here, there = tmp_path / "corpus", made / "corpus"
    marked = []
    for place in (here, there):
        out = tmp_path / place.parent.name
        folders = (made / "examples", made / "encoded", out)
        contamination(["cola"], place / "corpus.json", place / "clean.json", *folders)
        told = json.loads((out / "cola.json").read_text())["splits"]["dev"]
        marked.append([told[kind]["contaminated"] for kind in ("pieces", "words")])
    assert marked[0] == marked[1] and all(marked[0])


def test_rows_too_short_to_tell_are_told(found):
    assert found["cola"]["splits"]["dev"]["words"]["too_short"] == [list(TEXTS).index("short")]
    assert found["rte"]["splits"]["dev"]["words"]["too_short"] == [2]


def test_only_reported_splits_are_looked_at(found):
    assert list(found["rte"]["splits"]) == ["dev"]


def test_words_equal_a_search_in_plain_python(found, made):
    known = set()
    for name in ("a.txt", "b.txt"):
        book = [word for word in words(BOOKS[name]) if word != "\n"]
        known |= {tuple(book[i : i + 13]) for i in range(len(book) - 12)}
    for task in found:
        rows = [e for e in read_examples(made / f"examples/{task}.jsonl") if e.split == "dev"]
        wanted = []
        for at, e in enumerate(rows):
            texts = [words(text) for text in (e.first, e.second, *e.choices)]
            texts = [[word for word in text if word != "\n"] for text in texts]
            grams = {tuple(t[i : i + 13]) for t in texts for i in range(len(t) - 12)}
            wanted += [at] if grams & known else []
        assert found[task]["splits"]["dev"]["words"]["contaminated"] == wanted


def test_one_task_alone_has_the_same_marks(found, made, tmp_path):
    assert run(made, tmp_path, ["rte"]) == {"rte": found["rte"]}


def test_files_that_do_not_belong_together_are_refused(made, tmp_path):
    def damaged(path, edit):
        before = path.read_bytes()
        path.write_bytes(edit(before))
        with pytest.raises(InputError) as error:
            run(made, tmp_path, ["rte"])
        path.write_bytes(before)
        return str(error.value)

    book = made / "corpus/clean/a.txt"
    said = damaged(book, lambda data: data.replace(b"alphaab", b"alphaxx"))
    assert "a.txt: not the cleaned book it was; clean the corpus again" in said
    rows = made / "examples/rte.jsonl"
    said = damaged(rows, lambda data: data + data.splitlines(True)[0].replace(b"dev/0", b"dev/9"))
    assert "rte.npz: made with another examples" in said
    facts = made / "corpus/corpus.json"
    said = damaged(facts, lambda data: data.replace(b'"tokenizer": "', b'"tokenizer": "0'))
    assert "rte.npz: made with another tokenizer" in said
    assert not list(tmp_path.iterdir())


def test_the_program_tells_what_it_found(made, tmp_path):
    command = [sys.executable, "-m", "gpt1.contamination", "rte", "cola"]
    for option, path in (("corpus", "corpus/corpus.json"), ("clean", "corpus/clean.json")):
        command += [f"--{option}", str(made / path)]
    for option in ("examples", "encoded"):
        command += [f"--{option}", str(made / option)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "rte: dev 3 rows, contaminated 2 by pieces, 2 by words" in done.stdout
    assert (tmp_path / "cola.json").is_file()
