"""Comparisons run, at a tiny size, by sides in turns; the plain loop computes what ours does."""

import sys
import textwrap
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from bench import plain, table
from bench.__main__ import main
from bench.comparisons import PLAIN, TRAINER, Comparison, Scale, on_cpu, on_gpu
from bench.sides import Side, Turn, WorkerError, alternate
from gpt1.model.transformer import Transformer
from gpt1.settings import LSTMShape, ModelSettings, TransformerShape
from gpt1.text.tokens import N_SPECIAL

MODEL = ModelSettings(n_ctx=128, shape=TransformerShape(n_layer=2, n_embd=16, n_head=2, n_ff=32))
LSTM = ModelSettings(n_ctx=64, shape=LSTMShape(n_embd=16, n_hidden=16))
N_VOCAB = 300


@pytest.fixture
def scale(tmp_path):
    """A tiny transformer and LSTM."""
    return Scale(tmp_path, 1, transformer=MODEL, lstm=LSTM, n_vocab=N_VOCAB, compile=False,
                 rounds=1, steps=1)  # fmt: skip


@pytest.mark.parametrize(
    ("comparisons", "n"), [(on_cpu, 3), pytest.param(on_gpu, 4, marks=pytest.mark.slow)]
)
def test_ours_and_the_plain_loop_do_each_comparison(scale, comparisons, n):
    chosen = [c for c in comparisons(scale) if c.others == PLAIN]
    rows = [row for comparison in chosen for row in table.measure(comparison, "NVIDIA H200")]
    assert len(rows) == n
    for row in rows:
        assert 0 < row["low"] <= row["ratio"] <= row["high"] and row["ours_mb"] > 100, row
        gpu_pretraining = comparisons is on_gpu and "pre-training" in row["comparison"]
        assert ("MFU" in row["note"]) == gpu_pretraining


def test_ours_and_the_trainer_do_each_comparison(scale):
    pytest.importorskip("accelerate", reason="the Trainer needs accelerate: bench/requirements.txt")
    chosen = [c for c in on_cpu(scale) if c.others == TRAINER]
    assert len(chosen) == 3
    padded, same = table.measure(chosen[1], "")  # MRPC, of both orders
    assert padded["ours"] == same["ours"] > 0 and padded["other"] != same["other"]
    assert padded["note"].endswith("and float32")


def test_a_comparison_that_fails_is_a_row_and_the_others_go_on(scale, tmp_path):
    good = next(c for c in on_cpu(scale) if c.others == PLAIN)
    broken = Comparison("no model", replace(good.work, arch="mamba"), PLAIN)
    out = tmp_path / "bench.csv"
    table.measure_all([broken, good], "", "A machine.", out)
    first, second = pd.read_csv(out).to_dict("records")
    assert first["note"].startswith("not measured: bench.ours ended with 1") and "mamba" in str(
        first
    )
    assert np.isnan(first["ratio"]) and second["ratio"] > 0
    assert "A machine." in out.with_suffix(".md").read_text()


def test_the_plain_loop_has_our_loss():
    own = Transformer(N_VOCAB, MODEL.model_copy(update={"lm_softmax": "tokens_only"}))
    own.reset(torch.Generator().manual_seed(0))
    still = {"embd": 0.0, "attn": 0.0, "resid": 0.0}
    other = plain.GPT(MODEL.model_dump(), N_VOCAB, still)
    n_rows = N_VOCAB + N_SPECIAL
    with torch.no_grad():
        other.tokens.weight.copy_(own.embed[:n_rows])
        other.positions.weight.copy_(own.embed[n_rows:])
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


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench", "gpu"])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(table, "measure", None)
    main()
    assert capsys.readouterr().out == "no GPU here: nothing is measured\n"


WORKER = """
    import sys, time
    from bench.sides import Turns
    from bench.work import Work
    name, seconds = sys.argv[1], float(sys.argv[2])
    work = Work(kind="finetune", data="", model={}, n_vocab=1, training={}, runtime={}, batch=1,
                precision="float32", rounds=3, steps=2)
    updates = 0
    def update():
        global updates
        with open(sys.argv[3], "a") as file:
            file.write(name)
        updates += 1
        time.sleep(0.3 if updates % 3 == 1 else seconds)  # the first of a turn is not timed
        print("a library chats")
        return 10
    Turns(work).repeat(update, "float32")
"""


@pytest.fixture
def workers(tmp_path, monkeypatch):
    """A folder with a worker that needs no model, and with one that fails."""
    (tmp_path / "worker.py").write_text(textwrap.dedent(WORKER))
    (tmp_path / "broken.py").write_text("raise ValueError('no such model')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_sides_update_in_turns_whose_order_turns_round(workers):
    log = workers / "order.txt"
    with Side("worker", "a", 0.01, log) as a, Side("worker", "b", 0.1, log) as b:
        assert not log.exists()  # a side that is ready waits
        ours, other = alternate([a, b], 3)
    assert log.read_text() == "aaabbb" + "bbbaaa" + "aaabbb"
    assert a.precision == "float32" and all(turn.peak_mb > 1 for turn in ours)
    assert all(turn.rate < 100 for turn in other)
    assert all(100 < turn.rate < 1000 for turn in ours)  # without the first update's 0.3 s


def test_a_worker_that_fails_says_why(workers):
    with pytest.raises(WorkerError, match="broken ended with 1: .*no such model"):
        Side("broken")


def test_a_ratio_is_the_median_of_neighbouring_turns():
    ours = [Turn(rate, peak) for rate, peak in ((10, 1), (5, 2), (2.5, 3))]
    other = [Turn(rate, 7) for rate in (10 / 3, 2.5, 2.5)]
    row = table.compared(ours, other)
    assert [round(row[key], 9) for key in ("ratio", "low", "high")] == [2, 1, 3]
    assert [row[key] for key in ("ours", "other", "ours_mb", "other_mb")] == [5, 2.5, 3, 7]
