"""Logs of one model's answers: lm-evaluation-harness', and the format Every Eval Ever.

Those of `lm_eval ... --output_path FOLDER --log_samples` are
`FOLDER/MODEL/samples_TASK_DATE.jsonl`, which has, for each document and filter, `doc_id`, digests,
the names of `metrics` and each one's value. Logs of Inspect and HELM are read in the format Every
Eval Ever (`instance_level_eval.schema.json` of evaleval/every_eval_ever, 0.2), for which that
project has converters: JSON lines with `evaluation_name`, `model_id`, `sample_id`, `sample_hash`,
`input` and `evaluation`.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from tasks.common.errors import InputError
from workflow.analysis.stats.bootstrap import MEAN

LOG = re.compile(r"(?:samples_(?P<task>.+)|results)_(?P<date>[^_]+)\.jsonl?")


def of_logs(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """The rows of each log of a model, in the form that `gpt1.compare` takes, and notes on them.

    `path` is a folder, a log, or lm_eval's `results_DATE.json`, which stands for the logs of its
    run. Each metric, with its filter if there is one, is a line. Only metrics that score each
    document from 0 to 1 are kept; the notes name the others. Raises InputError where there is
    nothing to read, or two logs of one task.
    """
    logs = [log for log in sorted(path.rglob("samples_*.jsonl")) if log.is_file()]
    logs = logs or sorted(path.rglob("*.jsonl")) or [path] * path.is_file()
    if (run := LOG.fullmatch(path.name)) and not run["task"]:
        logs = sorted(path.parent.glob(f"samples_*_{run['date']}.jsonl"))
    if len(models := {log.parent.name for log in logs}) != 1:
        what = f"logs of {', '.join(sorted(models))}" if models else "no results"
        raise InputError(f"{path}: {what}; give a run's folder, or one model's of lm_eval's logs")
    kept, left_out, log_of = [], [], dict[str, Path]()
    for log in logs:
        for task, line, rows, scores in _metrics(log):
            if (other := log_of.setdefault(task, log)) != log:
                raise InputError(
                    f"{other} and {log.name} are logs of one task by two runs; give "
                    "results_DATE.json of one run, or a folder with one"
                )
            numbers = pd.to_numeric(
                scores.map(lambda of: np.nan if isinstance(of, list) else of), "coerce"
            )
            if numbers.between(0, 1).all():
                kept.append(rows.assign(task=task, line=line, metric=MEAN, score=numbers))
            else:
                left_out.append(f"{line} of {task}")
    why = f"no score from 0 to 1 of each document in {', '.join(left_out)}"
    if not kept:
        raise InputError(f"{path}: {why}; log a metric that has, such as acc")
    dates = {of["task"]: of["date"] for log in logs if (of := LOG.fullmatch(log.name))}
    of_runs = ", ".join(f"{task} of {date}" for task, date in dates.items())
    several = f"The logs of {path} are of {len({*dates.values()})} runs: {of_runs}."
    notes = [several] * (len({*dates.values()}) > 1)
    return pd.concat(kept), [*notes, *[f"Left out of {path}: {why}."] * bool(left_out)]


def _metrics(log: Path) -> Iterator[tuple[str, str, pd.DataFrame, pd.Series]]:
    """The task and metric, rows and scores of each metric in a log.

    A document is known by its digest, its target's is the label. `doc_id` would not do: of chosen
    samples that are not sorted it is another document's. Documents with the same text are numbered.
    """
    try:
        found = pd.read_json(log, lines=True, dtype=False)
        if "evaluation_name" in found:
            yield from _shared_format(found)
            return
        digests = found[["doc_hash", "target_hash", "filter"]]
        if not digests.map(lambda of: isinstance(of, str)).all(axis=None):
            raise ValueError("a digest or filter is missing")
        if not found["metrics"].map(lambda of: isinstance(of, list)).all():
            raise ValueError("a row without metrics")
        named = LOG.fullmatch(log.name)
        task = (named and named["task"]) or log.stem
        for answers, rows in found.groupby("filter"):
            documents = rows["doc_hash"]
            number = documents.groupby(documents).cumcount().map(" {}".format)
            of = pd.DataFrame({"row": documents + number, "label": rows["target_hash"]})
            for name in dict.fromkeys(chain(*rows["metrics"])):
                yield task, name if answers == "none" else f"{name}, {answers}", of, rows[name]
    except (ValueError, KeyError, TypeError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else f"no log ({error})"
        remedy = "give a log by lm_eval --log_samples, or in the format Every Eval Ever"
        raise InputError(f"{log}: {why}; {remedy}") from None


def _shared_format(found: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame, pd.Series]]:
    """The same of a log in the format Every Eval Ever, to which Inspect's and HELM's are converted.

    A document is known by its digest, with a number among those that share it, or, where a task has
    documents without one, by its name. One whose name is there several times, as with Inspect's
    epochs, has the mean of its scores.
    """
    if found["evaluation_name"].isna().any() or found["model_id"].nunique() != 1:
        raise ValueError("rows without a name of their evaluation, or of several models")
    for task, rows in found.groupby("evaluation_name", sort=False):
        digests = rows.get("sample_hash", pd.Series(None, rows.index, dtype=object))
        names = rows["sample_id"].astype(str)
        number = names.groupby(digests).transform(lambda of: pd.factorize(of)[0])
        columns = {"row": names if digests.isna().any() else digests + number.map(" {:.0f}".format)}
        columns["label"] = rows["input"].map(lambda of: json.dumps(of["reference"]))
        for key in ("score", "is_correct"):
            columns[key] = rows["evaluation"].map(lambda of, key=key: of[key] * 1.0)
        of = (
            pd.DataFrame(columns)
            .groupby("row", sort=False, as_index=False)
            .agg({"label": "first", "score": "mean", "is_correct": "mean"})
        )
        yield str(task), "score", of[["row", "label"]], of["score"]
        if not of["is_correct"].equals(of["score"]):
            yield str(task), "is_correct", of[["row", "label"]], of["is_correct"]
