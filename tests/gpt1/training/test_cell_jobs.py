"""Jobs of cells: what a run is kept by, what fails alone, what is trained once."""

import signal
import subprocess
import sys

import pytest
import torch

from gpt1 import finetune
from gpt1.cell import FULL, Cell
from gpt1.settings import FinetuneDropout, FinetuneMethod, OptimizerSettings
from gpt1.training.finetuning import FineTuning
from gpt1.training.runtime import Runtime
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file
from tasks.common.programs import INTERRUPTED
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import (
    cells,
    finetune_words,
    job,
    paths,
    rows_of,
    train,
    write_checkpoint,
)
from tests.support.programs import call


def key(files, n_transfer=1, code="", runtime=None, **options):
    """A run's key in the cache, as the cache's path for it."""
    own = job(files, cells(n_transfer, **options), code, runtime)
    return own.cache.path(own.key(*own.cells, 0, own.checkpoints[0]))


DECIDES = {  # what another result comes from, beside the files
    "code": {"code": "new"},
    "lr": {"lr": 1e-5},
    "l2": {"optimizer": OptimizerSettings(l2=0.5)},
    "init_std": {"model": toy.model("transformer", init_std=0.1)},
    "method": {"method": FinetuneMethod(frozen=True)},
    "lm_coef": {"lm_coef": 0.0},
    "layers": {"n_transfer": 2},
    "precision": {"runtime": Runtime(precision="bfloat16")},
    "pads": {"runtime": Runtime(skip_pads=True)},
}


@pytest.mark.parametrize("change", [*DECIDES, "data", "checkpoint", "torch"])
def test_everything_that_decides_a_result_is_part_of_the_key(
    files, encode_again, change, monkeypatch
):
    old = key(files)
    if change == "torch":
        monkeypatch.setattr(finetune, "versions", lambda: {"torch": "1.0"})
    elif change == "data":
        encode_again(dev=rows_of("rte", 8, seed=9))
    elif change == "checkpoint":
        write_checkpoint(files, "transformer", seed=6)
    assert key(files, **DECIDES.get(change, {})) != old


@pytest.mark.parametrize(
    ("fault", "told"),
    [(FloatingPointError("update 3: the loss is nan"), "update 3"), (KeyError("x"), "KeyError")],
    ids=["diverged", "bug"],
)
def test_a_failing_run_costs_only_its_own_cell_and_is_told_at_the_end(
    files, monkeypatch, capsys, fault, told
):
    own, method = cells(0, 1, 2), FineTuning.train

    def failing(self):
        if len(self.copied) == 13:
            raise fault
        return method(self)

    monkeypatch.setattr(FineTuning, "train", failing)
    (failure,) = train(files, own, [0])
    assert f"n_transfer-1/rte.json, seed 0: {told}" in failure
    assert ("Traceback" in capsys.readouterr().err) == (told == "KeyError")
    assert [path.exists() for path in paths(files, own)] == [True, False, True]


def test_a_want_of_memory_ends_the_program_and_keeps_its_finished_runs(files, monkeypatch, capsys):
    own, update = cells(0, 1, 2), FineTuning.update

    def failing(self, rows):
        if len(self.copied) == 13:
            torch.empty(10**14)
        update(self, rows)

    monkeypatch.setattr(FineTuning, "update", failing)
    said = r"4 rows of n_transfer-1/rte at once: out of memory \(4\d* bytes asked for\); give "
    with pytest.raises(InputError, match=said + "runtime.micro_batch: 2, run fewer jobs at once"):
        train(files, own, [0])
    assert [path.exists() for path in paths(files, own)] == [True, False, False]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_stopped_by_a_signal_keeps_its_finished_runs_and_says_so(
    files, number, monkeypatch
):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in some shells' background
    before = signal.getsignal(number)
    own, update = cells("none", 0, 1), FineTuning.update
    first, second, _ = paths(files, own)

    def stopped(*arguments):
        if first.exists():  # in the middle of the second cell
            signal.raise_signal(number)
        return update(*arguments)

    monkeypatch.setattr(FineTuning, "update", stopped)
    done = call(finetune.main, *finetune_words(files, own))
    assert done.returncode == INTERRUPTED and signal.getsignal(number) == before
    assert done.stderr == f"error: stopped by {number.name}; start again to resume\n"
    assert done.stdout.startswith(f"{first}: dev") and not second.exists()
    (kept,) = (files / "cache").iterdir()
    assert read_json(kept)["scores"]


def test_the_program_trains_without_importing_datasets_pandas_the_tokenizer_or_a_compiler(files):
    own = cells("none")
    program = (
        "import sys; from gpt1 import finetune; finetune.main(); "
        "unused = {'datasets', 'pandas', 'tokenizers', 'spacy', 'ftfy', 'torch._dynamo'}; "
        "print(sorted(unused & sys.modules.keys()))"
    )
    call = [sys.executable, "-c", program, *map(str, finetune_words(files, own))]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]" and paths(files, own)[0].exists()


def test_cells_of_one_process_are_those_of_a_process_each(files):
    lines = {
        FULL: (2, {}),
        "n_transfer-none": ("none", {}),
        "finetune.lm_coef-0": (2, {"lm_coef": 0.0}),
        "finetune.epochs-1": (2, {"epochs": 1}),
        "finetune.eval_train-2": (2, {"eval_train": 2}),
        "finetune.method.train_share-0.5": (2, {"method": FinetuneMethod(train_share=0.5)}),
        "finetune.dropout.clf-0.5": (2, {"dropout": FinetuneDropout(clf=0.5)}),
    }
    own = {
        Cell(line, "rte"): toy.cell_settings("transformer", n, **options)
        for line, (n, options) in lines.items()
    }
    for out, jobs in (("one", [own]), ("each", [{cell: own[cell]} for cell in own])):
        for cells_of_a_job in jobs:
            words = finetune_words(files, cells_of_a_job, seeds=(0, 1), out=files / out)
            done = call(finetune.main, *words)
            assert done.returncode == 0, done.stderr
    one, each = (left_of(files / out, own) for out in ("one", "each"))
    assert one == each and len(one["keys"]) == 2 * len(own)
    assert len({str(cell["seeds"]) for cell in one["cells"]}) == len(own)


def left_of(out, own):
    """All that jobs leave but times and memory: JSON, predictions and the cache's keys."""
    cells = [read_json(path) for path in paths(out, own)]
    for seed in (seed for cell in cells for seed in cell["seeds"]):
        del seed["train_seconds"], seed["peak_mb"]
    answers = [sha256_file(cell.predictions(out)) for cell in own]
    keys = {path.name for path in (out / "cache").iterdir()}
    return {"cells": cells, "answers": answers, "keys": keys}


def test_the_rows_of_a_job_are_in_memory_once(files):
    own = job(files, cells(1, lr=1.0) | cells(2, lm_coef=0.0) | cells(0, epochs=1))
    assert len(own.data) == 1


def test_cells_that_are_trained_alike_are_trained_once_whatever_their_names(files, monkeypatch):
    own = cells(2)
    train(files, own, [0])
    monkeypatch.setattr(FineTuning, "train", None)
    (settings,) = own.values()
    same = {Cell("finetune.lr-0.003", "rte"): settings}
    assert train(files, same, [0], runtime=Runtime(threads=2)) == []
    one, other = (read_json(*paths(files, each)) for each in (own, same))
    assert one["seeds"] == other["seeds"]
