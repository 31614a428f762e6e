"""Score checkpoints zero-shot along pre-training, by the paper's four heuristics.

    python -m gpt1 zero_shot transformer --encoded results/encoded/cola ... --checkpoints ...

Source: paper 5, "Zero-shot Behaviors". CoLA: threshold on the mean token log-probability (chosen on
training rows for the best Matthews correlation, reported on dev). SST-2: after the text and `very`,
is `positive` or `negative` the likelier word (over all its tokens)? RACE: the answer with the
highest mean token log-probability given document and question. DPRD: the candidate for which the
rest of the sentence is likelier. `gpt1.training.scorer` defines the log-probabilities.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from gpt1.cell import ARCHS, PretrainedModel
from gpt1.data.batching import sample
from gpt1.data.encoded import EncodedSplit, EncodedTask
from gpt1.data.encoded import load as load_encoded
from gpt1.records import ZeroShotScore
from gpt1.settings import ZeroShotSettings
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.weights.checkpoint import load_checkpoint
from tasks.common.errors import InputError
from tasks.metrics import score_split

Splits = dict[str, EncodedSplit]


def sentence_scores(scorer: Scorer, split: EncodedSplit) -> np.ndarray:
    """CoLA: mean token log-probability of each sentence, `[n]`."""
    items = [[scorer.sequence([], text)] for text in split.first]
    return np.array([values.mean() for (values,) in scorer.log_probabilities(items)])


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


def choice_predictions(scorer: Scorer, split: EncodedSplit, task: str) -> np.ndarray:
    """RACE: the likeliest answer; DPRD: the candidate that makes the rest likeliest. `[n]`."""
    items = []
    for first, second, choices in zip(split.first, split.second, split.choices, strict=True):
        if task == "dprd":
            items.append([scorer.sequence([first, choice], second) for choice in choices])
        else:
            items.append([scorer.sequence([first, second], choice) for choice in choices])
    return scorer.best_choices(items)


def predict(
    scorer: Scorer, task: str, splits: Splits, split: str, words: dict[str, np.ndarray]
) -> tuple[np.ndarray, float | None]:
    """Predictions for a split of a task, and CoLA's threshold; `words` from `sentiment_words`."""
    if task == "cola":
        threshold = best_threshold(sentence_scores(scorer, splits["train"]), splits["train"].labels)
        return (sentence_scores(scorer, splits[split]) > threshold).astype(int), threshold
    if task == "sst2":
        contexts = [[text, words["very"]] for text in splits[split].first]
        return scorer.answers(contexts, [words["negative"], words["positive"]]).argmax(1), None
    return choice_predictions(scorer, splits[split], task), None


def sentiment_words(tokenizer: Tokenizer) -> dict[str, np.ndarray]:
    """Ids of the words of SST-2's heuristic; one token each in the published vocabulary.

    Raises InputError if the tokenizer lacks a letter of one of them.
    """
    ids = {word: np.array(tokenizer.encode(word)) for word in ("very", "positive", "negative")}
    for word, tokens in ids.items():
        if not tokens.all():  # id 0 is <unk>
            raise InputError(
                f"zero-shot sst2: the tokenizer cannot spell {word!r}, its letters are not in the "
                "corpus; leave sst2 out of experiment.zero_shot.tasks"
            )
    return ids


def score_task(
    scorer: Scorer, task: EncodedTask, settings: ZeroShotSettings, words: dict[str, np.ndarray]
) -> dict[str, Any]:
    """The scores of a language model on a task: fields of `ZeroShotScore`."""
    spec, split, scale = task.spec, task.main, settings.normalise[task.spec.name]
    splits = {
        name: task.splits[name].take(sample(len(task.splits[name]), settings.limit))
        for name in ("train", split)
        if name in task.splits
    }
    predictions, threshold = predict(scorer, spec.name, splits, split, words)
    rows = splits[split]
    scores = score_split(spec, predictions, rows.labels, rows.groups, split)
    score = scores[split][spec.metric]
    return {
        "task": spec.name,
        "split": split,
        "metric": spec.metric,
        "score": score,
        "scores": scores,
        "n": len(rows),
        "threshold": threshold,
        **scale.model_dump(),
        "relative": (score - scale.random) / (scale.best - scale.random),
    }


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
        task = load_encoded(path)
        if task.tokenizer != tokenizer.digest:
            raise InputError(
                f"{path}: encoded by another tokenizer than {a.tokenizer}; encode it again"
            )
        tasks.append(task)
    words = sentiment_words(tokenizer) if any(t.spec.name == "sst2" for t in tasks) else {}
    for path in a.checkpoints:
        checkpoint = load_checkpoint(path, a.arch, a.settings.model, tokenizer.digest)
        facts = checkpoint.facts
        scorer = Scorer.of(checkpoint, tokenizer.newline_id, a.runtime)
        records = [score_task(scorer, task, a.settings, words) for task in tasks]
        source = PretrainedModel(a.arch, facts.seed)
        digests = {"checkpoint": facts.sha256, "tokenizer": tokenizer.digest, "code": a.code}
        for task, record in zip(tasks, records, strict=True):
            record |= facts.origin() | {"digests": {**digests, "data": task.labelled_digest}}
            path = source.zero_shot(a.results, task.spec.name, facts.update)
            ZeroShotScore(**record).write(path)
        names = ", ".join(task.spec.name for task in tasks)
        print(f"{source.name} seed {source.seed} {path.stem}: scored {names}", flush=True)
