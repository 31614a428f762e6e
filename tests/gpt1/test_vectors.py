"""Word vectors of the books: what they know, and that equal books give equal bytes."""

import numpy as np
import pytest

from gpt1 import vectors
from gpt1.records import VectorsFacts
from gpt1.vectors import positive_information, word_vectors
from gpt1.weights.checkpoint import load_vectors, sidecar
from tasks.common.errors import InputError
from tests.gpt1 import toy
from tests.support.programs import call

N_VOCAB, NEVER = 20, 19


@pytest.fixture(scope="module")
def books():
    """Sentences `first word second`: words 0 to 3 stand among 8 to 10, 4 to 7 among 11 to 13."""
    rng = np.random.default_rng(0)
    words = rng.integers(0, 8, 3000)
    around = 8 + 3 * (words >= 4)[:, None] + rng.integers(0, 3, (3000, 2))
    ends = np.full(3000, 18)
    return np.stack([around[:, 0], words, around[:, 1], ends], 1).ravel().astype("<u2")


def test_words_that_occur_among_the_same_words_are_closer_than_others(books):
    found = word_vectors(books, N_VOCAB, 4)
    assert found.dtype == np.float32 and found.shape == (N_VOCAB, 4)
    unit = found[:8] / np.linalg.norm(found[:8], axis=1, keepdims=True)
    close = unit @ unit.T
    assert min(close[:4, :4].min(), close[4:, 4:].min()) > close[:4, 4:].max() + 0.5


def test_a_token_that_never_occurs_has_zeros_and_all_others_do_not(books):
    found = word_vectors(books, N_VOCAB, 4)
    occurs = np.isin(np.arange(N_VOCAB), books)
    assert not occurs[NEVER] and np.array_equal(np.abs(found).sum(1) > 0, occurs)
    assert found.std() == pytest.approx(1.0, abs=1e-5)


def test_counts_do_not_depend_on_how_many_tokens_are_counted_at_a_time(books, monkeypatch):
    expected = [vectors.counted(books, N_VOCAB, distance).todense() for distance in (1, 3)]
    monkeypatch.setattr(vectors, "CHUNK", 7)
    found = [vectors.counted(books, N_VOCAB, distance).todense() for distance in (1, 3)]
    assert np.array_equal(found, expected) and expected[0].sum() == len(books) - 1


def test_information_is_that_of_smoothed_contexts_and_never_negative():
    counts = vectors.counted(np.array([0, 1, 0, 1, 2, 0]), 3, 1)  # 01, 10, 01, 12, 20
    found = positive_information(counts).toarray()
    contexts = np.array([2, 2, 1]) ** 0.75
    assert found[0, 1] == pytest.approx(np.log(2 / 2 / (contexts[1] / contexts.sum())))
    assert (found >= 0).all() and found[0, 0] == 0


def test_the_program_writes_equal_bytes_twice_and_what_they_are_of(tmp_path):
    corpus = toy.corpus(tmp_path / "corpus")
    paths = [tmp_path / f"{i}.safetensors" for i in range(2)]
    for path in paths:
        call(vectors.main, corpus, "--width", 8, "--out", path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    values, digest = load_vectors(paths[0], "t" * 64)
    facts = VectorsFacts.read(sidecar(paths[0]))
    assert values.shape == (facts.n_vocab, 8) == (toy.N_VOCAB, 8) and digest == facts.sha256
    with pytest.raises(InputError, match="vectors of another tokenizer; give those of its own"):
        load_vectors(paths[0], "u" * 64)


def test_vectors_as_wide_as_the_vocabulary_are_refused(books):
    with pytest.raises(InputError, match="--width: 20 of 20 tokens; give less, or learn more"):
        word_vectors(books, N_VOCAB, N_VOCAB)
