"""`glue_submission.zip`: the eleven files that the GLUE server expects.

Each file holds the predictions of the fully transferred transformer with the auxiliary loss, from
the seed that scores best on the labelled dev rows; its epoch was chosen on other rows. The server
takes complete sets only, so the file of a task that was not run, and WNLI's always, repeats one
constant answer. The JSON beside the zip records where each file's answers come from. Equal inputs
give equal bytes.
"""

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from gpt1.cell import Cell
from gpt1.records import CellRecord, EncodedFacts
from tasks.common.errors import InputError
from tasks.common.files import sha256_file, write_atomic, write_json
from tasks.common.records import REMEDY
from workflow.analysis.rows import Notes, answers, check_examples, read_predictions
from workflow.analysis.stats.samples import Samples, scored
from workflow.grid import Grid

WNLI = "wnli"  # the paper leaves it out
WNLI_ROWS = 146
SHEETS = {  # the files: the task and split of each, and the answer to repeat if it was not run
    "AX.tsv": ("mnli", "ax", "entailment"),
    "CoLA.tsv": ("cola", "test", "1"),
    "MNLI-m.tsv": ("mnli", "test_matched", "entailment"),
    "MNLI-mm.tsv": ("mnli", "test_mismatched", "entailment"),
    "MRPC.tsv": ("mrpc", "test", "1"),
    "QNLI.tsv": ("qnli", "test", "entailment"),
    "QQP.tsv": ("qqp", "test", "0"),
    "RTE.tsv": ("rte", "test", "entailment"),
    "SST-2.tsv": ("sst2", "test", "1"),
    "STS-B.tsv": ("stsb", "test", "2.500"),
    "WNLI.tsv": (WNLI, "test", "0"),
}


def word(task: str, answer: int | float) -> str:
    """An answer as the server expects it: a label's name, 0 or 1, or a score, 0.000 to 5.000."""
    spec = tasks.task(task)
    if spec.soft_labels:
        return f"{min(max(answer, 0.0), 5.0):.3f}"
    return spec.labels[int(answer)] if spec.family == "entailment" else str(answer)


def answered(results: Path, grid: Grid, cell: Cell) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The best seed's answers to a task's unlabelled rows, by split, and the facts about them.

    The best is the first of those that score highest on the dev rows. Raises InputError if scores,
    predictions and rows do not belong together.
    """
    record = CellRecord.read(cell.path(results), **vars(cell))
    samples = Samples({cell: scored(record, grid.seeds.finetune)})
    head, predictions = samples.headline(cell), read_predictions(results, cell)
    if head is None:
        raise InputError(f"{cell.path(results)}: no score of a seed of the config; {REMEDY}")
    if predictions is None:
        raise InputError(f"{cell.predictions(results)}: no such file; run its job first")
    best = int(head.values.argmax())
    seed, path, rows = head.seeds[best], predictions.path, predictions.rows
    rows = rows[(rows["seed"] == seed) & rows["label"].isna()]
    if rows.empty:
        raise InputError(f"{path}: no predictions of unlabelled rows by seed {seed}; {REMEDY}")
    task, encoded, words = tasks.task(cell.task), results / "encoded" / f"{cell.task}.json", {}
    for split, facts in EncodedFacts.read(encoded).splits.items():
        if facts.role == "unlabelled":
            check_examples(encoded, {split: facts.examples}, path, predictions.examples)
            said = answers(task, rows.loc[rows["split"] == split, "prediction"])
            words[split] = [word(cell.task, answer) for answer in said]
    return words, {
        "seed": seed,
        "seeds": len(head.seeds),
        "chosen_on": "+".join(samples.headline_splits(cell.task)),
        "metric": task.metric,
        "score": round(float(head.values[best]), 4),
        "predictions": sha256_file(path),
    }


def sheets(results: Path, grid: Grid) -> tuple[dict[str, str], dict[str, Any]]:
    """The content of every file by name, and the facts about each.

    `labelled` says which labelled rows the seed was chosen on, if they are not the published ones.
    """
    notes = Notes.read(results, grid.unlabelled)
    known = {cell.task: answered(results, grid, cell) for cell in grid.submitted()}
    texts: dict[str, str] = {}
    facts: dict[str, Any] = {}
    for name, (task, split, constant) in SHEETS.items():
        official = WNLI_ROWS if task == WNLI else tasks.task(task).unlabelled[split]
        predicted, best = known.get(task, ({}, {}))
        fact = {"task": task, "split": split, "answers": "run"}
        if best:
            fact |= {**best, "labelled": notes.of(task)}
        words = predicted.get(split)
        if words is None:
            words = [constant] * official
            why = "not among the paper's tasks" if task == WNLI else "not run"
            why = "its rows are missing" if predicted else why
            fact |= {"answers": "constant", "constant": constant, "why": why}
        column = pd.Series(words, name="prediction").rename_axis("index")
        texts[name] = column.to_csv(sep="\t", lineterminator="\n")
        digest = hashlib.sha256(texts[name].encode()).hexdigest()
        counts = {"rows": len(words), "official_rows": official}
        facts[name] = {**fact, **counts, "sha256": digest}
    return texts, facts


def write(results: Path, grid: Grid) -> None:
    """Write the zip, and the facts about its files as JSON beside it."""
    texts, facts = sheets(results, grid)
    out = results / "glue_submission.zip"
    with write_atomic(out, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, text in texts.items():
            info = zipfile.ZipInfo(name)  # without the time, so that equal content is equal bytes
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, text)
    complete = all(fact["rows"] == fact["official_rows"] for fact in facts.values())
    summary = {"files": facts, "complete": complete, "sha256": sha256_file(out)}
    write_json(out.with_suffix(".json"), summary)
