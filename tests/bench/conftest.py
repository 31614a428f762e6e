"""A tiny bench, over a corpus of drawn tokens."""

import pytest

from bench import data
from bench.comparison import Bench, Scale
from gpt1.settings import ModelSettings, TransformerShape

SHAPE = TransformerShape(n_layer=2, n_embd=16, n_head=2, n_ff=32)
MODEL = ModelSettings(n_ctx=128, shape=SHAPE)
TINY = Scale(
    model=MODEL, rounds=2, steps=2, small_steps=2, batch=4, items=1, memory_rows=4, plans=1
)
N_VOCAB = 300


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A bench over a corpus of drawn tokens, with short documents."""
    monkeypatch.setattr(data, "PUBLISHED_VOCABULARY", N_VOCAB)
    monkeypatch.setattr(data, "RACE", {"first": 30, "second": 4, "choices": 3, "n": 4})
    monkeypatch.setattr(data, "STORY_CLOZE", {"first": 20, "second": 0, "choices": 4, "n": 2})
    data.made_corpus(tmp_path / "world" / "corpus", N_VOCAB, 5000)
    return Bench(TINY, 1, tmp_path / "rows", tmp_path / "world")
