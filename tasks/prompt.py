"""How a language model is asked about a task's rows without training: templates over columns.

A choice is scored by the mean log-probability of its tokens behind the row's texts: as it is
(`prompt`), or minus its mean behind the prompt's words without the texts (`calibrated`). That is
the unconditional normalisation of Brown et al. 2020 (2.4), here of the mean over tokens; Holtzman
et al. 2021 call it domain-conditional PMI, Zhao et al. 2021 calibrate by such an input without
content. The paper's own heuristics (5) are prompts, too (`heuristic`).
"""

import re
from dataclasses import dataclass
from string import Formatter
from typing import Literal

COLUMNS = ("first", "second", "choice")
GLUED = re.compile(r"\S\{|\}\S")
Scoring = Literal["heuristic", "prompt", "calibrated"]


def parts(template: str) -> list[tuple[str, str | None]]:
    """The words of a template, each with the name of the column behind them, if there is one."""
    return [(words, column) for words, column, *_ in Formatter().parse(template)]


def _check_template(template: str) -> None:
    unknown = {column for _, column in parts(template)} - {None, *COLUMNS}
    if unknown:
        raise ValueError(f"no column {min(map(str, unknown))!r}; give {', '.join(COLUMNS)}")
    if GLUED.search(template):  # texts are encoded apart, so none may share a word with others
        raise ValueError("a column touches a word; put a blank between them")


@dataclass(frozen=True)  # no pydantic, so that a program starts at once
class Prompt:
    """What stands before the tokens that are scored, and these; `choices` are in label order.

    Without `choices`, which may have columns, too, the row's own are scored. For STS-B the
    prediction is the difference of the last choice and the first. `heuristic` says how the paper's
    own one combines the tokens of a choice; `threshold`: their mean is compared with the best
    threshold on training rows.
    """

    before: str = "{first} {second}"
    scored: str = "{choice}"
    choices: tuple[str, ...] = ()
    heuristic: Literal["mean", "sum", "threshold"] | None = None

    def __post_init__(self) -> None:
        for template in (self.before, self.scored, *self.choices):
            _check_template(template)

    @property
    def scorings(self) -> list[Scoring]:
        """How a checkpoint is scored on the task; the first one's score stands for it."""
        paper: list[Scoring] = ["heuristic"] if self.heuristic else []
        return [*paper, "prompt", "calibrated"] if self.scored == "{choice}" else paper


# Of a claim behind what happened: as the synthetic books say it, in plain English.
CLAIM = "Claim:"
TRUE, FALSE, UNKNOWN = "True.", "False.", "Perhaps."
CLAIMED = f"{{first}} {CLAIM} {{second}}"
