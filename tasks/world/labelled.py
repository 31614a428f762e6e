"""The labelled sets of the world: how many rows, of which words, in which splits."""

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass

from tasks.world import inference, layouts, similarity, single, stories
from tasks.world.books import plain
from tasks.world.pool import Pool, hold_out
from tasks.world.rows import Make, Row, draw

# Training rows of each task: the real sets' order of size.
TRAIN = {
    "rte": 120,
    "story_cloze": 160,
    "race": 160,
    "mrpc": 200,
    "stsb": 240,
    "cola": 320,
    "scitail": 320,
    "sst2": 400,
    "qnli": 400,
    "mnli": 480,
    "snli": 480,
    "qqp": 480,
    "dprd": 40,
}
UNSEEN = 0.6  # how often a reported row takes a word from the held-out part of the lexicon
BLIND = 20  # rows of an unlabelled test file


@dataclass(frozen=True)
class Family:
    """How a task's rows are made: the maker, the shares of its labels, its splits, its writer.

    `splits`: each split's rows as a share of the training rows (a number) or of the reported rows
    ("report"), or "blind" for a file without labels.
    """

    make: Make | None
    labels: dict[str, float]
    splits: dict[str, float | str]
    write: Callable[[layouts.Splits], layouts.Files]


GLUE: dict[str, float | str] = {"train": 1.0, "dev": "report", "test": "blind"}
PUBLIC: dict[str, float | str] = {"train": 1.0, "dev": 0.25, "test": "report"}
THREE = {"entailment": 1.0, "neutral": 1.0, "contradiction": 1.0}
TWO = {"entailment": 1.0, "not_entailment": 1.0}
MNLI: dict[str, float | str] = {
    "train": 1.0,
    "dev_matched": "report",
    "dev_mismatched": "report",
    "test_matched": "blind",
    "test_mismatched": "blind",
}
FAMILIES = {
    "snli": Family(inference.snli, THREE, PUBLIC, layouts.snli),
    "mnli": Family(inference.mnli, THREE, MNLI, layouts.mnli),
    "qnli": Family(inference.qnli, TWO, GLUE, layouts.qnli),
    "rte": Family(inference.rte, TWO, GLUE, layouts.rte),
    "scitail": Family(inference.scitail, {"entails": 1, "neutral": 1}, PUBLIC, layouts.scitail),
    "race": Family(None, {}, {"train": 1.0, "dev": "report", "test": "report"}, layouts.race),
    "story_cloze": Family(
        stories.story_cloze, {"1": 1, "2": 1}, {"val": 1.0, "test": "report"}, layouts.story_cloze
    ),
    "mrpc": Family(similarity.mrpc, {"1": 0.68, "0": 0.32}, GLUE, layouts.mrpc),
    "qqp": Family(similarity.qqp, {"1": 0.37, "0": 0.63}, GLUE, layouts.qqp),
    "stsb": Family(similarity.stsb, {"": 1}, GLUE, layouts.stsb),
    "sst2": Family(single.sst2, {"1": 1, "0": 1}, GLUE, layouts.sst2),
    "cola": Family(single.cola, {"1": 0.6, "0": 0.4}, GLUE, layouts.cola),
    "dprd": Family(stories.dprd, {"0": 1, "1": 1}, {"train": 1.0, "test": "report"}, layouts.dprd),
}


def generator(seed: int, name: str) -> random.Random:
    """A random generator of its own for each part of the world."""
    return random.Random(int(hashlib.sha256(f"{seed}/{name}".encode()).hexdigest(), 16))


def make_task(seed: int, name: str, train: int, report: int) -> layouts.Splits:
    """All splits of a task: training rows of a part of the lexicon, reported rows of all of it."""
    family = FAMILIES[name]
    pool, unseen = hold_out(generator(seed, f"{name}/lexicon"))
    wide = Pool(pool.seen, unseen, UNSEEN)
    used: set[str] = set()
    splits = {}
    for split, size in family.splits.items():
        n = {"report": report, "blind": BLIND}.get(size) if isinstance(size, str) else None
        n = n or max(6, round(train * float(size)))
        rng = generator(seed, f"{name}/{split}")
        part = pool if size == 1.0 else wide
        if name == "race":
            splits[split] = _race(rng, part, n)
        elif name == "mnli":
            splits[split] = _mnli(rng, split, pool, unseen, n, used)
        else:
            splits[split] = draw(rng, family.make, part, family.labels, n, used)
    if name == "snli":
        splits = {split: _unsettled(generator(seed, split), rows) for split, rows in splits.items()}
    return splits


def _race(rng: random.Random, pool: Pool, n: int) -> list[Row]:
    """Half middle, half high; one or two questions a passage; every answer place equally often."""
    rows: list[Row] = []
    for group, count in (("middle", n // 2), ("high", n - n // 2)):
        places = [k % 4 for k in range(count)]
        rng.shuffle(places)
        while places:
            k = min(len(places), rng.choice((1, 2)))
            rows += stories.race(rng, pool, group, [places.pop() for _ in range(k)])
    return rows


def _mnli(
    rng: random.Random, split: str, pool: Pool, unseen: dict, n: int, used: set[str]
) -> list[Row]:
    """Mismatched rows are of other genres, and of words that no training row has."""
    genres = ("talk", "letters") if split.endswith("mismatched") else ("fiction", "news")
    share = 0.0 if split == "train" else 1.0 if split.endswith("mismatched") else UNSEEN

    def make(rng: random.Random, pool: Pool, label: str) -> Row:
        return inference.mnli(rng, pool, label, rng.choice(genres))

    return draw(rng, make, Pool(pool.seen, unseen, share), THREE, n, used)


def _unsettled(rng: random.Random, rows: list[Row]) -> list[Row]:
    """One row in forty more, on whose label nobody agreed (`-`), as in the published files."""
    extra = [Row(r.first, r.second, "-") for r in rng.sample(rows, max(1, len(rows) // 40))]
    mixed = rows + [Row(r.second, r.first, "-") for r in extra]
    rng.shuffle(mixed)
    return mixed


def sentences(name: str, splits: layouts.Splits) -> set[str]:
    """What of a task's rows may not stand in any book, as `plain` gives it.

    Texts of single and paired rows; the sentences of RACE passages; the four sentences of a story;
    DPRD's sentence with either candidate in the pronoun's place.
    """
    found: set[str] = set()
    for rows in splits.values():
        for row in rows:
            if name == "race":
                found |= {plain(part) for part in row.first.split(".")}
            elif name == "dprd":
                before, after = row.first.split(f" because {row.second} ")
                found |= {plain(f"{before} because {who} {after}") for who in row.choices}
            else:
                found |= {plain(row.first)} | ({plain(row.second)} if row.second else set())
    return found - {""}
