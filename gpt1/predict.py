"""Predict new rows with a fine-tuned cell whose weights were kept.

    python -m gpt1 predict results/kept/full/sst2 --text "A fine film."
    python -m gpt1 predict results/kept/full/rte --file rows.tsv --json

It prints one answer per row: the label and the probabilities, or for STS-B the score. The rows of a
file are of one task and are treated like its examples: texts are encoded as in `gpt1.encode` and
become sequences as in training, a similarity in both orders.

A file is a TSV (without quoting), or ends in .csv, .jsonl or .parquet. It has the columns `text`,
for pairs `second`, for multiple choice `choice1`, `choice2`, ... or a list of them in `choices`
(there `text` is the document or story and `second` the question). Or it has the text columns of the
files that the cell was trained on, such as `sentence`, or those of the suite's own examples; its
other columns are ignored. Files without a header, such as CoLA's `train.tsv`, need one.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from gpt1.data import EncodedSplit
from gpt1.encode import encode_row
from gpt1.model.classifier import Classifier, TaskModel
from gpt1.text.tokenizer import Tokenizer
from gpt1.training import cell_files
from gpt1.training.finetuning import Answers, answer
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build, read_tensors
from tasks import task
from tasks.common.errors import InputError
from tasks.common.settings import Settings, first_fault
from tasks.read import Table, records, word
from tasks.spec import TaskSpec

PAIRS = ("entailment", "similarity")
EXAMPLE = {"first": "text", "second": "second", "choices": "choices"}  # the columns of examples
KEYS = "give text, second and choices, or the columns of the training file"


class Row(Settings):
    """A row to predict; its texts have the roles of those in `tasks.spec.Example`."""

    text: str
    second: str = ""
    choices: list[str] = []


class Predictor:
    """One seed of a kept cell, by default the first one kept, ready to predict rows.

    `record` is the cell's JSON and `model` the PyTorch module. Raises InputError for damaged files
    and for a seed or a device that does not exist.
    """

    def __init__(self, folder: str | Path, seed: int | None = None, device: str = "cpu"):
        folder = Path(folder)
        self.record = record = cell_files.read_kept(folder)
        self.task = task(record.task, record.own)
        self.spec, self.n_ctx = self.task.spec, record.settings.model.n_ctx
        table = self.task.table
        self.columns = columns_of(table) if table else {}
        self.labels = () if self.task.family == "multiple_choice" else self.task.labels
        self.tokenizer = Tokenizer.load(folder)
        self.runtime = Runtime.parse(json.dumps({**record.runtime, "device": device}))
        self.runtime.check_device()
        seeds = [run.seed for run in record.seeds]
        self.seed = seeds[0] if seed is None else seed
        if self.seed not in seeds:
            known = ", ".join(map(str, seeds))
            raise InputError(f"{folder}: no weights of seed {seed}; kept are those of {known}")
        settings, skip_pads = record.settings, self.runtime.skip_pads
        n_vocab, read_layer = self.tokenizer.n_vocab, settings.method.read_layer
        language_model = build(record.arch, settings.model, n_vocab, skip_pads=skip_pads)
        if read_layer != "top":
            language_model.cut(read_layer)
        classifier = Classifier(self.spec.family, language_model.n_hidden, self.spec.n_labels)
        model = TaskModel(language_model, classifier, self.runtime.shared_prefix)
        model.load_state_dict(read_tensors(cell_files.weights_path(folder, self.seed)))
        self.model = model.to(self.runtime.device).eval()

    def answer(self, rows: list[Row], source: str) -> Answers:
        """Predictions `[n]` and probabilities `[n, classes]`, as in `gpt1.training.finetuning`.

        Raises InputError, naming `source` and row, for unfit rows; in a TSV file, the line number
        is one more than the row's number.
        """
        columns: dict[str, list[Any]] = {"first": [], "second": [], "choices": []}
        guids = [f"row {i}" for i in range(1, len(rows) + 1)]
        for guid, row in zip(guids, rows, strict=True):
            _check(row, self.spec, len(rows[0].choices), f"{source}: {guid}")
            texts = {"first": row.text.strip(), "second": row.second.strip()}
            choices = [choice.strip() for choice in row.choices]
            given = {"guid": guid, **texts, "choices": choices}
            ids = encode_row(given, self.tokenizer.encode, source)
            for column in ("first", "second"):
                columns[column].append(np.array(ids[column], dtype=np.int32))
            columns["choices"].append([np.array(c, dtype=np.int32) for c in ids["choices"]])
        split = EncodedSplit(guids, [""] * len(rows), np.zeros(len(rows)), **columns)
        return answer(self.model, self.spec, split, self.runtime)

    def predict(
        self,
        rows: str | Mapping[str, Any] | pd.DataFrame | Sequence[str | Mapping[str, Any] | Row],
        source: str = "rows",
    ) -> pd.DataFrame:
        """The answer to each row, which is a text or a dictionary with the keys of `Row`.

        `rows` may also be a single one of these, or a data frame with the columns of a file.
        `prediction` is the label, the choice ("choice1", ...) or, for STS-B, the score from 0 to 5;
        `p_NAME` is the probability of each label or choice. Raises InputError, naming `source` and
        row, for a row that does not fit the task.
        """
        if isinstance(rows, pd.DataFrame):
            rows = rows.to_dict("records")
        given = enumerate([rows] if isinstance(rows, str | Mapping) else rows, 1)
        checked = [_row(row, self.columns, f"{source}: row {i}") for i, row in given]
        if not checked:
            raise InputError(f"{source}: no rows; give one")
        predictions, probabilities = self.answer(checked, source)
        if self.spec.soft_labels:
            return pd.DataFrame({"prediction": predictions})
        n_classes = probabilities.shape[1]
        names = self.labels or [f"choice{i}" for i in range(1, n_classes + 1)]
        answers = {"prediction": [names[i] for i in predictions]}
        shares = zip(names, probabilities.T.astype(float), strict=True)
        return pd.DataFrame(answers | {f"p_{name}": share for name, share in shares})


def columns_of(table: Table) -> dict[str, str]:
    """The text columns of a task's own files, mapped to the columns of a file of rows."""
    choices = {of: f"choice{i}" for i, of in enumerate(table.choices, 1)}
    if len(choices) == 1:
        choices = dict.fromkeys(choices, "choices")
    return {table.first: "text", **({table.second: "second"} if table.second else {}), **choices}


def _check(row: Row, spec: TaskSpec, n_choices: int, source: str) -> None:
    """Raise InputError for a row that does not fit the task."""
    chosen, task = spec.family == "multiple_choice", f"{spec.name} ({spec.family})"
    if not row.text.strip():
        raise InputError(f"{source}: no text; give one")
    if spec.family in PAIRS and not row.second.strip():
        raise InputError(f"{source}: {task} is about two texts; give the second as well")
    if row.second.strip() and not chosen and spec.family not in PAIRS:
        raise InputError(f"{source}: {task} is about one text; leave the second out")
    if row.choices and not chosen:
        raise InputError(f"{source}: {task} has no choices; leave them out")
    if chosen and (len(row.choices) < 2 or not all(c.strip() for c in row.choices)):
        raise InputError(f"{source}: {task} needs at least two choices, none empty; give them")
    if len(row.choices) != n_choices:
        raise InputError(
            f"{source}: {len(row.choices)} choices, but the first row has {n_choices}; give all "
            "rows of a file the same number"
        )


def read_rows(path: Path, names: Mapping[str, str] = MappingProxyType({})) -> list[Row]:
    """The rows of a file. Raises InputError, naming the line, for a malformed one.

    `names` maps the columns of the task's own files, as `columns_of` does. It is used for a file
    with all of them, and for one without `text` but with the task's column for it; columns that it
    does not name are then ignored.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; give one")
    rows = []
    for line, record in records(path):
        if isinstance(record, str):
            raise InputError(f"{path}: line {line}: {record}; correct it")
        rows.append(_row(record, names, f"{path}: line {line}"))
    if not rows:
        raise InputError(f"{path}: no rows below the header; give one")
    return rows


def _row(given: str | Mapping[str, Any] | Row, names: Mapping[str, str], place: str) -> Row:
    """The row of a text, of a record by column or of itself. Raises InputError with its place."""
    given = {"text": given} if isinstance(given, str) else given
    try:
        return Row.model_validate(_keys(given, names) if isinstance(given, Mapping) else given)
    except ValidationError as error:
        raise InputError(f"{place}: {first_fault(error)}; {KEYS}") from None


def _keys(record: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A record with the keys of `Row` in place of `names`, as `read_rows` says; others are kept."""
    for known in (names, EXAMPLE):
        is_own = bool(known) and known.keys() <= record.keys()
        if is_own or ("text" not in record and "text" in map(known.get, record)):
            record = {known[key]: value for key, value in record.items() if key in known}
            break
    given = {key: _plain(value) for key, value in record.items()}
    choices: list[Any] = []
    while (name := f"choice{len(choices) + 1}") in given:
        choices.append(given.pop(name))
    return {**given, "choices": choices} if choices else given


def _plain(value: Any) -> Any:
    """The value with numbers as text, in the same form for all file formats."""
    if isinstance(value, list | tuple | np.ndarray):
        return [*map(_plain, value)]
    if value is pd.NA:
        return ""
    return value if isinstance(value, str | dict) else word(value)


def printed(answers: pd.DataFrame, as_json: bool) -> str:
    """The answers as TSV with a header, or as JSON lines."""
    answers = answers.round(4)
    if not as_json:
        return answers.to_csv(sep="\t", index=False, lineterminator="\n")
    lines = []
    for row in answers.to_dict("records"):
        line = {"prediction": row.pop("prediction")}
        if row:
            line["probabilities"] = {name.removeprefix("p_"): share for name, share in row.items()}
        lines.append(line)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cell", type=Path, help="the folder of the kept cell, results/kept/...")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--text", help="the text, premise, first sentence, document or story")
    parser.add_argument("--second", help="the hypothesis, second sentence or question")
    parser.add_argument("--choices", nargs="+", help="the answers to choose from")
    source.add_argument(
        "--file",
        type=Path,
        help="many rows: .tsv, .csv, .jsonl or .parquet with the columns text, second, choice1, "
        "... or those of the training file",
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines instead of TSV")
    parser.add_argument("--seed", type=int, help="of fine-tuning (default: the first one kept)")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or mps")
    a = parser.parse_args()
    if a.file and (a.second is not None or a.choices):
        raise InputError("--second and --choices belong to --text; put them into the file")
    Runtime().start()
    model = Predictor(a.cell, a.seed, a.device)
    if a.file:
        rows = read_rows(a.file, model.columns)
    else:
        rows = [Row(text=a.text, second=a.second or "", choices=a.choices or [])]
    answers = model.predict(rows, str(a.file or "command line"))
    print(printed(answers, a.json), end="")
