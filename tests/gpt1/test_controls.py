"""The negative controls' models: exchanged embeddings, and word vectors of the books."""

import numpy as np
import pytest
import torch

from gpt1 import vectors
from gpt1.permute import content_tokens, permute
from gpt1.records import VectorsFacts
from gpt1.settings import RuntimeSettings
from gpt1.vectors import positive_information, word_vectors
from gpt1.weights.checkpoint import load_vectors, read_facts, read_tensors, save_checkpoint, sidecar
from tasks.common.errors import InputError
from tests.gpt1 import toy
from tests.support.programs import call


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([50, 0, 1, 3, 40, 6], [2, 3, 4, 5]),  # the first token makes half
        ([49, 0, 1, 3, 41, 6], [2, 3, 5]),  # the two most frequent ones do
        ([5, 5, 5, 5], [2, 3]),
    ],
)
def test_content_words_are_the_rarer_half_of_the_books_that_occurs(counts, expected):
    assert list(content_tokens(np.array(counts))) == expected


@pytest.fixture
def folder(tmp_path):
    """A corpus, and a checkpoint of its tokenizer for each of two seeds."""
    toy.corpus(tmp_path)
    for seed in (3, 4):
        model = toy.source("transformer").language_model(RuntimeSettings())
        facts = {"tokenizer": "t" * 64, "seed": seed, "made": True}
        save_checkpoint(tmp_path / f"{seed}.safetensors", model, **facts)
    return tmp_path


def permuted(folder, seed):
    """The tensors of the checkpoint of a seed, before and after."""
    source, out = folder / f"{seed}.safetensors", folder / f"{seed}-permuted.safetensors"
    permute(source, folder / "corpus.json", out)
    return read_tensors(source), read_tensors(out)


def test_rows_of_content_words_change_places_and_nothing_else_does(folder):
    before, after = permuted(folder, 3)
    tokens = np.fromfile(folder / "train.bin", dtype="<u2")
    n_vocab = read_facts(folder / "3.safetensors").n_vocab
    rows = torch.from_numpy(content_tokens(np.bincount(tokens, minlength=n_vocab)))
    old, new = before.pop("embed"), after.pop("embed")
    moved = (old != new).any(dim=1).nonzero().flatten()
    assert {*moved.tolist()} <= {*rows.tolist()} and len(moved) > len(rows) / 2
    assert sorted(old[rows].tolist()) == sorted(new[rows].tolist())
    assert all(torch.equal(before[name], after[name]) for name in before)
    facts = read_facts(folder / "3-permuted.safetensors")
    assert (facts.corpus, facts.seed, facts.made) == ("permuted-embeddings", 3, True)


def test_the_order_is_drawn_by_the_seed_alone(folder):
    first, other = (permuted(folder, seed)[1]["embed"] for seed in (3, 4))
    assert torch.equal(permuted(folder, 3)[1]["embed"], first)
    assert not torch.equal(other, first)


def test_a_corpus_of_another_tokenizer_is_refused(folder):
    toy.corpus(folder, tokenizer="u" * 64)
    with pytest.raises(InputError, match="of another tokenizer"):
        permute(folder / "3.safetensors", folder / "corpus.json", folder / "out.safetensors")
    assert not (folder / "out.safetensors").exists()


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
