"""Facts of the vocabulary that OpenAI published, on its two files themselves."""

import hashlib
import json

import pytest

from gpt1.text import vocabulary
from gpt1.text.tokenizer import Tokenizer
from tests.gpt1.published_files import BPE_FOLDER, needs_bpe

pytestmark = needs_bpe

ENCODER, MERGES = (BPE_FOLDER / name for name in vocabulary.PUBLISHED_FILES)


@pytest.fixture(scope="module")
def tokens() -> list[str]:
    """Pieces in id order, read here without the package."""
    ids = json.loads(ENCODER.read_text(encoding="utf-8"))
    assert sorted(ids.values()) == list(range(len(ids)))
    return sorted(ids, key=ids.get)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Lines of the file of merges."""
    return MERGES.read_text(encoding="utf-8").split("\n")


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.load(BPE_FOLDER)


@pytest.mark.parametrize(
    ("path", "digest"),
    [
        (ENCODER, "fdf49b19e7de236852091da09b84a7a3cd5e7b0e79916376cf45f6b8127b8078"),
        (MERGES, "0ea9b51ae695073cd871e0358f7016311d671a7ff3963e367d5236522f294725"),
    ],
    ids=vocabulary.PUBLISHED_FILES,
)
def test_the_two_files_are_the_authors_byte_for_byte(path, digest):
    assert hashlib.sha256(path.read_bytes()).hexdigest() == digest


def test_ids_are_unknown_238_characters_the_same_ended_the_merges_by_rank_and_newline(
    tokens, lines
):
    assert len(tokens) == 40_478 and tokens[0] == "<unk>"
    characters = tokens[1:239]
    assert all(len(character) == 1 for character in characters) and len(set(characters)) == 238
    assert tokens[239:477] == [character + "</w>" for character in characters]
    for rank, line in enumerate(lines[1:-1]):
        assert tokens[477 + rank] == line.replace(" ", "")
    assert tokens[40_476] == "bachelorette</w>" and tokens[40_477] == "\n</w>"


def test_the_merges_are_a_version_40000_lines_and_an_empty_one(lines):
    assert lines[0] == "#version: 0.2" and lines[-1] == "" and len(lines) == 1 + 40_000 + 1
    assert (lines[1], lines[-2]) == ("t h", "bachel orette</w>")
    assert all(line.count(" ") == 1 for line in lines[1:-1])


def test_no_token_has_a_capital_or_white_space_and_none_is_special(tokens):
    assert not [token for token in tokens if any(c.isupper() for c in token)]
    assert [token for token in tokens if any(c.isspace() for c in token)] == ["\n</w>"]
    marked = [p for p in tokens if "<" in p.removesuffix("</w>") and p not in ("<", "<</w>")]
    assert marked == ["<unk>"]  # the model's three special rows have no token


def test_spacys_contractions_shaped_the_vocabulary(lines):
    merged = [line.replace(" ", "") for line in lines[1:-1]]
    assert merged.index("'s</w>") == 58 and merged.index("n't</w>") == 61


@pytest.mark.parametrize(
    ("word", "ids"),
    [
        ("the", [481]),
        ("very", [963]),
        ("positive", [6353]),
        ("negative", [9503]),
        ("n't", [538]),
        ("'s", [535]),
        ("...", [749]),
        ('"', [244]),
        ("transformer", [2973, 5353]),
        ("unbelievable", [11706]),
        ("naïve", [24213]),
        ("2018", [4804, 9982]),
        ("\n", [40477]),
        ("京", [0]),
    ],
)
def test_published_vectors(tokenizer, word, ids):
    assert tokenizer.encode_words([word]) == ids
    assert tokenizer.encode(word) == (ids if word != "\n" else [])


def test_published_sentence_with_newline_contraction_backslash_and_unknowns(tokenizer):
    assert tokenizer.n_vocab == 40_478
    ids = tokenizer.encode("Don't\n\nSTOP… 東京")
    assert ids == [587, 538, 40477, 1296, 749, 0, 0]
    # One word, a backslash inside it; were it set apart there would be three.
    tokens = [tokenizer.tokens[i] for i in tokenizer.encode(r"it\now")]
    assert sum(token.endswith("</w>") for token in tokens) == 1
