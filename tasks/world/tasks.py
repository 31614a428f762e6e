"""The tasks of the world: how many rows, of which labels and words, in which splits and files."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tasks.prompt import CLAIMED, FALSE, TRUE, UNKNOWN
from tasks.world import (
    acceptability,
    coreference,
    entailment,
    layouts,
    questions,
    sentiment,
    stories,
    taxonomy,
)
from tasks.world.books import ngrams, normalise
from tasks.world.draw import Degree, Draw, hold_out
from tasks.world.questions import KNEW
from tasks.world.rows import MakeRow, Row, draw_rows
from tasks.world.settings import WorldTaskName

UNSEEN_SHARE = 0.6  # probability that a word of a reported row is a held-out one
COMBINED = 0.4  # and that a compositional row combines clauses as no training row does
CLAIM_WORDS = 4  # texts of at most so many words may occur in the books
ASKED = re.compile(f"^who ({'|'.join(KNEW)}) that ")  # before a claim of QQP
UNLABELLED_ROWS = 20  # rows of an unlabelled test file

# The size of each split: a share of the training rows, "report" or "unlabelled".
SplitSizes = dict[str, float | str]
GLUE: SplitSizes = {"train": 1.0, "dev": "report", "test": "unlabelled"}
PUBLIC: SplitSizes = {"train": 1.0, "dev": 0.3, "test": "report"}
MNLI: SplitSizes = {
    "train": 1.0,
    "dev_matched": "report",
    "dev_mismatched": "report",
    "test_matched": "unlabelled",
    "test_mismatched": "unlabelled",
}
RACE: SplitSizes = {"train": 1.0, "dev": "report", "test": "report"}
STORIES: SplitSizes = {"val": 1.0, "test": "report"}
DPRD: SplitSizes = {"train": 1.0, "test": "report"}
THREE = {"entailment": 1.0, "neutral": 1.0, "contradiction": 1.0}
TWO = {"entailment": 1.0, "not_entailment": 1.0}
FOUR = dict.fromkeys("ABCD", 1.0)


@dataclass(frozen=True)
class WorldTask:
    """A task: its training rows at scale 1, its splits, its files, how a row is made, the labels.

    `labels` gives the share of each label; `prompts` are the task's own with each answer, repeated
    here so that the world does not depend on every task's code.
    """

    rows: int
    splits: SplitSizes
    write: Callable[[layouts.Splits], layouts.Files]
    make: MakeRow
    labels: dict[str, float] = field(default_factory=dict)
    prompts: tuple[str, ...] = ()


TWO_VERDICTS = tuple(f"{CLAIMED} {verdict}" for verdict in (TRUE, FALSE))
THREE_VERDICTS = (*TWO_VERDICTS, f"{CLAIMED} {UNKNOWN}")
CHOSEN = ("{first} {second} {choice}",)
VERY = ("{first} very negative", "{first} very positive")
# The numbers of training rows rank the tasks as the published sets do.
WORLD_TASKS: dict[WorldTaskName, WorldTask] = {
    "snli": WorldTask(10000, PUBLIC, layouts.snli, entailment.snli, THREE, THREE_VERDICTS),
    "mnli": WorldTask(9990, MNLI, layouts.mnli, entailment.mnli, THREE, THREE_VERDICTS),
    "qnli": WorldTask(2500, GLUE, layouts.qnli, questions.qnli, TWO, TWO_VERDICTS),
    "rte": WorldTask(440, GLUE, layouts.rte, entailment.rte, TWO, TWO_VERDICTS),
    "scitail": WorldTask(
        940, PUBLIC, layouts.scitail, taxonomy.scitail, {"entails": 1, "neutral": 1}, TWO_VERDICTS
    ),
    "race": WorldTask(1875, RACE, layouts.race, questions.race, FOUR, CHOSEN),
    "story_cloze": WorldTask(
        380, STORIES, layouts.story_cloze, stories.story_cloze, {"1": 1, "2": 1}, CHOSEN
    ),
    "mrpc": WorldTask(
        500, GLUE, layouts.mrpc, sentiment.mrpc, {"1": 0.68, "0": 0.32}, TWO_VERDICTS
    ),
    "qqp": WorldTask(3750, GLUE, layouts.qqp, questions.qqp, {"1": 0.37, "0": 0.63}, TWO_VERDICTS),
    "stsb": WorldTask(625, GLUE, layouts.stsb, sentiment.stsb, {"": 1}, TWO_VERDICTS),
    "sst2": WorldTask(1250, GLUE, layouts.sst2, sentiment.sst2, {"1": 1, "0": 1}, VERY),
    "cola": WorldTask(750, GLUE, layouts.cola, acceptability.cola, {"1": 0.6, "0": 0.4}),
    "dprd": WorldTask(40, DPRD, layouts.dprd, coreference.dprd, {"0": 1, "1": 1}),
}


def make_splits(
    seed: int,
    name: WorldTaskName,
    train: int,
    report: int,
    degrees: dict[Degree, float],
    reported: dict[Degree, float],
) -> layouts.Splits:
    """All splits of a task.

    `degrees` are the shares of each degree in the training rows, `reported` those in all others,
    which also use words, and combine clauses, as no training row does.
    """
    of = WORLD_TASKS[name]
    seen, unseen = hold_out(Draw(seed, f"{name}/lexicon"))
    sizes = {"report": report, "unlabelled": UNLABELLED_ROWS}
    used: set[str] = set()
    splits = {}
    for split, size in of.splits.items():
        n = sizes[size] if isinstance(size, str) else max(6, round(train * size))
        other_genres = split.endswith("mismatched")  # and unseen words only
        share = 0.0 if size == 1.0 else 1.0 if other_genres else UNSEEN_SHARE
        held_out = unseen if share else None
        combined = COMBINED if share else 0.0
        draw = Draw(seed, f"{name}/{split}", seen, held_out, share, combined)
        make = of.make
        if name == "mnli":
            make = _mnli("talk", "letters") if other_genres else _mnli("fiction", "news")
        shares = degrees if size == 1.0 else reported
        splits[split] = draw_rows(draw, make, of.labels, shares, n, used)
        if name == "snli":
            splits[split] = _add_undecided(Draw(seed, split), splits[split])
    return splits


def _mnli(*genres: str) -> MakeRow:
    """The maker of MNLI rows of these genres."""
    return lambda draw, label, degree: entailment.mnli(draw, label, degree, draw.choice(genres))


def _add_undecided(draw: Draw, rows: list[Row]) -> list[Row]:
    """The rows and a fortieth more without a gold label (`-`), as in the published files."""
    chosen = draw.sample(rows, max(1, len(rows) // 40))
    mixed = rows + [Row(row.second, row.first, "-", degree=row.degree) for row in chosen]
    draw.shuffle(mixed)
    return mixed


def forbidden_texts(name: WorldTaskName, splits: layouts.Splits) -> set[str]:
    """The parts of a task's rows that no book may contain, in the form of `fingerprints`.

    They are both texts of a row, and any 13 consecutive words of both texts followed by each
    choice; for DPRD the sentence with either candidate in place of the pronoun. Claims of a few
    words, such as "It can bend.", are allowed: without them books could not say what rows ask for.
    So are the texts of training rows, as large sets use up most short sentences, but not in the
    form in which a prompt asks for their labels.
    """
    found = _prompted(name, splits)
    kept = [split for split, size in WORLD_TASKS[name].splits.items() if size != 1.0]
    for row in (row for split in kept for row in splits[split]):
        if name == "dprd":
            before, after = row.first.split(f" because {row.second} ")
            found |= {normalise(f"{before} because {who} {after}") for who in row.choices}
            continue
        for choice in row.choices or ("",):
            found |= ngrams(f"{row.first} {row.second} {choice}")
        if not row.choices:
            texts = normalise(row.first), normalise(row.second)
            found.add(" ".join(texts).strip())
            claims = (ASKED.sub("", text) for text in texts)
            found |= {
                text
                for text, claim in zip(texts, claims, strict=True)
                if len(claim.split()) > CLAIM_WORDS
            }
    return found


def _prompted(name: WorldTaskName, splits: layouts.Splits) -> set[str]:
    """The task's prompts, filled in with every row and followed by each answer."""
    rows = [row for rows in splits.values() for row in rows]
    return {
        normalise(prompt.format(first=row.first, second=row.second, choice=choice))
        for prompt in WORLD_TASKS[name].prompts
        for row in rows
        for choice in row.choices or ("",)
    }
