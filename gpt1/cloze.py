"""Score checkpoints on cloze items: for each skill, texts with continuations to choose from.

    python -m gpt1 cloze transformer --items items.jsonl --tokenizer results/tokenizer \
        --checkpoints update-0.safetensors update-8000.safetensors --settings ... --out OUT

A cloze item tests what a language model predicts, whereas fine-tuning uses what its states encode:
a skill may be transferred and yet not show here. An item is one line of a JSONL file:

    {"skill": "sentiment", "context": "The story was excellent.",
     "choices": ["Everyone was happy.", "Everyone was sad."], "label": 0}

The prediction is the choice with the highest mean token log-probability after the context, as in
the paper's heuristic for RACE (paper 5; `gpt1.training.scorer`). The items themselves are ours.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from gpt1.cell import ARCHS
from gpt1.records import ClozeScores, SkillScore
from gpt1.settings import ModelSettings
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.vocabulary import read_text
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
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


def predict(scorer: Scorer, items: list[EncodedItem]) -> np.ndarray:
    """The likeliest choice (the first of a tie) of each item by its mean log-probability, `[n]`."""
    scores = scorer.log_probabilities(
        [[scorer.sequence([encoded.context], ids) for ids in encoded.choices] for encoded in items]
    )
    return np.array([np.argmax([values.mean() for values in item]) for item in scores])


def score(scorer: Scorer, items: list[EncodedItem]) -> dict[str, SkillScore]:
    """The score of a language model on each skill, in the order of the items."""
    hits: dict[str, list[bool]] = {}
    for encoded, choice in zip(items, predict(scorer, items), strict=True):
        hits.setdefault(encoded.item.skill, []).append(bool(choice == encoded.item.label))
    n_choices = {encoded.item.skill: len(encoded.choices) for encoded in items}
    return {
        skill: SkillScore(
            n=len(own),
            correct=sum(own),
            choices=n_choices[skill],
            accuracy=100 * sum(own) / len(own),
            chance=100 / n_choices[skill],
        )
        for skill, own in hits.items()
    }


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
    for path in a.checkpoints:
        checkpoint = load_checkpoint(path, a.arch, a.settings, tokenizer.digest)
        facts = checkpoint.facts
        model = checkpoint.language_model(a.runtime)
        skills = score(Scorer(model, tokenizer.newline_id, a.runtime), items)
        own = {**digests, "checkpoint": facts.sha256}
        record = ClozeScores(**facts.origin(), skills=skills, digests=own)
        record.write(a.out / f"update-{facts.update}.json")
        text = ", ".join(f"{skill} {scored.accuracy:.1f}" for skill, scored in skills.items())
        print(f"{a.arch} seed {facts.seed} {path.stem}: {text}", flush=True)
