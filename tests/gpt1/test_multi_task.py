"""One model on several tasks: whose turn it is, what is shared, and the cells that come of it."""

from pathlib import Path

import numpy as np
import pytest
import torch

from gpt1 import finetune
from gpt1.cell import Cell
from gpt1.settings import FinetuneMethod, OptimizerSettings
from gpt1.training import batching, finetuning
from gpt1.training.finetuning import FineTuning
from gpt1.training.runtime import Runtime
from gpt1.training.task_data import TaskData
from tasks import task
from tasks.common.files import read_json
from tests.gpt1 import toy
from tests.gpt1.kept_cells import finetune_words, write_task
from tests.support.programs import call

torch.set_num_threads(1)

SIZES = {"rte": 8, "snli": 24, "race": 12}  # training rows
MEASURED = ("train_seconds", "peak_mb")


def made(names=tuple(SIZES), seed=0, epochs=2, own=None, arch="transformer", **options):
    """A run at step 0; `own` are the settings of single tasks."""
    settings = {
        name: toy.settings(arch, **{"epochs": epochs, **options, **(own or {}).get(name, {})})
        for name in names
    }
    data = {
        name: TaskData.of(
            toy.encoded(task(name), train=SIZES[name], select=8, dev=8), toy.N_VOCAB, settings[name]
        )
        for name in names
    }
    n_layer = toy.SHAPES[arch].n_layer
    return FineTuning(data, toy.source(arch), settings, n_layer, seed, Runtime())


def test_every_task_gives_the_batches_of_its_own_cell_in_their_order():
    run = made(own={"snli": {"epochs": 1}, "race": {"batch": 6}})
    turns = run.turns()
    assert len(turns) == run.updates == 2 * 2 + 1 * 6 + 2 * 2
    for name, epochs, batch in (("rte", 2, 4), ("snli", 1, 4), ("race", 2, 6)):
        given = [rows.tolist() for head, rows in turns if head is run.heads[name]]
        own = [b for e in range(epochs) for b in batching.epoch(SIZES[name], batch, 0, e)]
        assert given == [rows.tolist() for rows in own]
        seen = np.bincount(np.concatenate(given), minlength=SIZES[name])
        assert (seen == epochs).all()


def names(run):
    """Whose turn each update is."""
    return [head.data.spec.name for head, _ in run.turns()]


def test_the_turns_are_mixed_in_proportion_and_drawn_by_the_seed():
    order = names(made(epochs=20))
    first = order[: len(order) // 2]
    for name in SIZES:
        assert first.count(name) == pytest.approx(order.count(name) / 2, rel=0.25)
    assert names(made(epochs=20)) == order != names(made(epochs=20, seed=1))


def test_body_and_classifiers_start_as_in_the_tasks_own_cells_and_the_body_is_one():
    several = made()
    assert len({id(head.model.language_model) for head in several.heads.values()}) == 1
    for name, head in several.heads.items():
        single = toy.start(name, sizes={"train": 8, "select": 8, "dev": 8})
        for (key, own), other in zip(
            head.model.named_parameters(), single.model.parameters(), strict=True
        ):
            assert torch.equal(own, other), key
    parameters = {id(p) for head in several.heads.values() for p in head.model.parameters()}
    assert len(parameters) == len(several.optimizer.parameters)


def test_one_body_is_built_for_all_heads_and_rates_by_layer_hold_for_it(monkeypatch):
    built, own = [], finetuning.build
    monkeypatch.setattr(finetuning, "build", lambda *given: built.append(own(*given)) or built[-1])
    several = made(method=FinetuneMethod(layer_decay=0.5), warmup=0.0)
    assert len(built) == 1
    assert set(several.layer_rates.below) == set(several.optimizer.parameters)
    several.update(several.heads["snli"], np.arange(4))
    assert several.layer_rates.factors == [1.0, 1.0, 0.5, 0.25]


def test_an_update_moves_the_body_for_all_and_no_other_tasks_classifier():
    several = made(warmup=0.0, optimizer=OptimizerSettings(l2=0))
    before = {n: r.model.classifier.weight.detach().clone() for n, r in several.heads.items()}
    body = several.heads["rte"].model.language_model.h[0].mlp.c_fc.weight
    start = body.detach().clone()
    several.update(several.heads["snli"], np.arange(4))
    assert several.heads["rte"].model.language_model.h[0].mlp.c_fc.weight is body
    assert not torch.equal(body, start)
    moved = {
        n for n, r in several.heads.items() if not torch.equal(r.model.classifier.weight, before[n])
    }
    assert moved == {"snli"}
    assert several.optimizer.updates == 1
    assert [len(run.history) for run in several.heads.values()] == [0, 1, 0]


def test_the_weights_kept_are_those_with_the_best_mean_on_select(monkeypatch):
    several, seen = made(epochs=3), []
    scores = {"rte": iter([50, 90, 95]), "snli": iter([70, 60, 10]), "race": iter([50, 30, 60])}
    for name, run in several.heads.items():
        monkeypatch.setattr(run, "select_score", lambda name=name: float(next(scores[name])))
    first = several.heads["rte"]
    monkeypatch.setattr(
        first,
        "select_score",
        lambda: (seen.append(several.optimizer.flat.clone()), float(next(scores["rte"])))[1],
    )
    records = several.train()  # means of 56.7, 60 and 55; no task by itself would choose 60
    assert torch.equal(several.optimizer.flat, seen[1])
    assert not torch.equal(several.optimizer.flat, seen[2])
    for name, record in records.items():
        assert record.best_epoch == 2 and record.steps == several.updates
        assert [point["epoch"] for point in record.select_by_epoch] == [1, 2, 3]
        assert record.best_update == record.select_by_epoch[1]["update"]
        assert record.train_rows == SIZES[name] and record.train_tokens > 0


# --- the program ---

TASKS = ["mrpc", "rte"]
NAME = "together-mrpc.rte"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """What the program reads: two encoded tasks, their baselines, a checkpoint."""
    folder = tmp_path_factory.mktemp("made")
    for name in TASKS:
        write_task(folder, name)
    return folder


def arguments(files: Path, out: Path, names=TASKS, **options):
    """The words of a call."""
    settings = {name: toy.settings("transformer", lm_coef=0.5, **options) for name in TASKS}
    cells = [Cell("transformer", name, "on", 2, variant=NAME) for name in names]
    return finetune_words(files, cells, settings, seeds=(0, 1), out=out)


def test_the_program_writes_a_cell_for_each_task_and_finds_them_again(files, tmp_path, monkeypatch):
    given = arguments(files, tmp_path)
    done = call(finetune.main, *given)
    assert done.returncode == 0, done.stderr
    for path, name in zip(given[:2], TASKS, strict=True):
        cell = read_json(path)
        assert (cell["task"], cell["variant"], cell["aux"]) == (name, NAME, "on")
        assert [seed["seed"] for seed in cell["seeds"]] == [0, 1]
        assert all(seed["steps"] == 12 for seed in cell["seeds"])  # 3 batches, 2 epochs, 2 tasks
        assert all({"select", task(name).main} <= s["scores"].keys() for s in cell["seeds"])
        assert Cell.parse(path).predictions(tmp_path).exists()
    first = [Path(path).read_bytes() for path in given[:2]]
    monkeypatch.setattr(FineTuning, "train", None)  # from the cache alone
    assert call(finetune.main, *given).returncode == 0
    assert [Path(path).read_bytes() for path in given[:2]] == first


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"names": ["rte"]}, "--settings: of mrpc, rte; give one cell of each"),
        ({"lr": 1e30, "warmup": 0.0}, "lower experiment.finetune.lr"),
    ],
)
def test_what_cannot_be_trained_together_is_one_line(files, tmp_path, change, fault):
    done = call(finetune.main, *arguments(files, tmp_path, **change))
    assert done.returncode == 1 and fault in done.stderr and len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.rglob("layers-*"))
