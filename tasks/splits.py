"""A task's official splits for training, selection and reporting, and how rows are divided.

Rows are drawn by a hash of the seed and their guid, never by their order. Rows that share a text
(for a pair, either text) stay together, as do rows linked through others: else a QNLI question
could train with one sentence and be reported with another, with the opposite label. Texts are
compared but for case and blanks.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tasks.common.errors import InputError
from tasks.settings import PrepareSettings
from tasks.spec import Example
from tasks.task import Task

# In a task of the user's own, a text in more rows than this number, and than this share of the
# rows, is one of a few that all rows are about (an aspect, a topic).
FREQUENT = 10, 0.05
Splits = Mapping[str, Sequence[Example]]


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
    report = [name for name in carve if name != "train"] or settings.report_on or task.report
    # As in the tables: the task's own first, then by name.
    report = sorted(report, key=lambda name: ((*task.report, name).index(name), name))
    official = train == task.train and task.select not in report and not carve
    return Roles(train, task.select if official else None, tuple(report), carve)


def faults(task: Task, settings: PrepareSettings) -> Iterator[str]:
    """Faults in the settings' split names and shares, one line each: key, found, remedy."""
    train = settings.train_from or task.train
    report = settings.report_on or task.report
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


def drawn(rows: list[Example], limit: int | None, seed: int, purpose: str) -> list[Example]:
    """At most `limit` of the rows, in their order; all of them if it is None."""
    if limit is None or limit >= len(rows):
        return rows
    kept = set(ranked([row.guid for row in rows], seed, purpose)[:limit])
    return [row for row in rows if row.guid in kept]


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


def divided(
    task: Task,
    folder: str | Path,
    rows: list[Example],
    counts: dict[str, int],
    seed: int,
    purpose: str,
) -> dict[str, list[Example]]:
    """Divide rows into parts of about `counts` rows. Raises InputError if a part gets none.

    In a user's own task, parts have about the same shares of the labels.
    """
    groups = connected(_binding_texts(task, rows))
    strata = [int(row.label + 0.5) for row in rows] if task.is_own else []
    parts = carve([row.guid for row in rows], groups, counts, seed, purpose, strata)
    for name, part in parts.items():
        if not part:
            remedy = "dev and test files, which stay undivided" if task.is_own else "more rows"
            raise InputError(
                f"{folder}: {len(rows)} rows in {len(set(groups))} groups with a text in common "
                f"leave none for {name}; give {remedy}"
            )
    return {name: [row for row in rows if row.guid in part] for name, part in parts.items()}


def _binding_texts(task: Task, rows: list[Example]) -> list[list[Hashable]]:
    """For each row, the texts by which it stays with others when the rows are divided.

    In a user's own pairs, a frequent text (`FREQUENT`) keeps no rows together: all rows of one
    aspect in one part would leave the other parts without it. Pairs of two such texts stay with
    their equals, as a single text does.
    """
    texts = [shared_texts(task, row) for row in rows]
    if not task.is_own:
        return texts
    counts, (number, share) = Counter(chain.from_iterable(map(set, texts))), FREQUENT
    most = max(number, share * len(rows))
    rare = [[text for text in of if counts[text] <= most] for of in texts]
    return [found or [frozenset(of)] for found, of in zip(rare, texts, strict=True)]


def training_rows(task: Task, splits: Splits) -> dict[str, int]:
    """How many rows of each split but `train` equal a training row in texts and choices.

    The order of the sentences of a similarity pair does not matter. The published sets have a few
    such rows (CoLA: 16 of 1,043), so these are counted, not refused. Selection rows that have yet
    to be taken out of the training rows count as training rows.
    """
    return _in_train(splits, lambda row: [_whole(task, row)])


def rows_with_a_training_text(task: Task, splits: Splits) -> dict[str, int]:
    """How many rows of each split but `train` have a text in common with a training row."""
    return _in_train(splits, lambda row: shared_texts(task, row))


def contradictions(task: Task, rows: Sequence[Example]) -> int:
    """How many rows have the texts and choices of another row, but a different label."""
    keys = [_whole(task, row) for row in rows]
    labels: dict[bytes, set[float]] = {key: set() for key in keys}
    for key, row in zip(keys, rows, strict=True):
        labels[key].add(row.label)
    return sum(len(labels[key]) > 1 for key in keys)


def shared_texts(task: Task, row: Example) -> list[Hashable]:
    """Digests of the texts that other rows may share: both of a pair, else the first."""
    pair = task.family in ("entailment", "similarity")
    return [_digest(plain(text)) for text in ((row.first, row.second) if pair else (row.first,))]


def plain_texts(row: Example) -> list[str]:
    """The texts and choices of a row, normalised for comparison."""
    return [plain(text) for text in (row.first, row.second, *row.choices)]


def plain(text: str) -> str:
    """A text normalised for comparison: case-folded, with single spaces between words."""
    return " ".join(text.casefold().split())


def _in_train(splits: Splits, keys: Callable[[Example], list[Hashable]]) -> dict[str, int]:
    """How many rows of each other split have a key that a training row has."""
    known = {key for row in splits["train"] for key in keys(row)}
    others = {split: rows for split, rows in splits.items() if split != "train"}
    return {
        split: sum(not known.isdisjoint(keys(r)) for r in rows) for split, rows in others.items()
    }


def _whole(task: Task, row: Example) -> bytes:
    """A digest of a row's texts and choices, regardless of the order of a similarity pair."""
    first, second, *choices = plain_texts(row)
    pair = sorted((first, second)) if task.family == "similarity" else (first, second)
    return _digest("\0".join((*pair, *choices)))


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()  # the texts of RACE are long
