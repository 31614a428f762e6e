"""Cells: the run cache, failures, alarms, the JSON and the predictions of a cell."""

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import pytest
import torch

from gpt1 import finetune
from gpt1.cell import Cell
from gpt1.settings import FinetuneMethod, OptimizerSettings
from gpt1.training import cell_job
from gpt1.training.alarms import alarms
from gpt1.training.cell_job import CellJob
from gpt1.training.encoded import load as load_encoded
from gpt1.training.finetuning import FineTuning
from gpt1.training.run_cache import RunCache
from gpt1.training.runtime import Runtime
from tasks.common.arrow import split_digest
from tasks.common.errors import INTERRUPTED, InputError
from tasks.common.files import read_json, sha256_file, write_json
from tests.gpt1 import toy
from tests.gpt1.kept_cells import (
    finetune_words,
    rows_of,
    write_checkpoint,
    write_encoded,
    write_task,
)
from tests.support.programs import call


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The files that a job of cells on RTE reads, and its rows."""
    folder = tmp_path_factory.mktemp("made")
    return folder, write_task(folder, "rte", reported=8)


@pytest.fixture
def files(made, tmp_path):
    """A copy of these files."""
    shutil.copytree(made[0], tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def encode_again(made, files):
    """Encodes other rows of the task: other reported ones, or unlabelled ones as well."""

    def encode_again(unlabelled=False, **splits):
        rows = made[1] | splits
        if unlabelled:
            rows |= {"test": [{**row, "label": -1} for row in rows["dev"]]}
        write_encoded(files, "rte", rows, ["test"] if unlabelled else [])

    return encode_again


def job(
    files, cells=None, arch="transformer", code="", runtime=None, weights=None, kept=(), **options
):
    """A job of the cells, or of one of RTE."""
    settings = toy.settings(arch, **options)
    weights = [files / f"{name}.safetensors" for name in weights or [arch]]
    inputs = (files / "encoded/rte", files / "baselines/rte.json", weights)
    own = (settings, runtime or Runtime(), RunCache(files / "cache"), code, kept)
    return CellJob(cells or [Cell(arch, "rte", "on", 0)], *inputs, *own)


def train(files, targets, seeds, arch="transformer", **options):
    """What the job of the cells at these paths says of failed runs."""
    cells = [Cell.parse(path) for path in targets]
    files_of = {cell: (cell.path(files), cell.predictions(files)) for cell in cells}
    return finetune.finetune(job(files, cells, arch, **options), files_of, seeds)


def paths(files, *layers, arch="transformer", aux="on"):
    return [Cell(arch, "rte", aux, n).path(files) for n in layers]


def predictions(path):
    """The predictions behind a cell: rows, and the file's metadata."""
    beside = path.as_posix().replace("/cells/", "/predictions/")
    table = parquet.read_table(Path(beside).with_suffix(".parquet"))
    return table.to_pylist(), json.loads(table.schema.metadata[b"gpt1"])


def key(files, n_transfer=1, aux="on", **options):
    """A run's key in the cache, and the cache's path for it."""
    cell = Cell("transformer", "rte", aux, n_transfer)
    own = job(files, [cell], **options)
    return own.cache.path(own.key(cell, 0, own.checkpoints[0]))


def test_a_path_names_its_cell():
    found = Cell.parse("results/x/cells/lstm/story_cloze/aux-off/layers-none.json")
    assert found == Cell("lstm", "story_cloze", "off", "none")
    assert Cell.parse("cells/transformer/rte/aux-on/layers-12.json").n_transfer == 12
    assert Cell.parse(found.path("results/x")) == found
    for corpus in ("shuffled", "sentences-shuffled", "permuted-embeddings"):
        control = Cell("transformer", "rte", "on", 12, corpus)
        path = Path(f"results/cells/transformer-{corpus}/rte/aux-on/layers-12.json")
        assert control.path("results") == path and Cell.parse(path) == control
        assert f"transformer-{corpus}" in str(control.predictions("results"))
    for other in ("rte/aux-on/layers-1.json", "lstm/rte/aux-yes/layers-1.json", "x"):
        with pytest.raises(InputError, match="not the path of a cell"):
            Cell.parse(other)


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_cell_records_everything_that_a_reader_must_know(files, arch):
    n = toy.SHAPES[arch].n_layer
    targets = paths(files, "none", 0, n, arch=arch)
    assert train(files, targets, [0, 1], arch) == []
    none, zero, full = (read_json(p) for p in targets)
    assert [c["n_transfer"] for c in (none, zero, full)] == ["none", 0, n]
    assert none["copied"] == [] and zero["copied"] == ["embed"]
    per_layer = {"transformer": 12 * n, "lstm": 4 * n + 2}[arch]
    assert len(full["copied"]) == 1 + per_layer
    for cell in (none, zero, full):
        assert [s["seed"] for s in cell["seeds"]] == [0, 1]
        assert cell["lm_coef"] == 0.5 and cell["aux"] == "on"
        assert {"config", "tokenizer", "data", "code"} < set(cell["digests"])
        assert cell["corpus"] == "books"
        for seed in cell["seeds"]:
            assert {"train", "select", "dev"} <= seed["scores"].keys()
            assert seed["rows"] == {"train": 8, "select": 6, "dev": 8}
            assert seed["steps"] == 6 and seed["train_tokens"] > 0 and seed["peak_mb"] > 0
            assert seed["cpu"].endswith(f", {torch.backends.cpu.get_cpu_capability()}")
            assert isinstance(seed["alarms"], list) and seed["best_epoch"] in (1, 2)


def test_predictions_beside_a_cell_give_its_scores_again(files):
    targets = paths(files, "none", 2)
    train(files, targets, [0, 1])
    encoded = load_encoded(files / "encoded/rte")
    for path in targets:
        (rows, facts), cell = predictions(path), read_json(path)
        own = Cell.parse(path).predictions(files)
        assert cell["digests"]["predictions"] == sha256_file(own)
        assert facts == {
            **{"arch": "transformer", "task": "rte", "aux": "on", "corpus": "books"},
            **{"n_transfer": cell["n_transfer"], "tokenizer": encoded.tokenizer},
            "examples": {"dev": split_digest(files / "examples/rte", "dev")},
        }
        assert [row["seed"] for row in rows] == [0] * 8 + [1] * 8
        assert [row["guid"] for row in rows[:8]] == encoded.splits["dev"].guids
        for seed in cell["seeds"]:
            own = [row for row in rows if row["seed"] == seed["seed"]]
            assert [row["label"] for row in own] == encoded.splits["dev"].labels.tolist()
            accuracy = 100 * np.mean([row["prediction"] == row["label"] for row in own])
            assert accuracy == pytest.approx(seed["scores"]["dev"]["accuracy"])
            assert {(row["split"], row["group"]) for row in own} == {("dev", "")}


def test_unlabelled_rows_are_predicted_by_the_fully_transferred_transformer_with_aux_only(
    files, encode_again
):
    targets = paths(files, 1, 2)
    train(files, targets, [0])
    without = [read_json(path)["seeds"][0]["scores"] for path in targets]
    encode_again(unlabelled=True)
    train(files, targets, [0])
    (one, _), (full, facts) = (predictions(path) for path in targets)
    assert {row["split"] for row in one} == {"dev"}
    dev, test = full[:8], full[8:]
    assert {row["split"] for row in test} == {"test"} and len(test) == 8
    assert all(row["label"] is None for row in test)
    assert [r["prediction"] for r in test] == [r["prediction"] for r in dev]  # the same texts
    assert [read_json(path)["seeds"][0]["scores"] for path in targets] == without
    assert list(facts["examples"]) == ["dev", "test"]
    off, lstm = Cell("transformer", "rte", "off", 2), Cell("lstm", "rte", "on", 1)
    assert not job(files, [off], lm_coef=0.0).unlabelled(off)
    assert not job(files, [lstm], "lstm").unlabelled(lstm)


def test_unlabelled_rows_that_come_later_retrain_one_cell_and_ones_that_go_retrain_none(
    files, encode_again, monkeypatch
):
    targets, trained, own = paths(files, 1, 2), [], FineTuning.train
    monkeypatch.setattr(
        FineTuning, "train", lambda self: trained.append(len(self.copied)) or own(self)
    )
    train(files, targets, [0])
    assert trained == [13, 25]
    encode_again(unlabelled=True)
    train(files, targets, [0])
    assert trained == [13, 25, 25]
    encode_again()
    assert train(files, targets, [0]) == []
    assert {row["split"] for row in predictions(targets[1])[0]} == {"dev"}
    encode_again(unlabelled=True)
    train(files, targets, [0])
    assert trained == [13, 25, 25]
    assert {row["split"] for row in predictions(targets[1])[0]} == {"dev", "test"}


def test_cells_and_checkpoints_that_do_not_fit_are_refused(files):
    with pytest.raises(InputError, match="encoded/rte: of rte, not qnli"):
        job(files, [Cell("transformer", "qnli", "on", 0)])
    with pytest.raises(InputError, match="the cells are of 2 groups"):
        job(files, [Cell("transformer", "rte", aux, 0) for aux in ("on", "off")])
    with pytest.raises(InputError, match="its arch is 'transformer', but 'lstm' is needed"):
        job(files, arch="lstm", weights=["transformer"])
    with pytest.raises(InputError, match="lm_coef is 0.5; give 0 with aux off"):
        job(files, [Cell("transformer", "rte", "off", 0)])
    write_json(files / "baselines/rte.json", {"task": "cola"})
    with pytest.raises(InputError, match="rte.json: of cola, not rte"):
        job(files)


def test_the_i_th_seed_starts_from_the_i_th_checkpoint_modulo_their_number(files):
    first, second = (write_checkpoint(files, f"seed-{seed}", seed=seed) for seed in (10, 11))
    targets = paths(files, 2)
    train(files, targets, [0, 1, 2], weights=["seed-10", "seed-11"])
    cell = read_json(targets[0])
    assert [run["pretrain_seed"] for run in cell["seeds"]] == [10, 11, 10]
    assert [run["checkpoint"] for run in cell["seeds"]] == [first, second, first]
    train(files, targets, [0, 1], weights=["seed-11", "seed-10"])
    swapped = read_json(targets[0])["seeds"]
    assert [run["pretrain_seed"] for run in swapped] == [11, 10]
    losses = [run["loss_start"] for run in (*cell["seeds"], *swapped)]
    assert len(set(losses)) == 5  # another start, another run
    for seed, name in enumerate(("seed-10", "seed-11", "seed-10")):
        train(files, targets, [seed], weights=[name])
        (alone,) = read_json(targets[0])["seeds"]
        assert alone["loss_start"] == cell["seeds"][seed]["loss_start"]


def test_the_negative_control_starts_from_the_shuffled_books_and_nothing_else_does(files):
    write_checkpoint(files, "shuffled", corpus="shuffled")
    control = Cell("transformer", "rte", "on", 2, "shuffled")
    assert train(files, [control.path(files)], [0], weights=["shuffled"]) == []
    assert read_json(control.path(files))["corpus"] == "shuffled"
    own = job(files, [control], weights=["shuffled"])
    assert control.predictions(files).exists() and not own.unlabelled(control)
    with pytest.raises(InputError, match="pre-trained on shuffled, but transformer/rte/aux-on/"):
        job(files, weights=["shuffled"])
    with pytest.raises(InputError, match="pre-trained on books, but transformer-shuffled/rte/"):
        job(files, [control])


@pytest.mark.parametrize(
    "change",
    ["code", "lr", "l2", "init_std", "method", "aux", "data", "checkpoint", "precision", "pads"]
    + ["torch"],
)
def test_everything_that_decides_a_result_is_part_of_the_key(
    files, encode_again, change, monkeypatch
):
    old, changed = key(files), {}
    if change == "torch":
        monkeypatch.setattr(cell_job, "versions", lambda: {"torch": "1.0"})
    elif change == "data":
        encode_again(dev=rows_of("rte", 8, seed=9))
    elif change == "checkpoint":
        write_checkpoint(files, "transformer", seed=6)
    else:
        changed = {
            "code": {"code": "new"},
            "lr": {"lr": 1e-5},
            "l2": {"optimizer": OptimizerSettings(l2=0.5)},
            "init_std": {"model": toy.model("transformer", init_std=0.1)},
            "method": {"method": FinetuneMethod(frozen=True)},
            "aux": {"aux": "off", "lm_coef": 0.0},
            "precision": {"runtime": Runtime(precision="bfloat16")},
            "pads": {"runtime": Runtime(skip_pads=True)},
        }[change]
    assert key(files, **changed) != old


@pytest.mark.parametrize(
    ("fault", "told"),
    [(FloatingPointError("update 3: the loss is nan"), "update 3"), (KeyError("x"), "KeyError")],
    ids=["diverged", "bug"],
)
def test_a_failing_run_costs_only_its_own_cell_and_is_told_at_the_end(
    files, monkeypatch, capsys, fault, told
):
    targets, own = paths(files, 0, 1, 2), FineTuning.train

    def failing(self):
        if len(self.copied) == 13:
            raise fault
        return own(self)

    monkeypatch.setattr(FineTuning, "train", failing)
    (failure,) = train(files, targets, [0])
    assert f"layers-1.json, seed 0: {told}" in failure
    assert ("Traceback" in capsys.readouterr().err) == (told == "KeyError")
    assert [p for p in targets if p.exists()] == [targets[0], targets[2]]


def test_a_want_of_memory_ends_the_program_and_keeps_its_finished_runs(files, monkeypatch, capsys):
    targets, update = paths(files, 0, 1, 2), FineTuning.update

    def failing(self, rows):
        if len(self.copied) == 13:
            torch.empty(10**14)
        update(self, rows)

    monkeypatch.setattr(FineTuning, "update", failing)
    said = r"4 rows of \S+layers-1 at once: out of memory \(4\d* bytes asked for\); give "
    with pytest.raises(InputError, match=said + "runtime.micro_batch: 2, run fewer jobs at once"):
        train(files, targets, [0])
    assert [path.exists() for path in targets] == [True, False, False]
    assert capsys.readouterr().err == ""


def test_alarms_are_the_four_signs_of_having_learnt_nothing(files):
    own = job(files)
    run = own.run(own.cell, 0, own.checkpoints[0])
    good = replace(run, constant=False, clf_loss_start=1.0, clf_loss_end=0.5, label_entropy=0.6)

    def names(score=61.0, **changes):
        record = replace(good, scores={"dev": {"accuracy": score}}, **changes)
        return alarms(record, 60.0, "dev", "accuracy")

    assert names() == []
    assert names(60.0) == ["majority_rate"]
    assert names(constant=True) == ["constant_prediction"]
    assert names(clf_loss_start=0.4) == ["loss_not_falling"]
    assert names(clf_loss_end=0.6) == names(clf_loss_end=0.7) == ["not_fitted"]
    assert names(clf_loss_end=float("nan")) == ["loss_not_falling", "not_fitted"]


def words(files, targets):
    """What the program is given."""
    cells = [Cell.parse(path) for path in targets]
    return finetune_words(files, cells, toy.settings("transformer"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_stopped_by_a_signal_keeps_its_finished_runs_and_says_so(
    files, number, monkeypatch
):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in some shells' background
    before = signal.getsignal(number)
    targets, update = paths(files, "none", 0, 1), FineTuning.update

    def stopped(*arguments):
        if targets[0].exists():  # in the middle of the second cell
            signal.raise_signal(number)
        return update(*arguments)

    monkeypatch.setattr(FineTuning, "update", stopped)
    done = call(finetune.main, *words(files, targets))
    assert done.returncode == INTERRUPTED and signal.getsignal(number) == before
    assert done.stderr == f"error: stopped by {number.name}; start again to resume\n"
    assert done.stdout.startswith(f"{targets[0]}: dev") and not targets[1].exists()
    (kept,) = (files / "cache").iterdir()
    assert read_json(kept)["record"]


def test_the_program_trains_without_importing_datasets_the_tokenizer_or_a_compiler(files):
    targets = paths(files, "none")
    program = (
        "import sys; from gpt1 import finetune; finetune.main(); "
        "unused = {'datasets', 'tokenizers', 'spacy', 'ftfy', 'torch._dynamo'}; "
        "print(sorted(unused & sys.modules.keys()))"
    )
    call = [sys.executable, "-c", program, *map(str, words(files, targets))]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]" and targets[0].exists()


def test_a_cell_of_a_variant_says_so_and_predicts_no_unlabelled_rows(files, encode_again):
    cell = Cell("transformer", "rte", "on", 2, variant="lr-0.1")
    assert train(files, [cell.path(files)], [0], lr=0.1) == []
    assert read_json(cell.path(files))["variant"] == "lr-0.1"
    assert predictions(cell.path(files))[1]["variant"] == "lr-0.1"
    encode_again(unlabelled=True)
    assert job(files, [cell]).unlabelled(cell) == []


def test_cells_that_are_trained_alike_are_trained_once_whatever_their_names(files, monkeypatch):
    train(files, paths(files, 2), [0])
    monkeypatch.setattr(FineTuning, "train", None)
    same = Cell("transformer", "rte", "on", 2, variant="lr-0.003")
    assert train(files, [same.path(files)], [0], runtime=Runtime(threads=2)) == []
    assert read_json(same.path(files))["seeds"] == read_json(paths(files, 2)[0])["seeds"]
