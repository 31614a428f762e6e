"""Logs of lm-evaluation-harness: `lm_eval ... --output_path FOLDER --log_samples`.

`FOLDER/MODEL/samples_TASK_DATE.jsonl` has, for each document and filter, `doc_id`, digests, the
names of `metrics` and each one's value.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from tasks.common.errors import InputError
from workflow.analysis.stats.bootstrap import MEAN


def read(path: Path) -> pd.DataFrame:
    """The rows of each task's latest log, in the form that `gpt1.compare` takes.

    Each metric, with its filter if there is one, is a line. Only metrics that score each document
    from 0 to 1 are kept. Raises InputError where there is nothing to read.
    """
    logs = sorted(path.rglob("samples_*.jsonl"), key=_date) or [path] * path.is_file()
    if len(models := {log.parent.name for log in logs}) != 1:
        what = f"logs of {', '.join(sorted(models))}" if models else "no results"
        raise InputError(f"{path}: {what}; give a run's folder, or one model's of lm_eval's logs")
    latest = {log.stem.rpartition("_")[0].removeprefix("samples_"): log for log in logs}
    kept = [rows.assign(task=task) for task, log in latest.items() for rows in _metrics(log)]
    if not kept:
        raise InputError(f"{path}: no metric from 0 to 1 of each document; log one, such as acc")
    return pd.concat(kept)


def _date(log: Path) -> str:
    return log.stem.rpartition("_")[2]


def _metrics(log: Path) -> Iterator[pd.DataFrame]:
    """A log's rows for each metric; the digests of a document and its target stand for a label."""
    try:
        found = pd.read_json(log, lines=True, dtype=False)
        found = found.assign(row=found["doc_id"], label=found["doc_hash"] + found["target_hash"])
        parts = [*found[found["metrics"].notna()].groupby("filter")]
    except (ValueError, KeyError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else f"no log ({error})"
        raise InputError(f"{log}: {why}; give a log by lm_eval --log_samples") from None
    for answers, rows in parts:
        for name in rows["metrics"].iloc[0]:
            line, values = name if answers == "none" else f"{name}, {answers}", [*rows[name]]
            if all(isinstance(value, int | float) and 0 <= value <= 1 for value in values):
                yield rows[["row", "label"]].assign(line=line, metric=MEAN, score=values)
