"""Zero-shot scores of a language model along its pre-training, by the paper's four heuristics.

    python -m gpt1.zero_shot transformer --encoded results/encoded/cola.npz ... --checkpoints ...

Source: paper 5, "Zero-shot Behaviors". CoLA: threshold on the mean token log-probability (chosen on
training rows for the best Matthews, reported on dev). SST-2: after the text and `very`, is
`positive` or `negative` the likelier word (of all its pieces)? RACE: the answer with the highest
mean token log-probability given document and question. DPRD: the candidate for which the rest of
the sentence is likelier. What is likely is `gpt1.model.scorer`'s to say.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpt1.model.scorer import Scorer
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.batching import sample
from gpt1.training.encoded import EncodedSplit
from gpt1.training.encoded import load as load_encoded
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build, load_checkpoint
from tasks.common.errors import InputError, run
from tasks.common.files import json_argument, sha256_file, write_json
from tasks.metrics import score_split


def sentence_scores(scorer: Scorer, split: EncodedSplit) -> np.ndarray:
    """CoLA: mean token log-probability of each sentence, `[n]`."""
    found = scorer.log_probabilities([scorer.sequence([], text) for text in split.first])
    return np.array([values.mean() for values in found])


def best_threshold(scores: np.ndarray, labels: np.ndarray) -> float:
    """The threshold on `scores` with the best Matthews correlation; above it the label is 1.

    Tried are the midpoints between neighbouring scores; the first of equally good ones is taken.
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
    matthews[s[1:] == s[:-1]] = -1.0  # equal scores cannot be parted
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


def predictions(
    scorer: Scorer,
    name: str,
    splits: dict[str, EncodedSplit],
    split: str,
    words: dict[str, np.ndarray],
) -> tuple[np.ndarray, float | None]:
    """Predictions for the reported split of a task, and CoLA's threshold."""
    if name == "cola":
        threshold = best_threshold(sentence_scores(scorer, splits["train"]), splits["train"].labels)
        return (sentence_scores(scorer, splits[split]) > threshold).astype(int), threshold
    if name == "sst2":
        contexts = [np.append(text, words["very"]) for text in splits[split].first]
        answers = [words["negative"], words["positive"]]
        return scorer.continuations(contexts, answers).argmax(1), None
    return choice_predictions(scorer, splits[split], name), None


def sentiment_words(tokenizer: Tokenizer) -> dict[str, np.ndarray]:
    """Ids of the words of SST-2's heuristic; one token each in the published vocabulary."""
    ids = {word: np.array(tokenizer.encode(word)) for word in ("very", "positive", "negative")}
    for word, pieces in ids.items():
        if not pieces.all():  # id 0 is <unk>
            raise InputError(
                f"zero-shot sst2: the tokenizer cannot spell {word!r}, its letters are not in the "
                "corpus; leave sst2 out of experiment.zero_shot.tasks"
            )
    return ids


def score_checkpoint(
    path: str,
    arch: str,
    tasks: dict[str, Any],
    tokenizer: Tokenizer,
    settings: dict[str, Any],
    runtime: Runtime,
    code: str,
) -> list[dict[str, Any]]:
    """One record per task for a checkpoint."""
    tensors, meta = load_checkpoint(path, arch, settings["model"], tokenizer.digest)
    model = build(arch, settings["model"], meta["n_vocab"])
    model.load_state_dict(tensors)
    scorer = Scorer(model.to(runtime.device), tokenizer.newline_id, runtime)
    options, records = settings["zero_shot"], []
    words = sentiment_words(tokenizer) if "sst2" in tasks else {}
    for name, (encoding, data) in tasks.items():
        task = encoding.kind
        split = next(s for s in encoding.splits if s not in ("train", "select"))
        limit = options["limit"]
        splits = {k: v.take(sample(len(v), limit)) for k, v in encoding.splits.items()}
        values, threshold = predictions(scorer, name, splits, split, words)
        held = splits[split]
        scores = score_split(task, values, held.labels, held.groups, split)
        score = scores[split][task.metric]
        scale = options["normalise"][name]
        records.append(
            {
                "arch": arch,
                "task": name,
                "update": meta["update"],
                "tokens": meta["tokens"],
                "split": split,
                "metric": task.metric,
                "score": score,
                "scores": scores,
                "n": len(held.labels),
                "threshold": threshold,
                **scale,
                "relative": (score - scale["random"]) / (scale["best"] - scale["random"]),
                "digests": {
                    "checkpoint": meta["sha256"],
                    "data": data,
                    "tokenizer": tokenizer.digest,
                    "code": code,
                },
            }
        )
    return records


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("arch", choices=["transformer", "lstm"])
    parser.add_argument("--encoded", required=True, nargs="+")
    parser.add_argument("--tokenizer", required=True)
    parser.add_argument("--checkpoints", required=True, nargs="+")
    parser.add_argument("--settings", required=True, type=json_argument)
    parser.add_argument("--runtime", default={}, type=json_argument)
    parser.add_argument("--code", default="")
    parser.add_argument("--out", required=True)
    a = parser.parse_args()
    runtime = Runtime(**a.runtime)
    runtime.start()
    tokenizer = Tokenizer.load(a.tokenizer)
    tasks = {}
    for path in a.encoded:
        encoding = load_encoded(path)
        if encoding.tokenizer != tokenizer.digest:
            raise InputError(
                f"{path}: encoded by another tokenizer than {a.tokenizer}; encode anew"
            )
        tasks[encoding.kind.name] = (encoding, sha256_file(path))
    for path in a.checkpoints:
        for record in score_checkpoint(path, a.arch, tasks, tokenizer, a.settings, runtime, a.code):
            update, name = record["update"], record["task"]
            write_json(Path(a.out) / name / f"update-{update}.json", record)
        shown = f"update {record['update']}"
        print(f"{a.arch} {shown}: scored {', '.join(tasks)}", flush=True)


if __name__ == "__main__":
    sys.exit(run(main))
