"""A kept cell exported to Hugging Face: `transformers` answers as the suite does."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
import torch

from gpt1.predict import Predictor, Row
from gpt1.settings import FinetuneMethod, TransformerShape
from tasks import task
from tasks.common.files import read_json, write_json
from tests.gpt1 import toy
from tests.gpt1.kept_cells import SEEDS, TASKS, kept_cell, write_task
from tests.support.programs import call
from workflow.analysis import export

SHAPE = TransformerShape(n_layer=2, n_embd=16, n_head=4, n_ff=64)  # n_ff as the format has it


def make(folder, name, arch="transformer", **options):
    """A kept cell with what its card reads, and its reported rows."""
    rows = write_task(folder, name)
    cell, _ = kept_cell(folder, name, arch, **options)
    path, split = folder / "examples" / f"{name}.json", task(name).main
    empty = ("labels", "dropped", "unquoted", "overlap", "half_known", "sources")
    facts = {"report": [split], "note": "made data", "origin": {"source": "folder"}}
    facts |= {"settings": {"published": False}, **dict.fromkeys(empty, {})}
    write_json(path, read_json(path) | facts)
    place = {"arch": arch, "aux": "on", "n_transfer": 1, "task": name, "split": split}
    interval = {"metric": task(name).metric, "ci_low": 12.34, "ci_high": 56.78}
    pd.DataFrame([place | interval]).to_csv(folder / "layer_transfer.csv", index=False)
    return cell, rows[split]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Of each task the folder, the kept cell and its reported rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(toy.SHAPES, "transformer", SHAPE)
        folders = {name: tmp_path_factory.mktemp(name) for name in TASKS}
        return {name: (folder, *make(folder, name)) for name, folder in folders.items()}


def code_of(card):
    """The Python that a card shows."""
    return re.search(r"```python\n(.*?)```", card, re.DOTALL)[1]


def answered(answer, name, row):
    """What the function `answer` of a card gives for a row: probabilities, or a score."""
    first, second = row["first"], row.get("second", "")
    match task(name).family:
        case "classification":
            (found,) = answer(first)
        case "entailment":
            found = answer({"text": first, "text_pair": second})
        case "similarity":
            found = answer(first, second)
        case _:
            return answer(f"{first} {second}".strip(), row["choices"])
    if isinstance(found, list):
        found = {one["label"]: one["score"] for one in found}
    return [found[label] for label in task(name).labels] if isinstance(found, dict) else found


@pytest.mark.parametrize("name", TASKS)
def test_the_code_of_the_card_gives_the_answers_of_the_suite(made, name, monkeypatch, tmp_path):
    folder, cell, rows = made[name]
    out, seed = tmp_path / "model", SEEDS[1]
    bias = torch.tensor([0.07, -0.04, 0.02, 0.01, -0.03, 0.05])
    load = export.kept.KeptCell.load

    def biased(self, *given):  # a bias that the few updates of a test do not make
        model = load(self, *given)
        with torch.no_grad():
            model.classifier.bias.copy_(bias[: len(model.classifier.bias)])
        return model

    monkeypatch.setattr(export.kept.KeptCell, "load", biased)
    done = call(export.main, cell.place, "--results", folder, "--out", out, "--seed", seed)
    assert done.returncode == 0, done.stderr
    assert f"hf upload NAME/model {out}" in done.stdout
    monkeypatch.chdir(tmp_path)
    shown: dict = {}
    exec(code_of((out / "README.md").read_text()), shown)
    given = [
        Row(text=r["first"], second=r.get("second", ""), choices=r.get("choices", [])) for r in rows
    ]
    predictions, shares = Predictor(cell.kept(folder), seed).answer(given, "rows")
    expected = predictions if task(name).soft_labels else shares
    found = [answered(shown["answer"], name, row) for row in rows]
    assert np.array(found) == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected, axis=0).max() > 1e-3


def test_the_card_tells_scores_data_and_settings(made, tmp_path):
    folder, cell, _ = made["rte"]
    export.export(folder, cell, tmp_path / "rte")
    card = (tmp_path / "rte" / "README.md").read_text()
    header = card.split("---\n")[1]
    assert "license: mit" in header and "library_name: transformers" in header
    record = read_json(cell.path(folder))
    scores = [one["scores"]["dev"]["accuracy"] for one in record["seeds"]]
    assert f"value: {round(scores[0], 2)}" in header
    assert f" {scores[0]:.1f} |" in card and f"{np.mean(scores):.1f} [12.3, 56.8]" in card
    assert "**Made data.**" in card and record["digests"]["code"] in card
    assert f"lr: {record['settings']['lr']}" in card


def test_real_data_bind_the_weights_to_their_licence(made, tmp_path):
    folder, cell, _ = made["mrpc"]
    path = folder / "examples" / "mrpc.json"
    before = path.read_bytes()
    write_json(path, read_json(path) | {"settings": {"published": True}})
    export.export(folder, cell, tmp_path)
    path.write_bytes(before)
    card = (tmp_path / "README.md").read_text()
    assert "license: other" in card and task("mrpc").hub.licence in card
    assert "Made data" not in card


@pytest.mark.parametrize(
    ("arch", "options", "told"),
    [
        ("lstm", {}, "GPT-1's blocks alone, found LSTMShape"),
        ("transformer", {"method": FinetuneMethod(read_layer=0)}, "found a classifier on the"),
        ("transformer", {}, "n_ff: expected 128"),
    ],
)
def test_what_the_format_does_not_hold_is_told_in_a_line(tmp_path, arch, options, told):
    cell, _ = make(tmp_path, "rte", arch, **options)
    done = call(export.main, cell.place, "--results", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 1 and told in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_lower_layer_that_is_read_is_the_last_one(tmp_path, monkeypatch):
    monkeypatch.setitem(toy.SHAPES, "transformer", SHAPE)
    cell, _ = make(tmp_path, "rte", method=FinetuneMethod(read_layer=1))
    export.export(tmp_path, cell, tmp_path / "out")
    assert read_json(tmp_path / "out" / "config.json")["n_layer"] == 1


def test_an_unknown_seed_is_one_line_and_nothing_is_written(made, tmp_path):
    folder, cell, _ = made["rte"]
    words = [cell.place, "--results", folder, "--out", tmp_path / "out", "--seed", "9"]
    done = call(export.main, *words)
    told = "no weights of seed 9; kept are those of 3, 4"
    assert done.returncode == 1 and told in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_run_without_tables_exports_without_intervals(made, tmp_path):
    folder, cell, _ = made["rte"]
    run = shutil.copytree(folder, tmp_path / "run", ignore=shutil.ignore_patterns("*.csv"))
    export.export(run, cell, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    rows = [line for line in card.splitlines() if line.startswith("| dev")]
    assert rows and not any("[" in row or "nan" in row for row in rows)
