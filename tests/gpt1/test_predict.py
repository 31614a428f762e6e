"""Kept weights, and what is predicted with them."""

import json
import shutil

import numpy as np
import pandas as pd
import pyarrow.parquet as parquet
import pytest

from gpt1 import predict
from gpt1.cell import Cell
from gpt1.predict import Predictor, Row, columns_of, read_rows
from gpt1.records import CellRecord
from gpt1.settings import FinetuneMethod
from gpt1.training import cell_files
from gpt1.training.finetuning import FineTuning
from tasks import task
from tasks.common.errors import InputError
from tasks.settings import OwnTask, own_task
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import SEEDS, TASKS, kept_cell, train, write_task
from tests.support.programs import call, refused


def write_tsv(path, rows):
    """Rows of examples as a file for `gpt1.predict`."""
    n = len(rows[0]["choices"])
    header = ["text", "second", *(f"choice{i + 1}" for i in range(n))]
    lines = [[row["first"], row.get("second", ""), *row["choices"]] for row in rows]
    path.write_text("".join("\t".join(line) + "\n" for line in [header, *lines]))
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A kept cell of each task: the cell, its folder, the reported rows."""
    found = {}
    for name in TASKS:
        folder = tmp_path_factory.mktemp(name)
        rows = write_task(folder, name)[task(name).main]
        found[name] = (*kept_cell(folder, name), rows)
    return found


@pytest.fixture
def rte(made, tmp_path):
    """A copy of the kept cell on RTE."""
    return shutil.copytree(made["rte"][1], tmp_path / "kept")


def stored(cell, results, seed):
    table = parquet.read_table(cell.predictions(results)).to_pylist()
    return [row["prediction"] for row in table if row["seed"] == seed]


@pytest.mark.parametrize("name", TASKS)
def test_the_reported_rows_get_the_stored_predictions_exactly(made, name, tmp_path):
    cell, folder, rows = made[name]
    results = folder.parents[2]
    given = read_rows(write_tsv(tmp_path / "rows.tsv", rows))
    for seed in SEEDS:
        predictions, probabilities = Predictor(folder, seed).answer(given, "rows.tsv")
        assert predictions.tolist() == stored(cell, results, seed)
        assert len(set(predictions.tolist())) > 1
        assert probabilities.sum(1) == pytest.approx(np.ones(len(rows)), abs=1e-5)


@pytest.mark.parametrize(
    ("arch", "options"),
    [("lstm", {}), ("transformer", {"method": FinetuneMethod(read_layer=1)})],
)
def test_an_lstm_and_a_cell_that_reads_a_lower_layer_are_kept_as_well(tmp_path, arch, options):
    rows = write_task(tmp_path, "rte")["dev"]
    cell, folder = kept_cell(tmp_path, "rte", arch=arch, **options)
    given = [Row(text=row["first"], second=row["second"]) for row in rows]
    predictions, _ = Predictor(folder, SEEDS[0]).answer(given, "rows")
    assert predictions.tolist() == stored(cell, tmp_path, SEEDS[0])


@pytest.mark.parametrize("as_json", [False, True])
def test_answers_have_labels_and_probabilities(made, as_json):
    _, folder, rows = made["rte"]
    options = ["--text", rows[0]["first"], "--second", rows[0]["second"]]
    done = call(predict.main, folder, *options, *(["--json"] if as_json else []))
    assert done.returncode == 0, done.stderr
    (found,), (shares,) = Predictor(folder).answer(
        [Row(text=rows[0]["first"], second=rows[0]["second"])], "row"
    )
    labels = task("rte").labels
    if as_json:
        answer = json.loads(done.stdout)
        assert answer["prediction"] == labels[int(found)]
        assert answer["probabilities"] == pytest.approx(
            dict(zip(labels, shares, strict=True)), 1e-3
        )
    else:
        header, line = (text.split("\t") for text in done.stdout.splitlines())
        assert header == ["prediction", *(f"p_{label}" for label in labels)]
        assert line[0] == labels[int(found)]
        assert [float(x) for x in line[1:]] == pytest.approx(shares, abs=1e-4)


def test_choices_are_named_by_their_columns_and_scores_are_numbers(made):
    choices = ["a", "b c", "d"]  # fewer than in RACE, which one logit a choice allows
    own = ["--text", "a b", "--second", "c", "--choices", *choices, "--json"]
    answer = json.loads(call(predict.main, made["race"][1], *own).stdout)
    assert list(answer["probabilities"]) == ["choice1", "choice2", "choice3"]
    assert answer["prediction"] == max(answer["probabilities"], key=answer["probabilities"].get)
    done = call(predict.main, made["stsb"][1], "--text", "a b", "--second", "c")
    header, number = done.stdout.splitlines()
    assert header == "prediction" and 0 <= float(number) <= 5


CHOICES = {"kind": "multiple_choice", "columns": {"choices": ["choice1", "choice2"]}}
READ = {  # a header and a row, what the config says of the task, if it is one of one's own
    "any order": ("choice2,second,choice1,text", "d,b,c,a", None, ["a", "b", ["c", "d"]]),
    "label": ("text,label", "a,good", {"kind": "classification"}, ["a"]),
    "pair": ("text,second,label,id", "a,b,good,3", {"kind": "pair"}, ["a", "b"]),
    "choices": ("text,choice1,choice2,label", "a,b,c,1", CHOICES, ["a", "", ["b", "c"]]),
}


@pytest.mark.parametrize("case", READ)
def test_a_file_of_rows_or_the_training_file_is_read_whatever_its_order(case, tmp_path):
    header, row, keys, texts = READ[case]
    (tmp_path / "train.csv").write_text(f"{header}\n{row}\n")
    names = {}
    if keys:
        labels = [] if "columns" in keys else ["bad", "good"]
        own = OwnTask.model_validate({"files": "train.csv", "labels": labels} | keys)
        names = columns_of(own_task("mine", own).table)
    fields = [*Row.model_fields][: len(texts)]
    expected = Row(**dict(zip(fields, texts, strict=True)))
    assert read_rows(tmp_path / "train.csv", names) == [expected]


def test_a_file_may_have_the_columns_of_the_training_file(made, tmp_path):
    _, folder, rows = made["rte"]
    path, table = tmp_path / "rows.tsv", task("rte").table
    lines = [["7", row["first"], row["second"], "entailment"] for row in rows]
    header = ["index", table.first, table.second, table.label]
    path.write_text("".join("\t".join(line) + "\n" for line in [header, *lines]))
    done = call(predict.main, folder, "--file", path)
    plain = call(predict.main, folder, "--file", write_tsv(tmp_path / "plain.tsv", rows))
    assert done.returncode == 0 and done.stdout == plain.stdout
    path.write_text("\t".join(header) + "\n" + "7\ta\tb\tentailment\tc\n")
    assert "line 2" in refused(predict.main, folder, "--file", path)


def test_rows_of_a_task_of_ones_own_are_read_in_all_formats_by_its_columns(tmp_path):
    frame = pd.DataFrame({"id": [1, 2], "story": ["One, two", "b"], "x": [3, 4], "y": ["c", "d"]})
    columns = {"text": "story", "choices": ["x", "y"], "label": "id"}
    own = OwnTask(kind="multiple_choice", files="rows.csv", columns=columns)
    frame.to_csv(tmp_path / "rows.csv")  # with a column of no name
    frame.to_csv(tmp_path / "rows.tsv", sep="\t")
    frame.to_json(tmp_path / "rows.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "rows.parquet")
    expected = [Row(text="One, two", choices=["3", "c"]), Row(text="b", choices=["4", "d"])]
    for path in tmp_path.iterdir():
        assert read_rows(path, columns_of(own_task("mine", own).table)) == expected


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("rte", ["--text", "a"], "command line: row 1: rte (entailment) is about two texts; give"),
        (
            "sst2",
            ["--text", "a", "--second", "b"],
            "sst2 (classification) is about one text; leave",
        ),
        ("sst2", ["--text", "a", "--choices", "b", "c"], "has no choices; leave them out"),
        ("race", ["--text", "a", "--choices", "b"], "needs at least two choices, none empty"),
        ("sst2", ["--text", " "], "no text; give one"),
        ("sst2", ["--text", "a", "--seed", "9"], "no weights of seed 9; kept are those of 3, 4"),
        ("sst2", ["--text", "a", "--device", "tpu"], "device: found 'tpu'; "),
        ("sst2", ["--file", "none.tsv"], "none.tsv: no such file"),
        ("sst2", ["--file", "none.tsv", "--second", "b"], "belong to --text; put them into"),
    ],
)
def test_a_mistake_is_one_line(made, name, options, told):
    said = refused(predict.main, made[name][1], *options)
    assert said.startswith("error: ") and told in said


def test_a_cell_that_is_not_kept_is_told_with_the_remedy(tmp_path):
    done = call(predict.main, tmp_path / "kept/x", "--text", "a")
    assert "no kept cell; name the cell in experiment.keep and run snakemake" in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.tsv", "sentence\na\n", "line 2: text: missing"),
        ("a.tsv", "text\tsecond\na\n", "line 2: expected 2 columns, found 1"),
        ("a.csv", 'text\n"a",b\n', "line 2: expected 1 columns, found 2"),
        ("a.csv", "text,label\na,good\n", "line 2: label: found 'good'; extra inputs"),
        ("a.tsv", "text\tsecond\n", "no rows below the header"),
        ("a.tsv", "text\ttext\na\tb\n", "1: a column occurs twice"),
        ("a.jsonl", '{"text": "a"}\n{"texts": "a"}\n', "line 2: text: missing"),
    ],
)
def test_a_malformed_file_is_told_with_its_line(tmp_path, name, text, told):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=f"{path}: ?{told}"):
        read_rows(path, {"text": "text", "second": "second", "mine": "choice1"})  # another task's


def test_rows_with_different_numbers_of_choices_are_refused(made):
    rows = [Row(text="a", choices=["b"] * n) for n in (2, 3)]
    with pytest.raises(InputError, match="x: row 2: 3 choices, but the first row has 2"):
        Predictor(made["race"][1]).answer(rows, "x")


def test_weights_are_kept_of_the_training_of_the_cell_which_is_repeated_if_they_are_named_later(
    tmp_path, monkeypatch
):
    trained, method = [], FineTuning.train
    monkeypatch.setattr(FineTuning, "train", lambda self: trained.append(1) or method(self))
    write_task(tmp_path, "rte")
    cell = Cell("n_transfer-1", "rte")
    own, folder = {cell: toy.cell_settings("transformer", 1, toy.DROPOUT)}, cell.kept(tmp_path)
    scores = []
    for keep, total in ((False, 2), (True, 4), (True, 4), (False, 4)):
        shutil.rmtree(folder, ignore_errors=True)
        assert train(tmp_path, own, SEEDS, keep=keep) == [] and len(trained) == total
        record = CellRecord.read(cell.path(tmp_path))
        assert (cell_files.read_kept(folder) == record) if keep else not folder.exists()
        assert [run.seed for run in record.seeds] == SEEDS
        scores.append([run.scores for run in record.seeds])
    assert scores == [scores[0]] * 4


@pytest.mark.parametrize("name", ["seed-4.safetensors", "encoder.json", "cell.json"])
def test_what_is_not_as_it_was_kept_is_refused(rte, name):
    with open(rte / name, "ab") as file:
        file.write(b" ")
    with pytest.raises(InputError, match=f"{name}: not the file .*; keep the cell again"):
        Predictor(rte)


def test_a_data_frame_and_a_single_dictionary_are_rows(made):
    _, folder, rows = made["rte"]
    cell = Predictor(folder)
    given = [{"text": row["first"], "second": row["second"]} for row in rows]
    expected = cell.predict(given)
    pd.testing.assert_frame_equal(cell.predict(pd.DataFrame(given)), expected)
    (one,) = cell.predict(given[0])["prediction"]
    assert one == expected["prediction"][0]
    table = task("rte").table
    frame = pd.DataFrame(given).set_axis([table.first, table.second], axis=1).assign(label=1)
    pd.testing.assert_frame_equal(cell.predict(frame), expected)
    frame.loc[0, table.second] = pd.NA
    with pytest.raises(InputError, match="rows: row 1: rte .* is about two texts; give"):
        cell.predict(frame)
    with pytest.raises(InputError, match="rows: row 1: text: missing; give text, second and ch"):
        cell.predict(pd.DataFrame({"review": ["a"]}))


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_the_suites_own_examples_are_rows_whatever_holds_their_choices(made, name, kind):
    _, folder, rows = made[name]
    cell = Predictor(folder)
    keys = {"first": "text", "second": "second", "choices": "choices"}
    expected = cell.predict([{new: r[old] for old, new in keys.items() if old in r} for r in rows])
    examples = [{"guid": "1", "second": "", **r, "choices": kind(r["choices"])} for r in rows]
    pd.testing.assert_frame_equal(cell.predict(pd.DataFrame(examples)), expected)
    pd.testing.assert_frame_equal(cell.predict(examples), expected)
