"""Books to token files: what is in them, shards, restarts, and every bad input."""

import hashlib
import json
import os
import signal
from collections import Counter

import datasets
import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from gpt1 import corpus
from gpt1.corpus import sentences, shuffle_sentences, shuffle_words
from gpt1.settings import CorpusSettings
from gpt1.streams import stream
from gpt1.text import sources, vocabulary
from gpt1.text import tokenizer as bpe
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import open_tokens
from tasks.common.arrow import read_documents
from tasks.common.errors import InputError
from tests.gpt1.text import naive_bpe
from tests.support.programs import call, refusal, refused
from tests.tasks.hub_files import manifest

BOOKS = {
    "a.txt": "It was the best of times.\n\nIt wasn't   the worst…\r\n“Well,” she said.",
    "b.txt": "The dog's bowl — the cat's mat.\n",
    "genre/c.txt": "\ufeffÉtude in C;\tthe café.\n\n\n",
    "d.txt": "The end.\nThe very end.\n",
}

RESULTS = ("words.tsv", "documents.json", "train.bin", "heldout.bin", "corpus.json")


@pytest.fixture
def folder(tmp_path):
    return write_books(tmp_path / "books", BOOKS)


def write_books(folder, books):
    for name, content in books.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    return folder


def make_documents(folder, out, heldout=("b.txt",), threads=1):
    settings = CorpusSettings(heldout=heldout if isinstance(heldout, int) else list(heldout))
    corpus.documents(folder, settings, out / "documents", threads)
    return out / "documents"


def make(folder, out, heldout=("b.txt",)):
    """The whole way to the token files; returns the tokenizer."""
    documents = make_documents(folder, out, heldout)
    counts = bpe.read_words(documents)
    vocabulary.save(out / "tokenizer", *bpe.train(counts, 20))
    corpus.tokens(documents, out / "tokenizer", out)
    return Tokenizer.load(out / "tokenizer")


def test_token_files_hold_the_naive_paths_words_document_by_document(folder, tmp_path):
    out = tmp_path / "out"
    tokenizer = make(folder, out)
    naive = naive_bpe.NaiveTokenizer(*(out / "tokenizer" / name for name in vocabulary.FILES))
    facts = json.loads((out / "corpus.json").read_text())
    assert facts["tokenizer"] == tokenizer.digest and facts["corpus"] == "books"
    for split, names in (("train", ["a.txt", "d.txt", "genre/c.txt"]), ("heldout", ["b.txt"])):
        of_split = facts["splits"][split]
        stream = open_tokens(out / "corpus.json", split)
        assert isinstance(stream, np.memmap) and stream.dtype == np.dtype("<u2")
        assert len(stream) == of_split["tokens"]
        digest = hashlib.sha256((out / f"{split}.bin").read_bytes()).hexdigest()
        assert digest == of_split["sha256"]
        assert [document["name"] for document in of_split["documents"]] == names
        given = [BOOKS[name].replace("\r\n", "\n") for name in names]
        assert of_split["source_bytes"] == sum(len(text.encode()) for text in given)
        for document in of_split["documents"]:
            words = [*naive_bpe.words(BOOKS[document["name"]]), "\n"]
            ids = stream[document["start"] : document["start"] + document["tokens"]]
            assert ids.tolist() == naive.encode_words(words)
            assert ids[-1] == tokenizer.newline_id


def test_a_mixture_has_its_shares_of_the_bytes_in_whole_books(tmp_path):
    sizes = {"novels": [300] * 20, "news/daily": [50] * 40, "letters": [100] * 5}
    books = {
        f"{k}/{i}.txt": "a word " * of for k, many in sizes.items() for i, of in enumerate(many)
    }
    folder = write_books(tmp_path / "mixed", books)
    heldout = ["letters/0.txt", "novels/3.txt"]

    def made(shares, name):
        settings = CorpusSettings(heldout=heldout, shares=shares)
        corpus.documents(folder, settings, tmp_path / name / "documents")
        facts = json.loads((tmp_path / name / "documents.json").read_text())["documents"]
        assert sorted(one["name"] for one in facts if one["heldout"]) == heldout
        of_parts = Counter()
        for one in facts:
            of_parts[one["name"].partition("/")[0]] += one["source_bytes"] * (not one["heldout"])
        return {part: n // 700 for part, n in of_parts.items() if n}, {one["name"] for one in facts}

    assert made(None, "all")[0] == {"novels": 57, "news": 20, "letters": 4}
    parts, names = made({"novels": 3, "news": 2}, "mixed-3-2")
    assert parts == {"novels": 30, "news": 20}  # as much as the news allow
    more, others = made({"novels": 6, "news": 4}, "mixed-6-4")
    assert (more, others) == (parts, names)
    assert made({"novels": 9, "news": 1}, "mixed-9-1")[0] == {"novels": 57, "news": 6}
    assert made({"letters": 1, "novels": 2}, "mixed-1-2")[0] == {"letters": 4, "novels": 9}
    with pytest.raises(InputError, match="whole books of novels make up 13% where 0% are asked"):
        made({"novels": 1, "news": 1000}, "least")
    with pytest.raises(InputError, match="news/daily lies in news; name folders beside each other"):
        made({"news": 1, "news/daily": 1}, "nested")
    with pytest.raises(
        InputError, match="no book to train on in .*/poems; .* are letters, news, nov"
    ):
        made({"novels": 1, "poems": 1}, "none")


SHUFFLED = {"d.txt": "One two three four five ! Six seven.\n"}
SHUFFLED |= {"b.txt": "It was. Well… She said.\nIt is the end."}


@pytest.mark.parametrize(
    ("name", "option"), [("shuffled", "words"), ("sentences-shuffled", "sentences")]
)
def test_shuffled_token_files_hold_the_same_sentences_or_words_in_another_order(
    folder, tmp_path, name, option
):
    tokenizer = make(write_books(folder, SHUFFLED), tmp_path)
    corpus.tokens(tmp_path / "documents", tmp_path / "tokenizer", tmp_path / "first", corpus=name)
    inputs = ("--documents", tmp_path / "documents", "--tokenizer", tmp_path / "tokenizer")
    out = ("--out", tmp_path / "again", "--threads", 2)
    done = call(corpus.main, "tokens", *inputs, *out, "--shuffled", option)
    assert done.returncode == 0, done.stderr
    plain, facts = (json.loads((tmp_path / of / "corpus.json").read_text()) for of in ("", "first"))
    assert facts["corpus"] == name and facts["tokenizer"] == plain["tokenizer"]
    for split in corpus.SPLITS:
        one, two, again = (
            open_tokens(tmp_path / of / "corpus.json", split) for of in ("", "first", "again")
        )
        assert np.array_equal(two, again) and one.tolist() != two.tolist()
        before, after = (_sentences(of.tolist(), tokenizer) for of in (one, two))
        assert len(before) > 5
        assert [part == ["\n"] for part in before] == [part == ["\n"] for part in after]
        if option == "words":
            assert [*map(Counter, before)] == [*map(Counter, after)]
            places = plain["splits"][split]["documents"]
            assert facts["splits"][split]["documents"] == places
        else:
            assert sorted(before) == sorted(after)
            assert facts["splits"][split]["documents"] == []


def _sentences(ids, tokenizer):
    """The sentences of a stream, each as its words."""
    words = tokenizer.decode(ids).replace("\n", " \n ").split(" ")
    return [*corpus.sentences(filter(None, words))]


def test_documents_are_a_data_set_of_names_and_normalised_texts(folder, tmp_path):
    splits = datasets.load_from_disk(str(make_documents(folder, tmp_path)))
    assert list(splits) == ["train", "heldout"]
    string = datasets.Value("string")
    assert splits["train"].features == {"name": string, "text": string}
    assert splits["train"]["name"][:] == ["a.txt", "d.txt", "genre/c.txt"]
    assert splits["heldout"]["name"][:] == ["b.txt"]
    assert splits["train"][0]["text"] == (
        'it was the best of times .\nit was n\'t the worst ...\n" well , " she said .\n'
    )
    read = {
        name: text.to_pybytes() for name, text in read_documents(tmp_path / "documents", "train")
    }
    assert read == {row["name"]: row["text"].encode() for row in splits["train"]}


def test_facts_and_word_counts_of_the_documents(folder, tmp_path):
    make_documents(folder, tmp_path)
    counts = bpe.read_words(tmp_path / "documents")
    assert counts["the"] == 5  # none of the held-out book's two
    assert "bowl" not in counts and "\n" not in counts
    lines = (tmp_path / "words.tsv").read_text(encoding="utf-8").splitlines()
    assert lines == sorted(lines, key=lambda line: (-int(line.split("\t")[1]), line.split("\t")[0]))
    facts = json.loads((tmp_path / "documents.json").read_text())
    assert (facts["source"], facts["origin"], facts["rows"]) == ("folder", {}, {})
    assert facts["word_types"] == len(counts)
    documents = facts["documents"]
    assert {d["name"]: d["heldout"] for d in documents} == {n: n == "b.txt" for n in BOOKS}
    assert [d["lines"] for d in documents] == [3, 1, 2, 1]
    assert sum(d["words"] for d in documents if not d["heldout"]) == sum(counts.values())


def test_one_process_and_two_write_the_same_bytes(folder, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    make(folder, one)
    program = ("--folder", folder, "--settings", '{"heldout": ["b.txt"]}', "--threads", 2)
    done = call(corpus.main, "documents", *program, "--out", two / "documents")
    assert done.returncode == 0, done.stderr
    program = ("--documents", two / "documents", "--tokenizer", one / "tokenizer", "--threads", 2)
    done = call(corpus.main, "tokens", *program, "--out", two)
    assert done.returncode == 0, done.stderr
    for name in RESULTS:
        assert (two / name).read_bytes() == (one / name).read_bytes(), name
    assert sorted(path.name for path in two.iterdir()) == sorted([*RESULTS, "documents"])


def killed(row):
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_reported(tmp_path):
    rows = datasets.Dataset.from_dict({"text": ["a", "b"]})
    with pytest.raises(InputError, match="--threads 2: a worker was killed.* use fewer"):
        corpus.parallel_map(rows, killed, 2, tmp_path / "cache.arrow")


def test_held_out_by_number_depends_on_names_alone(folder):
    names = ["a.txt", "b.txt", "d.txt", "genre/c.txt"]
    documents = sources.list_documents(folder, CorpusSettings(heldout=1))
    assert [document.name for document in documents] == names
    digests = sorted((hashlib.sha256(name.encode()).hexdigest(), name) for name in names)
    one, two, three = (sources.choose_heldout(folder, documents, n) for n in (1, 2, 3))
    assert two == {name for _, name in digests[:2]}
    assert one < two < three


@pytest.mark.parametrize(
    ("heldout", "message"),
    [
        (4, "leaves none of the 4 books"),
        (9, "leaves none of the 4 books"),
        (sorted(BOOKS), "leaves none of the 4 books"),
        (["b.txt", "z.txt"], "'z.txt' is not a book of"),
    ],
)
def test_held_out_books_that_do_not_fit_are_refused(folder, tmp_path, heldout, message):
    assert message in refusal(make_documents, folder, tmp_path / "out", heldout)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("place", "wrong"), [(0, b"\xe9t\xe9"), (2000, b"\xe4\xba")])
def test_a_book_that_is_not_utf8_is_named_with_the_byte(folder, tmp_path, place, wrong):
    (folder / "z.txt").write_bytes(b"a\n" * (place // 2) + wrong)
    with pytest.raises(InputError, match=f"z.txt: not UTF-8 at byte {place:,} "):
        make_documents(folder, tmp_path / "out", 1)
    assert list((tmp_path / "out").iterdir()) == []


def test_folders_without_books_and_an_output_among_them_are_refused(folder, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InputError, match="no such folder"):
        make_documents(tmp_path / "nowhere", out, 1)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no .txt file"):
        make_documents(tmp_path / "empty", out, 1)
    with pytest.raises(InputError, match="lies in the folder of the raw text"):
        make_documents(folder, folder / "out", 1)
    assert not out.exists()


def test_documents_replace_no_other_folder_than_earlier_documents(folder, tmp_path):
    for _ in range(2):
        mine = make_documents(folder, tmp_path, 1)
    (mine / "dataset_dict.json").rename(mine / "notes.json")
    with pytest.raises(InputError, match="notes.json: no file of an earlier output; move it"):
        make_documents(folder, tmp_path, 1)
    assert (mine / "notes.json").exists()
    (mine / "notes.json").rename(mine / "dataset_dict.json")
    for name in ("notes.txt", ".env"):
        (mine / name).touch()
        with pytest.raises(InputError, match=f"{name}: no file of an earlier output; move it"):
            make_documents(folder, tmp_path, 1)
        (mine / name).unlink()
    mine.rename(tmp_path / "moved")
    mine.mkdir()
    for name in ("documents.json", "words.tsv"):
        with pytest.raises(InputError, match=f"{name}: would be replaced, and is of no"):
            make_documents(folder, tmp_path, 1)
        (tmp_path / name).unlink()
    make_documents(folder, tmp_path, 1)


def test_books_without_words_are_refused(tmp_path):
    folder = write_books(tmp_path / "books", {"a.txt": "\n \n", "b.txt": "word\n", "c.txt": ""})
    out = tmp_path / "out"
    with pytest.raises(InputError, match="the train documents contain no words"):
        make_documents(folder, out, ["b.txt"])
    with pytest.raises(InputError, match="the heldout documents contain no words"):
        make_documents(folder, out, ["a.txt"])
    assert list(out.iterdir()) == []


def test_a_document_that_changed_is_refused(folder, tmp_path):
    out = tmp_path / "out"
    make(folder, out)
    (out / "corpus.json").unlink()
    path = out / "documents/train/data-00000-of-00001.arrow"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"the best of", b"the rest of"))
    with pytest.raises(InputError, match="a.txt is not the document described in documents.json"):
        corpus.tokens(out / "documents", out / "tokenizer", out)
    path.write_bytes(content[:-2000])
    with pytest.raises(InputError, match="data-00000-of-00001.arrow: not a whole Arrow file"):
        corpus.tokens(out / "documents", out / "tokenizer", out)
    path.unlink()
    with pytest.raises(InputError, match="data-00000-of-00001.arrow: no such file"):
        corpus.tokens(out / "documents", out / "tokenizer", out)
    assert not (out / "corpus.json").exists() and not (out / ".tokens.tmp").exists()


def test_a_vocabulary_that_16_bits_cannot_hold_is_refused(folder, tmp_path):
    out = tmp_path / "out"
    make(folder, out)
    characters = [chr(0x4E00 + i) for i in range(32_765)]
    largest = ["<unk>", *characters, *(c + "</w>" for c in characters), "\n</w>"]
    vocabulary.save(out / "tokenizer", largest, [])
    corpus.tokens(out / "documents", out / "tokenizer", out)
    newlines = open_tokens(out / "corpus.json", "train") == len(largest) - 1
    assert len(largest) == 65_532 and newlines.any()  # the largest id is read back
    pair = tuple(characters[:2])
    vocabulary.save(out / "tokenizer", [*largest[:-1], "".join(pair), largest[-1]], [pair])
    with pytest.raises(InputError, match="65,533 tokens and 3 special tokens are too many"):
        corpus.tokens(out / "documents", out / "tokenizer", out)


def test_a_mistake_seen_by_a_worker_is_reported_on_one_line(tmp_path):
    folder = tmp_path / "raw" / "plain_text"
    folder.mkdir(parents=True)
    table = pyarrow.table({"text": ["a word", None]})
    for number in (0, 1):
        parquet.write_table(table, folder / f"train-0000{number}-of-00002.parquet")
    manifest(tmp_path / "raw", "bookcorpus")
    settings = {"source": "bookcorpus", "min_rows": {"train": 1}, "heldout": 1}
    arguments = ("--folder", tmp_path / "raw", "--settings", json.dumps(settings))
    out = ("--threads", 2, "--out", tmp_path / "out" / "documents")
    assert "row 1 without text" in refused(corpus.main, "documents", *arguments, *out)
    assert not list((tmp_path / "out").iterdir())


TEXT = "a b c d e f g h i j . k l , m n o p q r ? ! s t u v w x ... y z\nA B C D E F G\n \nlast"


def shuffled(text, name="book.txt"):
    return [*shuffle_words(text.replace("\n", " \n ").split(" "), stream("order of words", name))]


def test_the_order_is_the_documents_own():
    assert shuffled(TEXT) == shuffled(TEXT) != shuffled(TEXT, "another.txt")
    assert shuffled(TEXT) != shuffled(TEXT, "book.txt ")


def test_every_order_of_a_sentence_occurs():
    rng = stream("order of words", "x")
    seen = Counter(tuple(shuffle_words(["a", "b", "c"], rng)) for _ in range(600))
    assert len(seen) == 6 and min(seen.values()) > 60


def test_a_sentence_ends_with_its_mark_or_line_and_every_order_of_sentences_occurs():
    words = [word for word in TEXT.replace("\n", " \n ").split(" ") if word]
    lengths = np.array([len(sentence) for sentence in sentences(words)])
    assert lengths.tolist() == [11, 10, 1, 7, 2, 1, 7, 1, 1, 1]
    ids, newline = np.array([words.index(word) for word in words]), words.index("\n")
    rngs = map(np.random.default_rng, range(600))
    firsts = Counter(next(shuffle_sentences(ids, lengths, newline, rng))[0] for rng in rngs)
    assert len(firsts) == 7 and min(firsts.values()) > 40
