"""A task that a config describes: its files in every format, its labels, columns and prompt."""

import csv
import json
from collections import Counter

import pyarrow as pa
import pytest
from datasets import ClassLabel, Dataset, Features, Value
from pyarrow import parquet

from tasks import prepare, task
from tasks.common.files import read_json, write_json
from tasks.prompt import Prompt
from tasks.settings import OwnTask, PrepareSettings
from tests.support.programs import refusal

WORDS = ["bad", "fair", "good"]
TEXTS = ['a "plain" film', "an odd, long one", "eine Überraschung", "nothing much"]
ROWS = [{"review": f"{TEXTS[n % 4]} {n}", "stars": n % 3} for n in range(30)]
COLUMNS = {"text": "review", "label": "stars"}


def write(path, rows=ROWS):
    """Write rows in the format that the name ends in."""
    names = list(rows[0])
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".tsv":
        lines = ["\t".join(names), *("\t".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.DictWriter(file, names).writeheader()
            csv.DictWriter(file, names).writerows(rows)


def write_classes(path, names):
    """Write a Parquet file as `datasets` does, whose label numbers have names."""
    kinds = {"review": Value("string"), "stars": ClassLabel(names=names)}
    columns = {"review": TEXTS[:3], "stars": [0, 1, 2]}
    Dataset.from_dict(columns, features=Features(kinds)).to_parquet(path)


def own(**keys) -> OwnTask:
    given = {"kind": "classification", "files": "rows.csv", "columns": COLUMNS}
    return OwnTask.model_validate(
        given | {"labels": {k: word for k, word in enumerate(WORDS)}} | keys
    )


def prepared(folder, of: OwnTask, **keys):
    """The examples of each split and the note on them."""
    settings = PrepareSettings(own=of, published=False, **keys)
    splits, facts = prepare.prepare(task("mine", of), folder, settings)
    return splits, facts["note"]


@pytest.mark.parametrize("test", [WORDS, WORDS[::-1]], ids=["one order", "another"])
def test_parquet_files_that_number_labels_in_another_order_are_refused(test, tmp_path):
    for split, names in {"train": WORDS, "test": test}.items():
        write_classes(tmp_path / f"{split}.parquet", names)
    of = task("mine", own(files={"train": "train.parquet", "test": "test.parquet"}))
    assert [row.label for row in of.read(tmp_path, "train")] == [0, 1, 2]
    if test == WORDS:
        assert [row.label for row in of.read(tmp_path, "test")] == [0, 1, 2]
        return
    order = "labels 0, 1, .. are named good, fair, bad, in "
    said = refusal(of.read, tmp_path, "test")
    assert said.startswith(f"{tmp_path}/test.parquet: {order}{tmp_path}/train.parquet bad, fair,")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format_gives_the_same_rows(ending, tmp_path):
    for split in ("train", "dev", "test"):
        write(tmp_path / f"{split}.{ending}", ROWS[:9] if split == "test" else ROWS)
    files = {split: f"{split}.{ending}" for split in ("train", "dev", "test")}
    found = task("mine", own(files=files))
    rows = found.read(tmp_path, "train")
    assert [row.first for row in rows] == [row["review"] for row in ROWS]
    assert [row.label for row in rows] == [row["stars"] for row in ROWS]
    assert rows[3].guid == "mine/train/3" and found.labels == tuple(WORDS)
    assert (found.select, found.report, found.spec.n_labels) == ("dev", ("test",), 3)


def test_a_single_file_is_divided_and_alarms_are_noted(tmp_path):
    def made(rows):
        write(tmp_path / "rows.csv", rows)
        return prepared(tmp_path, own(), carve={"train": 0.8, "test": 0.2})

    splits, note = made(ROWS)
    counts = {name: len(rows) for name, rows in splits.items()}
    assert counts == {"train": 22, "select": 2, "test": 6}
    assert note == "carved from train: train 24, test 6 of 30 rows"
    twice = made([*ROWS, ROWS[0] | {"stars": 1}])[1]
    assert "alarm: 2 of 31 rows have the texts of another row and" in twice
    alike = made([row | {"stars": 2} for row in ROWS])[1]
    assert "alarm: all 22 training rows have label 'good'" in alike


def test_parts_of_a_single_file_keep_the_shares_of_skewed_labels(tmp_path):
    shares = {0: 4, 1: 20, 2: 96}
    rows = [(f"film {n} {label}", label) for label, count in shares.items() for n in range(count)]
    write(tmp_path / "rows.csv", [{"review": text, "stars": label} for text, label in rows])
    for seed in range(20):
        splits, _ = prepared(tmp_path, own(), carve={"train": 0.75, "test": 0.25}, seed=seed)
        counts = {name: Counter(row.label for row in of) for name, of in splits.items()}
        assert counts["test"] == {0: 1, 1: 5, 2: 24} and counts["select"].keys() >= {1, 2}
        assert counts["train"][0] >= 2 and sum(map(len, splits.values())) == 120


@pytest.mark.parametrize(
    ("train", "labels", "said"),
    [
        ([0, 0, 2], {0: "bad", 1: "fair", 2: "good"}, "alarm: no training row has label 'fair'"),
        ([0, 1, 2], {0: "bad", 1: "fair", 2: "good", 3: "x"}, "alarm: no row has label 'x', which"),
        ([0, 1, 2], {0: "bad", 1: "bad", 2: "good"}, "'0', '1' are read as 'bad'"),
        ([0, 1, 2], {0: "bad", 1: "fair", 2: "good"}, ""),
    ],
)
def test_a_note_tells_of_labels_without_rows_and_of_words_that_are_joined(
    train, labels, said, tmp_path
):
    write(tmp_path / "train.csv", [{"review": f"a {n}", "stars": train[n % 3]} for n in range(30)])
    write(tmp_path / "dev.csv", [{"review": f"b {n}", "stars": n % 3} for n in range(6)])
    files = {split: f"{split}.csv" for split in ("train", "dev")}
    note = prepared(tmp_path, own(files=files, labels=labels))[1]
    assert note.startswith(said) and bool(note) == bool(said) and ";" not in note


def test_labels_are_any_words_and_several_may_have_one_name():
    words = task("mine", own(labels=[True, 2, "x y"]))
    assert words.labels == ("true", "2", "x y") and words.title == "mine"
    joined = own(labels={1: "bad", 2: "bad", 3: "good"}, title="Stars", metric="f1")
    found = task("mine", joined)
    assert found.labels == ("bad", "good") and found.coding == {"1": 0, "2": 0, "3": 1}
    assert (found.title, found.metrics) == ("Stars", ("f1", "accuracy"))
    scores = task("mine", own(kind="similarity", labels=[], metric="pearson"))
    assert scores.soft_labels and scores.spec.n_labels == 6


def test_choices_are_columns_or_a_list_and_a_question_is_a_second_text(tmp_path):
    row = {"story": "It rained.", "a": "Wet.", "b": "Dry.", "both": ["Wet.", "Dry."], "right": 1}
    write(tmp_path / "rows.jsonl", [row])

    def example(labels, **columns):
        columns = {"text": "story", "label": "right", **columns}
        given = {"kind": "multiple_choice", "files": "rows.jsonl", "columns": columns}
        (found,) = task("mine", own(**given, labels=labels)).read(tmp_path, "train")
        return found

    one, other = example([], choices=["a", "b"]), example(["0", "1"], choices="both", second="a")
    assert one.choices == other.choices == ("Wet.", "Dry.") and one.label == other.label == 1
    assert (one.second, other.second) == ("", "Wet.")
    assert own(kind="pair", columns=COLUMNS | {"second": "reply"}).second == "reply"


PAIR = {"kind": "pair", "labels": [0, 1], "prompt": "{review}"}


def test_a_prompt_is_over_the_columns_of_the_files():
    asked = task("mine", own(prompt="{review} It was")).prompt
    assert asked == Prompt("{first} It was", choices=("bad", "fair", "good"))
    choices = ["No.", "Yes, {second} too."]
    assert task("mine", own(**PAIR, choices=choices)).prompt.choices == tuple(choices)
    choices = ["{review} was bad", "{review} was fair", "{review} was good"]
    assert task("mine", own(prompt="So", choices=choices)).prompt.before == "So"
    columns = COLUMNS | {"choices": ["a", "b"]}
    chosen = own(kind="multiple_choice", columns=columns, labels=[], prompt="So")
    assert task("mine", chosen).prompt == Prompt("So")
    assert task("mine", own(labels=["", "good"])).labels == ("", "good")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (PAIR | {"choices": ["No.", "Yes,{second}"]}, "prompt: a column touches a word"),
        (PAIR | {"choices": ["No.", "{second}"]}, "the choice '{second}' has no words beside col"),
        (
            {"labels": ["", "good"], "prompt": "{review} It was"},
            "prompt: the choice '' has no words beside columns; add",
        ),
        ({"prompt": "It was"}, "prompt: 'It was' names no column; give one in braces, as {review}"),
        ({"prompt": "{text} It was"}, "prompt: no column 'text' is read; give {review}"),
    ],
)
def test_a_prompt_that_cannot_be_asked_is_refused(given, said):
    assert said in refusal(task, "mine", own(**given))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"labels": [], "metric": "pearson", "prompt": "{review}", "choices": ["Good."]},
            "choices: give two or more, from the lowest score",
        ),
        (
            {"columns": COLUMNS | {"second": "reply"}},
            "columns: second is of two texts; give kind: pair",
        ),
    ],
)
def test_keys_that_do_not_fit_are_refused(given, said):
    with pytest.raises(ValueError, match=said):
        own(**given)


WRONG = {  # what a file holds, and words of the line
    "rows.csv": {
        "review,stars\na,0\nb": "rows.csv:3: expected 2 columns, found 1; ",
        'review,stars\n"a,0\n': "rows.csv:2: not CSV (unexpected end of data); export",
        "review,stars,stars\na,0,0\n": "rows.csv:1: a column occurs twice: review stars stars",
        "review;stars\nfine, thanks;1\n": "rows.csv:1: columns are separated by ';'; give commas",
        "text,stars\na,0\n": "rows.csv:1: no column 'review', found text stars; give its name in",
        "review,stars\na,7\n": "rows.csv:2: label '7' is unknown; mine has 0, 1, 2; correct",
        "review,stars\n ,1\n": "rows.csv:2: empty text",
        "review,stars\n0,a film\n": "'a film' is unknown; mine has 0, 1, 2; exchange text and",
        "a film,0\nb,1\n": "give its name in columns, or above the rows if the file has no names",
        "Review,stars\na,0\n": "no column 'review', found Review stars; give Review in columns",
        "review,stars\n": "split 'train' has no usable row; add rows below the names",
        "": "rows.csv: the file is empty; write it again",
        "PK\3\4 xl/workbook.xml [Content_Types].xml": "rows.csv: a spreadsheet; export it as CSV",
        "PK\3\4 rows.csv": "rows.csv: compressed; unpack it",
        "PAR1": "rows.csv: a Parquet file; name it .parquet",
    },
    "rows.tsv": {
        'review\tstars\n"a"\t"0"\n': "label '\"0\"' is unknown; mine has 0, 1, 2; name the file",
        '"review"\t"stars"\n"a"\t"0"\n': 'no column \'review\', found "review" "stars"; name the',
        "review,stars\na,0\n": "columns are separated by ','; give tabs, or name the file .csv",
    },
    "rows.jsonl": {'{"review": ["a", "b"], "stars": 0}\n': ":1: column 'review' holds ['a', 'b'];"},
    "rows.parquet": {"PAR1": "not a whole parquet file"},
}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [(name, *one) for name, texts in WRONG.items() for one in texts.items()],
)
def test_a_wrong_file_is_one_line_with_its_place_and_never_a_download(name, text, words, tmp_path):
    (tmp_path / name).write_text(text)
    said = refusal(task("mine", own(files=name)).read, tmp_path, "train")
    assert words in said and "download" not in said
    if words.startswith("rows.csv:2: label '7'"):  # no label word to list, where it is a score
        scores = task("mine", own(labels=[], metric="pearson"))
        said = refusal(scores.read, tmp_path, "train")
        assert "'7' is unknown; expected a score" in said and said.endswith("; correct the row")


def test_a_parquet_file_with_a_text_that_is_not_utf8_is_told(tmp_path):
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"review": ["a film"], "stars": [1]}), path, compression="none")
    path.write_bytes(path.read_bytes().replace(b"a film", b"\xff film"))
    said = refusal(task("mine", own(files="rows.parquet")).read, tmp_path, "train")
    assert "rows.parquet: not a whole parquet file (" in said and "Invalid UTF8" in said


def test_a_task_whose_test_rows_are_training_rows_is_named(tmp_path):
    for split in ("train", "test"):
        write(tmp_path / f"{split}.csv")
    files = {of: f"{of}.csv" for of in ("train", "test")}
    said = refusal(prepared, tmp_path, own(files=files))
    assert said.startswith("mine: 30 of 30 rows of 'test' are training rows of mine")


@pytest.mark.parametrize(
    "labels",
    [{"one": "A", "two": "B", "three": "C"}, {"pos": "good", "neg": "bad"}]
    + [{n: f"class {n}" for n in range(11)}, {"b": "no", "a": "yes", "c": "no"}, ["b", "a"]],
)
def test_labels_keep_their_order_in_json(labels, tmp_path):
    given = own(labels=labels)
    write_json(tmp_path / "own.json", given.model_dump(mode="json"))
    stored = OwnTask.model_validate(read_json(tmp_path / "own.json"))
    for found in (OwnTask.parse(given.to_json()), stored):
        assert found == given and found.names == given.names
        assert task("mine", found).coding == task("mine", given).coding
    if isinstance(labels, dict):
        swapped = own(labels=dict(reversed(labels.items())))
        assert swapped.to_json() != given.to_json()


PANDAS = {  # the words of pandas in a CSV file, and labels of the config
    "True False": [True, False],
    "0.0 1.0": [0, 1],
    "-1.0 1.0": [-1.0, 1.0],
    "v1.0 False": ["v1.0", "False"],
}


@pytest.mark.parametrize("words", PANDAS)
def test_booleans_and_whole_floats_of_pandas_are_found_in_text_files(words, tmp_path):
    rows = [{"review": "a film", "stars": word} for word in words.split()]
    for ending in ("csv", "tsv"):
        write(tmp_path / f"rows.{ending}", rows)
        found = task("mine", own(files=f"rows.{ending}", labels=PANDAS[words]))
        assert [row.label for row in found.read(tmp_path, "train")] == [0, 1]
    write(tmp_path / "rows.csv", [{"review": "a film", "stars": "v1.0"}])
    other = task("mine", own(labels=["v1", "v2"]))
    assert "label 'v1.0' is unknown" in refusal(other.read, tmp_path, "train")


def test_a_csv_cell_may_be_as_long_as_a_document(tmp_path):
    text = "word " * 30_000 + "end"
    write(tmp_path / "rows.csv", [{"review": text, "stars": 1}])
    (row,) = task("mine", own()).read(tmp_path, "train")
    assert row.first == text
