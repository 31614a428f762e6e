"""Each change of the fine-tuning that a study may ask for does what it says, and nothing else."""

from collections import Counter

import numpy as np
import pytest
import torch

from gpt1.model.language_model import copied_layers
from gpt1.settings import FinetuneMethod, OptimizerSettings
from gpt1.training.optim import Adam, Schedule, warmup_constant, warmup_restarts
from tests.gpt1 import toy
from tests.gpt1.toy import start

torch.set_num_threads(1)
SPECIAL = range(toy.N_VOCAB, toy.N_VOCAB + 3)  # rows of the special tokens


def method(**changes):
    return {"method": FinetuneMethod(**changes)}


def weights(run):
    return {name: p.detach().clone() for name, p in run.model.named_parameters()}


def moved(run, before):
    """The names of the tensors that training has changed."""
    return {name for name, tensor in weights(run).items() if not torch.equal(tensor, before[name])}


@pytest.mark.parametrize(
    ("n", "changes", "expected"),
    [
        (0, {}, []),
        (2, {}, [0, 1]),
        (2, {"transfer": "highest"}, [3, 4]),
        (0, {"transfer": "highest"}, []),
        (5, {"transfer": "highest"}, [0, 1, 2, 3, 4]),
        (5, {"skip_layer": 1}, [1, 2, 3, 4]),
        (5, {"skip_layer": 5}, [0, 1, 2, 3]),
        (3, {"transfer": "highest", "skip_layer": 4}, [2, 4]),
    ],
)
def test_the_copied_layers_are_those_that_are_asked_for(n, changes, expected):
    assert copied_layers(5, n, FinetuneMethod(**changes)) == expected


@pytest.mark.parametrize("changes", [{"transfer": "highest"}, {"skip_layer": 1}])
def test_the_top_layer_alone_is_copied_into_its_own_place(changes):
    n = 1 if "transfer" in changes else 2
    run, source = start(n_transfer=n, **method(**changes)), toy.source("transformer").tensors
    own = {k.removeprefix("language_model."): v for k, v in weights(run).items()}
    assert {name.split(".")[1] for name in run.copied if name.startswith("h.")} == {"1"}
    assert torch.equal(own["h.1.mlp.c_fc.weight"], source["h.1.mlp.c_fc.weight"])
    assert not torch.equal(own["h.0.mlp.c_fc.weight"], source["h.0.mlp.c_fc.weight"])


def test_the_lstms_output_map_goes_with_its_top_layer():
    skip_layer = start(arch="lstm", n_transfer=1, **method(skip_layer=1))
    assert skip_layer.copied == ["embed"]


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_classifier_reads_the_states_of_the_layer_that_is_asked_for(layer):
    whole, run = start(lm_coef=0.0), start(lm_coef=0.0, **method(read_layer=layer))
    ids, lengths = map(torch.from_numpy, run.data.splits["train"].take(np.arange(4)))
    states = []
    for block in whole.model.language_model.h:
        block.register_forward_hook(lambda _, __, out: states.append(out))
    block = whole.model.language_model.h[0]
    block.register_forward_pre_hook(lambda _, inputs: states.append(inputs[0]))
    for one in (whole, run):
        one.model.eval()
    whole.model(ids, lengths)
    logits, _ = run.model(ids, lengths)
    batch = whole.model.language_model.lay_out(ids, lengths)
    expected = run.model.classifier(states[layer][batch.ends].view(*lengths.shape, -1))
    assert torch.equal(logits, expected)
    with torch.no_grad():
        torch.testing.assert_close(run.model(ids, lengths)[0], logits, rtol=0, atol=1e-6)
    assert run.copied == whole.copied  # the layers above are taken away after the transfer


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_frozen_body_keeps_every_bit_and_the_classifier_learns(arch):
    run = start(
        arch=arch, lm_coef=0.0, lr=0.1, epochs=20, dropout=toy.DROPOUT, **method(frozen=True)
    )
    before = weights(run)
    record = run.train()
    assert moved(run, before) == {"classifier.weight", "classifier.bias"}
    assert record.clf_loss_end < record.clf_loss_start


def test_a_frozen_body_drops_nothing_but_the_classifier_does():
    run = start(lm_coef=0.0, dropout=toy.DROPOUT, **method(frozen=True))
    run.update(np.arange(4))
    assert not run.model.language_model.training and run.model.classifier.training


def test_a_share_of_the_training_rows_is_drawn_by_the_seed_and_smaller_ones_are_part_of_larger():
    sizes = {"train": 64, "select": 8, "dev": 8}

    def rows(share, seed=0):
        run = start(sizes=sizes, seed=seed, **method(train_share=share))
        whole = start(sizes=sizes).data.splits["train"].ids.tolist()
        found = [whole.index(ids) for ids in run.data.splits["train"].ids.tolist()]
        assert run.train().train_rows == len(set(found)) == round(64 * share)
        assert len(run.data.splits["select"]) == len(run.data.splits["dev"]) == 8
        return set(found)

    assert rows(1 / 8) < rows(1 / 2) < rows(1.0) == set(range(64))
    assert rows(1 / 8) != rows(1 / 8, seed=1)


@pytest.mark.parametrize("share", [1 / 16, 0.3, 1.0])
def test_a_share_is_repeated_to_as_many_updates_as_all_rows_have(share):
    run = start(sizes={"train": 66, "select": 8, "dev": 8}, **method(train_share=share))
    ids = [tuple(row.ravel()) for row in run.data.splits["train"].ids]
    times = Counter(ids).values()
    assert sum(times) == 66 and len(times) == round(66 * share)
    assert max(times) - min(times) <= 1
    record = run.train()
    assert record.steps == run.updates == 66 // 4 * 2
    assert record.rows["train"] == min(8, round(66 * share))


def test_a_layers_rate_falls_by_the_same_factor_from_layer_to_layer():
    options = {"lm_coef": 0.0, "warmup": 0.0}
    one, own = (start(**options, **method(layer_decay=decay)) for decay in (1.0, 0.5))
    changes = []
    for run in (one, own):
        before = weights(run)
        run.update(np.arange(4))
        changes.append({k: v - before[k] for k, v in weights(run).items()})
    rows = torch.full((len(one.model.language_model.embed), 1), 0.25)
    rows[SPECIAL] = 1.0
    factors = {"classifier": 1.0, "h.1.": 1.0, "h.0.": 0.5, "embed": rows}
    for name, change in changes[0].items():
        (factor,) = (f for part, f in factors.items() if part in name)
        torch.testing.assert_close(changes[1][name], factor * change, rtol=1e-3, atol=1e-7)
        assert change.abs().sum() > 0


def test_layers_join_from_the_top_until_half_of_the_updates_are_done():
    run = start(**method(gradual_unfreezing=True))
    rates = run.layer_rates
    trained = {
        progress: [rates.factor(below, progress) for below in range(4)]
        for progress in (0.0, 0.1, 0.17, 0.34, 0.5, 1.0)
    }
    assert trained == {
        **{0.0: [1, 0, 0, 0], 0.1: [1, 0, 0, 0], 0.17: [1, 1, 0, 0]},
        **{0.34: [1, 1, 1, 0], 0.5: [1, 1, 1, 1], 1.0: [1, 1, 1, 1]},
    }


def test_gradual_unfreezing_trains_the_classifier_first_and_all_in_the_end():
    run = start(lm_coef=0.0, warmup=0.0, epochs=6, **method(gradual_unfreezing=True))
    before = weights(run)
    run.update(np.arange(4))
    embed = "language_model.embed"
    assert moved(run, before) == {"classifier.weight", "classifier.bias", embed}
    fresh = (weights(run)[embed] != before[embed]).any(1)
    assert fresh.nonzero().ravel().tolist() == list(SPECIAL)
    for _ in range(run.updates - 2):
        run.update(np.arange(4))
    assert moved(run, before) == set(before)


def optimizers(decay, settings, reference, **options):
    """Ours and PyTorch's on equal parameters."""
    generator = torch.Generator().manual_seed(0)
    shapes = [(3, 4), (2, 2)]
    values = [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]
    own, theirs = ([torch.nn.Parameter(v.clone()) for v in values] for _ in range(2))
    schedule = Schedule(0.1, warmup_constant, 0.0, 10)
    adam = Adam(own, schedule, settings, decay)
    return own, theirs, adam, reference(theirs, lr=0.1, **options)


@pytest.mark.parametrize("max_grad_norm", [0.0, 0.5])
@pytest.mark.parametrize(
    ("decay", "reference"), [("adamw", torch.optim.AdamW), ("l2", torch.optim.Adam)]
)
def test_the_other_decays_are_those_of_pytorch(decay, reference, max_grad_norm):
    settings = OptimizerSettings(l2=0.3, eps=1e-14, max_grad_norm=max_grad_norm)
    options = {"weight_decay": 0.3, "eps": 1e-14, "betas": (0.9, 0.999)}
    own, theirs, adam, torchs = optimizers(decay, settings, reference, **options)
    for t in range(5):
        for ours, other in zip(own, theirs, strict=True):
            ours.grad.copy_(torch.sin(ours.detach() * (t + 1)))
            other.grad = torch.sin(other.detach() * (t + 1))
        if max_grad_norm:
            torch.nn.utils.clip_grad_norm_(theirs, max_grad_norm)
        adam.step()
        torchs.step()
    for ours, other in zip(own, theirs, strict=True):
        torch.testing.assert_close(ours, other, rtol=1e-6, atol=1e-9)


def test_the_other_schedules_at_their_corners():
    assert [warmup_constant(x, 0.1) for x in (0.0, 0.05, 0.1, 1.0)] == [0.0, 0.5, 1.0, 1.0]
    assert warmup_constant(0.0, 0.0) == 1.0
    assert [warmup_restarts(x, 0.1) for x in (0.0, 0.05)] == [0.0, 0.5]
    for x, factor in ((1 / 6, 0.5), (0.333, 0.0), (0.334, 1.0), (1 / 2, 0.5), (0.9999, 0.0)):
        assert warmup_restarts(x, 0.1) == pytest.approx(factor, abs=1e-3)


@pytest.mark.parametrize("schedule", ["cosine", "restarts", "constant"])
@pytest.mark.parametrize("decay", ["adamw", "l2"])
def test_schedule_and_decay_reach_the_optimizer(schedule, decay):
    run = start(**method(schedule=schedule, decay=decay))
    assert run.optimizer.decay == decay
    assert run.optimizer.schedule.shape.__name__ == f"warmup_{schedule}"
    plain = start()
    for one in (plain, run):
        one.update(np.arange(4))
        one.update(np.arange(4))
    assert not torch.equal(plain.optimizer.flat, run.optimizer.flat)
