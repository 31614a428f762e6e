"""Logs of lm-evaluation-harness: `lm_eval ... --output_path FOLDER --log_samples`.

`FOLDER/MODEL/samples_TASK_DATE.jsonl` has, for each document and filter, `doc_id`, digests, the
names of `metrics` and each one's value.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from tasks.common.errors import InputError
from workflow.analysis.stats.bootstrap import MEAN

NAME = re.compile(r"(?:samples_(?P<task>.+)|results)_(?P<date>[^_]+)\.jsonl?")


def read(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """The rows of each task's log, in the form that `gpt1.compare` takes, and notes on them.

    `path` is a folder, a log, or `results_DATE.json`, which stands for the logs of its run. Each
    metric, with its filter if there is one, is a line. Only metrics that score each document from 0
    to 1 are kept. Raises InputError where there is nothing to read, or two logs of one task.
    """
    logs = sorted(path.rglob("samples_*.jsonl")) or [path] * path.is_file()
    if (run := NAME.fullmatch(path.name)) and not run["task"]:
        logs = sorted(path.parent.glob(f"samples_*_{run['date']}.jsonl"))
    if len(models := {log.parent.name for log in logs}) != 1:
        what = f"logs of {', '.join(sorted(models))}" if models else "no results"
        raise InputError(f"{path}: {what}; give a run's folder, or one model's of lm_eval's logs")
    named = {log: NAME.fullmatch(log.name) for log in logs}
    tasks = {log: of["task"] if of else log.stem for log, of in named.items()}
    dates = {tasks[log]: of["date"] if of else "" for log, of in named.items()}
    for log in logs:
        if twice := [other for other in logs if other != log and tasks[other] == tasks[log]]:
            raise InputError(
                f"{log} and {twice[0].name} are logs of one task by two runs; give "
                "results_DATE.json of one run, or a folder with one"
            )
    kept = [rows.assign(task=tasks[log]) for log in logs for rows in _metrics(log)]
    if not kept:
        raise InputError(f"{path}: no metric from 0 to 1 of each document; log one, such as acc")
    of_runs = ", ".join(f"{task} of {date}" for task, date in dates.items())
    several = f"The logs of {path} are of {len({*dates.values()})} runs: {of_runs}."
    return pd.concat(kept), [several] * (len({*dates.values()}) > 1)


def _metrics(log: Path) -> Iterator[pd.DataFrame]:
    """A log's rows for each metric; a document is known by its digest, its target's is the label.

    `doc_id` would not do: of chosen samples that are not sorted it is another document's. Documents
    with the same text are numbered.
    """
    try:
        found = pd.read_json(log, lines=True, dtype=False)
        parts = [*found[found["metrics"].notna()].groupby("filter")]
        digests = found[["doc_hash", "target_hash"]]
        if not digests.map(lambda of: isinstance(of, str)).all(axis=None):
            raise ValueError("a digest is missing")
        lists = [of for _, rows in parts for of in rows["metrics"]]
        if not all(isinstance(of, list) and {*of} <= {*found} for of in lists):
            raise ValueError("metrics without a column")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else f"no log ({error})"
        raise InputError(f"{log}: {why}; give a log by lm_eval --log_samples") from None
    for answers, rows in parts:
        number = rows.groupby("doc_hash").cumcount()
        given = {"row": rows["doc_hash"] + number.map(" {}".format), "label": rows["target_hash"]}
        for name in rows["metrics"].iloc[0]:
            line, values = name if answers == "none" else f"{name}, {answers}", [*rows[name]]
            if not all(isinstance(value, int | float) for value in values):
                continue
            if (missing := np.isnan(values)).any():
                which = rows["doc_hash"][missing].iloc[0]
                why = f"{name} is no number for {missing.sum()} documents, such as doc_hash {which}"
                raise InputError(f"{log}: {why}; score them, or remove the metric")
            if all(0 <= value <= 1 for value in values):
                yield pd.DataFrame(given).assign(line=line, metric=MEAN, score=values)
