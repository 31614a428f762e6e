"""Corpora of the hub: their rows as documents, what is held out, and files that do not fit."""

import json
from collections import Counter

import pytest

from gpt1 import corpus
from gpt1.corpus import normalise_documents
from gpt1.settings import CorpusSettings
from gpt1.text import sources
from gpt1.text import tokenizer as bpe
from tasks import hub as hubs
from tasks.common.errors import InputError
from tests.gpt1.examples import write_parquet
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
LINES = ("books_large_p1.txt", "books_large_p2.txt")  # of bookcorpus_text


@pytest.fixture(autouse=True)
def small_documents(monkeypatch):
    monkeypatch.setattr(sources, "ROWS", 3)


def settings(source, heldout=1, **options):
    """The settings of a stated subset; at PIN where the suite pins no commit."""
    hub = hubs.corpus(source)
    revision = None if hub.revision else PIN
    given = {"min_rows": {split: 1 for split in hub.rows}, "revision": revision}
    return CorpusSettings(source=source, heldout=heldout, **given | options)


def snapshot(folder, source):
    """A snapshot of `source`; row i of a file says so."""
    for name, n in FILES[source].items():
        split = "train" if "train" in name else name.split("/")[1].split("-")[0]
        write_parquet(folder / name, [f"the {split} row {i} ." for i in range(n)])
    manifest(folder, source)
    return folder


def listed(folder, source):
    manifest(folder, source)
    return sources.list_documents(folder, settings(source))


def texts(documents, source, cache):
    """The normalised documents by their names."""
    rows = normalise_documents(documents, source, cache, threads=1)
    return dict(zip(rows["name"], rows["text"], strict=True))


@pytest.mark.parametrize("source", FILES)
def test_every_row_is_in_one_document_and_in_its_place(source, tmp_path):
    documents = listed(snapshot(tmp_path / "raw", source), source)
    assert all(document.rows <= 3 for document in documents)
    assert documents[0].name == f"{min(FILES[source])}/00000.txt"
    by_name = texts(documents, source, tmp_path)
    rows = [row for document in documents for row in by_name[document.name].splitlines()]
    left_out = 2 if source == "wikitext103" else 0  # the validation split
    assert len(rows) == sum(FILES[source].values()) - left_out
    assert any("validation" in row for row in rows) == (source == "tinystories")
    assert Counter(row for row in rows if " train " in row) == Counter(
        f"the train row {i} ."
        for name, n in FILES[source].items()
        if "train" in name
        for i in range(n)
    )
    for document in documents:
        assert (" train " in by_name[document.name]) != document.heldout


def test_lines_of_a_text_file_fall_into_one_document_each(tmp_path):
    lines = [f"sentence {i} é\n" if i % 3 else f"{'long ' * 12}{i}\n" for i in range(40)]
    (tmp_path / "raw").mkdir()
    for name in LINES:
        (tmp_path / "raw" / name).write_text("".join(lines) + "the end", encoding="utf-8")
    documents = listed(tmp_path / "raw", "bookcorpus_text")
    assert len(documents) == 2 * 14
    by_name = texts(documents, "bookcorpus_text", tmp_path)
    assert "".join(by_name.values()) == ("".join(lines) + "the end\n") * 2


def test_marks_of_wikitexts_tokenizer_are_undone(tmp_path):
    folder = snapshot(tmp_path / "raw", "wikitext103")
    path = folder / "wikitext-103-raw-v1/train-00000-of-00001.parquet"
    write_parquet(path, ["", " = Title = \n", " A well @-@ known 1 @,@ 500 @.@ 5 @ home \n"])
    train = [d for d in listed(folder, "wikitext103") if not d.heldout]
    (text,) = texts(train, "wikitext103", tmp_path).values()
    assert text == "= title =\na well - known 1 , 500.5 @ home\n"


def test_the_official_split_is_held_out_and_no_other(tmp_path):
    folder, out = snapshot(tmp_path / "raw", "tinystories"), tmp_path / "out"
    corpus.documents(folder, settings("tinystories", "official"), out / "documents")
    facts = json.loads((out / "documents.json").read_text())
    assert facts["source"] == "tinystories"
    assert facts["rows"] == {
        "train": {"found": 4, "published": 2_119_719},
        "dev": {"found": 2, "published": 21_990},
    }
    held = {d["name"].split("/")[1].split("-")[0]: d["heldout"] for d in facts["documents"]}
    assert held == {"train": False, "validation": True}
    counts = bpe.read_words(out / "documents")
    assert counts["train"] == 4 and "validation" not in counts


def test_tokenised_sentences_are_lower_cased_and_not_split_again(tmp_path):
    """spaCy would make "i d" of "id", where the publisher's tokenizer left a word."""
    row = "`` I ca n't find my id , '' he said -- half-dead ..."
    for name in FILES["bookcorpus"]:
        write_parquet(tmp_path / "raw" / name, [row] * 3)
    document = listed(tmp_path / "raw", "bookcorpus")[0]
    (text,) = texts([document], "bookcorpus", tmp_path).values()
    assert text == '" i ca n\'t find my id , " he said -- half - dead ...\n' * 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-20]), "not a whole parquet file"),
        (lambda path: write_parquet(path, ["a"], column="b"), "no text column 'text'; found b"),
        (lambda path: write_parquet(path, ["a", None]), "row 1 without text"),
    ],
)
def test_a_file_that_is_not_right_is_named(change, message, tmp_path):
    folder, out = snapshot(tmp_path / "raw", "bookcorpus"), tmp_path / "out"
    change(folder / "plain_text/train-00000-of-00002.parquet")
    manifest(folder, "bookcorpus")
    with pytest.raises(InputError, match=f"00000-of-00002.parquet: {message}"):
        corpus.documents(folder, settings("bookcorpus"), out / "documents")
    assert not (out.exists() and list(out.iterdir()))


def test_changed_or_unexpected_files_are_refused_before_anything_is_normalised(tmp_path):
    folder, out = snapshot(tmp_path / "raw", "bookcorpus"), tmp_path / "out" / "documents"

    def refused(**options):
        given = CorpusSettings(
            source="bookcorpus", heldout=1, **{"min_rows": {"train": 1}} | options
        )
        with pytest.raises(InputError) as caught:
            corpus.documents(folder, given, out)
        assert not out.parent.exists() and "\n" not in str(caught.value)
        return str(caught.value)

    corpus.documents(folder, settings("bookcorpus"), tmp_path / "right" / "documents")
    facts = json.loads((tmp_path / "right" / "documents.json").read_text())
    hub = hubs.corpus("bookcorpus")
    assert facts["origin"] == {"repo": hub.repo, "revision": hub.revision}

    assert "10 rows in 'train' of bookcorpus, expected 74,004,228; fetch it" in refused(
        min_rows=None
    )
    assert "expected 11 to 74,004,228; fetch it again" in refused(min_rows={"train": 11})
    assert "no published number of rows of 'test'" in refused(min_rows={"test": 1})

    path = folder / "plain_text/train-00000-of-00002.parquet"
    content = path.read_bytes()
    place = content.index(b"row 3")
    path.write_bytes(content[:place] + b"raw 3" + content[place + 5 :])
    assert "train-00000-of-00002.parquet: not the file that manifest.json describes" in refused()
