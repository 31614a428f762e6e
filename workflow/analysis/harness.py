"""Logs of lm-evaluation-harness: `lm_eval ... --output_path FOLDER --log_samples`.

`FOLDER/MODEL/samples_TASK_DATE.jsonl` has, for each document and filter, `doc_id`, digests, the
names of `metrics` and each one's value.
"""

import re
from collections.abc import Iterator
from itertools import chain
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
    to 1 are kept; the notes name the others. Raises InputError where there is nothing to read, or
    two logs of one task.
    """
    logs = [log for log in sorted(path.rglob("samples_*.jsonl")) if log.is_file()]
    logs = logs or [path] * path.is_file()
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
    kept, left_out = [], []
    for log in logs:
        for line, rows, scores in _metrics(log):
            numbers = pd.to_numeric(
                scores.map(lambda of: np.nan if isinstance(of, list) else of), "coerce"
            )
            if numbers.between(0, 1).all():
                kept.append(rows.assign(task=tasks[log], line=line, metric=MEAN, score=numbers))
            else:
                left_out.append(f"{line} of {tasks[log]}")
    why = f"no score from 0 to 1 of each document in {', '.join(left_out)}"
    if not kept:
        raise InputError(f"{path}: {why}; log a metric that has, such as acc")
    of_runs = ", ".join(f"{task} of {date}" for task, date in dates.items())
    several = f"The logs of {path} are of {len({*dates.values()})} runs: {of_runs}."
    notes = [several] * (len({*dates.values()}) > 1)
    return pd.concat(kept), [*notes, *[f"Left out of {path}: {why}."] * bool(left_out)]


def _metrics(log: Path) -> Iterator[tuple[str, pd.DataFrame, pd.Series]]:
    """A log's metrics, with the rows of each and their scores.

    A document is known by its digest, its target's is the label. `doc_id` would not do: of chosen
    samples that are not sorted it is another document's. Documents with the same text are numbered.
    """
    try:
        found = pd.read_json(log, lines=True, dtype=False)
        digests = found[["doc_hash", "target_hash", "filter"]]
        if not digests.map(lambda of: isinstance(of, str)).all(axis=None):
            raise ValueError("a digest or filter is missing")
        if not found["metrics"].map(lambda of: isinstance(of, list)).all():
            raise ValueError("a row without metrics")
        for answers, rows in found.groupby("filter"):
            number = rows.groupby("doc_hash").cumcount().map(" {}".format)
            of = pd.DataFrame({"row": rows["doc_hash"] + number, "label": rows["target_hash"]})
            for name in dict.fromkeys(chain(*rows["metrics"])):
                yield name if answers == "none" else f"{name}, {answers}", of, rows[name]
    except (ValueError, KeyError, TypeError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else f"no log ({error})"
        raise InputError(f"{log}: {why}; give a log by lm_eval --log_samples") from None
