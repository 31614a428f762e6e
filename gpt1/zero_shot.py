"""Score checkpoints zero-shot along pre-training, by the paper's four heuristics.

    python -m gpt1.zero_shot transformer --encoded results/encoded/cola ... --checkpoints ...

Source: paper 5, "Zero-shot Behaviors". CoLA: threshold on the mean token log-probability (chosen on
training rows for the best Matthews correlation, reported on dev). SST-2: after the text and `very`,
is `positive` or `negative` the likelier word (over all its tokens)? RACE: the answer with the
highest mean token log-probability given document and question. DPRD: the candidate for which the
rest of the sentence is likelier. `gpt1.model.scorer` defines the log-probabilities.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpt1.cell import ARCHS, Arch
from gpt1.model.scorer import Scorer
from gpt1.settings import ZeroShotSettings
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.batching import sample
from gpt1.training.encoded import EncodedSplit, EncodedTask
from gpt1.training.encoded import load as load_encoded
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build, load_checkpoint
from tasks.common.errors import InputError, run
from tasks.common.files import write_json
from tasks.metrics import score_split

Splits = dict[str, EncodedSplit]


def sentence_scores(scorer: Scorer, split: EncodedSplit) -> np.ndarray:
    """CoLA: mean token log-probability of each sentence, `[n]`."""
    tokens = scorer.log_probabilities([scorer.sequence([], text) for text in split.first])
    return np.array([values.mean() for values in tokens])


def best_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    """The threshold on `scores` with the best Matthews correlation; above it the label is 1.

    The candidates are the midpoints between neighbouring scores; ties go to the lowest.
    """
    order = np.argsort(scores, kind="stable")
    s, y = scores[order], np.asarray(labels)[order].astype(float)
    positives, n = y.sum(), len(y)
    below = np.cumsum(y)[:-1]  # positives at or under each cut
    under = np.arange(1, n)
    true_positive, false_positive = positives - below, (n - under) - (positives - below)
    true_negative, false_negative = under - below, below
    norm = np.sqrt(
        (true_positive + false_positive)
        * (true_positive + false_negative)
        * (true_negative + false_positive)
        * (true_negative + false_negative)
    )
    product = true_positive * true_negative - false_positive * false_negative
    matthews = np.divide(product, norm, out=np.zeros_like(norm), where=norm > 0)
    matthews[s[1:] == s[:-1]] = -1.0  # equal scores cannot be separated
    if not len(matthews):
        return float(s[0])
    cut = int(np.argmax(matthews))
    return float((s[cut] + s[cut + 1]) / 2)


def choice_predictions(scorer: Scorer, split: EncodedSplit, task: str) -> np.ndarray:
    """RACE: the likeliest answer; DPRD: the candidate that makes the rest likeliest. `[n]`.

    Ties go to the first choice. The mean is over the scored tokens only.
    """
    sequences, counts = [], []
    for first, second, choices in zip(split.first, split.second, split.choices, strict=True):
        for choice in choices:
            context, scored = (
                ([first, choice], second) if task == "dprd" else ([first, second], choice)
            )
            sequences.append(scorer.sequence(context, scored))
        counts.append(len(choices))
    means = [values.mean() for values in scorer.log_probabilities(sequences)]
    ends = np.cumsum(counts)
    return np.array([int(np.argmax(means[e - c : e])) for c, e in zip(counts, ends, strict=True)])


def predict(
    scorer: Scorer, task: str, splits: Splits, split: str, words: dict[str, np.ndarray]
) -> tuple[np.ndarray, float | None]:
    """Predictions for a split of a task, and CoLA's threshold; `words` as of `sentiment_words`."""
    if task == "cola":
        threshold = best_threshold(sentence_scores(scorer, splits["train"]), splits["train"].labels)
        return (sentence_scores(scorer, splits[split]) > threshold).astype(int), threshold
    if task == "sst2":
        contexts = [np.append(text, words["very"]) for text in splits[split].first]
        answers = [words["negative"], words["positive"]]
        return scorer.continuations(contexts, answers).argmax(1), None
    return choice_predictions(scorer, splits[split], task), None


def sentiment_words(tokenizer: Tokenizer) -> dict[str, np.ndarray]:
    """Ids of the words of SST-2's heuristic; one token each in the published vocabulary.

    Raises InputError if the tokenizer lacks a letter of one.
    """
    ids = {word: np.array(tokenizer.encode(word)) for word in ("very", "positive", "negative")}
    for word, tokens in ids.items():
        if not tokens.all():  # id 0 is <unk>
            raise InputError(
                f"zero-shot sst2: the tokenizer cannot spell {word!r}, its letters are not in the "
                "corpus; leave sst2 out of experiment.zero_shot.tasks"
            )
    return ids


class ZeroShot:
    """Scores checkpoints of one architecture on the encoded tasks."""

    def __init__(
        self,
        arch: Arch,
        tasks: list[EncodedTask],
        tokenizer: Tokenizer,
        settings: ZeroShotSettings,
        runtime: Runtime,
        code: str = "",
    ):
        self.arch, self.tasks, self.tokenizer = arch, tasks, tokenizer
        self.settings, self.runtime, self.code = settings, runtime, code
        needs_words = any(task.spec.name == "sst2" for task in tasks)
        self.words = sentiment_words(tokenizer) if needs_words else {}

    def score(self, path: str | Path) -> list[dict[str, Any]]:
        """The JSON of every task for the checkpoint at `path`.

        `score` is the main metric on the main split, 0 to 100, of `n` rows; `relative` puts it
        between `random` (0) and `best` (1).
        """
        model_settings = self.settings.model
        checkpoint = load_checkpoint(path, self.arch, model_settings, self.tokenizer.digest)
        model = build(self.arch, model_settings, checkpoint.facts.n_vocab)
        model.load_state_dict(checkpoint.tensors)
        scorer = Scorer(model.to(self.runtime.device), self.tokenizer.newline_id, self.runtime)
        records = []
        for task in self.tasks:
            spec, split = task.spec, task.main
            splits = {
                name: rows.take(sample(len(rows), self.settings.limit))
                for name, rows in task.splits.items()
                if name in ("train", split)
            }
            predictions, threshold = predict(scorer, spec.name, splits, split, self.words)
            rows = splits[split]
            scores = score_split(spec, predictions, rows.labels, rows.groups, split)
            score, scale = scores[split][spec.metric], self.settings.normalise[spec.name]
            records.append(
                {
                    "arch": self.arch,
                    "task": spec.name,
                    "update": checkpoint.facts.update,
                    "tokens": checkpoint.facts.tokens,
                    "split": split,
                    "metric": spec.metric,
                    "score": score,
                    "scores": scores,
                    "n": len(rows),
                    "threshold": threshold,
                    **scale.model_dump(),
                    "relative": (score - scale.random) / (scale.best - scale.random),
                    "digests": {
                        "checkpoint": checkpoint.facts.sha256,
                        "data": task.labelled_digest,
                        "tokenizer": self.tokenizer.digest,
                        "code": self.code,
                    },
                }
            )
        return records


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
    parser.add_argument("--out", required=True, type=Path)
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
    zero_shot = ZeroShot(a.arch, tasks, tokenizer, a.settings, a.runtime, a.code)
    for path in a.checkpoints:
        records = zero_shot.score(path)
        for record in records:
            write_json(a.out / record["task"] / f"update-{record['update']}.json", record)
        names = ", ".join(record["task"] for record in records)
        print(f"{a.arch} {path.stem}: scored {names}", flush=True)


if __name__ == "__main__":
    sys.exit(run(main))
