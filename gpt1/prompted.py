"""Score checkpoints on a task told in words: the cell of a study in which nothing is trained.

    python -m gpt1.prompted results/cells/transformer+prompted-true/rte/aux-off/layers-12.json ...

Its JSON and predictions are those of any other cell, with no token trained on.
"""

import argparse
import sys
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import numpy as np

    from gpt1 import prompts
    from gpt1.cell import Cell
    from gpt1.settings import ModelSettings
    from gpt1.text.tokenizer import Tokenizer
    from gpt1.training.encoded import EncodedTask
    from gpt1.training.encoded import load as load_encoded
    from gpt1.training.predictions import write_predictions
    from gpt1.training.runtime import Runtime
    from gpt1.training.scorer import Scorer
    from gpt1.variant import Variant
    from gpt1.weights.checkpoint import Checkpoint, load_checkpoint
    from tasks.common.files import read_json, write_json
    from tasks.metrics import score_split


@dataclass(frozen=True)
class Answers:
    """The predictions of the reported splits under one seed, and their scores."""

    seed: int
    predictions: dict[str, list[float]]
    scores: dict[str, dict[str, float]]

    @property
    def constant(self) -> bool:
        """Whether a split got one prediction for all rows."""
        return any(float(np.ptp(values)) < 1e-6 for values in self.predictions.values())


def answer(
    seed: int, checkpoint: Checkpoint, task: EncodedTask, tokenizer: Tokenizer, runtime: Runtime
) -> Answers:
    """What a language model says of the reported splits of a task."""
    scorer = Scorer.of(checkpoint, tokenizer.newline_id, runtime)
    predictions: dict[str, list[float]] = {}
    scores: dict[str, dict[str, float]] = {}
    for name in task.named("report"):
        split = task.splits[name]
        found = prompts.predict(scorer, tokenizer.encode, task.spec.name, split)
        predictions[name] = found.tolist()
        scores |= score_split(task.spec, found, split.labels, split.groups, name)
    return Answers(seed, predictions, scores)


def record(answers: Answers, checkpoint: Checkpoint, majority: float, task: EncodedTask) -> Any:
    """What the cell's JSON says of one seed."""
    score = answers.scores[task.main][task.spec.metric]
    alarms = ["majority_rate"] * (score <= majority) + ["constant_prediction"] * answers.constant
    return {
        **{"seed": answers.seed, "scores": answers.scores, "alarms": alarms},
        **{"train_tokens": 0, "train_seconds": 0.0},
        **{"pretrain_seed": checkpoint.facts.seed, "checkpoint": checkpoint.facts.sha256},
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cell", type=Path, help="JSON file to write")
    parser.add_argument("--encoded", required=True, type=Path)
    parser.add_argument("--baselines", required=True, type=Path)
    parser.add_argument("--tokenizer", required=True, type=Path)
    parser.add_argument("--checkpoints", required=True, nargs="+", type=Path)
    parser.add_argument("--settings", required=True, type=ModelSettings.parse)
    parser.add_argument("--seeds", required=True, nargs="+", type=int)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", default="", help="digest of the code, kept with the scores")
    a = parser.parse_args()
    a.runtime.start()
    cell, task, tokenizer = Cell.parse(a.cell), load_encoded(a.encoded), Tokenizer.load(a.tokenizer)
    if not Variant.named(cell.variant).prompted:
        raise InputError(f"{a.cell}: not a cell that is prompted; give its path to gpt1.cells")
    if cell.task not in prompts.PROMPTS:
        raise InputError(f"{a.cell}: {cell.task} has no wording; add one to gpt1/prompts.py")
    if task.spec.name != cell.task or task.tokenizer != tokenizer.digest:
        raise InputError(
            f"{a.encoded}: of another task or tokenizer than {a.cell}; encode it again"
        )
    baselines = read_json(a.baselines)
    paths = [path for path, _ in zip(cycle(a.checkpoints), a.seeds, strict=False)]
    weights = {
        path: load_checkpoint(path, cell.arch, a.settings, tokenizer.digest) for path in set(paths)
    }
    answers = [
        answer(seed, weights[path], task, tokenizer, a.runtime)
        for seed, path in zip(a.seeds, paths, strict=True)
    ]
    majority = baselines["majority"][task.main][task.spec.metric]
    digest = write_predictions(cell.predictions(a.cell.parents[4]), cell, task, answers)
    digests = {"tokenizer": tokenizer.digest, "data": task.labelled_digest, "code": a.code}
    facts = {
        **{**cell.facts(), "metric": task.spec.metric},
        "baselines": {key: baselines[key] for key in ("majority", "bag_of_words")},
        "seeds": [
            record(one, weights[path], majority, task)
            for one, path in zip(answers, paths, strict=True)
        ],
        "digests": {**digests, "predictions": digest},
    }
    write_json(a.cell, facts)
    shown = " ".join(f"{one.scores[task.main][task.spec.metric]:.1f}" for one in answers)
    print(f"{a.cell}: {task.main} {task.spec.metric} {shown}", flush=True)


if __name__ == "__main__":
    sys.exit(run(main))
