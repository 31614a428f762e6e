"""Facts of the vocabulary that OpenAI published, on its two files themselves."""

import hashlib

import pytest

from gpt1.text import vocabulary
from gpt1.text.tokenizer import Tokenizer
from tests.gpt1.weights.published_files import BPE_FOLDER, needs_bpe

pytestmark = needs_bpe

ENCODER, MERGES = (BPE_FOLDER / name for name in vocabulary.PUBLISHED_FILES)


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
