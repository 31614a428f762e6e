"""The package against the float64 reference: forward, losses, whole updates."""

import numpy as np
import pytest
import torch

from gpt1.settings import OptimizerSettings
from gpt1.training.optim import Adam, Schedule, warmup_cosine
from gpt1.training.windows import windows
from tests.gpt1.reference import Reference
from tests.gpt1.reference_runs import (
    N_CTX,
    N_VOCAB,
    PRECISION,
    SHAPES,
    TASKS,
    batch_of,
    blank,
    close,
    each_path,
    heads,
    parameters,
    reference,
    tuning,
)

# How far a move may be off in float32, as a share of the tensor's largest: a weight above 1 is
# rounded to 6e-8, twice an update (decay, then Adam), and the first move is 3e-5.
MOVED = 1e-2


@pytest.mark.parametrize("dtype", PRECISION)
@each_path
@pytest.mark.parametrize("name", TASKS)
def test_sequences_hidden_states_and_logits_of_every_family(name, arch, skip_pads, dtype):
    run = tuning(name, arch, dtype, skip_pads=skip_pads)
    run.model.eval()
    expected = reference(run)
    rows = np.arange(6)
    family, built, _ = batch_of(expected, name, rows)
    ids, lengths = run.splits["train"].take(rows)
    hidden, _ = run.model.language_model(ids.reshape(-1, ids.shape[2]), lengths.ravel())
    hidden = hidden.view(*ids.shape, -1)
    logits, _ = run.model(ids, lengths)
    assert run.splits["train"].truncated > 0
    for i, sequences in enumerate(built):
        states = [expected.hidden(sequence) for sequence in sequences]
        for j, sequence in enumerate(sequences):
            assert ids[i, j, : lengths[i, j]].tolist() == sequence
            assert len(sequence) <= N_CTX and sequence[-1] == N_VOCAB + 2
            close(hidden[i, j, : len(sequence)], states[j], PRECISION[dtype])
        close(logits[i], expected.logits(family, states), PRECISION[dtype])


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("lm_softmax", ["all_rows", "tokens_only"])
@each_path
def test_both_losses_with_either_softmax(arch, skip_pads, lm_softmax, dtype):
    run = tuning("race", arch, dtype, skip_pads=skip_pads, lm_softmax=lm_softmax)
    expected = reference(run)
    rows = np.arange(6)
    family, built, targets = batch_of(expected, "race", rows)
    with torch.no_grad():
        found = run.losses(rows, run.splits["train"])
        total, clf, _ = expected.loss(family, built, targets, 0.5)
    assert [float(x) for x in found] == pytest.approx(
        [float(total), float(clf)], rel=PRECISION[dtype]
    )


@pytest.mark.parametrize("arch", SHAPES)
def test_five_pretraining_updates_on_windows_with_the_cosine_schedule(arch):
    model = blank(arch)
    expected = Reference(parameters(model), N_VOCAB, N_CTX, 2, heads(arch), arch)
    adam = Adam(model.parameters(), Schedule(0.01, warmup_cosine, 0.2, 10), OptimizerSettings())
    tokens = np.random.default_rng(1).integers(0, N_VOCAB, 100)
    for update in range(5):
        rows = windows(tokens, N_CTX, 2, 0, update)
        wanted = expected.lm_loss(rows.tolist())
        expected.step(wanted, 0.01, 10, warmup=0.2, l2=0.01, max_grad_norm=1.0, cosine=True)
        adam.zero_grad()
        _, loss = model(rows, with_lm_loss=True)
        loss.backward()
        adam.step()
        assert float(loss.detach()) == pytest.approx(float(wanted.detach()), rel=1e-9)
        for key, p in parameters(model).items():
            close(p, expected.p[key], 1e-9)


@each_path
@pytest.mark.parametrize("name", TASKS)
def test_five_clipped_updates_in_float64(name, arch, skip_pads):
    steps_agree(name, arch, skip_pads, torch.float64, 0.05, lr=0.01)


@each_path
def test_five_updates_that_nothing_clips(arch, skip_pads):
    steps_agree("mrpc", arch, skip_pads, torch.float64, 1e6, lr=0.01)


@each_path
@pytest.mark.parametrize("name", TASKS)
def test_five_updates_in_float32_at_the_papers_rate(name, arch, skip_pads):
    steps_agree(name, arch, skip_pads, torch.float32, 1.0, lr=6.25e-5)


@each_path
def test_five_updates_without_the_auxiliary_loss(arch, skip_pads):
    steps_agree("rte", arch, skip_pads, torch.float64, 1.0, lr=0.01, lm_coef=0.0)


def steps_agree(name, arch, skip_pads, dtype, max_grad_norm, lr, lm_coef=0.5):
    """Five updates on changing rows: losses, norms, clipped gradients, and every parameter.

    Adam inflates a gradient that is nothing but rounding (the key's bias has none, nor has the bias
    of a choice) up to the size of a step. So in float32 the values whose gradient is above
    rounding must agree, and the others keep within the five steps. Five steps are small beside a
    weight: so what they moved is compared too, relative to the tensor's largest move.
    """
    optimizer = OptimizerSettings(max_grad_norm=max_grad_norm)
    run = tuning(name, arch, dtype, lm_coef, skip_pads, optimizer=optimizer, lr=lr)
    expected = reference(run)
    tolerance = PRECISION[dtype]
    start = {k: v.detach().clone() for k, v in parameters(run.model).items()}
    told = {k: torch.ones_like(v, dtype=torch.bool) for k, v in start.items()}
    norms, step = [], run.optimizer.step
    run.optimizer.step = lambda: norms.append(float(step()))
    order = [[0, 1, 2], [3, 4, 5], [5, 0, 3], [1, 4, 2], [2, 3, 0]]
    for t, rows in enumerate(order):
        total, clf, _ = expected.loss(*batch_of(expected, name, rows), lm_coef)
        norm = expected.step(total, lr, total=8, warmup=0.3, l2=0.01, max_grad_norm=max_grad_norm)
        run.update(np.array(rows))
        assert run.updates == 8
        assert run.history[-1] == pytest.approx(
            (float(total.detach()), float(clf.detach())), rel=max(tolerance, 1e-6)
        )
        assert norms[-1] == pytest.approx(norm, rel=tolerance)
        assert norm > 0.05 and norm < 1e6  # so 0.05 clips and 1e6 does not
        for key, p in parameters(run.model).items():
            close(p.grad, expected.clipped[key], tolerance)
            told[key] &= (expected.clipped[key].abs() > 1e-5) | (dtype is torch.float64)
            if told[key].any():
                close(p[told[key]], expected.p[key][told[key]], tolerance)
                if dtype is torch.float32:
                    moved = (expected.p[key] - start[key])[told[key]].detach()
                    off = (p - expected.p[key])[told[key]].detach()
                    assert float(off.abs().max()) <= MOVED * float(moved.abs().max())
            close(p, expected.p[key], max(tolerance, 5 * lr * (dtype is torch.float32)))
            if t == 0:
                assert torch.equal(p.detach(), start[key])  # the schedule's first factor is 0
    assert sum(int(x.sum()) for x in told.values()) > 0.7 * run.optimizer.flat.numel()
