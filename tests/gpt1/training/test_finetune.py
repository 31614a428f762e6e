"""Fine-tuning: every option and method does what it says, and nothing else."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch

from gpt1.data import sample
from gpt1.settings import FinetuneMethod
from gpt1.training import finetuning
from gpt1.training.finetuning import answer, label_entropy
from gpt1.training.runtime import Runtime
from tasks import task
from tasks.metrics import soft_labels
from tests.gpt1 import toy
from tests.gpt1.toy import start


def test_the_same_run_twice_gives_the_same_weights_and_scores_and_another_seed_does_not():
    runs = [start(dropout=toy.DROPOUT, seed=s) for s in (0, 0, 1)]
    untimed = {"train_seconds": 0.0, "peak_mb": 0.0}
    records = [run.train().model_copy(update=untimed) for run in runs]
    assert torch.equal(runs[0].optimizer.flat, runs[1].optimizer.flat)
    assert not torch.equal(runs[0].optimizer.flat, runs[2].optimizer.flat)
    assert records[0] == records[1] != records[2]


def test_the_train_score_is_of_a_random_sample_of_the_rows():
    run = start(sizes={"train": 64, "select": 4, "dev": 4}, eval_train=8)
    train, sampled = run.splits["train"], run.train_eval
    rows = sample(64, 8)
    assert rows.max() > 8
    for name in ("ids", "lengths", "labels"):
        assert np.array_equal(getattr(sampled, name), getattr(train, name)[rows])


def test_an_update_is_the_same_after_scoring_as_without_it():
    runs = [start(dropout=toy.DROPOUT) for _ in range(2)]
    for run in runs:
        run.update(np.arange(8))  # at a rate of 0
    runs[0].predict(runs[0].splits["select"])
    for run in runs:
        run.update(np.arange(8))
    assert torch.equal(runs[0].optimizer.flat, runs[1].optimizer.flat)


def test_every_seed_has_dropout_masks_of_its_own():
    runs = [start(dropout=toy.DROPOUT, seed=seed) for seed in (0, 1)]
    runs[1].optimizer.flat.copy_(runs[0].optimizer.flat)
    for run in runs:
        run.update(np.arange(8))
    assert runs[0].history != runs[1].history


def test_steps_and_tokens_are_counted_and_the_last_partial_batch_is_dropped():
    run = start(sizes={"train": 11, "select": 4, "dev": 4}, batch=4, epochs=3)
    record = run.train()
    assert record.steps == 6 == run.updates
    assert record.train_rows == 11
    full = int(run.splits["train"].lengths.sum())
    assert 0 < record.train_tokens < 3 * full


def test_fewer_rows_than_a_batch_still_train():
    run = start(sizes={"train": 3, "select": 4, "dev": 4}, batch=32, epochs=2)
    assert run.train().steps == 2


@pytest.mark.parametrize(
    ("scores", "best"), [((50.0, 80.0, 60.0), 2), ((50.0, 100.0, 99.99999999999999), 3)]
)
def test_the_weights_kept_are_those_that_selected_best(scores, best, monkeypatch):
    run = start(epochs=3, lr=0.03)
    values = iter(scores)
    kept, said = [], []

    def select_score(predictions):
        kept.append(run.optimizer.flat.clone())
        said.append(run.splits["select"].labels == predictions)
        return next(values)

    monkeypatch.setattr(run, "select_score", select_score)
    record = run.train()
    assert record.best_epoch == best
    assert torch.equal(run.optimizer.flat, kept[best - 1])
    assert record.scores["select"]["accuracy"] == 100 * said[best - 1].mean()
    assert len({right.mean() for right in said[1:]}) == 2


def test_the_label_entropy_is_the_loss_of_the_best_constant_answer():
    rte, stsb = task("rte").spec, task("stsb").spec
    assert label_entropy(rte, np.array([0, 1] * 4)) == pytest.approx(math.log(2))
    assert label_entropy(rte, np.array([1] * 6 + [0] * 2)) == pytest.approx(0.562335)
    assert label_entropy(rte, np.array([1] * 8)) == 0
    assert label_entropy(stsb, np.array([2.5] * 8)) == pytest.approx(math.log(2))  # half 2, half 3
    scores = np.array([0.0, 1.25, 3.5, 5.0])
    targets = torch.from_numpy(soft_labels(scores))
    constant = targets.mean(0).clamp(min=1e-12).log().expand(len(scores), -1)
    loss = torch.nn.functional.cross_entropy(constant, targets)
    assert label_entropy(stsb, scores) == pytest.approx(float(loss), abs=1e-9)


def test_the_reported_split_is_never_looked_at_before_training_is_over(monkeypatch):
    run = start(epochs=3)
    seen = []
    predict, names = run.predict, {id(v): k for k, v in run.splits.items()}
    names[id(run.train_eval)] = "train_eval"

    def watched(split):
        seen.append(names[id(split)])
        return predict(split)

    monkeypatch.setattr(run, "predict", watched)
    run.train()
    assert seen[:3] == ["select"] * 3
    assert sorted(seen[3:]) == ["dev", "train_eval"]


@pytest.mark.parametrize("name", ["stsb", "qqp", "cola", "mnli"])
def test_rows_without_a_label_or_without_a_text_are_predicted_in_chunks(name, monkeypatch):
    run = start(name)
    split = toy.split(task(name), 5, "test")
    answers, shares = answer(run.model, run.spec, split, Runtime())
    monkeypatch.setattr(finetuning, "CHUNK", 2)
    none = np.empty(0, dtype=np.int32)
    first = [none, *split.first[1:]]
    second = [none, *split.second[1:]]
    blind = replace(split, labels=np.full(5, -1.0 if name == "stsb" else -1))
    found, found_shares = answer(run.model, run.spec, blind, Runtime())
    assert np.allclose(found, answers, atol=1e-5)  # other batches, so other rounding
    assert np.allclose(found_shares, shares, atol=1e-5)
    blind = replace(blind, first=first, second=second)
    found, _ = answer(run.model, run.spec, blind, Runtime())
    assert len(found) == 5 and np.allclose(found[1:], answers[1:], atol=1e-5)


@pytest.mark.parametrize(
    "runtime", [{"skip_pads": True}, {"micro_batch": 3}, {"shared_prefix": False}], ids=str
)
def test_dropout_draws_other_masks_where_other_positions_are_computed(runtime):
    found = []
    for each in (Runtime(), Runtime(), Runtime(**runtime)):
        run = start("race", runtime=each, dropout=toy.DROPOUT)
        run.update(np.arange(8))
        found.append(run.history[0][0])
    assert found[0] == found[1] and abs(found[2] - found[0]) > 1e-5 * found[0]


@pytest.mark.parametrize("name", ["rte", "stsb"])
def test_weights_that_the_last_update_made_infinite_stop_the_run(name):
    run = start(name, lm_coef=0.0, epochs=1, batch=8, lr=1e39, warmup=0)
    with pytest.raises(FloatingPointError, match="update 1: a weight is not finite"):
        run.train()
    assert len(run.history) == 1 and np.isfinite(run.history).all()


@pytest.mark.parametrize("constant", ["dev_matched", "dev_mismatched", None])
def test_one_answer_for_all_rows_of_any_reported_split_is_recorded(constant, monkeypatch):
    run = start("mnli", sizes={"train": 8, "select": 4, "dev_matched": 6, "dev_mismatched": 6})
    names = {id(split): name for name, split in run.splits.items()}

    def predict(split):
        answers = np.arange(len(split)) % 3
        answers = np.zeros_like(answers) if names.get(id(split)) == constant else answers
        return answers, np.eye(3)[answers]

    monkeypatch.setattr(run, "predict", predict)
    assert run.train().constant == (constant is not None)


def method(**changes):
    return {"method": FinetuneMethod(**changes)}


def weights(run):
    return {name: p.detach().clone() for name, p in run.model.named_parameters()}


def moved(run, before):
    """The names of the tensors that training has changed."""
    return {name for name, tensor in weights(run).items() if not torch.equal(tensor, before[name])}


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_classifier_reads_the_states_of_the_layer_that_is_asked_for(layer):
    whole, run = start(lm_coef=0.0), start(lm_coef=0.0, **method(read_layer=layer))
    ids, lengths = run.splits["train"].take(np.arange(4))
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
        whole = start(sizes=sizes).splits["train"].ids.tolist()
        found = [whole.index(ids) for ids in run.splits["train"].ids.tolist()]
        assert run.train().train_rows == len(set(found)) == round(64 * share)
        assert len(run.splits["select"]) == len(run.splits["dev"]) == 8
        return set(found)

    assert rows(1 / 8) < rows(1 / 2) < rows(1.0) == set(range(64))
    assert rows(1 / 8) != rows(1 / 8, seed=1)


@pytest.mark.parametrize("share", [1 / 16, 0.3, 1.0])
def test_a_share_is_repeated_to_as_many_updates_as_all_rows_have(share):
    run = start(sizes={"train": 66, "select": 8, "dev": 8}, **method(train_share=share))
    ids = [tuple(row.ravel()) for row in run.splits["train"].ids]
    times = Counter(ids).values()
    assert sum(times) == 66 and len(times) == round(66 * share)
    assert max(times) - min(times) <= 1
    assert {tuple(row.ravel()) for row in run.train_eval.ids} <= {*ids}
    record = run.train()
    assert record.steps == run.updates == 66 // 4 * 2
    assert record.rows["train"] == min(8, round(66 * share))
