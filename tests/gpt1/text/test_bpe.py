"""Byte-pair encoding: against the naive algorithm, the published files, and `transformers`."""

import hashlib
import json
import random
import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
from transformers import AutoTokenizer, OpenAIGPTTokenizer

from gpt1.text import hub_tokenizer, vocabulary
from gpt1.text import tokenizer as bpe
from gpt1.text.normalise import words
from gpt1.text.tokenizer import Tokenizer
from tasks.common.errors import InputError
from tests.gpt1.examples import write_words
from tests.gpt1.text import naive_bpe
from tests.gpt1.text.naive_bpe import golden
from tests.gpt1.weights import published_files
from tests.gpt1.weights.published_files import BPE_FOLDER, needs_bpe
from tests.support.programs import refusal

KINDS = ["trained", pytest.param("published", marks=needs_bpe)]


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    found = Counter(
        word for sentence in naive_bpe.sentences() for word in naive_bpe.words(sentence)
    )
    del found["\n"]
    return dict(found)


@pytest.fixture(scope="module")
def trained(counts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    vocabulary.save(folder, *bpe.train(counts, 300))
    return folder


@pytest.fixture(scope="module")
def both(request, trained):
    """A tokenizer of the package and the naive one with the same two files."""
    folder, names = trained, vocabulary.FILES
    if request.param == "published":
        folder, names = BPE_FOLDER, vocabulary.PUBLISHED_FILES
    return Tokenizer.load(folder), naive_bpe.NaiveTokenizer(*(folder / name for name in names))


@pytest.mark.parametrize("both", KINDS, indirect=True)
def test_golden_sentences_have_the_naive_algorithms_ids(both):
    tokenizer, other = both
    for sentence in naive_bpe.sentences():
        assert tokenizer.encode(sentence) == other.encode(sentence), sentence


@pytest.mark.parametrize("both", KINDS, indirect=True)
def test_random_words_have_the_naive_algorithms_ids(both):
    tokenizer, other = both
    random.seed(2)
    known = [word for sentence in naive_bpe.sentences() for word in naive_bpe.words(sentence)]
    letters = [*"etaoinshrdlu" * 4, *"bcfgjkmpqvwxyz'.-</w>\\é京0123456789"]
    for _ in range(3000):
        word = random.choice(
            [
                "".join(random.choices(letters, k=random.randint(1, 14))),
                random.choice(known) + random.choice(known),
                random.choice(letters) * random.randint(1, 9),
                random.choice(known)[::-1],
            ]
        ).replace("\n", "")
        if word:
            assert tokenizer.encode_words([word]) == other.encode_words([word]), repr(word)


@pytest.mark.parametrize("both", KINDS, indirect=True)
def test_a_word_of_one_character_is_its_end_token_and_meets_no_merge(both):
    tokenizer, _ = both
    n = (tokenizer.n_vocab - len(tokenizer.merges) - 2) // 2
    for i, character in enumerate(tokenizer.tokens[1 : n + 1], 1):
        assert tokenizer.encode_words([character]) == [n + i]
    assert tokenizer.encode_words(["\n"]) == [tokenizer.newline_id]


@pytest.mark.parametrize("both", KINDS, indirect=True)
def test_a_newline_token_with_a_space_behind_it_would_be_two_unknowns(both):
    tokenizer, other = both
    raw = [token.text for token in naive_bpe.english()("one \n two")]
    assert raw == ["one", "\n ", "two"]  # what spaCy makes of the standardised text
    assert other.encode_words(["\n "]) == [0, 0]
    assert tokenizer.encode("one\ntwo") == tokenizer.encode_words(["one", "\n", "two"])
    assert tokenizer.encode("one\ntwo").count(tokenizer.newline_id) == 1


@pytest.mark.parametrize("both", KINDS, indirect=True)
def test_the_tokenizer_of_transformers_gives_other_ids(both):
    own, _ = both
    ids = {token: i for i, token in enumerate(own.tokens)}
    theirs = OpenAIGPTTokenizer(vocab=ids, merges=own.merges)
    for raw, ours, as_theirs in (
        ("don't", ["do", "n't"], ["don", "'", "t"]),
        ("the end...", ["the", "end", "..."], ["the", "end", ".", ".", "."]),
        ("the\nend", ["the", "\n", "end"], ["the", "end"]),
        ("“the”", ['"', "the", '"'], ["“", "the", "”"]),
        ("café", ["café"], ["cafe"]),
    ):
        assert own.encode(raw) == own.encode_words(ours) != own.encode_words(as_theirs)
        assert theirs.encode(raw) == own.encode_words(as_theirs)


def test_unknown_symbols_are_one_zero_each(trained):
    tokenizer = Tokenizer.load(trained)
    assert tokenizer.encode_words(["ქართ", "\n"]) == [0, 0, 0, 0, tokenizer.newline_id]
    assert tokenizer.encode_words(["<unk>"]) != [0]
    assert tokenizer.encode_words([""]) == []


def test_trained_vocabulary_has_the_published_layout(trained, counts):
    ids = json.loads((trained / "encoder.json").read_text(encoding="utf-8"))
    lines = (trained / "merges.bpe").read_text(encoding="utf-8").split("\n")
    characters = sorted({c for word in counts for c in word})
    n = len(characters)
    assert lines[0] == "#version: 0.2" and lines[-1] == "" and len(lines) == 302
    assert ids["<unk>"] == 0
    assert [ids[c] for c in characters] == list(range(1, n + 1))
    assert [ids[c + "</w>"] for c in characters] == list(range(n + 1, 2 * n + 1))
    for rank, line in enumerate(lines[1:-1]):
        assert ids[line.replace(" ", "")] == 1 + 2 * n + rank
    assert ids["\n</w>"] == len(ids) - 1 == 1 + 2 * n + 300
    assert list(ids.values()) == list(range(len(ids)))


def test_every_merge_is_a_most_frequent_pair_of_its_moment(counts):
    some = dict(sorted(counts.items())[::4])
    _, merges = bpe.train(some, 80)
    assert len(merges) == 80
    for rank, pair in enumerate(merges):
        ranks = {merge: r for r, merge in enumerate(merges[:rank])}
        pairs: Counter[tuple[str, str]] = Counter()
        for word, count in some.items():
            for each in pairwise(naive_bpe.bpe(word, ranks)):
                pairs[each] += count
        assert pairs[pair] == max(pairs.values()), (rank, pair)


def test_training_in_two_processes_gives_the_same_bytes_and_reports_missing_merges(
    counts, tmp_path, root
):
    documents = write_words(tmp_path, "".join(f"{w}\t{c}\n" for w, c in counts.items()))
    command = [sys.executable, "-m", "gpt1", "tokenizer", "--documents", documents]
    options, found = {"cwd": root, "capture_output": True, "text": True}, []
    for seed in ("1", "2"):
        words = [*command, "--merges", "100000", "--out", tmp_path / seed]
        done = subprocess.run(words, env={"PYTHONHASHSEED": seed}, **options)
        assert done.returncode == 0, done.stderr
        assert "of 100,000 merges" in done.stdout
        found.append([(tmp_path / seed / name).read_bytes() for name in vocabulary.FILES])
    assert found[0] == found[1]
    assert Tokenizer.load(tmp_path / "1").digest == Tokenizer.load(tmp_path / "2").digest


def test_decode_is_readable(trained):
    tokenizer = Tokenizer.load(trained)
    ids = tokenizer.encode("The dog's bowl,\nthe cat's mat.")
    n = tokenizer.n_vocab
    assert tokenizer.decode(ids) == "the dog 's bowl ,\nthe cat 's mat ."
    assert tokenizer.decode([n, *ids[:2], n + 1, n + 2]).startswith("<start> ")
    assert tokenizer.decode([n + 1, n + 2]) == "<delimiter> <classify>"


def damage(folder, name, change):
    path = folder / name
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def swap_ids(encoder):
    ids = json.loads(encoder)
    ids["a"], ids["b"] = ids["b"], ids["a"]
    return json.dumps(ids)


NOT_READ = r"encoder\.json and merges\.bpe: not a vocabulary and its merges \(.*\); fetch them"


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("encoder.json", lambda s: s[: len(s) // 2], NOT_READ),
        ("encoder.json", lambda s: s.replace(" 7,", ' "7",'), "do not fit|id 7 is None"),
        ("encoder.json", swap_ids, "expected"),
        ("encoder.json", lambda s: s.replace('"<unk>"', '"<pad>"'), "id 0 is '<pad>'"),
        ("merges.bpe", lambda s: s.rsplit("\n", 2)[0] + "\n", "do both files belong together"),
        ("merges.bpe", lambda s: s + "a b c\n", NOT_READ),
        ("merges.bpe", lambda s: s + s.split("\n")[1] + "\n", "do both files belong together"),
    ],
)
def test_a_damaged_vocabulary_is_refused_in_one_line(trained, tmp_path, name, change, message):
    for file in vocabulary.FILES:
        (tmp_path / file).write_bytes((trained / file).read_bytes())
    damage(tmp_path, name, change)
    assert re.search(message, refusal(Tokenizer.load, tmp_path))


@pytest.mark.parametrize("names", [vocabulary.PUBLISHED_FILES, vocabulary.HUB_FILES])
def test_a_vocabulary_with_published_file_names_is_read_and_checked_alike(trained, tmp_path, names):
    for ours, theirs in zip(vocabulary.FILES, names, strict=True):
        (tmp_path / theirs).write_bytes((trained / ours).read_bytes())
    assert Tokenizer.load(tmp_path).digest == Tokenizer.load(trained).digest
    damage(tmp_path, names[1], lambda text: text.rsplit("\n", 2)[0] + "\n")
    with pytest.raises(InputError, match=f"{names[0]}: .* do both files belong together"):
        Tokenizer.load(tmp_path)
    (tmp_path / names[1]).unlink()
    with pytest.raises(InputError, match=f"{names[1]}: not a vocabulary and its merges"):
        Tokenizer.load(tmp_path)


def test_a_tokenizer_that_transformers_saved_in_one_file_is_the_same_one(trained, tmp_path):
    own = Tokenizer.load(trained)
    hub_tokenizer.save(tmp_path / "export", own, n_ctx=12)
    AutoTokenizer.from_pretrained(tmp_path / "export").save_pretrained(tmp_path)
    assert not list(tmp_path.glob("vocab*")) and (tmp_path / "tokenizer.json").is_file()
    found = Tokenizer.load(tmp_path)
    assert (found.digest, found.tokens, found.merges) == (own.digest, own.tokens, own.merges)
    damage(tmp_path, "tokenizer.json", lambda text: text.replace('"merges"', '"merge"'))
    with pytest.raises(InputError, match=r"tokenizer\.json: not a vocabulary and its merges"):
        Tokenizer.load(tmp_path)


def test_a_folder_without_tokenizer_and_one_of_another_encoding_are_refused(tmp_path):
    with pytest.raises(InputError, match="no tokenizer in it"):
        Tokenizer.load(tmp_path / "nowhere")
    (tmp_path / "encoder.json").write_bytes(b'{"\xe9": 1}')
    (tmp_path / "merges.bpe").write_text("#version: 0.2\n")
    with pytest.raises(InputError, match=NOT_READ):
        Tokenizer.load(tmp_path)


def test_word_counts_that_changed_are_refused(tmp_path):
    documents = write_words(tmp_path, "the\t12\nof\t5\nété\t2\n")
    assert bpe.read_words(documents) == {"the": 12, "of": 5, "été": 2}
    path = tmp_path / "words.tsv"
    path.write_bytes(path.read_bytes().replace(b"12", b"13"))
    with pytest.raises(InputError, match=r"words\.tsv: not what documents\.json describes"):
        bpe.read_words(documents)


DIGESTS = (
    "fdf49b19e7de236852091da09b84a7a3cd5e7b0e79916376cf45f6b8127b8078",
    "0ea9b51ae695073cd871e0358f7016311d671a7ff3963e367d5236522f294725",
)
VECTORS = {
    **{"the": [481], "very": [963], "positive": [6353], "negative": [9503], "n't": [538]},
    **{"'s": [535], "...": [749], '"': [244], "transformer": [2973, 5353], "naïve": [24213]},
    **{"unbelievable": [11706], "2018": [4804, 9982], "\n": [40477], "京": [0]},
}


@needs_bpe
def test_the_two_files_are_the_authors_byte_for_byte():
    for name, digest in zip(vocabulary.PUBLISHED_FILES, DIGESTS, strict=True):
        assert hashlib.sha256((BPE_FOLDER / name).read_bytes()).hexdigest() == digest, name


@needs_bpe
def test_published_vectors():
    tokenizer = Tokenizer.load(BPE_FOLDER)
    for word, ids in VECTORS.items():
        assert tokenizer.encode_words([word]) == ids
        assert tokenizer.encode(word) == (ids if word != "\n" else [])


@needs_bpe
def test_published_sentence_with_newline_contraction_backslash_and_unknowns():
    tokenizer = Tokenizer.load(BPE_FOLDER)
    assert tokenizer.n_vocab == 40_478
    ids = tokenizer.encode("Don't\n\nSTOP… 東京")
    assert ids == [587, 538, 40477, 1296, 749, 0, 0]
    # One word, a backslash inside it; were it set apart there would be three.
    tokens = [tokenizer.tokens[i] for i in tokenizer.encode(r"it\now")]
    assert sum(token.endswith("</w>") for token in tokens) == 1


# How many sentences of a group may differ: ftfy repairs what no rule does, and spaCy looks at case.
DIFFERENT = {
    **{"contractions": 2, "quotes": 2, "accents": 2, "cjk": 6, "entities": 12, "whitespace": 1},
    **{"punctuation": 1, "abbreviations": 1, "numbers": 1, "case": 2, "mojibake": 6},
}


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocabulary")
    published_files.write_tokenizer(folder, n_characters=26, n_merges=200)
    return Tokenizer.load(folder)


@pytest.mark.parametrize("group", golden())
def test_words_are_those_of_ftfy_and_spacy(tokenizer, group):
    made = hub_tokenizer.build(tokenizer)
    different = []
    for sentence in golden()[group]:
        pieces = made.pre_tokenizer.pre_tokenize_str(made.normalizer.normalize_str(sentence))
        if [piece for piece, _ in pieces] != words(sentence):
            different.append(sentence)
    assert len(different) <= DIFFERENT.get(group, 0), different


def test_special_tokens_stand_around_one_text_and_two(tokenizer, tmp_path):
    hub_tokenizer.save(tmp_path, tokenizer, n_ctx=12)
    loaded, n = AutoTokenizer.from_pretrained(tmp_path), tokenizer.n_vocab
    first, second = tokenizer.encode("a bad cab"), tokenizer.encode("fed\n\nit's")
    assert loaded("a bad cab").input_ids == [n, *first, n + 2]
    given = loaded([("a bad cab", "fed\n\nit's"), ("a", "b")], padding=True)
    assert given.input_ids[0] == [n, *first, n + 1, *second, n + 2]
    assert set(given) == {"input_ids", "attention_mask"}
    assert given.input_ids[1][-1] == n + 3 and given.attention_mask[1][-1] == 0
    assert len(loaded("a " * 50, truncation=True).input_ids) == 12


def test_a_language_models_tokenizer_begins_with_the_end_of_a_line(tokenizer, tmp_path):
    hub_tokenizer.save(tmp_path, tokenizer, n_ctx=12, special=False)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    ids = loaded("Fed a cab\nFed").input_ids
    newline = tokenizer.newline_id
    assert ids == [newline, *tokenizer.encode("Fed a cab\nFed")]
    assert (loaded.bos_token_id, len(loaded)) == (newline, tokenizer.n_vocab)
    assert loaded("cab", add_special_tokens=False).input_ids == tokenizer.encode("cab")
    assert loaded.decode(ids).split() == ["fed", "a", "cab", "fed"]
