"""Cells: paths, journal, failures, alarms and the JSON of a cell."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from gpt1 import cells
from gpt1.encode import encode
from gpt1.text.vocabulary import save as save_vocabulary
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build, save_checkpoint
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, write_json
from tests.gpt1 import toy

CHARACTERS = "abcdefghij"


@pytest.fixture
def files(tmp_path):
    """The files that a job of cells on RTE reads: encoded task, baselines, checkpoint."""
    base = ["<unk>", *CHARACTERS, *(c + "</w>" for c in CHARACTERS), "\n</w>"]
    save_vocabulary(tmp_path / "tokenizer", base, [])
    rng = np.random.default_rng(0)
    with open(tmp_path / "rte.jsonl", "w") as file:
        for split, n in (("train", 12), ("select", 6), ("dev", 8)):
            for i in range(n):
                first, second = (" ".join(rng.choice(list(CHARACTERS), 4)) for _ in range(2))
                row = {"split": split, "guid": f"rte/{split}/{i}", "first": first}
                row |= {"second": second, "choices": [], "label": i % 2, "group": ""}
                file.write(json.dumps(row) + "\n")
    encode("rte", tmp_path / "rte.jsonl", tmp_path / "tokenizer", tmp_path / "rte.npz")
    scores = {split: {"accuracy": 50.0} for split in ("train", "select", "dev")}
    facts = {"task": "rte", "majority": scores, "bag_of_words": scores}
    write_json(tmp_path / "baselines.json", facts)
    for arch in toy.ARCHS:
        model = build(arch, toy.model(arch), len(base))
        model.reset(torch.Generator().manual_seed(5), 0.05)
        meta = {
            "model": toy.model(arch),
            "tokenizer": cells.load_encoded(tmp_path / "rte.npz").tokenizer,
        }
        save_checkpoint(tmp_path / f"{arch}.safetensors", model, {**meta, "update": 1})
    return tmp_path


def part(files, arch="transformer", aux=True, code="", hidden=None, runtime=None, **options):
    return cells.Part(
        arch,
        "rte",
        aux,
        str(files / "rte.npz"),
        str(files / "baselines.json"),
        str(files / f"{arch}.safetensors"),
        toy.settings(arch, **options),
        runtime or Runtime(),
        str(files / "journal"),
        code,
        hidden,
    )


def paths(files, *layers, arch="transformer", aux="on"):
    return [str(files / f"cells/{arch}/rte/aux-{aux}/layers-{n}.json") for n in layers]


def test_a_path_names_its_cell():
    found = cells.parse_cell("results/x/cells/lstm/story_cloze/aux-off/layers-none.json")
    assert found == {"arch": "lstm", "task": "story_cloze", "aux": False, "n_transfer": -1}
    assert cells.parse_cell("cells/transformer/rte/aux-on/layers-12.json")["n_transfer"] == 12


@pytest.mark.parametrize(
    "path", ["rte/aux-on/layers-1.json", "lstm/rte/aux-yes/layers-1.json", "x"]
)
def test_a_path_that_names_no_cell_is_refused(path):
    with pytest.raises(InputError, match="not the path of a cell"):
        cells.parse_cell(path)


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_cell_tells_all_that_a_reader_must_know(files, arch):
    n = toy.SHAPES[arch]["n_layer"]
    targets = paths(files, "none", 0, n, arch=arch)
    assert cells.run_cells(targets, [0, 1], part(files, arch)) == []
    none, zero, full = (read_json(p) for p in targets)
    assert [c["n_transfer"] for c in (none, zero, full)] == ["none", 0, n]
    assert none["copied"] == [] and zero["copied"] == ["embed"]
    per_layer = {"transformer": 12 * n, "lstm": 4 * n + 2}[arch]
    assert full["n_copied"] == len(full["copied"]) == 1 + per_layer
    for cell in (none, zero, full):
        assert [s["seed"] for s in cell["seeds"]] == [0, 1]
        assert cell["lm_coef"] == 0.5 and cell["aux"] is True
        assert set(cell["digests"]) == {"config", "tokenizer", "data", "checkpoint", "code"}
        for seed in cell["seeds"]:
            assert {"train", "select", "dev"} <= seed["scores"].keys()
            assert seed["rows"] == {"train": 8, "select": 6, "dev": 8}
            assert seed["steps"] == 6 and seed["train_tokens"] > 0 and seed["peak_mb"] > 0
            assert isinstance(seed["alarms"], list) and seed["best_epoch"] in (1, 2)


def answers(files, path):
    """The predictions beside a cell."""
    return read_json(str(path).replace("/cells/", "/predictions/"))


def test_predictions_beside_a_cell_give_its_scores_again(files):
    targets = paths(files, "none", 2)
    cells.run_cells(targets, [0, 1], part(files))
    labels = cells.load_encoded(files / "rte.npz").splits["dev"].labels
    for path in targets:
        found, cell = answers(files, path), read_json(path)
        assert found["n_transfer"] == cell["n_transfer"] and len(found["seeds"]) == 2
        for mine, seed in zip(found["seeds"], cell["seeds"], strict=True):
            assert mine["seed"] == seed["seed"] and set(mine["predictions"]) == {"dev"}
            accuracy = 100 * np.mean(np.array(mine["predictions"]["dev"]) == labels)
            assert accuracy == pytest.approx(seed["scores"]["dev"]["accuracy"])
            assert mine["select"] == seed["scores"]["select"]["accuracy"]
            assert "hidden" not in mine


def test_rows_without_labels_are_predicted_by_the_fully_transferred_model_alone(files):
    rows = [json.loads(line) for line in (files / "rte.jsonl").read_text().splitlines()]
    hidden = [{**row, "split": "test", "label": -1} for row in rows if row["split"] == "dev"]
    (files / "hidden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in hidden))
    encode("rte", files / "hidden.jsonl", files / "tokenizer", files / "hidden.npz")
    targets = paths(files, 1, 2)
    cells.run_cells(targets, [0], part(files))
    alone = [read_json(path)["seeds"][0]["scores"] for path in targets]
    cells.run_cells(targets, [0], part(files, hidden=str(files / "hidden.npz")))
    one, full = (answers(files, path)["seeds"][0] for path in targets)
    assert "hidden" not in one
    assert full["hidden"] == {"test": full["predictions"]["dev"]}  # the same rows
    assert [read_json(path)["seeds"][0]["scores"] for path in targets] == alone
    told = read_json(str(targets[1]).replace("/cells/", "/predictions/"))
    assert told["hidden_data"] == sha256_file(files / "hidden.npz")


def test_asking_for_no_rows_without_labels_any_more_trains_nothing(files, monkeypatch):
    rows = [json.loads(line) for line in (files / "rte.jsonl").read_text().splitlines()]
    hidden = [{**row, "split": "test", "label": -1} for row in rows if row["split"] == "dev"]
    (files / "hidden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in hidden))
    encode("rte", files / "hidden.jsonl", files / "tokenizer", files / "hidden.npz")
    targets = paths(files, 2)
    cells.run_cells(targets, [0], part(files, hidden=str(files / "hidden.npz")))
    monkeypatch.setattr(cells.FineTuning, "train", lambda self: 1 / 0)
    assert cells.run_cells(targets, [0], part(files)) == []
    assert "hidden" not in answers(files, targets[0])["seeds"][0]
    assert cells.run_cells(targets, [0], part(files, hidden=str(files / "hidden.npz"))) == []
    assert answers(files, targets[0])["seeds"][0]["hidden"]["test"]


def test_threads_are_no_part_of_the_key_and_another_runtime_is_told_in_the_cell(files):
    assert part(files).key(1, 0) == part(files, runtime=Runtime(threads=2)).key(1, 0)
    targets = paths(files, 1)
    cells.run_cells(targets, [0], part(files))
    cells.run_cells(targets, [0], part(files, runtime=Runtime(skip_pads=True)))
    cell = read_json(targets[0])
    assert cell["runtime"]["skip_pads"] is True and cell["versions"]["torch"] == torch.__version__


def test_rows_without_labels_of_another_task_are_refused(files):
    rows = (files / "rte.jsonl").read_text().replace("rte/", "qnli/")
    (files / "qnli.jsonl").write_text(rows)
    encode("qnli", files / "qnli.jsonl", files / "tokenizer", files / "qnli.npz")
    with pytest.raises(InputError, match="qnli.npz: kind is .*'qnli'"):
        part(files, hidden=str(files / "qnli.npz"))


def test_aux_off_is_lm_coef_0_in_the_cell(files):
    targets = paths(files, "none", aux="off")
    cells.run_cells(targets, [0], part(files, aux=False))
    assert read_json(targets[0])["lm_coef"] == 0


def test_finished_runs_are_taken_from_the_journal_and_not_trained_again(files, monkeypatch):
    targets = paths(files, "none", 1)
    cells.run_cells(targets, [0], part(files))
    before = [read_json(p) for p in targets]

    def fail(*args):
        raise AssertionError("trained again")

    monkeypatch.setattr(cells.FineTuning, "train", fail)
    assert cells.run_cells(targets, [0], part(files)) == []
    assert [read_json(p) for p in targets] == before


@pytest.mark.parametrize(
    "change", ["code", "lr", "aux", "data", "checkpoint", "precision", "pads", "torch"]
)
def test_whatever_decides_a_result_makes_the_journal_forget(files, change, monkeypatch):
    old = part(files).key(1, 0)
    if change == "precision":
        new = part(files, runtime=Runtime(precision="bfloat16")).key(1, 0)
    elif change == "pads":
        new = part(files, runtime=Runtime(skip_pads=True)).key(1, 0)
    elif change == "torch":
        monkeypatch.setattr(cells, "versions", lambda: {"torch": "1.0"})
        new = part(files).key(1, 0)
    elif change == "code":
        new = part(files, code="new").key(1, 0)
    elif change == "lr":
        new = part(files, lr=1e-5).key(1, 0)
    elif change == "aux":
        new = part(files, aux=False).key(1, 0)
    elif change == "data":
        text = (files / "rte.jsonl").read_text().replace("a", "b", 1)
        (files / "rte.jsonl").write_text(text)
        encode("rte", files / "rte.jsonl", files / "tokenizer", files / "rte.npz")
        new = part(files).key(1, 0)
    else:
        meta = read_json(files / "transformer.json")
        model = build("transformer", toy.model("transformer"), meta["n_vocab"])
        model.reset(torch.Generator().manual_seed(6))
        save_checkpoint(files / "transformer.safetensors", model, meta)
        new = part(files).key(1, 0)
    journal = part(files).journal
    assert journal.path(old) != journal.path(new)


def test_a_failing_run_costs_only_its_own_cell_and_is_told_at_the_end(files, monkeypatch):
    targets = paths(files, 0, 1, 2)
    train = cells.FineTuning.train

    def failing(self):
        if len(self.copied) == 13:
            raise FloatingPointError("update 3: the loss is nan")
        return train(self)

    monkeypatch.setattr(cells.FineTuning, "train", failing)
    failures = cells.run_cells(targets, [0], part(files))
    assert len(failures) == 1 and "layers-1.json, seed 0: update 3" in failures[0]
    assert [p for p in targets if (files / p).exists()] == [targets[0], targets[2]]


def test_a_layer_that_does_not_exist_is_refused(files):
    with pytest.raises(InputError, match="layers-3.json: the transformer has fewer layers"):
        cells.run_cells(paths(files, 3), [0], part(files))


def record(score, constant=False, start=1.0, end=0.5):
    scores = {"train": {"accuracy": 99.0}, "dev": {"accuracy": score}}
    return {"scores": scores, "constant": constant, "clf_loss_start": start, "clf_loss_end": end}


def test_alarms_tell_of_the_three_ways_of_having_learnt_nothing():
    majority = {"train": {"accuracy": 50.0}, "dev": {"accuracy": 60.0}}

    def told(run):
        return cells.alarms(run, majority, "dev", "accuracy")

    assert told(record(61.0)) == []
    assert told(record(60.0)) == ["majority_rate"]
    assert told(record(61.0, constant=True)) == ["constant_prediction"]
    assert told(record(61.0, end=1.0)) == ["loss_not_falling"]
    assert told(record(61.0, end=float("nan"))) == ["loss_not_falling"]


def test_baselines_of_another_task_or_without_a_key_are_refused(files):
    write_json(files / "baselines.json", {"task": "cola"})
    with pytest.raises(InputError, match="baselines of cola, not rte"):
        part(files)
    write_json(files / "baselines.json", {})
    with pytest.raises(InputError, match="baselines.json: 'task' is missing"):
        part(files)


def test_a_fault_of_ours_keeps_its_traceback_and_the_other_cells_go_on(files, monkeypatch, capsys):
    targets = paths(files, 0, 1)
    train = cells.FineTuning.train
    monkeypatch.setattr(
        cells.FineTuning, "train", lambda self: train(self) if len(self.copied) == 1 else 1 / 0
    )
    failures = cells.run_cells(targets, [0], part(files))
    assert len(failures) == 1 and "ZeroDivisionError" in failures[0]
    assert "Traceback" in capsys.readouterr().err
    assert (files / targets[0]).exists() and not (files / targets[1]).exists()


def test_the_program_refuses_cells_of_two_sweeps_in_one_line(files):
    targets = paths(files, "none") + paths(files, "none", aux="off")
    command = [sys.executable, "-m", "gpt1.cells", *targets, "--encoded", str(files / "rte.npz")]
    command += ["--baselines", str(files / "baselines.json"), "--journal", str(files / "j")]
    command += ["--checkpoint", str(files / "transformer.safetensors"), "--seeds", "0"]
    command += ["--settings", json.dumps(toy.settings("transformer"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: the cells are of 2 sweeps")
