"""Every comparison runs, at a tiny size; the baselines compute what ours does."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
import torch

from bench import bars, data, gpu, plain
from bench.commit import COMMIT
from bench.comparison import Bench, Scale
from bench.sides import ROOT, Side, alternate
from gpt1.model.transformer import Transformer
from gpt1.settings import LSTMShape, ModelSettings, TransformerShape

SHAPE = TransformerShape(n_layer=2, n_embd=16, n_head=2, n_ff=32)
MODEL = ModelSettings(n_ctx=128, shape=SHAPE)
TINY = Scale(model=MODEL, rounds=2, small_steps=2, batch=4, items=1, memory_rows=4)
N_VOCAB = 300


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """A bench over a corpus of drawn tokens, with short documents."""
    monkeypatch.setattr(data, "PUBLISHED_VOCABULARY", N_VOCAB)
    monkeypatch.setattr(data, "RACE", {"first": 30, "second": 4, "choices": 3, "n": 4})
    monkeypatch.setattr(data, "STORY_CLOZE", {"first": 20, "second": 0, "choices": 4, "n": 2})
    data.made_corpus(tmp_path / "world" / "corpus", N_VOCAB, 5000)
    return Bench(TINY, 1, tmp_path / "rows", tmp_path / "world")


def check(rows, n, bar):
    assert [row.bar for row in rows] == [bar] * n
    assert all(
        0 < row.low <= row.ratio <= row.high and row.met in ("yes", "no", "undecided")
        for row in rows
    )
    assert all(row.ours > 0 and row.other > 0 for row in rows)


@pytest.mark.parametrize(
    ("bar", "measure"),
    [(2, bars.race_items), (3, bars.story_cloze_items), (4, bars.zero_shot), (5, bars.pretraining)],
)
def test_bars_against_our_own_path_and_a_plain_loop(bench, bar, measure):
    check([*measure(bench)], 1, bar)


def test_bars_against_transformers(bench):
    pytest.importorskip("accelerate", reason="the Trainer needs accelerate: bench/requirements.txt")
    check([*bars.fine_tuning(bench)], 6, 1)
    check([*bars.memory(bench)], 1, 10)


def test_the_bar_against_a_commit(bench, monkeypatch):
    known = subprocess.run(["git", "cat-file", "-e", COMMIT], cwd=ROOT, check=False)
    if known.returncode:
        pytest.skip(f"commit {COMMIT[:7]} is not in this clone")
    tokens = data.corpus_tokens(str(bench.corpus()))
    made = [data.made_pairs(name, tokens, 64, bench.out) for name in ("rte", "cola")]
    monkeypatch.setattr(data, "world_rows", lambda *_: made)
    (row,) = bars.cells(bench)
    check([row], 1, 6)
    assert "transformer cola" in row.note and "lstm rte" in row.note
    left = subprocess.run(["git", "worktree", "list"], cwd=ROOT, capture_output=True, text=True)
    assert "checkout" not in left.stdout


def test_a_run_that_was_not_timed_has_a_row_that_says_so(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(bars, "ROOT", tmp_path)
    (row,) = bars.whole_run(bench)
    assert row.met == "" and "whole_run" in row.note


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
    _, loss = own(ids, lm_loss=True)
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
    assert [row.bar for row in rows] == [11, 12, 13, 13, 14, 15]
    assert all(row.ours > 0 and row.met for row in rows)
    assert "MFU" not in rows[0].note  # the peak of an unknown card is not known


def test_the_first_step_is_reached(tmp_path, bench):
    """Bar 8's program stops where `FineTuning.update` begins."""
    rows = data.made_pairs("rte", data.corpus_tokens(str(bench.corpus())), 64, bench.out)
    path = bench.write(bench.job([rows], rounds=1), "one")
    with Side("bench.ours", "finetune", path) as side:
        (turns,), (note,) = alternate([side], 1)
    assert note in ("float32", "bfloat16") and turns[0].work == TINY.batch
