"""Fine-tuning: every option does what it says, and both models can learn every task."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from gpt1.model.classifier import Classifier
from gpt1.training import finetuning
from gpt1.training.runtime import Runtime
from gpt1.training.task_data import TaskData
from tasks import TASKS, task
from tasks.stsb import soft_labels
from tests.gpt1 import toy
from tests.gpt1.toy import start

torch.set_num_threads(1)


def first_losses(run, rows=range(8)):
    """Total, classification and LM loss (None without it) of some training rows at step 0."""
    split = run.data.splits["train"]
    run.model.eval()
    with torch.no_grad():
        total, clf = run.losses(np.array(rows), split)
        aux = run.settings.lm_coef > 0
        _, lm = run.model(*run.inputs(np.array(rows), split), with_lm_loss=aux)
    return total, clf, lm


@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("name", [t.name for t in TASKS])
def test_every_task_and_architecture_overfits_eight_rows(name, arch):
    lr = {"transformer": 3e-3, "lstm": 1e-2}[arch]
    run = start(name, arch, epochs=80, batch=8, lm_coef=0.0, lr=lr)
    run.data.splits["select"] = run.data.splits["train_eval"]
    record = run.train()
    assert record.scores["train"][run.data.spec.metric] >= 99.0, record.scores["train"]
    assert record.clf_loss_end < record.clf_loss_start


@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("name", ["race", "stsb", "mrpc", "mnli", "sst2"])
def test_lm_coef_zero_and_a_half_give_the_same_classification_loss_at_step_0(name, arch):
    total, clf, lm = first_losses(start(name, arch, lm_coef=0.5))
    total0, clf0, lm0 = first_losses(start(name, arch, lm_coef=0.0))
    assert float(clf) == float(clf0) == float(total0) and lm0 is None
    assert float(total) == pytest.approx(float(clf) + 0.5 * float(lm), rel=1e-6)


def test_lm_coef_zero_never_calls_the_lm_head(monkeypatch):
    run = start(lm_coef=0.0)

    def fail(*args, **kwargs):
        raise AssertionError("the LM head ran")

    monkeypatch.setattr(run.model.language_model, "lm_features", fail)
    run.train()
    with_aux = start(lm_coef=0.5)
    monkeypatch.setattr(with_aux.model.language_model, "lm_features", fail)
    with pytest.raises(AssertionError, match="LM head"):
        with_aux.train()


@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("name", ["race", "stsb", "qnli", "cola"])
def test_the_content_of_pads_changes_no_prediction(name, arch):
    run = start(name, arch)
    before = run.predict(run.data.splits["dev"])
    split = run.data.splits["dev"]
    places = np.arange(split.ids.shape[2])
    pads = places >= split.lengths[:, :, None]
    assert pads.any()
    split.ids[pads] = 7
    assert np.array_equal(run.predict(run.data.splits["dev"]), before)


@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("name", ["race", "stsb", "qnli", "cola"])
def test_a_batch_of_one_gives_the_loss_of_a_batch_of_many_row_by_row(name, arch):
    run = start(name, arch)
    whole = first_losses(run)
    single = [[float(x) for x in first_losses(run, [i])] for i in range(8)]
    assert np.mean(single, axis=0) == pytest.approx([float(x) for x in whole], rel=1e-5)


def test_the_same_run_twice_gives_the_same_weights_and_scores_and_another_seed_does_not():
    runs = [start(dropout=toy.DROPOUT, seed=s) for s in (0, 0, 1)]
    records = [replace(run.train(), train_seconds=0.0, peak_mb=0.0) for run in runs]
    assert torch.equal(runs[0].optimizer.flat, runs[1].optimizer.flat)
    assert not torch.equal(runs[0].optimizer.flat, runs[2].optimizer.flat)
    assert records[0] == records[1] != records[2]


def test_steps_and_tokens_are_counted_and_the_last_partial_batch_is_dropped():
    run = start(sizes={"train": 11, "select": 4, "dev": 4}, batch=4, epochs=3)
    record = run.train()
    assert record.steps == 6 == run.updates
    assert record.train_rows == 11
    full = int(run.data.splits["train"].lengths.sum())
    assert 0 < record.train_tokens < 3 * full


def test_fewer_rows_than_a_batch_still_train():
    run = start(sizes={"train": 3, "select": 4, "dev": 4}, batch=32, epochs=2)
    assert run.train().steps == 2


def test_the_weights_kept_are_those_that_selected_best(monkeypatch):
    run = start(epochs=3)
    values = iter([50.0, 80.0, 60.0])
    kept = []

    def select_score():
        kept.append(run.optimizer.flat.clone())
        return next(values)

    monkeypatch.setattr(run, "select_score", select_score)
    record = run.train()
    assert record.best_epoch == 2
    assert torch.equal(run.optimizer.flat, kept[1])


def test_of_equally_good_epochs_the_latest_is_kept(monkeypatch):
    run = start(epochs=4)
    values = iter([50.0, 80.0, 80.0, 60.0])
    monkeypatch.setattr(run, "select_score", lambda: next(values))
    assert run.train().best_epoch == 3


def test_the_label_entropy_is_the_loss_of_the_best_constant_answer():
    data = start(sizes={"train": 8, "select": 4, "dev": 4}).data
    train = data.splits["train"]

    def entropy(spec, labels):
        split = replace(train, labels=np.array(labels), ids=train.ids[: len(labels)])
        return TaskData(spec, {**data.splits, "train": split}).label_entropy

    assert entropy(data.spec, [0, 1] * 4) == pytest.approx(math.log(2))
    assert entropy(data.spec, [1] * 6 + [0] * 2) == pytest.approx(0.562335)
    assert entropy(data.spec, [1] * 8) == 0
    stsb = task("stsb").spec
    assert entropy(stsb, [2.5] * 8) == pytest.approx(math.log(2))  # half 2, half 3
    scores = [0.0, 1.25, 3.5, 5.0]
    targets = torch.from_numpy(soft_labels(np.array(scores)))
    constant = targets.mean(0).clamp(min=1e-12).log().expand(len(scores), -1)
    loss = torch.nn.functional.cross_entropy(constant, targets)
    assert entropy(stsb, scores) == pytest.approx(float(loss), abs=1e-9)


def test_the_reported_split_is_never_looked_at_before_training_is_over(monkeypatch):
    run = start(epochs=3)
    seen = []
    predict, names = run.predict, {id(v): k for k, v in run.data.splits.items()}

    def watched(split):
        seen.append(names[id(split)])
        return predict(split)

    monkeypatch.setattr(run, "predict", watched)
    run.train()
    assert seen[:3] == ["select"] * 3
    assert sorted(seen[3:]) == ["dev", "select", "train_eval"]


def test_race_reports_its_groups():
    record = start("race", sizes={"train": 8, "select": 8, "dev": 8, "test": 8}).train()
    expected = {"dev", "dev_middle", "dev_high", "test", "test_middle", "test_high"}
    assert expected <= record.scores.keys()
    mean = (record.scores["dev_middle"]["accuracy"] + record.scores["dev_high"]["accuracy"]) / 2
    assert record.scores["dev"]["accuracy"] == pytest.approx(mean)


@pytest.mark.parametrize("name", ["race", "mrpc", "rte"])
def test_leaving_out_pads_gives_the_same_loss_and_gradients_in_float64(name):
    run, found = start(name), []
    run.model.double().eval()
    for skip_pads in (False, True):
        run.model.language_model.skip_pads = skip_pads
        loss, _ = run.losses(np.arange(8), run.data.splits["train"])
        found.append((loss, *torch.autograd.grad(loss, list(run.model.parameters()))))
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-12)


def test_pads_are_really_left_out_of_the_matrix_products():
    run = start("rte", runtime=Runtime(skip_pads=True))
    rows, split = np.arange(8), run.data.splits["train"]
    seen = []
    run.model.language_model.h[0].mlp.register_forward_pre_hook(
        lambda _, inputs: seen.append(len(inputs[0]))
    )
    run.update(rows)
    assert seen == [int(split.lengths[rows].sum())]
    assert seen[0] < split.take(rows)[0].size


def test_unlabelled_rows_are_predicted_in_chunks_as_all_at_once(monkeypatch):
    run = start("mrpc")
    split = toy.Rows(task("mrpc")).split(7, "test")
    whole = run.predict_unlabelled(split)
    monkeypatch.setattr(finetuning, "CHUNK", 3)
    assert np.array_equal(run.predict_unlabelled(split), whole) and len(whole) == 7


@pytest.mark.parametrize("name", ["stsb", "qqp", "cola", "mnli"])
def test_rows_without_a_label_or_without_a_text_are_predicted(name):
    run = start(name)
    split = toy.Rows(task(name)).split(5, "test")
    answers = run.predict_unlabelled(split)
    none = np.empty(0, dtype=np.int32)
    first = [none, *split.first[1:]]
    second = [none, *split.second[1:]]
    blind = replace(split, labels=np.full(5, -1.0 if name == "stsb" else -1))
    assert np.array_equal(run.predict_unlabelled(blind), answers)
    found = run.predict_unlabelled(replace(blind, first=first, second=second))
    assert len(found) == 5 and np.allclose(found[1:], answers[1:], atol=1e-5)


@pytest.mark.parametrize("skip_pads", [False, True], ids=["with pads", "without pads"])
def test_bfloat16_keeps_losses_and_predictions_within_two_percent(skip_pads):
    exact = start("stsb")
    run = start("stsb", runtime=Runtime(precision="bfloat16", skip_pads=skip_pads))
    wanted, found = (each.predict(each.data.splits["dev"]) for each in (exact, run))
    assert np.abs(found - wanted).max() <= 0.02 * 5 and not np.array_equal(found, wanted)
    for each in (exact, run):
        for _ in range(3):
            each.update(np.arange(8))
    for rough, fine in zip(run.history, exact.history, strict=True):
        assert rough == pytest.approx(fine, rel=0.02) and rough != fine


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


def test_one_classifier_mask_serves_all_choices():
    classifier = Classifier("multiple_choice", 8, 4, dropout=0.5)
    classifier.reset(torch.Generator().manual_seed(0), 0.02)
    states = torch.ones(5, 4, 8)
    torch.manual_seed(0)
    logits = classifier(states)
    assert torch.equal(logits, logits[:, :1].expand_as(logits))
    assert len({float(x) for x in logits[:, 0].detach()}) > 1


def test_a_similarity_adds_the_two_states_before_the_linear_map():
    classifier = Classifier("similarity", 8, 2)
    classifier.reset(torch.Generator().manual_seed(0), 0.02)
    states = torch.randn(3, 2, 8)
    expected = (states[:, 0] + states[:, 1]) @ classifier.weight + classifier.bias
    assert torch.allclose(classifier(states), expected)


def test_a_loss_that_is_not_finite_stops_the_run():
    run = start()
    run.optimizer.flat.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match="update 1: the loss is nan"):
        run.update(np.arange(4))


@pytest.mark.parametrize("name", ["rte", "stsb"])
def test_weights_that_the_last_update_made_infinite_stop_the_run(name):
    run = start(name, lm_coef=0.0, epochs=1, batch=8, lr=1e39, warmup=0)
    with pytest.raises(FloatingPointError, match="update 1: a weight is not finite"):
        run.train()
    assert len(run.history) == 1 and np.isfinite(run.history).all()


def test_every_epoch_has_all_rows_in_an_order_of_its_own(monkeypatch):
    run, seen = start(epochs=3, batch=4), []
    update = run.run.update
    monkeypatch.setattr(
        run.run, "update", lambda head, rows: seen.append(rows) or update(head, rows)
    )
    run.train()
    orders = [np.concatenate(seen[i : i + 2]).tolist() for i in (0, 2, 4)]
    assert all(sorted(order) == list(range(8)) for order in orders)
    assert orders[0] != orders[1] != orders[2] != orders[0]


def test_every_update_and_seed_has_dropout_masks_of_its_own():
    runs = [start(dropout=toy.DROPOUT, seed=seed) for seed in (0, 1)]
    runs[1].optimizer.flat.copy_(runs[0].optimizer.flat)
    for run in runs:
        run.update(np.arange(8))  # the first update changes no weight
        run.update(np.arange(8))
    (first, second), (other, _) = (run.history for run in runs)
    assert first != second and first != other


@pytest.mark.parametrize("constant", ["dev_matched", "dev_mismatched", None])
def test_one_answer_for_all_rows_of_any_reported_split_is_recorded(constant, monkeypatch):
    run = start("mnli", sizes={"train": 8, "select": 4, "dev_matched": 6, "dev_mismatched": 6})
    names = {id(split): name for name, split in run.data.splits.items()}

    def predict(split):
        answers = np.arange(len(split)) % 3
        return np.zeros_like(answers) if names[id(split)] == constant else answers

    monkeypatch.setattr(run, "predict", predict)
    assert run.train().constant == (constant is not None)
