"""The twelve tasks put into words, for a language model that was never trained on one.

Source: GPT-2 (Radford et al. 2019, 3) and GPT-3 (Brown et al. 2020, appendix G) for the manner and
some of the wordings. An answer's log-probability without any text is subtracted, since some words
are likelier whatever the texts say (Holtzman et al. 2021, arXiv:2104.08315: domain conditional
PMI); of a row's own choices the mean log-probabilities are compared instead. All wordings are lower
case, as the vocabulary is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gpt1.training.encoded import EncodedSplit, EncodedTask
from gpt1.training.finetuning import Answers
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.weights.checkpoint import Checkpoint
from tasks.common.errors import InputError
from tasks.metrics import score_split

Encode = Callable[[str], list[int]]


@dataclass(frozen=True)
class Prompt:
    """What comes before the answer, with `{first}` and `{second}` for the texts of a row.

    `answers` has one for each class; a multiple choice has none, its choices are the answers.
    """

    template: str
    answers: tuple[str, ...] = ()


THREE_WAY = Prompt(
    "{first} question: {second} true, false or neither? answer:", ("true", "neither", "false")
)
TRUE = "{first} question: {second} true or false? answer:"
SAME = "{first} {second} question: do both say the same? answer:"
PROMPTS = {
    "snli": THREE_WAY,
    "mnli": THREE_WAY,
    "qnli": Prompt(
        "{second} question: {first} can that be answered, yes or no? answer:", ("yes", "no")
    ),
    "rte": Prompt(TRUE, ("true", "false")),
    "scitail": Prompt(TRUE, ("false", "true")),
    "race": Prompt("{first} question: {second} answer:"),
    "story_cloze": Prompt("{first}"),
    "mrpc": Prompt(SAME, ("no", "yes")),
    "qqp": Prompt(SAME, ("no", "yes")),
    "stsb": Prompt(SAME, ("no", "yes")),
    "sst2": Prompt("{first} question: is that good or bad? answer:", ("bad", "good")),
    "cola": Prompt("{first} question: is that good english? answer:", ("no", "yes")),
}


def answer(
    seed: int,
    checkpoint: Checkpoint,
    task: EncodedTask,
    encode: Encode,
    newline: int,
    runtime: Runtime,
) -> Answers:
    """What a language model that was never trained on a task answers on its reported splits.

    `encode` and `newline`, the id of the newline word, are the tokenizer's. Raises InputError for a
    task without a prompt.
    """
    if task.spec.name not in PROMPTS:
        raise InputError(f"{task.spec.name}: has no wording; add one to gpt1/prompts.py")
    scorer = Scorer.of(checkpoint, newline, runtime)
    predictions: dict[str, list[float]] = {}
    scores: dict[str, dict[str, float]] = {}
    for name in task.named("report"):
        split = task.splits[name]
        found = predict(scorer, encode, task.spec.name, split)
        predictions[name] = found.tolist()
        scores |= score_split(task.spec, found, split.labels, split.groups, name)
    return Answers(
        seed=seed,
        scores=scores,
        rows={name: len(task.splits[name]) for name in predictions},
        constant=any(float(np.ptp(values)) < 1e-6 for values in predictions.values()),
        predictions=predictions,
    )


def predict(scorer: Scorer, encode: Encode, task: str, split: EncodedSplit) -> np.ndarray:
    """Predictions `[n]`: class or choice numbers; of STS-B how much likelier `yes` is, in nats."""
    prompt = PROMPTS[task]
    contexts = [
        _context(prompt, encode, first, second)
        for first, second in zip(split.first, split.second, strict=True)
    ]
    if not prompt.answers:
        rows = zip(contexts, split.choices, strict=True)
        return scorer.best_choices([[scorer.sequence(c, one) for one in own] for c, own in rows])
    answers = [np.array(encode(answer)) for answer in prompt.answers]
    scores = scorer.answers(contexts, answers)
    scores = scores - scorer.answers([_context(prompt, encode)], answers)
    return scores[:, 1] - scores[:, 0] if task == "stsb" else scores.argmax(1)


def _context(
    prompt: Prompt,
    encode: Encode,
    first: np.ndarray | None = None,
    second: np.ndarray | None = None,
) -> list[np.ndarray]:
    """The tokens before the answer; without texts, those of the wording alone."""
    texts = {"{first}": first, "{second}": second}
    nothing = np.empty(0, dtype=np.int64)
    parts = []
    for part in re.split(r"({first}|{second})", prompt.template):
        text = texts[part] if part in texts else np.array(encode(part.strip()), dtype=np.int64)
        parts.append(nothing if text is None else text)
    return parts
