"""How a task's rows are chosen: the settings of `tasks.prepare`, and each official split's part."""

import json
from dataclasses import dataclass

from tasks.common.errors import InputError
from tasks.types import Task


@dataclass(frozen=True)
class Settings:
    """How a task's rows are found, limited and split; None means no limit.

    `source` is `folder` (the original layout) or `hub` (a snapshot of the task's repository, at
    `revision` or else at the catalogue's commit). `published` is False for made data, which no
    published number holds for. `min_rows` states a subset: for an official split the least number
    of rows its files may have; the splits that it does not name have the official number.
    `limit_report` also holds for an official split that selects. `select_fraction` is the share of
    the training rows that is carved out for selection (Story Cloze keeps the authors' 374 of
    1,871). `train_from` takes another official split as training rows; `report_on` names the
    reported splits.
    """

    source: str = "folder"
    revision: str | None = None
    published: bool = True
    min_rows: dict[str, int] | None = None
    seed: int = 0
    select_fraction: float = 0.1
    limit_train: int | None = None
    limit_report: int | None = None
    train_from: str | None = None
    report_on: tuple[str, ...] | None = None


def parse_settings(text: str) -> Settings:
    """Settings of a JSON object; an unknown key or a wrong value is an InputError."""
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"--settings: not JSON ({error.msg}): {text!r:.80}") from None
    known = list(Settings.__dataclass_fields__)
    if not isinstance(values, dict) or not set(values) <= set(known):
        raise InputError(f"--settings: keys are {', '.join(known)}; found {text!r:.80}")
    names = values.get("report_on")
    if names is not None:
        if not isinstance(names, list):
            raise InputError(f"--settings: report_on is a list of splits, or null; found {names!r}")
        values["report_on"] = tuple(names)
    settings = Settings(**values)
    fraction = settings.select_fraction
    if not (isinstance(fraction, float) and 0.0 < fraction < 1.0):
        raise InputError(f"--settings: select_fraction is between 0 and 1; found {fraction!r}")
    for key in ("limit_train", "limit_report"):
        limit = getattr(settings, key)
        if limit is not None and (not isinstance(limit, int) or limit < 1):
            raise InputError(f"--settings: {key} is a number from 1, or null; found {limit!r}")
    if settings.source not in ("folder", "hub"):
        raise InputError(f"--settings: source is folder or hub; found {settings.source!r}")
    if not isinstance(settings.published, bool):
        raise InputError(f"--settings: published is true or false; found {settings.published!r}")
    least = settings.min_rows
    if least is not None and not (isinstance(least, dict) and all(map(_positive, least.values()))):
        raise InputError(f"--settings: min_rows is {{split: number}}, or null; found {least!r}")
    return settings


def _positive(value: object) -> bool:
    return type(value) is int and value > 0


@dataclass(frozen=True)
class Splits:
    """Which official split trains, selects (None: carved from the training rows) and reports."""

    train: str
    select: str | None
    report: tuple[str, ...]


def choose_splits(task: Task, settings: Settings) -> Splits:
    """The official splits and their parts, or an InputError if one would play two parts."""
    train = settings.train_from or task.train
    report = task.report if settings.report_on is None else settings.report_on
    labelled = ", ".join(task.rows)
    subset = tuple(settings.min_rows or ())
    for key, names in (("train_from", (train,)), ("report_on", report), ("min_rows", subset)):
        for name in names:
            if name not in task.rows:
                raise InputError(
                    f"{task.name}: {key}: no labelled split {name!r}; it has {labelled}"
                )
    if not report or len(set(report)) < len(report):
        raise InputError(f"{task.name}: report_on: name one split or more, each once")
    for name in report:
        if name in (train, "train"):
            raise InputError(
                f"{task.name}: split {name!r} holds training rows and cannot be reported; "
                f"name others of {labelled} under report_on"
            )
    official = train == task.train and task.select not in report
    return Splits(train, task.select if official else None, report)
