"""Score checkpoints on probes: for each skill, items with continuations to choose from.

    python -m gpt1.probes transformer --probes probes.jsonl --tokenizer results/tokenizer \
        --checkpoints update-0.safetensors update-8000.safetensors --settings ... --out OUT

A probe asks what a language model says, where fine-tuning uses what its states know: a skill may be
transferred that does not show here. An item is one line of a JSONL file:

    {"skill": "sentiment", "context": "The play was superb.",
     "choices": ["Everyone was glad.", "Everyone was sad."], "label": 0}

The prediction is the choice with the highest mean token log-probability after the context, as in
the paper's heuristic for RACE (paper 5; `gpt1.training.scorer`). The probes themselves are ours.
"""

import argparse
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import numpy as np
    from pydantic import Field, ValidationError

    from gpt1.cell import ARCHS, model_name
    from gpt1.settings import ModelSettings
    from gpt1.text.tokenizer import Tokenizer
    from gpt1.text.vocabulary import read_text
    from gpt1.training.runtime import Runtime
    from gpt1.training.scorer import Scorer
    from gpt1.weights.checkpoint import load_checkpoint
    from tasks.common.files import sha256_file, write_json
    from tasks.common.settings import Settings, first_fault
    from tasks.world import manifest

Text = Annotated[str, Field(pattern=r"\S")]


class Item(Settings):
    """One line of a file of probes; `label` counts the choices from 0, `context` may be empty."""

    skill: Text
    context: str
    choices: Annotated[list[Text], Field(min_length=2)]
    label: Annotated[int, Field(ge=0)]


@dataclass(frozen=True)
class Probe:
    """An item whose texts are arrays of token ids."""

    skill: str
    context: np.ndarray
    choices: list[np.ndarray]
    label: int


@dataclass(frozen=True)
class SkillScore:
    """The score on one skill: `correct` of `n` items with `choices` continuations each.

    `accuracy` and `chance`, that of a random guess, run from 0 to 100.
    """

    n: int
    correct: int
    choices: int
    accuracy: float
    chance: float


def read_probes(path: Path, tokenizer: Tokenizer) -> list[Probe]:
    """Read and encode a file of probes.

    Raises InputError, naming file and line, for an invalid item, for one whose number of choices is
    not that of its skill, and for choices that are empty or equal once they are token ids; also for
    a file of the made world that is not the one that was written.
    """
    probes: list[Probe] = []
    manifest.check(path.parent)
    first_lines: dict[str, tuple[int, int]] = {}  # of each skill: its line, its number of choices
    for number, line in enumerate(read_text(path).removesuffix("\n").split("\n"), 1):
        place = f"{path}: line {number}"
        item = _parse(line, place)
        n_choices = len(item.choices)
        first, expected = first_lines.setdefault(item.skill, (number, n_choices))
        if n_choices != expected:
            raise InputError(
                f"{place}: {n_choices} choices, but line {first} of the skill {item.skill!r} has "
                f"{expected}; give all items of a skill the same number"
            )
        probes.append(_encoded(item, tokenizer, place))
    return probes


def _parse(line: str, place: str) -> Item:
    try:
        item = Item.model_validate_json(line)
    except ValidationError as error:
        raise InputError(
            f"{place}: {first_fault(error)}; give skill, context, choices and label"
        ) from None
    if item.label >= len(item.choices):
        raise InputError(
            f"{place}: label {item.label} of {len(item.choices)} choices; count them from 0"
        )
    return item


def _encoded(item: Item, tokenizer: Tokenizer, place: str) -> Probe:
    choices = [tokenizer.encode(text) for text in item.choices]
    for i, ids in enumerate(choices):
        if not ids:
            raise InputError(f"{place}: normalisation leaves nothing of {item.choices[i]!r:.60}")
        if ids in choices[:i]:  # the first would win every time
            twin = item.choices[choices.index(ids)]
            raise InputError(
                f"{place}: to the tokenizer {item.choices[i]!r:.60} is the same as {twin!r:.60}; "
                "give two different choices"
            )
    context = np.array(tokenizer.encode(item.context), dtype=np.int64)
    return Probe(item.skill, context, [np.array(ids) for ids in choices], item.label)


def predict(scorer: Scorer, probes: list[Probe]) -> np.ndarray:
    """The likeliest choice of each probe by its mean token log-probability, `[n]`."""
    sequences = [scorer.sequence([probe.context], ids) for probe in probes for ids in probe.choices]
    return scorer.best_choices(sequences, [len(probe.choices) for probe in probes])


def score(scorer: Scorer, probes: list[Probe]) -> dict[str, SkillScore]:
    """The score of a language model on each skill, in the order of the probes."""
    right = predict(scorer, probes) == [probe.label for probe in probes]
    correct = Counter(probe.skill for probe, hit in zip(probes, right, strict=True) if hit)
    n_choices = {probe.skill: len(probe.choices) for probe in probes}
    return {
        skill: SkillScore(
            n=n,
            correct=correct[skill],
            choices=n_choices[skill],
            accuracy=100 * correct[skill] / n,
            chance=100 / n_choices[skill],
        )
        for skill, n in Counter(probe.skill for probe in probes).items()
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("arch", choices=ARCHS)
    parser.add_argument("--probes", required=True, type=Path, help="the JSONL file of items")
    parser.add_argument("--tokenizer", required=True, type=Path, help="folder of its two files")
    parser.add_argument("--checkpoints", required=True, nargs="+", type=Path)
    parser.add_argument("--settings", required=True, type=ModelSettings.parse, help="the model's")
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", default="", help="digest of the code, kept with the scores")
    parser.add_argument("--out", required=True, type=Path, help="folder of update-N.json")
    a = parser.parse_args()
    a.runtime.start()
    tokenizer = Tokenizer.load(a.tokenizer)
    probes = read_probes(a.probes, tokenizer)
    digests = {
        "probes": sha256_file(a.probes),
        "tokenizer": tokenizer.digest,
        "code": a.code,
    }
    for path in a.checkpoints:
        checkpoint = load_checkpoint(path, a.arch, a.settings, tokenizer.digest)
        facts = checkpoint.facts
        skills = score(Scorer.of(checkpoint, tokenizer.newline_id, a.runtime), probes)
        record = {
            "arch": a.arch,
            "corpus": facts.corpus,
            "seed": facts.seed,
            "update": facts.update,
            "tokens": facts.tokens,
            "skills": {skill: asdict(found) for skill, found in skills.items()},
            "digests": {**digests, "checkpoint": facts.sha256},
        }
        write_json(a.out / f"update-{facts.update}.json", record)
        text = ", ".join(f"{skill} {found.accuracy:.1f}" for skill, found in skills.items())
        name = model_name(a.arch, facts.corpus)
        print(f"{name} seed {facts.seed} {path.stem}: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(run(main))
