"""The tasks of the world: how many rows, of which labels and words, in which splits and files."""

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tasks.world import classification, entailment, layouts, multiple_choice, similarity
from tasks.world.books import normalise
from tasks.world.rows import MakeRow, Row, draw_rows
from tasks.world.settings import WorldTaskName
from tasks.world.word_pool import WordPool, hold_out

UNSEEN_SHARE = 0.6  # probability that a reported row takes a word from the held-out units
UNLABELLED_ROWS = 20  # rows of an unlabelled test file

# The rows of each split: a share of the training rows, "report" or "unlabelled".
SplitSizes = dict[str, float | str]
GLUE: SplitSizes = {"train": 1.0, "dev": "report", "test": "unlabelled"}
PUBLIC: SplitSizes = {"train": 1.0, "dev": 0.25, "test": "report"}
MNLI: SplitSizes = {
    "train": 1.0,
    "dev_matched": "report",
    "dev_mismatched": "report",
    "test_matched": "unlabelled",
    "test_mismatched": "unlabelled",
}
THREE = {"entailment": 1.0, "neutral": 1.0, "contradiction": 1.0}
TWO = {"entailment": 1.0, "not_entailment": 1.0}


@dataclass(frozen=True)
class WorldTask:
    """A task: its training rows at scale 1, its splits, its files, how a row is made, the labels.

    `labels` gives the share of each label. RACE, whose rows come several to a passage, has neither
    `make` nor `labels`.
    """

    rows: int
    splits: SplitSizes
    write: Callable[[layouts.Splits], layouts.Files]
    make: MakeRow | None = None
    labels: dict[str, float] = field(default_factory=dict)


# The training rows rank the tasks by size as the published sets do.
WORLD_TASKS: dict[WorldTaskName, WorldTask] = {
    "snli": WorldTask(480, PUBLIC, layouts.snli, entailment.snli, THREE),
    "mnli": WorldTask(480, MNLI, layouts.mnli, entailment.mnli, THREE),
    "qnli": WorldTask(400, GLUE, layouts.qnli, entailment.qnli, TWO),
    "rte": WorldTask(120, GLUE, layouts.rte, entailment.rte, TWO),
    "scitail": WorldTask(
        320, PUBLIC, layouts.scitail, entailment.scitail, {"entails": 1, "neutral": 1}
    ),
    "race": WorldTask(160, {"train": 1.0, "dev": "report", "test": "report"}, layouts.race),
    "story_cloze": WorldTask(
        160,
        {"val": 1.0, "test": "report"},
        layouts.story_cloze,
        multiple_choice.story_cloze,
        {"1": 1, "2": 1},
    ),
    "mrpc": WorldTask(200, GLUE, layouts.mrpc, similarity.mrpc, {"1": 0.68, "0": 0.32}),
    "qqp": WorldTask(480, GLUE, layouts.qqp, similarity.qqp, {"1": 0.37, "0": 0.63}),
    "stsb": WorldTask(240, GLUE, layouts.stsb, similarity.stsb, {"": 1}),
    "sst2": WorldTask(400, GLUE, layouts.sst2, classification.sst2, {"1": 1, "0": 1}),
    "cola": WorldTask(320, GLUE, layouts.cola, classification.cola, {"1": 0.6, "0": 0.4}),
    "dprd": WorldTask(
        40,
        {"train": 1.0, "test": "report"},
        layouts.dprd,
        multiple_choice.dprd,
        {"0": 1, "1": 1},
    ),
}


def generator(seed: int, name: str) -> random.Random:
    """An independent random generator for each named part of the world."""
    return random.Random(int(hashlib.sha256(f"{seed}/{name}".encode()).hexdigest(), 16))


def make_splits(seed: int, name: WorldTaskName, train: int, report: int) -> layouts.Splits:
    """All splits of a task; rows other than training rows also use words unseen in training."""
    task = WORLD_TASKS[name]
    seen, unseen = hold_out(generator(seed, f"{name}/lexicon"))
    sizes = {"report": report, "unlabelled": UNLABELLED_ROWS}
    used: set[str] = set()
    splits = {}
    for split, size in task.splits.items():
        n = sizes[size] if isinstance(size, str) else max(6, round(train * size))
        rng = generator(seed, f"{name}/{split}")
        make = task.make
        pool = WordPool(seen) if size == 1.0 else WordPool(seen, unseen, UNSEEN_SHARE)
        if name == "mnli":
            make, pool = _mnli(split), WordPool(seen, unseen, _mnli_unseen_share(split))
        if make is None:
            splits[split] = _race(rng, pool, n)
        else:
            splits[split] = draw_rows(rng, make, pool, task.labels, n, used)
        if name == "snli":
            splits[split] = _add_undecided(generator(seed, split), splits[split])
    return splits


def _mnli(split: str) -> MakeRow:
    """The maker of a split's rows; mismatched splits are of other genres than the training rows."""
    genres = ("talk", "letters") if split.endswith("mismatched") else ("fiction", "news")
    return lambda rng, pool, label: entailment.mnli(rng, pool, label, rng.choice(genres))


def _mnli_unseen_share(split: str) -> float:
    """Mismatched splits use unseen words alone."""
    return 0.0 if split == "train" else 1.0 if split.endswith("mismatched") else UNSEEN_SHARE


def _race(rng: random.Random, pool: WordPool, n: int) -> list[Row]:
    """Half middle, half high; one or two questions per passage; answer positions balanced."""
    rows: list[Row] = []
    for group, count in (("middle", n // 2), ("high", n - n // 2)):
        positions = [k % 4 for k in range(count)]
        rng.shuffle(positions)
        while positions:
            k = min(len(positions), rng.choice((1, 2)))
            rows += multiple_choice.race(rng, pool, group, [positions.pop() for _ in range(k)])
    return rows


def _add_undecided(rng: random.Random, rows: list[Row]) -> list[Row]:
    """The rows and a fortieth more without a gold label (`-`), as in the published files."""
    chosen = rng.sample(rows, max(1, len(rows) // 40))
    mixed = rows + [Row(row.second, row.first, "-") for row in chosen]
    rng.shuffle(mixed)
    return mixed


def forbidden_texts(name: WorldTaskName, splits: layouts.Splits) -> set[str]:
    """The texts of a task's rows that no book may contain, as `normalise` returns them.

    They are both texts of a row; the sentences of a RACE passage; the four sentences of a story;
    DPRD's sentence with either candidate in place of the pronoun.
    """
    found: set[str] = set()
    for row in (row for rows in splits.values() for row in rows):
        if name == "race":
            found |= {normalise(part) for part in row.first.split(".")}
        elif name == "dprd":
            before, after = row.first.split(f" because {row.second} ")
            found |= {normalise(f"{before} because {who} {after}") for who in row.choices}
        else:
            found |= {normalise(row.first), normalise(row.second)}
    return found - {""}
