"""Score checkpoints on cloze items: for each skill, texts with continuations to choose from.

    python -m gpt1 cloze transformer --items items.jsonl --tokenizer results/tokenizer \
        --checkpoints update-0.safetensors update-8000.safetensors --settings ... --out OUT

A cloze item tests what a language model predicts, whereas fine-tuning uses what its states encode:
a skill may be transferred and yet not show here. An item is one line of a JSONL file:

    {"skill": "sentiment", "context": "The story was excellent.",
     "choices": ["Everyone was happy.", "Everyone was sad."], "label": 0}

The prediction is the choice with the highest mean token log-probability after the context, as in
the paper's heuristic for RACE (paper 5; `gpt1.training.scorer`). `by_sum` is the choice with the
highest sum, by which BLiMP scores its pairs (Warstadt et al. 2020, TACL 8:377). The items
themselves are ours.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from gpt1.cell import ARCHS, ROWS
from gpt1.records import ClozeScores, SkillScore
from gpt1.settings import ModelSettings
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.vocabulary import read_text
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer, write_rows
from gpt1.weights.checkpoint import load_checkpoint
from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.common.settings import Settings
from tasks.world import is_made

Text = Annotated[str, Field(pattern=r"\S")]


class Item(Settings):
    """A line of a file of cloze items; `label` counts from 0, `context` may be empty."""

    skill: Text
    context: str
    choices: Annotated[list[Text], Field(min_length=2)]
    label: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _check_label(self) -> Self:
        if self.label >= len(self.choices):
            raise ValueError(f"label {self.label} of {len(self.choices)}; count them from 0")
        return self


@dataclass(frozen=True)
class EncodedItem:
    """An item, and its texts as arrays of token ids."""

    item: Item
    context: np.ndarray
    choices: list[np.ndarray]


def read_items(path: Path, tokenizer: Tokenizer) -> list[EncodedItem]:
    """Read and encode a file of cloze items.

    Raises InputError, naming file and line, for an invalid item, for one with another number of
    choices than the others of its skill, and for choices that are empty or equal once they are
    token ids; also for a file of the synthetic world that has been changed.
    """
    items: list[EncodedItem] = []
    is_made(path.parent)
    n_choices: dict[str, int] = {}  # by skill
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), 1):
        try:
            item = Item.parse(line)
            items.append(_encoded(item, tokenizer))
        except InputError as error:
            raise InputError(f"{path}: line {number}: {error}") from None
        if (n := len(item.choices)) != n_choices.setdefault(item.skill, n):
            raise InputError(
                f"{path}: line {number}: {n} choices, but the items before it of the skill "
                f"{item.skill!r} have {n_choices[item.skill]}; give all the same number"
            )
    return items


def _encoded(item: Item, tokenizer: Tokenizer) -> EncodedItem:
    choices = [tokenizer.encode(text) for text in item.choices]
    for i, ids in enumerate(choices):
        if not ids:
            raise InputError(f"normalisation leaves nothing of {item.choices[i]!r:.60}")
        if ids in choices[:i]:  # the first would win every time
            twin = item.choices[choices.index(ids)]
            raise InputError(
                f"to the tokenizer {item.choices[i]!r:.60} is the same as {twin!r:.60}; give two "
                "different choices"
            )
    context = np.array(tokenizer.encode(item.context), dtype=np.int64)
    return EncodedItem(item, context, [np.array(ids) for ids in choices])


def ask(scorer: Scorer, items: list[EncodedItem]) -> pd.DataFrame:
    """What a language model says to each item, a row each.

    `prediction` is the likeliest choice (the first of a tie) by the mean log-probability of its
    tokens, `by_sum` that by their sum, `log_probability` the mean of the right one (nats) and
    `margin` how much that is above the best wrong one.
    """
    rows = []
    asked = [[scorer.sequence([one.context], ids) for ids in one.choices] for one in items]
    for number, (one, values) in enumerate(
        zip(items, scorer.log_probabilities(asked), strict=True)
    ):
        means, label = np.array([tokens.mean() for tokens in values]), one.item.label
        rows.append(
            {
                "skill": one.item.skill,
                "item": number,
                "choices": len(values),
                "label": label,
                "prediction": int(means.argmax()),
                "by_sum": int(np.argmax([tokens.sum() for tokens in values])),
                "log_probability": float(means[label]),
                "margin": float(means[label] - np.delete(means, label).max()),
            }
        )
    return pd.DataFrame(rows)


def scores(rows: pd.DataFrame) -> dict[str, SkillScore]:
    """The score on each skill, in the order of the items, from the rows of `ask`."""
    found = {}
    for skill, own in rows.groupby("skill", sort=False):
        right, by_sum = (int((own[by] == own["label"]).sum()) for by in ("prediction", "by_sum"))
        n, choices = len(own), int(own["choices"].iloc[0])
        found[str(skill)] = SkillScore(
            n=n,
            correct=right,
            choices=choices,
            accuracy=100 * right / n,
            accuracy_by_sum=100 * by_sum / n,
            chance=100 / choices,
            margin=sum(own["margin"]) / n,
        )
    return found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("arch", choices=ARCHS)
    parser.add_argument("--items", required=True, type=Path, help="the JSONL file of items")
    parser.add_argument("--tokenizer", required=True, type=Path, help="folder of its two files")
    parser.add_argument("--checkpoints", required=True, nargs="+", type=Path)
    parser.add_argument("--settings", required=True, type=ModelSettings.parse, help="the model's")
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", default="", help="digest of the code, kept with the scores")
    parser.add_argument("--out", required=True, type=Path, help="folder of update-N.json")
    a = parser.parse_args()
    a.runtime.start()
    tokenizer = Tokenizer.load(a.tokenizer)
    items = read_items(a.items, tokenizer)
    digests = {"items": sha256_file(a.items), "tokenizer": tokenizer.digest, "code": a.code}
    frames = []
    for path in a.checkpoints:
        checkpoint = load_checkpoint(path, a.arch, a.settings, tokenizer.digest)
        facts = checkpoint.facts
        model = checkpoint.language_model(a.runtime)
        rows = ask(Scorer(model, tokenizer.newline_id, a.runtime), items)
        skills = scores(rows)
        rows.insert(0, "update", facts.update)
        frames.append(rows)
        own = {**digests, "checkpoint": facts.sha256}
        record = ClozeScores(**facts.origin(), skills=skills, digests=own)
        record.write(a.out / f"update-{facts.update}.json")
        text = ", ".join(f"{skill} {scored.accuracy:.1f}" for skill, scored in skills.items())
        print(f"{a.arch} seed {facts.seed} {path.stem}: {text}", flush=True)
    write_rows(a.out / ROWS, frames)
