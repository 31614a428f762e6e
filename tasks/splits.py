"""A task's official splits for training, selection and reporting, and how rows are divided.

Rows are drawn by a hash of the seed and their guid, never by their order. Rows that share a text
(for a pair, either text) stay together, as do rows linked through others: else a QNLI question
could train with one sentence and be reported with another, with the opposite label. Of a user's own
pairs, frequent texts are left out of this (`tasks.prepare`).
"""

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from tasks.common.errors import InputError
from tasks.settings import PrepareSettings
from tasks.task import Task


@dataclass(frozen=True)
class Roles:
    """The official splits for training, selection (None: from the training rows) and reporting.

    The first reported split is the one that stands for the task. With `carve`, the share of each
    role, the reported splits are carved from the training split.
    """

    train: str
    select: str | None
    report: tuple[str, ...]
    carve: dict[str, float]

    @property
    def files(self) -> dict[str, str]:
        """The official split to read for each role."""
        reported = () if self.carve else self.report
        names = {"train": self.train, "select": self.select} | {name: name for name in reported}
        return {role: name for role, name in names.items() if name}


def choose_splits(task: Task, settings: PrepareSettings) -> Roles:
    """The official splits and their roles. Raises InputError for the first of `faults`."""
    for fault in faults(task, settings):
        raise InputError(f"{task.name}: {fault}")
    train, carve = settings.train_from or task.train, settings.carve or {}
    report = task.report if settings.report_on is None else tuple(settings.report_on)
    if carve:
        report = tuple(name for name in carve if name != "train")
    report = tuple(sorted(report, key=lambda name: _place(task, name)))
    if carve:
        return Roles(train, None, report, carve)
    official = train == task.train and task.select not in report
    return Roles(train, task.select if official else None, report, carve)


def _place(task: Task, split: str) -> tuple[int, str]:
    """What sorts reported splits as the tables do: the task's own first, then by name."""
    return (*task.report, split).index(split), split


def faults(task: Task, settings: PrepareSettings) -> Iterator[str]:
    """Faults in the settings' split names and shares, one line each: key, found, remedy."""
    train = settings.train_from or task.train
    report = task.report if settings.report_on is None else tuple(settings.report_on)
    carve, subset = tuple(settings.carve or ()), tuple(settings.min_rows or ())
    known, labelled = {"train", *task.rows}, ", ".join(task.rows)
    for key, names in (("train_from", (train,)), ("report_on", report), ("min_rows", subset)):
        for name in names:
            if name not in task.rows:
                yield f"{key}: no labelled split {name!r}; it has {labelled}"
    if carve:
        if "train" not in carve or len(carve) < 2 or not known.issuperset(carve):
            yield (
                f"carve: the shares of {', '.join(carve)}; give those of train and of some of "
                f"{labelled}, such as {{train: 0.8, {task.main}: 0.2}}"
            )
        if sum((settings.carve or {}).values()) > 1 + 1e-9:
            yield "carve: the shares are more than 1 together; give smaller ones"
        if settings.report_on is not None:
            yield "report_on: no effect beside carve, which names what is reported; remove it"
        return
    for name in report:
        if name in (train, "train"):
            yield (
                f"report_on: split {name!r} holds training rows and cannot be reported; name "
                f"others of {labelled}, or divide its rows, such as carve: {{train: 0.8, "
                f"{task.main}: 0.2}}"
            )


def ranked(guids: Sequence[str], seed: int, purpose: str) -> list[str]:
    """The guids sorted by their hashes, independent of their original order."""

    def rank(guid: str) -> bytes:
        return hashlib.sha256(f"{seed}/{purpose}/{guid}".encode()).digest()

    return sorted(guids, key=rank)


def carve(
    guids: Sequence[str],
    groups: Sequence[Hashable],
    counts: dict[str, int],
    seed: int,
    purpose: str,
    strata: Sequence[Hashable] = (),
) -> dict[str, set[str]]:
    """The guids of each part: at least as many as `counts` asks for, while any are left.

    Rows of one group stay together. The smallest part is drawn first. A group larger than a part's
    count is left to a larger part, unless the part would otherwise stay empty. With `strata`, one
    for each row, each part has about the same share of each, by the first rows of the groups.
    """
    units: dict[Hashable, list[str]] = {}
    for guid, group in zip(guids, groups, strict=True):
        units.setdefault(group, []).append(guid)
    by_first = {unit[0]: unit for unit in units.values()}
    waiting = ranked(list(by_first), seed, purpose)
    if strata:
        of, place, seen = dict(zip(guids, strata, strict=True)), {}, Counter[Hashable]()
        for first in waiting:  # the units of a stratum spread evenly over the order
            place[first] = seen[of[first]] + len(by_first[first]) / 2
            seen[of[first]] += len(by_first[first])
        waiting.sort(key=lambda first: place[first] / seen[of[first]])
    parts: dict[str, set[str]] = {name: set() for name in counts}
    for name, count in sorted(counts.items(), key=lambda item: item[1]):
        part, left = parts[name], []
        for first in waiting:
            if len(part) < count and len(by_first[first]) <= count:
                part.update(by_first[first])
            else:
                left.append(first)
        if count and not part and left:
            part.update(by_first[left.pop(0)])
        waiting = left
    return parts


def connected(rows: Sequence[Sequence[Hashable]]) -> list[int]:
    """The group number of each row; `rows` has the texts of each, one or two.

    Rows that share a text are in one group, as are rows linked through others: (a, b), (b, c) and
    (c, d) are one group.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = {text: k for k, text in enumerate(dict.fromkeys(chain.from_iterable(rows)))}
    links = np.array([(number[row[0]], number[row[-1]]) for row in rows])
    graph = coo_array((np.ones(len(rows)), links.T), shape=(len(number), len(number)))
    _, group_of_text = connected_components(graph, directed=False)
    return group_of_text[links[:, 0]].tolist()
