"""Scores on the rows that the language model has not read: the clean part of each reported split.

A row is clean if no text of it shares a 13-gram with the corpus, neither of pieces nor of words
(`gpt1.contamination` marks them); a text too short to tell counts as clean. A cell's scores are
computed anew from the predictions of its rows: on all of them, which must give what the cell says,
and on the clean ones.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tasks
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file
from tasks.examples import each_example
from tasks.metrics import score
from workflow.analysis import collect
from workflow.analysis.collect import REMEDY

KINDS = ("pieces", "words")
PLACE = ["aux", "task", "split", "metric"]
COLUMNS = ["clean_mean", "clean_sd", "clean_rows"]
NOTE = "Clean rows: those that share no 13-gram, of pieces or words, with the pre-training corpus."


@dataclass(frozen=True)
class Part:
    """A reported split, or one group of its rows (RACE's middle and high).

    `rows` [n] are the places of its rows among all `total` rows of the official split `base`,
    `labels` [n] their labels. `contaminated` and `too_short` hold, for each kind, a mask [n].
    """

    base: str
    total: int
    rows: np.ndarray
    labels: np.ndarray
    contaminated: dict[str, np.ndarray]
    too_short: dict[str, np.ndarray]

    @property
    def clean(self) -> np.ndarray:
        """Which of the rows [n] are clean."""
        return ~np.logical_or.reduce(list(self.contaminated.values()))


def parts(results: Path, name: str) -> dict[str, Part]:
    """Every reported split of a task and every group of one, by name; nothing if never looked for.

    Raises InputError if the marks are of other examples than those that are there.
    """
    marks_path = Path(results) / "contamination" / f"{name}.json"
    if not marks_path.exists():
        return {}
    marks = read_json(marks_path)
    path = Path(results) / "examples" / f"{name}.jsonl"
    if marks["task"] != name or marks["examples"] != sha256_file(path):
        raise InputError(f"{marks_path}: marks of other examples than {path}; {REMEDY}")
    labels: dict[str, list] = {split: [] for split in marks["splits"]}
    groups: dict[str, list[str]] = {split: [] for split in marks["splits"]}
    for example in each_example(path):
        if example.split in labels:
            labels[example.split].append(example.label)
            groups[example.split].append(example.group)
    found = {}
    for split, told in marks["splits"].items():
        if told["rows"] != len(labels[split]):
            raise InputError(f"{marks_path}: {told['rows']} rows in {split!r}; {REMEDY}")
        group = np.array(groups[split])
        named = {split: group == group} | {
            f"{split}_{g}": group == g for g in sorted(set(group)) if g
        }
        for part, mask in named.items():
            rows = np.flatnonzero(mask)
            found[part] = Part(
                split,
                len(group),
                rows,
                np.array(labels[split])[rows],
                {kind: np.isin(rows, told[kind]["contaminated"]) for kind in KINDS},
                {kind: np.isin(rows, told[kind]["too_short"]) for kind in KINDS},
            )
    return found


def scores(results: Path, settings: dict[str, Any], runs: pd.DataFrame) -> pd.DataFrame:
    """Over seeds, the clean scores behind `runs`, the fully transferred transformer's.

    One row per (aux, task, split, metric): `clean_mean` and `clean_sd` (n-1; empty for one seed)
    from 0 to 100, empty if no row is clean, and `clean_rows`. What was not run is not there.
    """
    known = {
        tuple(key): value for *key, value in runs[[*PLACE, "seed", "score"]].itertuples(index=False)
    }
    found = []
    for name in settings["tasks"]:
        splits = parts(results, name)
        for aux in settings["aux"] if splits else ():
            found += _cell(results, settings, name, aux, splits, known)
    table = pd.DataFrame(found, columns=[*PLACE, "seed", "score", "clean_rows"])
    return table.groupby(PLACE, sort=False, as_index=False).agg(
        clean_mean=("score", "mean"), clean_sd=("score", "std"), clean_rows=("clean_rows", "first")
    )


def _cell(
    results: Path,
    settings: dict[str, Any],
    name: str,
    aux: str,
    splits: dict[str, Part],
    known: dict[tuple, float],
) -> Iterator[tuple]:
    """The clean scores of each seed of a cell: PLACE, seed, score, number of rows."""
    kind = tasks.task(name).kind
    path = predictions_path(results, settings, name, aux)
    if not path.exists():
        return
    found = read_json(path)
    if (found["task"], found["aux"]) != (name, aux == "on"):
        raise InputError(f"{path}: is of {found['task']}, aux {found['aux']}; {REMEDY}")
    check_rows(path, found.get("data"), Path(results) / "encoded" / f"{name}.npz")
    for record in found["seeds"]:
        for split, part in splits.items():
            answers = np.array(record["predictions"][part.base])
            if len(answers) != part.total:
                raise InputError(
                    f"{path}: {len(answers)} predictions for the {part.total} rows of "
                    f"{part.base!r}; {REMEDY}"
                )
            answers, rows = answers[part.rows], part.clean
            every = score(kind, answers, part.labels)
            clean = score(kind, answers[rows], part.labels[rows]) if rows.any() else {}
            for metric, value in every.items():
                place = (aux, name, split, metric)
                told = known.get((*place, record["seed"]))
                if told is None:  # a seed that the config no longer asks for
                    continue
                if not math.isclose(value, told, rel_tol=0, abs_tol=1e-6):
                    raise InputError(
                        f"{path}: seed {record['seed']}: {split} {metric} of these predictions is "
                        f"{value:.6f}, the cell says {told:.6f}; {REMEDY}"
                    )
                yield (*place, record["seed"], clean.get(metric, math.nan), int(rows.sum()))


def check_rows(path: Path, digest: str | None, rows: Path) -> None:
    """InputError unless `digest`, which the predictions at `path` tell, is that of `rows`."""
    if digest != sha256_file(rows):
        raise InputError(f"{path}: its answers are to other rows than {rows}'s; {REMEDY}")


def predictions_path(results: Path, settings: dict[str, Any], name: str, aux: str) -> Path:
    """Where the predictions of a task's fully transferred transformer lie."""
    full = collect.full(settings, "transformer")
    cell = collect.cell_path(Path(), "transformer", name, aux, full)
    return Path(results) / "predictions" / cell.relative_to("cells")
