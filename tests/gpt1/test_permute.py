"""The checkpoint whose content words have exchanged their embeddings."""

import numpy as np
import pytest
import torch

from gpt1.permute import content_tokens, permute
from gpt1.settings import RuntimeSettings
from gpt1.weights.checkpoint import read_facts, read_tensors, save_checkpoint
from tasks.common.errors import InputError
from tests.gpt1 import toy


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
