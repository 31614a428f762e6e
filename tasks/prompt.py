"""Zero-shot prompts: templates over columns that ask a language model about a task's rows.

A choice is scored by the mean log-probability of its tokens after the row's texts: as it is
(`prompt`), or minus the same mean after the prompt's words without the texts (`calibrated`). The
latter is the unconditional normalisation of Brown et al. 2020 (2.4), here of the mean over tokens;
Holtzman et al. 2021 call it domain-conditional PMI, and Zhao et al. 2021 calibrate with such a
content-free input. The paper's own heuristics (5) are prompts too (`heuristic`).
"""

import re
from dataclasses import dataclass
from string import Formatter
from typing import Literal

PLACES = ("first", "second", "choice")
GLUED = re.compile(r"\S\{|\}\S")
Scoring = Literal["heuristic", "prompt", "calibrated"]


def parts(template: str) -> list[tuple[str, str | None]]:
    """The literal texts of a template, each with the name of the column after it, or None."""
    return [(words, column) for words, column, *_ in Formatter().parse(template)]


@dataclass(frozen=True)  # not pydantic, so that programs start at once
class Prompt:
    """Templates for the context, `before`, and for the tokens to score, `scored`.

    `choices` are in label order and may have columns too; without them the row's own choices are
    scored. For STS-B the prediction is the last choice's score minus the first's. `heuristic` says
    how the paper's own heuristic combines the tokens of a choice; `threshold`: their mean is
    compared with the best threshold on training rows.
    """

    before: str = "{first} {second}"
    scored: str = "{choice}"
    choices: tuple[str, ...] = ()
    heuristic: Literal["mean", "sum", "threshold"] | None = None

    def __post_init__(self) -> None:
        for template in (self.before, self.scored, *self.choices):
            unknown = {column for _, column in parts(template)} - {None, *PLACES}
            if unknown:
                raise ValueError(f"no column {min(map(str, unknown))!r}; give {', '.join(PLACES)}")
            if GLUED.search(template):  # texts are encoded separately, so no word may span two
                raise ValueError("a column touches a word; put a blank between them")

    @property
    def scorings(self) -> list[Scoring]:
        """The scorings of a checkpoint on the task; the first one gives the task's score."""
        paper: list[Scoring] = ["heuristic"] if self.heuristic else []
        return [*paper, "prompt", "calibrated"] if self.scored == "{choice}" else paper


# For a claim after what happened: worded as in the synthetic books, in plain English.
CLAIM = "Claim:"
TRUE, FALSE, UNKNOWN = "True.", "False.", "Perhaps."
CLAIMED = f"{{first}} {CLAIM} {{second}}"
# The verdicts in the order of a task's labels.
TRUE_UNKNOWN_FALSE = Prompt(CLAIMED, choices=(TRUE, UNKNOWN, FALSE))
TRUE_FALSE = Prompt(CLAIMED, choices=(TRUE, FALSE))
FALSE_TRUE = Prompt(CLAIMED, choices=(FALSE, TRUE))
