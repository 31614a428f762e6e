"""Corpora of the hub: their rows as pieces, what is held out, and files that do not fit."""

import json
from collections import Counter

import pyarrow
import pytest
from pyarrow import parquet

from gpt1 import corpus
from gpt1.text import books, sources
from gpt1.text import tokenizer as bpe
from gpt1.text.parallel import Share
from tasks import catalogue
from tasks.common.errors import InputError
from tests.tasks.hub_files import PIN, manifest

FILES = {
    "bookcorpus": {
        "plain_text/train-00000-of-00002.parquet": 7,
        "plain_text/train-00001-of-00002.parquet": 3,
    },
    "wikitext103": {
        f"wikitext-103-raw-v1/{split}-00000-of-00001.parquet": rows
        for split, rows in (("train", 5), ("validation", 2), ("test", 2))
    },
    "lm1b": {"plain_text/train/0000.parquet": 4, "plain_text/test/0000.parquet": 2},
    "tinystories": {
        "data/train-00000-of-00001-2d5a14.parquet": 4,
        "data/validation-00000-of-00001-869c89.parquet": 2,
    },
}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(sources, "ROWS", 3)
    monkeypatch.setattr(sources, "BYTES", 40)


def write(path, rows, group=2, column="text"):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.table({column: rows}), path, row_group_size=group)


def clean(folder, out, heldout, source, **options):
    """As a run does with what was fetched, stated to be a subset."""
    manifest(folder, source)
    known = catalogue.entry(source).rows
    least = {split: 1 for split in known}
    pin = None if catalogue.entry(source).revision else PIN
    books.clean(folder, out, heldout, source=source, revision=pin, min_rows=least, **options)


def snapshot(folder, source):
    """A snapshot of `source`; row i of a file says so."""
    for name, n in FILES[source].items():
        split = "train" if "train" in name else name.split("/")[1].split("-")[0]
        write(folder / name, [f"the {split} row {i} ." for i in range(n)])
    return folder


def test_the_files_are_those_of_the_catalogue(tmp_path):
    """So that an edited pattern in the catalogue cannot leave these tests behind."""
    assert {*FILES, "bookcorpus_text"} == {entry.name for entry in catalogue.CORPORA}
    for source, files in FILES.items():
        folder = snapshot(tmp_path / source, source)
        entry = catalogue.entry(source)
        assert {p for pattern in entry.patterns for p in folder.glob(pattern)} == {
            folder / name for name in files
        }


@pytest.mark.parametrize("source", FILES)
def test_every_row_is_in_one_piece_and_in_its_place(source, tmp_path):
    pieces = sources.pieces(source, snapshot(tmp_path, source))
    assert all(piece.stop - piece.start <= 3 for piece in pieces)
    rows = [row for piece in pieces for row in "".join(sources.blocks(piece)).splitlines()]
    left_out = 2 if source == "wikitext103" else 0  # the validation split
    assert len(rows) == sum(FILES[source].values()) - left_out
    assert any("validation" in row for row in rows) == (source == "tinystories")
    assert Counter(row for row in rows if " train " in row) == Counter(
        f"the train row {i} ."
        for name, n in FILES[source].items()
        if "train" in name
        for i in range(n)
    )
    for piece in pieces:
        assert all((" train " in block) != piece.heldout for block in sources.blocks(piece))


@pytest.mark.parametrize("group", [1, 2, 100])
def test_pieces_do_not_depend_on_row_groups(group, tmp_path):
    for name in FILES["lm1b"]:
        write(tmp_path / name, [f"row {i}" for i in range(8)], group)
    found = sources.pieces("lm1b", tmp_path)
    train = [piece for piece in found if not piece.heldout]
    assert ["".join(sources.blocks(piece)) for piece in train] == [
        "row 0\nrow 1\nrow 2\n",
        "row 3\nrow 4\nrow 5\n",
        "row 6\nrow 7\n",
    ]
    assert train[1].name == "plain_text/train/0000.parquet/00001.txt"


def test_lines_of_a_text_file_fall_into_one_piece_each(tmp_path):
    lines = [f"sentence {i} é\n" if i % 3 else f"{'long ' * 12}{i}\n" for i in range(40)]
    for name in ("books_large_p1.txt", "books_large_p2.txt"):
        (tmp_path / name).write_text("".join(lines) + "the end", encoding="utf-8")
    found = sources.pieces("bookcorpus_text", tmp_path)
    assert len(found) > 40
    texts = ["".join(sources.blocks(piece)) for piece in found]
    assert "".join(texts) == ("".join(lines) + "the end\n") * 2


def test_marks_of_wikitexts_tokenizer_are_taken_back(tmp_path):
    folder = snapshot(tmp_path, "wikitext103")
    path = folder / "wikitext-103-raw-v1/train-00000-of-00001.parquet"
    write(path, ["", " = Title = \n", " A well @-@ known 1 @,@ 500 @.@ 5 @ home \n"])
    train = next(p for p in sources.pieces("wikitext103", folder) if not p.heldout)
    assert "".join(sources.blocks(train)).splitlines()[-2] == " A well-known 1,500.5 @ home "


def test_the_official_split_is_held_out_and_no_other(tmp_path):
    folder, out = snapshot(tmp_path / "raw", "tinystories"), tmp_path / "out"
    clean(folder, out / "clean", "official", source="tinystories")
    facts = json.loads((out / "clean.json").read_text())
    assert facts["source"] == "tinystories"
    assert facts["rows"] == {
        "train": {"found": 4, "published": 2_119_719},
        "dev": {"found": 2, "published": 21_990},
    }
    held = {book["name"].split("/")[1].split("-")[0]: book["heldout"] for book in facts["books"]}
    assert held == {"train": False, "validation": True}
    counts = bpe.read_counts(out / "words.tsv")
    assert counts["train"] == 4 and "validation" not in counts
    with pytest.raises(InputError, match="set apart is held out: give official"):
        clean(folder, out / "clean", 1, source="tinystories")
    folder = snapshot(tmp_path / "books", "bookcorpus")
    with pytest.raises(InputError, match="nothing in it was set apart .* give a number"):
        clean(folder, out / "clean", "official", source="bookcorpus")


def test_tokenised_sentences_are_not_split_again(tmp_path):
    """spaCy would make "i d" of "id", where the publisher's tokenizer left a word."""
    row = "`` i ca n't find my id , '' he said -- half-dead ..."
    for name in FILES["bookcorpus"]:
        write(tmp_path / "raw" / name, [row] * 3)
    clean(tmp_path / "raw", tmp_path / "out" / "clean", 1, source="bookcorpus")
    name = next(iter(FILES["bookcorpus"])) + "/00000.txt"
    cleaned = (tmp_path / "out" / "clean" / name).read_text()
    assert cleaned == '" i ca n\'t find my id , " he said -- half - dead ...\n' * 3


def test_a_hub_corpus_becomes_the_same_tokens_in_any_number_of_shards(tmp_path):
    folder, out = snapshot(tmp_path / "raw", "wikitext103"), tmp_path / "one"
    clean(folder, out / "clean", "official", source="wikitext103")
    bpe.vocabulary.save(out / "tokenizer", *bpe.train(bpe.read_counts(out / "words.tsv"), 20))
    corpus.tokens(out / "clean.json", out / "tokenizer", out)
    cut = tmp_path / "cut"
    manifest(folder, "wikitext103")
    for number in (3, 1, 2):
        books.clean_share(folder, cut / "clean", Share(number, 3), source="wikitext103")
    assert not (cut / "clean.json").exists()
    clean(folder, cut / "clean", "official", source="wikitext103")
    for number in (2, 1):
        corpus.tokens_share(cut / "clean.json", out / "tokenizer", cut, Share(number, 2))
    assert not (cut / "train.bin").exists()
    corpus.tokens(cut / "clean.json", out / "tokenizer", cut)
    for name in ("words.tsv", "clean.json", "train.bin", "heldout.bin", "corpus.json"):
        assert (cut / name).read_bytes() == (out / name).read_bytes(), name
    assert not (cut / ".parts").exists()


def test_only_a_changed_piece_is_cleaned_again(tmp_path, monkeypatch):
    folder, out = snapshot(tmp_path / "raw", "bookcorpus"), tmp_path / "out" / "clean"
    clean(folder, out, 1, source="bookcorpus")
    cleaned = []
    original = books.text.clean
    monkeypatch.setattr(books.text, "clean", lambda *a: cleaned.append(1) or original(*a))
    clean(folder, out, 1, source="bookcorpus")
    assert not cleaned
    rows = [f"the train row {i} ." for i in range(7)]
    write(folder / "plain_text/train-00000-of-00002.parquet", [*rows[:-1], "another"])
    clean(folder, out, 1, source="bookcorpus")
    assert len(cleaned) == 1


def break_files(folder, how):
    path = folder / "plain_text/train-00000-of-00002.parquet"
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif how == "damaged":
        content = path.read_bytes()
        path.write_bytes(content[:4] + b"\xff" * 60 + content[64:])
    elif how == "column":
        write(path, ["a"], column="sentence")
    elif how == "numbers":
        write(path, [1, 2])
    elif how == "null":
        write(path, ["a", None])
    elif how == "empty":
        for other in path.parent.iterdir():
            other.unlink()


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("gone", "1 files where their names tell of 2; fetch the corpus again"),
        ("cut", "00000-of-00002.parquet: not a whole parquet file"),
        ("damaged", "00000-of-00002.parquet: damaged after row 0"),
        ("column", "no column 'text' of text; found sentence; is this bookcorpus"),
        ("numbers", "no column 'text' of text; found text; is this bookcorpus"),
        ("null", "a row without text near"),
        ("empty", "no such file; fetch the corpus again"),
    ],
)
def test_files_that_are_not_right_are_told(how, message, tmp_path):
    folder = snapshot(tmp_path / "raw", "bookcorpus")
    break_files(folder, how)
    with pytest.raises(InputError, match=message) as error:
        clean(folder, tmp_path / "out" / "clean", 1, source="bookcorpus")
    assert "\n" not in str(error.value) and not (tmp_path / "out").exists()


def test_text_that_is_not_utf8_or_has_no_lines_is_told(tmp_path, monkeypatch):
    for name in ("books_large_p1.txt", "books_large_p2.txt"):
        (tmp_path / name).write_bytes(b"a line\n" * 10 + b"caf\xe9\n")
    with pytest.raises(InputError, match=r"p1.txt: not UTF-8 at byte 73 \(0xe9\)"):
        clean(tmp_path, tmp_path / ".." / "out", 1, source="bookcorpus_text")
    monkeypatch.setattr(sources, "LONGEST_LINE", 8)
    with pytest.raises(InputError, match="a line of over"):
        (tmp_path / "books_large_p1.txt").write_bytes(b"a long line\n" * 10)
        clean(tmp_path, tmp_path / ".." / "out", 1, source="bookcorpus_text")


def test_a_source_that_is_unknown_is_told(tmp_path):
    with pytest.raises(InputError, match="no data set 'bible' in the catalogue"):
        books.clean(tmp_path, tmp_path / ".." / "out", 1, source="bible")


def test_what_was_not_fetched_so_is_told_before_anything_is_cleaned(tmp_path):
    folder, out = snapshot(tmp_path / "raw", "bookcorpus"), tmp_path / "out" / "clean"
    arguments = {"source": "bookcorpus", "min_rows": {"train": 1}}

    def told(share=False, **other):
        with pytest.raises(InputError) as caught:
            if share:
                books.clean_share(folder, out, Share(1, 2), source="bookcorpus")
            else:
                books.clean(folder, out, 1, **arguments | other)
        assert not out.parent.exists() and "\n" not in str(caught.value)
        return str(caught.value)

    assert told().endswith("manifest.json: no such file; fetch bookcorpus first")
    manifest(folder, "bookcorpus")
    books.clean(folder, tmp_path / "right" / "clean", 1, **arguments)
    facts = json.loads((tmp_path / "right" / "clean.json").read_text())
    entry = catalogue.entry("bookcorpus")
    assert (facts["repo"], facts["revision"]) == (entry.repo, entry.revision)

    assert "revision is 'd904700c5e5d" in told(revision=PIN)
    assert "10 rows in 'train' of bookcorpus, expected 74,004,228; fetch it" in told(min_rows=None)
    assert "expected 11 to 74,004,228; fetch it again" in told(min_rows={"train": 11})
    assert "no published number of rows of 'test'" in told(min_rows={"test": 1})

    path = folder / "plain_text/train-00000-of-00002.parquet"
    content = path.read_bytes()
    place = content.index(b"row 3")
    path.write_bytes(content[:place] + b"raw 3" + content[place + 5 :])
    assert "train-00000-of-00002.parquet: not as it was fetched" in told()
    write(path, [f"the train row {i} ." for i in range(8)])
    assert "train-00000-of-00002.parquet: not as it was fetched" in told(share=True)


def test_a_file_beside_what_was_fetched_is_told(tmp_path):
    folder, out = snapshot(tmp_path / "raw", "lm1b"), tmp_path / "out" / "clean"
    manifest(folder, "lm1b")
    write(folder / "plain_text/train/0001.parquet", ["the stray row"])
    with pytest.raises(InputError, match="train/0001.parquet: is not in manifest.json"):
        books.clean(folder, out, "official", source="lm1b", min_rows={"train": 1, "test": 1})
    with pytest.raises(InputError, match="train/0001.parquet: is not in manifest.json"):
        books.clean_share(folder, out, Share(1, 2), source="lm1b")
    assert not out.exists()


def test_books_in_a_folder_have_no_origin_and_any_number(tmp_path):
    assert sources.origin("folder", tmp_path, None, whole=True) == {}
    assert sources.rows("folder", tmp_path, [], {}) == {}
