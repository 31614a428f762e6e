"""`glue_submission.zip`: the eleven files that the GLUE server wants, and a note on them.

    python -m workflow.analysis.submission --results R --settings JSON --out R/glue_submission.zip

Each file is answered by the fully transferred transformer with the auxiliary loss, by the seed that
is best on the labelled dev rows. The server takes complete sets only: the file of a task that was
not run, and WNLI always, has one constant answer. The JSON beside it tells the same as the note,
and the digests. Equal inputs give equal bytes.
"""

import argparse
import hashlib
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

import tasks
from tasks import hidden
from tasks.common.errors import InputError, run
from tasks.common.files import read_json, sha256_file, write_atomic, write_json
from tasks.examples import read_examples
from workflow.analysis import collect, output, subsets, summary
from workflow.analysis.clean import check_rows, predictions_path
from workflow.analysis.collect import REMEDY

NOTE = "NOTE.txt"
ABOUT = """\
Predictions for GLUE's hidden test rows by this run's fully transferred transformer, fine-tuned with
the auxiliary language-model loss. Of each task's seeds the one that is best on the labelled dev
rows answers; its epoch was chosen on other rows. Where a task's labelled rows were not the
published ones, its line says so.
"""
WNLI = ("wnli", 146)  # the paper leaves it out


@dataclass(frozen=True)
class Sheet:
    """A file of the hand-in: of which task and split, and the answer where there is none."""

    name: str
    task: str
    split: str
    constant: str

    @property
    def rows(self) -> int:
        """How many rows the server expects."""
        name, rows = WNLI
        return rows if self.task == name else hidden.official(self.task, self.split)


SHEETS = (
    Sheet("AX.tsv", "mnli", "ax", "entailment"),
    Sheet("CoLA.tsv", "cola", "test", "1"),
    Sheet("MNLI-m.tsv", "mnli", "test_matched", "entailment"),
    Sheet("MNLI-mm.tsv", "mnli", "test_mismatched", "entailment"),
    Sheet("MRPC.tsv", "mrpc", "test", "1"),
    Sheet("QNLI.tsv", "qnli", "test", "entailment"),
    Sheet("QQP.tsv", "qqp", "test", "0"),
    Sheet("RTE.tsv", "rte", "test", "entailment"),
    Sheet("SST-2.tsv", "sst2", "test", "1"),
    Sheet("STS-B.tsv", "stsb", "test", "2.500"),
    Sheet("WNLI.tsv", WNLI[0], "test", "0"),
)


@dataclass(frozen=True)
class Answers:
    """A task's answers to its hidden rows: rows and words of each split, and whose they are."""

    words: dict[str, list[tuple[int, str]]]
    about: dict[str, Any]


def word(task: str, answer: int | float) -> str:
    """An answer as the server wants it: a label's word, 0 or 1, or a score from 0.000 to 5.000."""
    kind = tasks.task(task).kind
    if kind.soft_labels:
        return f"{min(max(answer, 0.0), 5.0):.3f}"
    return tasks.task(task).labels[answer] if kind.family == "entailment" else str(answer)


def best(runs: pd.DataFrame, name: str) -> dict[str, Any]:
    """The seed that is best on a task's dev rows (the first of equals), and what tells so."""
    heads = summary.headline(runs, [name])
    if heads.empty:
        raise InputError(f"{name}: its cell tells no score; {REMEDY}")
    top = heads.sort_values(["score", "seed"], ascending=[False, True]).iloc[0]
    return {
        "seed": int(top["seed"]),
        "seeds": len(heads),
        "chosen_on": top["split"],
        "metric": top["metric"],
        "score": round(float(top["score"]), 4),
    }


def answers(results: Path, settings: dict[str, Any], name: str) -> Answers:
    """The best seed's answers to a task's hidden rows.

    Raises InputError if cell, predictions and rows do not belong together.
    """
    runs = collect.read_runs(results, collect.fully_transferred({**settings, "tasks": [name]}))
    chosen = best(runs, name)
    path = predictions_path(results, settings, name, "on")
    found = [r for r in read_json(path)["seeds"] if r["seed"] == chosen["seed"]]
    if not found or "hidden" not in found[0]:
        raise InputError(f"{path}: no answers to hidden rows by seed {chosen['seed']}; {REMEDY}")
    rows: dict[str, list[int]] = {}
    rows_path = Path(results) / "hidden" / f"{name}.jsonl"
    for example in read_examples(rows_path):
        rows.setdefault(example.split, []).append(hidden.index_of(example))
    check_rows(path, read_json(path).get("hidden_data"), rows_path.with_suffix(".npz"))
    told = found[0]["hidden"]
    if {s: len(of) for s, of in rows.items()} != {s: len(of) for s, of in told.items()}:
        raise InputError(f"{path}: its answers are not to the rows of {rows_path}; {REMEDY}")
    words = {
        split: [(i, word(name, answer)) for i, answer in zip(rows[split], told[split], strict=True)]
        for split in rows
    }
    subset = subsets.notes(results, [name])[name]
    return Answers(words, {**chosen, "labelled": subset, "predictions": sha256_file(path)})


def sheets(results: Path, settings: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The content of every file by name, and what is to be told of it."""
    known = {name: answers(results, settings, name) for name in settings["tasks"]}
    if not known:
        raise InputError("the grid has no GLUE task to hand in; add one to experiment.tasks")
    texts, facts = {}, {}
    for sheet in SHEETS:
        of = known.get(sheet.task)
        if of is None or sheet.split not in of.words:
            lines = [(i, sheet.constant) for i in range(sheet.rows)]
            why = "not among the paper's tasks" if sheet.task == WNLI[0] else "not run"
            why = why if of is None else "its rows are not there"
            fact = {"answers": "constant", "constant": sheet.constant, "why": why}
        else:
            lines, fact = of.words[sheet.split], {"answers": "run", **of.about}
        texts[sheet.name] = "index\tprediction\n" + "".join(f"{i}\t{w}\n" for i, w in lines)
        digest = hashlib.sha256(texts[sheet.name].encode()).hexdigest()
        counts = {"rows": len(lines), "official_rows": sheet.rows}
        facts[sheet.name] = {"task": sheet.task, "split": sheet.split, **counts, **fact}
        facts[sheet.name]["sha256"] = digest
    return texts, facts


def note(facts: dict[str, Any]) -> str:
    """What stands in the zip beside the files."""
    lines = []
    for name, fact in facts.items():
        if fact["answers"] == "constant":
            said = f"{fact['why']}; all rows say {fact['constant']}"
        else:
            metric = output.METRICS[fact["metric"]]
            said = f"seed {fact['seed']} of {fact['seeds']}, best on {fact['chosen_on']}"
            said += f" ({metric} {fact['score']:.1f})"
            said += f"; {fact['labelled']}" if fact["labelled"] else ""
        lines.append(f"{name}: {fact['rows']:,} rows; {said}")
        if fact["rows"] != fact["official_rows"]:
            lines[-1] += f"; NOT THE OFFICIAL ROWS, of which there are {fact['official_rows']:,}"
    return ABOUT + "\n" + "\n".join(lines) + "\n"


def write_zip(path: Path, texts: dict[str, str]) -> None:
    """The files in a zip without times, so that equal content is equal bytes."""
    with write_atomic(path, "wb") as file, zipfile.ZipFile(file, "w") as archive:
        for name, text in texts.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, required=True, help="the results folder")
    parser.add_argument("--settings", required=True, help="JSON: the grid, tasks: those handed in")
    parser.add_argument("--out", type=Path, required=True, help="the zip to write")
    a = parser.parse_args()
    texts, facts = sheets(a.results, output.read_settings(a.settings))
    told = note(facts)
    write_zip(a.out, {**texts, NOTE: told})
    complete = all(fact["rows"] == fact["official_rows"] for fact in facts.values())
    about = {"files": facts, "complete": complete, "sha256": sha256_file(a.out)}
    write_json(a.out.with_suffix(".json"), about)
    print(told, end="", flush=True)


if __name__ == "__main__":
    sys.exit(run(main))
