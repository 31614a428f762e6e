"""Score checkpoints zero-shot along pre-training: by prompts, and by the paper's four heuristics.

    python -m gpt1 zero_shot transformer --encoded results/encoded/cola ... --checkpoints ...

`tasks.prompt` defines the prompts and the calibration of a choice's score. The tokenizer encodes
each word by itself, so joining the ids of a template's words and of a row's texts gives the ids of
the whole text.

Source of the heuristics: paper 5, "Zero-shot Behaviors". CoLA: threshold on the mean token
log-probability (chosen on training rows for the best Matthews correlation, reported on dev). SST-2:
after the text and `very`, is `positive` or `negative` the likelier word (over all its tokens)?
RACE: the answer with the highest mean token log-probability given document and question. DPRD: the
candidate for which the rest of the sentence is likelier. `gpt1.training.scorer` defines the
log-probabilities.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gpt1.cell import ARCHS, PretrainedModel
from gpt1.data import EncodedSplit, EncodedTask, load_task, sample
from gpt1.records import ZeroShotScore
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer, margins, write_rows
from gpt1.weights.checkpoint import load_checkpoint
from gpt1.zero_shot_settings import ZeroShotSettings
from tasks.common.errors import InputError
from tasks.metrics import score_split
from tasks.prompt import Prompt, Scoring, parts
from tasks.spec import TaskSpec

Ids = np.ndarray
EMPTY: Ids = np.empty(0, dtype=np.int64)
Template = list[Ids | str]  # the ids of words, and the columns between them
Asked = tuple[list[Ids], Ids]  # the context, and what is scored


@dataclass(frozen=True)
class EncodedPrompt:
    """A prompt with its words as ids; `choices` is empty if each row has its own, or none."""

    prompt: Prompt
    before: Template
    scored: Template
    choices: list[Template]

    @classmethod
    def of(cls, prompt: Prompt, task: str, tokenizer: Tokenizer) -> "EncodedPrompt":
        """Encode a prompt.

        Raises InputError if the tokenizer lacks a letter of its words, and for two choices that
        become the same tokens, of which the first would always win.
        """
        texts = (prompt.before, prompt.scored, *prompt.choices)
        before, scored, *choices = (_encoded(text, task, tokenizer) for text in texts)
        known: dict[tuple[str | bytes, ...], str] = {}
        for choice, template in zip(prompt.choices, choices, strict=True):
            key = tuple(part if isinstance(part, str) else part.tobytes() for part in template)
            if key in known:
                raise InputError(
                    f"zero-shot {task}: to the tokenizer the choice {choice!r:.60} is the same as "
                    f"{known[key]!r:.60}; give two different choices"
                )
            known[key] = choice
        return cls(prompt, before, scored, choices)

    def rows(self, split: EncodedSplit) -> Iterator[list[Asked]]:
        """For each row, context and scored tokens of each choice; one pair if there are none."""
        for first, second, own in zip(split.first, split.second, split.choices, strict=True):
            yield self._asked(first, second, own)

    def without_texts(self, split: EncodedSplit) -> Iterator[list[Asked]]:
        """The same without the row's texts; once for all rows if their choices are the same."""
        for own in [[]] if self.choices else split.choices:
            yield self._asked(EMPTY, EMPTY, own)

    def _asked(self, first: Ids, second: Ids, own: list[Ids]) -> list[Asked]:
        asked, texts = [], {"first": first, "second": second}
        filled = [np.concatenate(fill(template, texts)) for template in self.choices]
        for choice in filled or own or [EMPTY]:
            row = texts | {"choice": choice}
            asked.append((fill(self.before, row), np.concatenate(fill(self.scored, row))))
        return asked


def _encoded(text: str, task: str, tokenizer: Tokenizer) -> Template:
    """A template with its words as ids."""
    template: Template = []
    for words, column in parts(text):
        ids = np.array(tokenizer.encode(words), dtype=np.int64)
        if not ids.all():  # id 0 is <unk>
            raise InputError(
                f"zero-shot {task}: the tokenizer cannot spell {words.strip()!r}, its letters are "
                f"not in the corpus; give {task} another prompt or other choices, or leave it out "
                "of what is asked zero-shot"
            )
        template += [ids, column] if column else [ids]
    return template


def fill(template: Template, row: dict[str, Ids]) -> list[Ids]:
    """The ids of a template's words and, for its columns, those of the row's texts."""
    return [row[part] if isinstance(part, str) else part for part in template]


def ask(scorer: Scorer, prompt: EncodedPrompt, split: EncodedSplit) -> dict[Scoring, np.ndarray]:
    """The scores of the choices, `[n, choices]`, by each scoring of the prompt."""
    values = _log_probabilities(scorer, prompt.rows(split))
    found: dict[Scoring, np.ndarray] = {}
    if kind := prompt.prompt.heuristic:
        found["heuristic"] = _over_tokens(values, np.sum if kind == "sum" else np.mean)
    if "prompt" in prompt.prompt.scorings:
        alone = _log_probabilities(scorer, prompt.without_texts(split))
        found["prompt"] = _over_tokens(values, np.mean)
        found["calibrated"] = found["prompt"] - _over_tokens(alone, np.mean)
    return found


def _log_probabilities(scorer: Scorer, rows: Iterator[list[Asked]]) -> list[list[np.ndarray]]:
    return scorer.log_probabilities([[scorer.sequence(*asked) for asked in row] for row in rows])


def _over_tokens(values: list[list[np.ndarray]], combine: Callable[..., Any]) -> np.ndarray:
    return np.array([[combine(tokens) for tokens in row] for row in values])


def best_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    """The threshold on `scores` with the best Matthews correlation; above it the label is 1.

    The candidates are the midpoints between neighbouring scores; ties go to the lowest.
    """
    values, which = np.unique(scores, return_inverse=True)
    if len(values) == 1:
        return float(values[0])
    n, positives = len(labels), float(np.sum(labels))
    under = np.cumsum(np.bincount(which))[:-1]  # rows, and positives among them, below each cut
    missed = np.cumsum(np.bincount(which, weights=labels))[:-1]
    norm = np.sqrt(max(positives * (n - positives), 1.0) * under * (n - under))
    cut = int(np.argmax((under * positives - n * missed) / norm))
    return float((values[cut] + values[cut + 1]) / 2)


def predict(spec: TaskSpec, scores: np.ndarray, threshold: float | None = None) -> np.ndarray:
    """The best choice of each row, `[n]`; for STS-B, the margin of the last one over the first."""
    if threshold is not None:
        return (scores[:, 0] > threshold).astype(int)
    return scores[:, -1] - scores[:, 0] if spec.soft_labels else scores.argmax(1)


def score_task(
    scorer: Scorer, task: EncodedTask, settings: ZeroShotSettings, prompt: EncodedPrompt
) -> tuple[dict[str, Any], pd.DataFrame]:
    """The scores of a language model on a task: fields of `ZeroShotScore`; and its rows.

    The rows have, by each scoring, what was said, the log-probability of the right choice (nats, as
    the scoring takes it) and its margin over the best wrong one. Of a threshold these are the
    text's own and how far it lies on the right side; labels that are no choices have neither.
    """
    spec, split, scale = task.spec, task.main, settings.normalise[task.spec.name]
    rows, threshold = _sampled(task, split, settings.limit), None
    if prompt.prompt.heuristic == "threshold":
        train = _sampled(task, "train", settings.limit)
        threshold = best_threshold(ask(scorer, prompt, train)["heuristic"][:, 0], train.labels)
    by_scoring, frames = {}, []
    for scoring, found in ask(scorer, prompt, rows).items():
        said = predict(spec, found, threshold)
        by_scoring[scoring] = score_split(spec, said, rows.labels, rows.groups, split)
        right = margin = np.full(len(rows), np.nan)
        if threshold is not None:
            right, margin = found[:, 0], (found[:, 0] - threshold) * (2 * rows.labels - 1)
        elif not spec.soft_labels:
            right, margin = margins(found, rows.labels)
        columns = {"label": rows.labels, "prediction": said, "log_probability": right}
        numbers = {name: of.astype(float) for name, of in (columns | {"margin": margin}).items()}
        frames.append(pd.DataFrame({"scoring": scoring, "guid": rows.guids, **numbers}))
    scores = by_scoring[prompt.prompt.scorings[0]]
    score = scores[split][spec.metric]
    record = {
        "task": spec.name,
        "split": split,
        "metric": spec.metric,
        "score": score,
        "scores": scores,
        "by_scoring": {name: found[split][spec.metric] for name, found in by_scoring.items()},
        "n": len(rows),
        "threshold": threshold,
        **scale.model_dump(),
        "relative": scale.relative(score),
    }
    return record, pd.concat(frames)


def _sampled(task: EncodedTask, split: str, limit: int | None) -> EncodedSplit:
    return task.splits[split].take(sample(len(task.splits[split]), limit))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("arch", choices=ARCHS)
    parser.add_argument("--encoded", required=True, nargs="+", type=Path)
    parser.add_argument("--tokenizer", required=True, type=Path)
    parser.add_argument("--checkpoints", required=True, nargs="+", type=Path)
    parser.add_argument("--settings", required=True, type=ZeroShotSettings.parse)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", default="", help="digest of the code, kept with the scores")
    parser.add_argument("--results", required=True, type=Path, help="the folder of results")
    a = parser.parse_args()
    a.runtime.start()
    tokenizer = Tokenizer.load(a.tokenizer)
    tasks = []
    for path in a.encoded:
        task = load_task(path)
        if task.tokenizer != tokenizer.digest:
            raise InputError(
                f"{path}: encoded by another tokenizer than {a.tokenizer}; encode it again"
            )
        name = task.spec.name
        tasks.append((task, EncodedPrompt.of(a.settings.prompts[name], name, tokenizer)))
    frames: dict[Path, list[pd.DataFrame]] = {}
    for path in a.checkpoints:
        checkpoint = load_checkpoint(path, a.arch, a.settings.model, tokenizer.digest)
        facts = checkpoint.facts
        scorer = Scorer(checkpoint.language_model(a.runtime), tokenizer.newline_id, a.runtime)
        source = PretrainedModel(a.arch, facts.seed)
        digests = {"checkpoint": facts.sha256, "tokenizer": tokenizer.digest, "code": a.code}
        for task, prompt in tasks:
            record, rows = score_task(scorer, task, a.settings, prompt)
            record |= facts.origin() | {"digests": {**digests, "data": task.labelled_digest}}
            name = task.spec.name
            ZeroShotScore(**record).write(source.zero_shot(a.results, name, facts.update))
            rows.insert(0, "update", facts.update)
            frames.setdefault(source.zero_shot_rows(a.results, name), []).append(rows)
        names = ", ".join(task.spec.name for task, _ in tasks)
        print(f"{source.name} seed {source.seed} {path.stem}: scored {names}", flush=True)
    for path, of_path in frames.items():
        write_rows(path, of_path)
