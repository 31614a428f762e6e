"""Every comparison runs, at a tiny size; the baselines compute what ours does."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from bench import bars, data, gpu, plain
from gpt1.model.transformer import Transformer
from gpt1.settings import LSTMShape, ModelSettings
from tests.bench.conftest import MODEL, N_VOCAB


def check(rows, n, bar, without=()):
    """So many rows of a bar, of which those at some places have no verdict."""
    assert [row.bar for row in rows] == [bar] * n
    for i, row in enumerate(rows):
        assert 0 < row.low <= row.ratio <= row.high
        assert (row.met in ("yes", "no", "undecided")) != (i in without)
        assert (row.wanted == "") == (i in without)
    assert all(row.ours > 0 and row.other > 0 for row in rows)


@pytest.mark.parametrize(
    ("bar", "measure", "n"),
    [
        (2, bars.race_items, 1),
        (3, bars.story_cloze_items, 2),
        (4, bars.zero_shot, 2),
        (5, bars.pretraining, 1),
    ],
)
def test_bars_against_our_own_path_and_a_plain_loop(bench, bar, measure, n):
    rows = [*measure(bench)]
    check(rows, n, bar, without=range(1, n))
    if bar == 3:
        assert "batches of 32" in rows[0].note
        assert "batches of 8" in rows[1].note
    assert ("without an untimed step" in rows[0].note) == (bar in (3, 4))


def test_bars_against_transformers(bench):
    pytest.importorskip("accelerate", reason="the Trainer needs accelerate: bench/requirements.txt")
    rows = [*bars.fine_tuning(bench)]
    check(rows, 6, 1)
    assert "32 by a measurement" in rows[0].note or "16 by a measurement" in rows[0].note
    whole, accumulated = rows = [*bars.memory(bench)]
    check(rows, 2, 10, without=[1])
    assert whole.ours == accumulated.ours and "micro-batches of 1, the Trainer as" in rows[1].note


def test_a_missing_folder_of_real_rows_is_one_line(bench, tmp_path):
    with pytest.raises(data.InputError, match="RTE: no such folder; give --data"):
        [*bars.fine_tuning(replace(bench, real=tmp_path))]


def test_the_plain_loop_has_our_loss(bench):
    own = Transformer(N_VOCAB, MODEL.model_copy(update={"lm_softmax": "tokens_only"}))
    own.reset(torch.Generator().manual_seed(0))
    still = {"embd": 0.0, "attn": 0.0, "resid": 0.0}
    other = plain.GPT(MODEL.model_dump(), N_VOCAB, still)
    n_rows = N_VOCAB + plain.SPECIAL
    with torch.no_grad():
        other.tokens.weight.copy_(own.embed[:n_rows])
        other.places.weight.copy_(own.embed[n_rows:])
        for theirs, block in zip(other.blocks, own.h, strict=True):
            pairs = [
                (theirs.qkv, block.attn.c_attn),
                (theirs.proj, block.attn.c_proj),
                (theirs.mlp[0], block.mlp.c_fc),
                (theirs.mlp[2], block.mlp.c_proj),
            ]
            for linear, conv in pairs:
                linear.weight.copy_(conv.weight.T)
                linear.bias.copy_(conv.bias)
            theirs.ln_1.load_state_dict(block.ln_1.state_dict())
            theirs.ln_2.load_state_dict(block.ln_2.state_dict())
    ids = torch.from_numpy(np.random.default_rng(0).integers(0, N_VOCAB, (3, 20)))
    _, loss = own(ids, with_lm_loss=True)
    logits = other.logits(other(ids)[:, :-1])
    theirs = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    assert abs(float(loss.detach()) - float(theirs.detach())) < 1e-5


def test_without_a_gpu_it_says_so(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(gpu, "card", lambda: None)
    gpu.main(tmp_path / "bench_gpu.csv", quick=True)
    assert "no GPU here" in capsys.readouterr().out
    assert not [*tmp_path.iterdir()]


def test_the_bars_of_a_gpu_run_on_a_cpu(monkeypatch, tmp_path):
    monkeypatch.setattr(data, "PUBLISHED_VOCABULARY", N_VOCAB)
    lstm = ModelSettings(n_ctx=64, shape=LSTMShape(n_embd=16, n_hidden=16))
    tiny = gpu.GPU(
        "a card", tmp_path, "cpu", MODEL, lstm, batch=2, compile=False, rounds=1, steps=1,
        rows=40, race={"first": 30, "second": 4, "choices": 3, "n": 4}, corpus_tokens=5000,
    )  # fmt: skip
    rows = [row for bar in gpu.ALL.values() for row in bar(tiny)]
    assert [row.bar for row in rows] == [11, 12, 13, 13, 14, 15, 15]
    assert all(row.ours > 0 and row.met for row in rows[1:])
    # Of an unknown card the peak is not known, and the bar is not for it.
    assert "MFU" not in rows[0].note and rows[0].met == "" and "H100 or H200" in rows[0].note
    assert rows[-1].unit == "MB" and rows[-1].wanted == "<= 80000"
