"""`contamination.csv`: the share of reported rows that the corpus has, and the scores without them.

    python -m workflow.analysis.contamination --results R --settings JSON --out R/contamination.csv

A row of the table is a task, a reported split (or a group of RACE's) and this run's fully
transferred transformer with or without the auxiliary loss; a task of the zero-shot figure alone has
no such cell.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tasks
from tasks.common.errors import run
from workflow.analysis import clean, collect, output, subsets, summary
from workflow.analysis.main import MODELS

SHARES = ("rows", "share_pieces", "share_words", "short_pieces", "short_words")
COLUMNS = [
    *("arch", "variant", "task", "metric", "split", "n_transfer", "aux", "n_seeds", "mean", "sd"),
    *("alarms", "note", *SHARES, *clean.COLUMNS),
]


def build(results: Path, settings: dict[str, Any]) -> tuple[pd.DataFrame, str]:
    """One row per (task, split, aux); shares in percent of the split's rows."""
    runs = collect.read_runs(results, collect.fully_transferred(settings))
    table = summary.summarise(runs, clean.PLACE)
    table = table.merge(clean.scores(results, settings, runs), on=clean.PLACE, how="left")
    notes = subsets.notes(results, settings["examples"])
    wanted = []
    for name in settings["examples"]:
        splits = clean.parts(results, name)
        for split in splits or summary.reported(name, runs):
            about = {"task": name, "split": split, "metric": tasks.task(name).metric}
            about |= {"note": notes[name], **_shares(splits.get(split))}
            wanted += [{**about, **variant} for variant in _variants(name, settings)]
    table = summary.complete(table, wanted, clean.PLACE)[COLUMNS]
    return table, _wide(table, settings, notes)


def _variants(name: str, settings: dict[str, Any]) -> list[dict[str, str | None]]:
    """This run's cells that report the task."""
    if name not in settings["tasks"]:
        return [dict.fromkeys(("arch", "variant", "n_transfer", "aux"))]
    full = {"arch": "transformer", "n_transfer": collect.full(settings, "transformer")}
    return [{**full, "variant": MODELS[aux], "aux": aux} for aux in settings["aux"]]


def _shares(part: clean.Part | None) -> dict[str, float]:
    if part is None:
        return dict.fromkeys(SHARES)
    shares = {"rows": len(part.rows)}
    for kind in clean.KINDS:
        shares[f"share_{kind}"] = 100.0 * float(np.mean(part.contaminated[kind]))
        shares[f"short_{kind}"] = 100.0 * float(np.mean(part.too_short[kind]))
    return shares


def _wide(table: pd.DataFrame, settings: dict[str, Any], notes: dict[str, str]) -> str:
    head = ["task", "split", "rows", "by pieces", "by words", "too short", "metric"]
    for aux in settings["aux"]:
        head += [f"aux {aux}: all rows", f"aux {aux}: clean rows"]
    lines = []
    for (name, split), mine in table.groupby(["task", "split"], sort=False):
        first = mine.iloc[0]
        if pd.isna(first["rows"]):
            counts = [output.MISSING] * 4
        else:
            shares = [f"{first[f'share_{kind}']:.1f} %" for kind in clean.KINDS]
            short = " / ".join(f"{first[f'short_{kind}']:.1f} %" for kind in clean.KINDS)
            counts = [f"{first['rows']:.0f}", *shares, short]
        line = [subsets.mark(notes, name), split, *counts, output.METRICS[first["metric"]]]
        by_aux = {row["aux"]: row for _, row in mine.iterrows()}
        for aux in settings["aux"]:
            row = by_aux.get(aux)
            line += [output.NONE] * 2 if row is None else [output.score(row), output.clean(row)]
        lines.append(line)
    about = (
        "By pieces, by words: share of the rows that have, within one text, 13 BPE pieces or 13 "
        "words in a row (line ends not counted) that also stand in the training part of the "
        "corpus. A story and its ending are one text; DPRD's sentence is two, parted at the "
        "pronoun. Too short: share of rows (pieces / words) without so long a text, of which "
        "nothing can be told; they count as "
        "clean. Clean rows: those marked by neither. The scores are those of the fully transferred "
        "transformer. " + output.ALARM_NOTE
    )
    parts = ["# Contamination", output.markdown(head, lines), *subsets.footnote(notes), about]
    return "\n\n".join(parts)


if __name__ == "__main__":
    sys.exit(run(lambda: output.program(build)))
