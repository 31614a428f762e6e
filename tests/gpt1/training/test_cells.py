"""Jobs of cells: what they leave, start from and are kept by, and what fails alone."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gpt1 import finetune
from gpt1.cell import UNCHANGED, WORD_VECTORS, Cell
from gpt1.data import load_task
from gpt1.records import VectorsFacts
from gpt1.settings import FinetuneDropout, FinetuneMethod, JobSettings, OptimizerSettings
from gpt1.training.finetuning import FineTuning
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import write_tensors
from tasks.common.arrow import split_digest
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, write_json
from tasks.common.programs import INTERRUPTED
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import (
    cells,
    finetune_words,
    job,
    paths,
    predictions,
    rows_of,
    train,
    write_checkpoint,
    write_encoded,
    write_task,
)
from tests.support.events import Events
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


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_cell_records_everything_that_a_reader_must_know(files, arch):
    n = toy.SHAPES[arch].n_layer
    own = cells("none", 0, n, arch=arch)
    assert train(files, own, [0, 1]) == []
    none, zero, full = found = [read_json(path) for path in paths(files, own)]
    assert [c["variant"] for c in found] == ["n_transfer-none", "n_transfer-0", "full"]
    assert [c["n_transfer"] for c in (none, zero, full)] == ["none", 0, n]
    assert none["copied"] == [] and zero["copied"] == ["embed"]
    per_layer = {"transformer": 12 * n, "lstm": 4 * n + 2}[arch]
    assert len(full["copied"]) == 1 + per_layer
    for cell in found:
        assert (cell["arch"], cell["task"], cell["corpus"]) == (arch, "rte", "books")
        assert [s["seed"] for s in cell["seeds"]] == [0, 1]
        assert cell["lm_coef"] == cell["settings"]["lm_coef"] == 0.5
        assert not {"n_transfer", "corpus"} & cell["settings"].keys()
        assert {"config", "tokenizer", "data", "code"} < set(cell["digests"])
        for seed in cell["seeds"]:
            assert {"train", "select", "dev"} <= seed["scores"].keys()
            assert seed["rows"] == {"train": 8, "select": 6, "dev": 8}
            assert seed["steps"] == 6 and seed["train_tokens"] > 0 and seed["peak_mb"] > 0
            assert seed["cpu"].endswith(f", {torch.backends.cpu.get_cpu_capability()}")
            assert isinstance(seed["alarms"], list) and seed["best_epoch"] in (1, 2)


def test_predictions_beside_a_cell_give_its_scores_again(files):
    own = cells("none", 2)
    train(files, own, [0, 1])
    encoded = load_task(files / "encoded/rte")
    for of in own:
        (rows, facts), cell = predictions(files, of), read_json(of.path(files))
        assert cell["digests"]["predictions"] == sha256_file(of.predictions(files))
        assert facts == {
            **{"variant": of.variant, "task": "rte", "tokenizer": encoded.tokenizer},
            "examples": {"dev": split_digest(files / "examples/rte", "dev")},
        }
        assert [row["seed"] for row in rows] == [0] * 8 + [1] * 8
        assert [row["guid"] for row in rows[:8]] == encoded.splits["dev"].guids
        for seed in cell["seeds"]:
            mine = [row for row in rows if row["seed"] == seed["seed"]]
            assert [row["label"] for row in mine] == encoded.splits["dev"].labels.tolist()
            accuracy = 100 * np.mean([row["prediction"] == row["label"] for row in mine])
            assert accuracy == pytest.approx(seed["scores"]["dev"]["accuracy"])
            assert {(row["split"], row["group"]) for row in mine} == {("dev", "")}
            shares = np.array([row["probabilities"] for row in mine])
            assert shares.shape == (8, 2) and shares.sum(1) == pytest.approx(np.ones(8), abs=2e-6)
            assert shares.argmax(1).tolist() == [row["prediction"] for row in mine]


@pytest.mark.parametrize("tensorboard", [True, False])
def test_curves_of_a_run_are_beside_its_cell_where_they_are_asked_for(
    files, monkeypatch, tensorboard
):
    module = SimpleNamespace(SummaryWriter=Events)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    (cell,) = own = cells(2)
    assert train(files, own, [3], runtime=Runtime(tensorboard=tensorboard)) == []
    written, Events.made = Events.made, []
    assert len(written) == tensorboard
    for events in written:
        (run,) = read_json(cell.path(files))["seeds"]
        assert Path(events.folder) == cell.path(files).with_suffix("") / "seed-3" and events.closed
        curves = {name: [] for name, _, _ in events.scalars}
        for name, update, value in events.scalars:
            curves[name].append((update, value))
        assert [update for update, _ in curves["loss"]] == list(range(1, run["steps"] + 1))
        scores = [(one["update"], one["accuracy"]) for one in run["select_by_epoch"]]
        assert curves["select_accuracy"] == scores and len(curves["clf_loss"]) == run["steps"]


def test_unlabelled_rows_are_predicted_by_the_full_model_which_alone_is_trained_for_them(
    files, encode_again, monkeypatch
):
    own, trained, method = cells(1, 2), [], FineTuning.train
    monkeypatch.setattr(
        FineTuning, "train", lambda self: trained.append(len(self.copied)) or method(self)
    )

    def answers():
        """By cell the rows, and what they are of; the scores of both."""
        assert train(files, own, [0]) == []
        scores = [read_json(path)["seeds"][0]["scores"] for path in paths(files, own)]
        return *(predictions(files, cell) for cell in own), scores

    *_, before = answers()
    assert trained == [13, 25]
    encode_again(unlabelled=True)
    (one, _), (full, facts), scores = answers()
    assert trained == [13, 25, 25] and scores == before
    assert {row["split"] for row in one} == {"dev"} and list(facts["examples"]) == ["dev", "test"]
    dev, test = full[:8], full[8:]
    assert {row["split"] for row in test} == {"test"} and len(test) == 8
    assert all(row["label"] is None for row in test)
    assert [r["prediction"] for r in test] == [r["prediction"] for r in dev]  # the same texts
    for unlabelled in (False, True):  # they go and come again
        encode_again(unlabelled=unlabelled)
        found = {row["split"] for row in answers()[1][0]}
        assert found == {"dev", "test"} if unlabelled else {"dev"}
    assert trained == [13, 25, 25]


def test_cells_and_checkpoints_that_do_not_fit_are_refused(files):
    own, settings = cells(0), toy.cell_settings("transformer", 0)
    with pytest.raises(InputError, match="encoded/rte: of rte, not qnli"):
        job(files, {Cell(UNCHANGED, "qnli"): settings}, name="rte")
    with pytest.raises(InputError, match="the cells are of rte, qnli; give those of one task"):
        job(files, own | {Cell(UNCHANGED, "qnli"): settings})
    for other in (cells(1, arch="lstm"), cells(1, model=toy.model("transformer", n_ctx=12))):
        with pytest.raises(InputError, match="the settings are of 2 models; give cells of one"):
            job(files, own | other)
    with pytest.raises(InputError, match="its arch is 'transformer', but 'lstm' is needed"):
        job(files, cells(0, arch="lstm"), weights=["transformer"])
    with pytest.raises(InputError, match="--checkpoints: n_transfer-0/rte starts from some; give"):
        job(files, own, weights=[])
    words = finetune_words(files, own)
    done = call(finetune.main, *words, "--settings", JobSettings(variants={}).to_json())
    assert "--settings: none of n_transfer-0; give those of each variant" in done.stderr
    done = call(finetune.main, files / "other/cells/full/rte.json", *words)
    assert "the cells are of 2 folders of results; give those of one" in done.stderr
    shuffled = {cell: of.model_copy(update={"corpus": "shuffled"}) for cell, of in own.items()}
    with pytest.raises(InputError, match="pre-trained on books, but n_transfer-0/rte starts from"):
        job(files, shuffled)
    baselines = {"task": "rte", "majority": {}, "bag_of_words": {}}
    write_json(files / "baselines/rte.json", baselines)
    with pytest.raises(InputError, match="rte.json: no scores of dev; make it again"):
        job(files, own)
    write_json(files / "baselines/rte.json", baselines | {"task": "cola"})
    with pytest.raises(InputError, match="rte.json: of cola, not rte"):
        job(files, own)


def test_the_i_th_seed_starts_from_the_i_th_checkpoint_modulo_their_number(files):
    first, second = (write_checkpoint(files, f"seed-{seed}", seed=seed) for seed in (10, 11))
    own = cells(2)
    (path,) = paths(files, own)
    train(files, own, [0, 1, 2], weights=["seed-10", "seed-11"])
    cell = read_json(path)
    assert [run["pretrain_seed"] for run in cell["seeds"]] == [10, 11, 10]
    assert [run["checkpoint"] for run in cell["seeds"]] == [first, second, first]
    train(files, own, [0, 1], weights=["seed-11", "seed-10"])
    swapped = read_json(path)["seeds"]
    assert [run["pretrain_seed"] for run in swapped] == [11, 10]
    losses = [run["loss_start"] for run in (*cell["seeds"], *swapped)]
    assert len(set(losses)) == 5  # another start, another run


def test_cells_without_a_transfer_of_any_shape_train_together_without_a_checkpoint(files):
    own = cells("none") | {
        Cell(name, "rte"): toy.cell_settings(arch, "none", model=toy.model(arch, n_ctx=n_ctx))
        for name, arch, n_ctx in (("short", "transformer", 12), ("recurrent", "lstm", 24))
    }
    assert train(files, own, [0, 1], weights=[]) == []
    found = [read_json(path) for path in paths(files, own)]
    assert [cell["arch"] for cell in found] == ["transformer", "transformer", "lstm"]
    assert all(run["checkpoint"] == "" for cell in found for run in cell["seeds"])
    assert all(run["pretrain_seed"] == 5 for cell in found for run in cell["seeds"])
    shutil.rmtree(files / "cache")
    train(files, cells("none"), [0, 1], weights=["transformer"])
    assert (
        read_json(paths(files, own)[0])["seeds"][1]["loss_end"] == found[0]["seeds"][1]["loss_end"]
    )


@pytest.mark.parametrize("n_transfer", [0, 2])
def test_cells_start_from_word_vectors_under_fresh_or_learned_layers(n_transfer, files):
    encoded, width = load_task(files / "encoded/rte"), toy.SHAPES["transformer"].n_embd
    n_vocab, path = encoded.facts.n_vocab, files / "vectors.safetensors"
    values = torch.randn(n_vocab, width, generator=torch.Generator().manual_seed(1))
    write_tensors(path, {"embed": values})
    facts = {"n_vocab": n_vocab, "width": width, "tokenizer": encoded.tokenizer, "code": ""}
    VectorsFacts(**facts, sha256="v" * 64, corpus_sha256="").write(path.with_suffix(".json"))
    own = toy.cell_settings("transformer", n_transfer).model_copy(update={"corpus": WORD_VECTORS})
    cell, weights = Cell("vectors", "rte"), ["transformer"] if n_transfer else []

    def started(of, weights, *vectors):
        mine = job(files, {cell: of}, weights=weights, vectors=vectors)
        ((_, start),) = mine.starts(cell, [0])
        run = toy.tuning(mine.encoded, start, of)
        return start.facts, dict(run.model.language_model.named_parameters())

    facts, found = started(own, weights, path)
    _, fresh = started(toy.cell_settings("transformer", "none"), [])
    assert torch.equal(found["embed"][:n_vocab], values * 2 * own.model.init_std)
    assert torch.equal(found["embed"][n_vocab:], fresh["embed"][n_vocab:])
    same = [name for name in found if torch.equal(found[name], fresh[name])]
    assert all(name in same for name in found if name.startswith("h.")) == (n_transfer == 0)
    assert facts.corpus == WORD_VECTORS and facts.sha256 not in ("", "v" * 64)
    with pytest.raises(InputError, match="--vectors: vectors/rte starts from some of width 32"):
        started(own, weights)


def test_a_cell_says_what_its_language_model_has_read(files):
    write_checkpoint(files, "shuffled", corpus="shuffled")
    read = {"corpus": "shuffled"}
    own = {cell: of.model_copy(update=read) for cell, of in cells(1).items()}
    assert train(files, own, [0], weights=["shuffled"]) == []
    assert read_json(*paths(files, own))["corpus"] == "shuffled"


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
        UNCHANGED: (2, {}),
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
    assert len(own.splits) == 1


def test_a_run_of_the_same_training_is_taken_whatever_its_cells_name_and_the_log_says_so(
    files, monkeypatch, capsys
):
    own = cells(2)
    train(files, own, [0])
    assert "earlier run" not in capsys.readouterr().out
    trained, method = [], FineTuning.train
    monkeypatch.setattr(FineTuning, "train", lambda s: trained.append(s.seed) or method(s))
    same = {Cell("finetune.lr-0.003", "rte"): settings for settings in own.values()}
    assert train(files, same, [0, 1], runtime=Runtime(threads=2)) == [] and trained == [1]
    assert "taken from an earlier run: 1 of 2" in capsys.readouterr().out
    one, other = (read_json(*paths(files, each)) for each in (own, same))
    assert one["seeds"] == other["seeds"][:1]
