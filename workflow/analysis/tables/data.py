"""The data of each task: rows, labels and lengths of each split, and where they come from.

A length is that of the whole input in fine-tuning, in tokens: all its texts (with several choices,
the longest) and the start, delimiter and classify tokens.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gpt1.encode import WARN_ABOVE
from gpt1.records import EncodedFacts
from tasks import Task
from tasks.examples import ExamplesFacts
from workflow.analysis.rows import check_examples
from workflow.analysis.table import Table
from workflow.grid import Grid

SHOWN = {
    "rows": "rows",
    "labels": "labels",
    "length_median": "tokens: median",
    "length_95": "95 %",
    "length_max": "longest",
    "n_ctx_95": "window: 95 %",
    "n_ctx_max": "all",
    "cut": "cut, %",
    "unknown": "unknown, %",
    "overlap": "training rows",
    "half_known": "a text of one",
}
ABOUT = (
    "Tokens of an input with its special tokens. Window: the smallest n_ctx that truncates nothing "
    "of 95 % of the rows, and of all. Cut: rows that lose tokens at n_ctx {n_ctx}, this run's. "
    "Unknown: tokens that the vocabulary lacks. Training rows: rows that are training rows, too, "
    "before any limit and before selection rows are taken out of these; a text of one: rows with a "
    "text of a row that is trained on."
)
CUT_ABOVE = 0.1  # the share of a split's rows above which their being cut is an alarm


def data(results: Path, grid: Grid) -> Table:
    """One row per task and split used for training, selection or reporting.

    Raises InputError for a file that is missing, damaged or of other rows.
    """
    rows = [row for name in grid.examples for row in _rows(results, name, grid)]
    frame = pd.DataFrame(rows)
    titles = frame["task"].map(grid.shown)
    shown = frame.rename(columns=SHOWN).set_index(titles + ", " + frame["split"])
    shown = shown[[*SHOWN.values()]].rename_axis("task, split").astype(str)
    raised = [f"- {a}: {of}" for a, of in zip(shown.index, frame["alarms"], strict=True) if of]
    sources = frame.drop_duplicates("task").set_index(titles.drop_duplicates())
    listed = [f"- {title}: {_sentence(row)}." for title, row in sources.iterrows()]
    parts = ["# Data", shown, ABOUT.format(n_ctx=grid.n_ctx)]
    parts += ["## Alarms", "\n".join(raised)] if raised else []
    parts += ["## Where the rows come from", "\n".join(listed)]
    return Table(frame, parts, words=["labels"])


def _rows(results: Path, name: str, grid: Grid) -> list[dict[str, Any]]:
    task = grid.task(name)
    path, encoded = (results / kind / f"{name}.json" for kind in ("examples", "encoded"))
    facts, known = ExamplesFacts.read(path), EncodedFacts.read(encoded).splits
    parts = {s: known[s] for s in ("train", "select", *facts.report) if s in known}
    check_examples(encoded, {s: part.examples for s, part in parts.items()}, path, facts.sha256)
    rows = []
    for split, part in parts.items():
        counts, total = facts.labels[split], facts.rows[split]
        shares = (f"{label} {counts[label] / total:.1%}" for label in task.labels)
        row = {"task": name, "split": split, "rows": total, "labels": ", ".join(shares)}
        row |= {"length_median": _quantile(part.lengths, 50)}
        for key, values in (("length", part.lengths), ("n_ctx", part.n_ctx_needed)):
            row |= {f"{key}_95": _quantile(values, 95), f"{key}_max": _quantile(values, 100)}
        cut = sum(n for n_ctx, n in part.n_ctx_needed.items() if n_ctx > grid.n_ctx) / total
        row |= {"cut": round(100 * cut, 1), "unknown": round(100 * part.unknown, 1)}
        alarms = [f"{cut:.0%} of the rows are cut at n_ctx {grid.n_ctx}"] * (cut > CUT_ABOVE)
        alarms += [f"{part.unknown:.0%} of the tokens are unknown"] * (part.unknown > WARN_ABOVE)
        alarms += facts.alarms if split == "train" else []
        row |= {"alarms": "; ".join(alarms)}
        row |= {"overlap": facts.overlap.get(split, 0)}
        row |= {"half_known": facts.half_known.get(split, 0)}
        rows.append(row | _origin(task, facts))
    return rows


def _quantile(counts: dict[int, int], percent: int) -> int:
    """The value that `percent` % of all do not exceed; `counts` has the number of each value."""
    values = np.repeat(list(counts), list(counts.values()))
    return int(np.percentile(values, percent, method="inverted_cdf"))


def _origin(task: Task, facts: ExamplesFacts) -> dict[str, str]:
    """Where a task's rows come from; "" where there is nothing to say."""
    hub, origin = task.hub, facts.origin
    licence = hub.licence
    if origin["source"] == "hub":
        place = f"the hub's {origin['repo']} ({origin['config']}) at commit {origin['revision']}"
    elif facts.settings.published or facts.settings.own:
        used = [files for split, files in facts.sources.items() if split not in facts.unlabelled]
        files = {path: digest for of_split in used for path, digest in of_split.items()}
        listed = (f"{path} (sha256 {digest[:12]})" for path, digest in files.items())
        place = ("own files " if facts.settings.own else "files ") + ", ".join(listed)
    else:
        place, licence = "the synthetic world", "none needed"
    dropped = (f"{split}: {_counts(counts)}" for split, counts in facts.dropped.items())
    return {
        "origin": place,
        "licence": licence,
        "caution": hub.caution if facts.settings.published else "",
        "note": facts.note,
        "dropped": "; ".join(dropped),
        "unquoted": _counts(facts.unquoted),
    }


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items() if count)


def _sentence(row: pd.Series) -> str:
    """A task's origin, licence and the remarks on its rows, in words."""
    named = {
        "licence": "licence",
        "caution": "caution",
        "note": "rows",
        "dropped": "dropped",
        "unquoted": "CSV quoting undone",
    }
    said = (f"{name}: {row[key]}" for key, name in named.items() if row[key])
    return "; ".join([row["origin"], *said])
