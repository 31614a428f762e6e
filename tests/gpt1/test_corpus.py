"""Books to token files: what is in them, restarts, and every bad input."""

import hashlib
import json
import subprocess
import sys

import numpy as np
import pytest

from gpt1 import corpus
from gpt1.text import books, sources, vocabulary
from gpt1.text import normalise as text
from gpt1.text import tokenizer as bpe
from gpt1.text.parallel import Share
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import open_tokens
from tasks.common.errors import InputError
from tests.gpt1 import plain

BOOKS = {
    "a.txt": "It was the best of times.\n\nIt wasn't   the worst…\r\n“Well,” she said.",
    "b.txt": "The dog's bowl — the cat's mat.\n",
    "genre/c.txt": "\ufeffÉtude in C;\tthe café.\n\n\n",
    "d.txt": "The end.\nThe very end.\n",
}


@pytest.fixture
def folder(tmp_path):
    return write_books(tmp_path / "books", BOOKS)


def write_books(folder, found):
    for name, content in found.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return folder


def make(folder, out, heldout=("b.txt",), threads=1):
    """The whole way to the token files; returns the tokenizer."""
    corpus.clean(folder, out / "clean", list(heldout), threads)
    counts = bpe.read_counts(out / "words.tsv")
    vocabulary.save(out / "tokenizer", *bpe.train(counts, 20))
    corpus.tokens(out / "clean.json", out / "tokenizer", out, threads)
    return Tokenizer.load(out / "tokenizer")


def test_token_files_hold_the_plain_paths_words_book_by_book(folder, tmp_path):
    out = tmp_path / "out"
    tokenizer = make(folder, out)
    other = plain.Plain(*(out / "tokenizer" / name for name in vocabulary.FILES))
    facts = json.loads((out / "corpus.json").read_text())
    assert facts["tokenizer"] == tokenizer.digest
    for split, names in (("train", ["a.txt", "d.txt", "genre/c.txt"]), ("heldout", ["b.txt"])):
        told = facts["splits"][split]
        found = open_tokens(out / "corpus.json", split)
        assert isinstance(found, np.memmap) and found.dtype == np.dtype("<u2")
        assert len(found) == told["tokens"]
        assert hashlib.sha256((out / f"{split}.bin").read_bytes()).hexdigest() == told["sha256"]
        assert [book["name"] for book in told["books"]] == names
        for book in told["books"]:
            words = [*plain.words(BOOKS[book["name"]]), "\n"]
            ids = found[book["start"] : book["start"] + book["tokens"]]
            assert ids.tolist() == other.encode_words(words)
            assert ids[-1] == tokenizer.newline_id
    assert not (out / ".parts").exists()


def test_cleaned_books_and_counts(folder, tmp_path):
    out = tmp_path / "out"
    books.clean(folder, out / "clean", ["b.txt"])
    cleaned = (out / "clean" / "a.txt").read_text(encoding="utf-8")
    assert cleaned == (
        'it was the best of times .\nit was n\'t the worst ...\n" well , " she said .\n'
    )
    counts = bpe.read_counts(out / "words.tsv")
    assert counts["the"] == 5  # none of the held-out book's two
    assert "bowl" not in counts and "\n" not in counts
    lines = (out / "words.tsv").read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: (-int(line.split("\t")[1]), line.split("\t")[0]))
    facts = json.loads((out / "clean.json").read_text())["books"]
    assert {book["name"]: book["heldout"] for book in facts} == {n: n == "b.txt" for n in BOOKS}
    assert [book["lines"] for book in facts] == [3, 1, 2, 1]


def test_one_process_and_two_write_the_same_bytes(folder, tmp_path, root):
    make(folder, tmp_path / "one")
    two = tmp_path / "two"
    settings = json.dumps({"heldout": ["b.txt"]})
    run(root, "clean", "--folder", folder, "--settings", settings, "--out", two / "clean")
    arguments = ["--clean", two / "clean.json", "--tokenizer", tmp_path / "one" / "tokenizer"]
    run(root, "tokens", *arguments, "--out", two)
    for name in ("words.tsv", "clean.json", "train.bin", "heldout.bin", "corpus.json"):
        assert (two / name).read_bytes() == (tmp_path / "one" / name).read_bytes(), name


def run(root, *arguments, threads=2):
    command = [sys.executable, "-m", "gpt1.corpus", *arguments, "--threads", threads]
    done = subprocess.run(list(map(str, command)), cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_only_what_changed_is_cleaned_again(folder, tmp_path, monkeypatch):
    out = tmp_path / "out"
    cleaned = []
    original = text.clean

    def counted(*arguments):
        cleaned.append(1)
        return original(*arguments)

    def clean():
        cleaned.clear()
        books.clean(folder, out / "clean", ["b.txt"])
        return len(cleaned), (out / "clean.json").read_bytes(), (out / "words.tsv").read_bytes()

    monkeypatch.setattr(text, "clean", counted)
    times, *first = clean()
    assert times == 4
    assert clean() == (0, *first)

    # Stopped in the middle: one book not written, one without its record, one cut off.
    (out / "clean" / "a.txt").unlink()
    (out / "clean" / "b.txt.json").unlink()
    (out / "clean" / "d.txt").write_text("the")
    assert clean() == (3, *first)

    (folder / "d.txt").write_text("Another end.\n")
    assert clean()[0] == 1
    assert "another" in bpe.read_counts(out / "words.tsv")

    monkeypatch.setattr(books, "_cleaning", lambda: "other code")
    assert clean()[0] == 4


def test_only_books_that_are_not_yet_encoded_are(folder, tmp_path, monkeypatch):
    out = tmp_path / "out"
    tokenizer = make(folder, out)
    expected = (out / "train.bin").read_bytes()
    encoded = []
    original = Tokenizer.encode_words

    def stopped(self, words):
        if len(encoded) == 2:
            raise KeyboardInterrupt
        encoded.append(1)
        return original(self, words)

    monkeypatch.setattr(Tokenizer, "encode_words", stopped)
    with pytest.raises(KeyboardInterrupt):
        corpus.tokens(out / "clean.json", out / "tokenizer", out)
    assert len(list((out / ".parts").iterdir())) == 2
    monkeypatch.setattr(Tokenizer, "encode_words", lambda *a: encoded.append(1) or original(*a))
    corpus.tokens(out / "clean.json", out / "tokenizer", out)
    assert len(encoded) == 4 and (out / "train.bin").read_bytes() == expected

    # Another tokenizer has use for none of them.
    corpus.tokens_share(out / "clean.json", out / "tokenizer", out, Share(1, 1))
    vocabulary.save(out / "tokenizer", *bpe.train(bpe.read_counts(out / "words.tsv"), 5))
    corpus.tokens(out / "clean.json", out / "tokenizer", out)
    facts = json.loads((out / "corpus.json").read_text())
    assert facts["tokenizer"] == Tokenizer.load(out / "tokenizer").digest != tokenizer.digest
    assert (out / "train.bin").read_bytes() != expected


@pytest.mark.parametrize("n", [1, 3, 7])
def test_any_number_of_shards_makes_the_same_files(n, folder, tmp_path, root):
    make(folder, tmp_path / "whole")
    cut = tmp_path / "cut"
    for number in range(1, n + 1):
        books.clean_share(folder, cut / "clean", Share(number, n))
    corpus.clean(folder, cut / "clean", ["b.txt"])
    tokenizer = tmp_path / "whole" / "tokenizer"
    for number in range(1, n + 1):
        corpus.tokens_share(cut / "clean.json", tokenizer, cut, Share(number, n))
    corpus.tokens(cut / "clean.json", tokenizer, cut)
    for name in ("words.tsv", "clean.json", "train.bin", "heldout.bin", "corpus.json"):
        assert (cut / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_a_share_is_asked_for_on_the_command_line(folder, tmp_path, root):
    settings = json.dumps({"heldout": ["b.txt"], "source": "folder"})
    out = tmp_path / "clean"
    arguments = ("clean", "--folder", folder, "--settings", settings, "--out", out)
    assert "2 books" in run(root, *arguments, "--share", "2/2", threads=1)
    assert sorted(path.name for path in out.rglob("*.txt")) == ["b.txt", "c.txt"]
    for wrong in ("0/2", "3/2", "2", "1/0", "a/b"):
        with pytest.raises(InputError, match="--share"):
            corpus._share(wrong)


def test_a_book_that_is_gone_leaves_nothing_behind(folder, tmp_path):
    out = tmp_path / "out"
    books.clean(folder, out / "clean", ["b.txt"])
    (out / "clean" / "notes.txt").write_text("not ours")
    (out / "clean" / ".a.txt.k1ll3d").write_text("hal")
    (folder / "d.txt").unlink()
    books.clean(folder, out / "clean", ["b.txt"])
    found = sorted(path.name for path in (out / "clean").iterdir())
    assert found == ["a.txt", "a.txt.json", "b.txt", "b.txt.json", "genre", "notes.txt"]


def test_held_out_by_number_depends_on_names_alone(folder, tmp_path):
    names = ["a.txt", "b.txt", "d.txt", "genre/c.txt"]
    pieces = sources.pieces("folder", folder)
    assert [piece.name for piece in pieces] == names
    held = books._choose(pieces, 2, folder)
    digests = sorted((hashlib.sha256(name.encode()).hexdigest(), name) for name in names)
    assert held == {name for _, name in digests[:2]}
    assert books._choose(pieces, 1, folder) < held < books._choose(pieces, 3, folder)


def test_books_come_in_blocks_whatever_their_lines(tmp_path, monkeypatch):
    """A book is never held as a whole: what ftfy and spaCy are given stays small."""
    seen = []
    original = text._split
    monkeypatch.setattr(text, "_split", lambda fixed: seen.append(len(fixed)) or original(fixed))
    lines = "Some words of a line.\n" * 20_000
    folder = write_books(tmp_path / "books", {"a.txt": lines, "b.txt": "b"})
    books.clean(folder, tmp_path / "out" / "clean", ["b.txt"])
    assert max(seen) < (1 << 16) + 22 and sum(seen) == len(lines) + 1


@pytest.mark.parametrize(
    ("heldout", "message"),
    [
        (0, "holds out no book"),
        (-1, "holds out no book"),
        ([], "holds out no book"),
        (4, "leaves none of the 4 books"),
        (9, "leaves none of the 4 books"),
        (sorted(BOOKS), "leaves none of the 4 books"),
        (["b.txt", "z.txt"], "'z.txt' is not a book of"),
    ],
)
def test_wrong_held_out_books_are_refused(folder, tmp_path, heldout, message):
    with pytest.raises(InputError, match=message) as error:
        books.clean(folder, tmp_path / "out" / "clean", heldout)
    assert "\n" not in str(error.value) and not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", [0, 5, 2**20 - 1, 2**20 + 3])
def test_a_book_that_is_not_utf8_is_named_with_the_byte(folder, tmp_path, place):
    (folder / "z.txt").write_bytes(b"a" * place + b"\xe9t\xe9")
    with pytest.raises(InputError, match=f"z.txt: not UTF-8 at byte {place:,} "):
        books.clean(folder, tmp_path / "out" / "clean", 1)
    assert not (tmp_path / "out").exists()


def test_a_book_cut_off_within_a_character_is_named(folder, tmp_path):
    (folder / "z.txt").write_bytes(b"a" * (2**20 - 1) + b"\xe4\xba")
    with pytest.raises(InputError, match=f"z.txt: not UTF-8 at byte {2**20 - 1:,} "):
        books.clean(folder, tmp_path / "out" / "clean", 1)


def test_wrong_folders_are_refused(folder, tmp_path):
    out = tmp_path / "out" / "clean"
    with pytest.raises(InputError, match="no such folder"):
        books.clean(tmp_path / "nowhere", out, 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no .txt file"):
        books.clean(tmp_path / "empty", out, 1)
    with pytest.raises(InputError, match="lies in the folder of the books"):
        books.clean(folder, folder / "clean", 1)
    assert not out.exists()


def test_books_without_words_are_refused(tmp_path):
    folder = write_books(tmp_path / "books", {"a.txt": "\n \n", "b.txt": "word\n"})
    with pytest.raises(InputError, match="the training books have no words"):
        books.clean(folder, tmp_path / "clean", ["b.txt"])
    with pytest.raises(InputError, match="the held-out books have no words"):
        books.clean(folder, tmp_path / "clean", ["a.txt"])
    assert not (tmp_path / "words.tsv").exists() and not (tmp_path / "clean.json").exists()


def test_a_cleaned_book_that_changed_is_refused(folder, tmp_path):
    out = tmp_path / "out"
    make(folder, out)
    (out / "corpus.json").unlink()
    (out / "clean" / "a.txt").write_text("something else\n")
    with pytest.raises(InputError, match="a.txt: not the cleaned book it was"):
        corpus.tokens(out / "clean.json", out / "tokenizer", out)
    assert not (out / "corpus.json").exists()


def test_a_vocabulary_that_16_bits_cannot_hold_is_refused(folder, tmp_path):
    out = tmp_path / "out"
    make(folder, out)
    characters = [chr(0x4E00 + i) for i in range(32_768)]
    ends = [c + "</w>" for c in characters]
    vocabulary.save(out / "tokenizer", ["<unk>", *characters, *ends, "\n</w>"], [])
    with pytest.raises(InputError, match="65,538 pieces and 3 special tokens are too many"):
        corpus.tokens(out / "clean.json", out / "tokenizer", out)


def test_open_tokens_refuses_what_does_not_fit(folder, tmp_path):
    out = tmp_path / "out"
    make(folder, out)
    with pytest.raises(InputError, match="'test' is missing"):
        open_tokens(out / "corpus.json", "test")
    content = (out / "train.bin").read_bytes()
    (out / "train.bin").write_bytes(content[:-1])
    with pytest.raises(InputError, match=f"{len(content) - 1} bytes, expected {len(content)}"):
        open_tokens(out / "corpus.json", "train")
    (out / "train.bin").unlink()
    with pytest.raises(InputError, match="train.bin: 0 bytes"):
        open_tokens(out / "corpus.json", "train")
    with pytest.raises(InputError, match="no such file"):
        open_tokens(tmp_path / "none.json", "train")
    (out / "corpus.json").write_text("[]")
    with pytest.raises(InputError, match="no split"):
        open_tokens(out / "corpus.json", "train")


@pytest.mark.parametrize(
    "settings",
    [
        *("{", "[]", "{}", '{"heldout": "a"}', '{"heldout": true}', '{"heldout": 1, "x": 2}'),
        '{"heldout": 1, "source": null}',
    ],
)
def test_wrong_settings_are_refused(settings):
    with pytest.raises(InputError, match="--settings"):
        corpus._settings(settings)


def test_a_mistake_seen_in_another_process_is_told_in_one_line(folder, tmp_path, root):
    out = tmp_path / "out"
    make(folder, out)
    (out / "clean" / "a.txt").unlink()
    arguments = ["--clean", out / "clean.json", "--tokenizer", out / "tokenizer", "--out", out]
    command = [sys.executable, "-m", "gpt1.corpus", "tokens", *arguments, "--threads", "2"]
    done = subprocess.run(list(map(str, command)), cwd=root, capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert "a.txt: not the cleaned book it was" in done.stderr
