"""What the analysis knows of a study: its lines and values, with a cell for each task."""

from typing import Any, Literal

from pydantic import Field, model_validator

from gpt1.cell import PERMUTED, Arch, Cell, Corpus, NTransfer, PretrainedModel
from tasks.common.settings import Settings

Aux = Literal["on", "off"]  # with or without the auxiliary LM loss


class StudyHead(Settings):
    """What the page says of a study, whether or not it was run."""

    name: str
    heading: str
    question: str = ""


class StudyHeads(Settings):
    """The studies that a run can be asked for, in their order."""

    studies: list[StudyHead] = []


class Line(Settings):
    """A line of the run: what its cells start from and are trained with.

    `n_layer` is the depth of its model and `corpus` what that read. `model` names the variant whose
    language models the cells start from, those of the seeds `pretrain`. It is `plain` if nothing
    else is another for it than what is named here.
    """

    name: str
    arch: Arch
    n_transfer: NTransfer
    n_layer: int
    aux: Aux
    corpus: Corpus
    model: str
    pretrain: list[int]
    plain: bool

    @property
    def is_control(self) -> bool:
        """Whether it is a negative control."""
        return self.corpus != "books"

    def models(self) -> list[PretrainedModel]:
        """The language models that its seeds start from, in turn."""
        permuted = self.corpus == PERMUTED
        return [PretrainedModel(self.arch, seed, self.model, permuted) for seed in self.pretrain]


class Point(Settings):
    """A line of a study at a value of its axis, with a cell for each task.

    `line` is its title in the study, `of` what it is; `value` is empty without an axis.
    """

    line: str
    value: str = ""
    of: Line
    cells: list[Cell] = Field(exclude=True)  # which the study's tasks tell

    @property
    def place(self) -> tuple[str, str]:
        """Its line and its value."""
        return self.line, self.value


class StudyPlan(Settings):
    """A study with its cells.

    `axis` is the last word of its key. `references` names the lines that have no axis. `predicted`
    are, by line, the tasks on which it is predicted to lose what pre-training gives.
    """

    title: str
    axis: str = ""
    tasks: list[str]
    lines: list[str]
    references: list[str] = []
    points: list[Point] = Field(min_length=1)
    predicted: dict[str, list[str]] = {}

    @model_validator(mode="before")
    @classmethod
    def _fill_cells(cls, given: Any) -> Any:
        """The cells that `to_json` leaves out."""
        points = [
            {**point, "cells": [Cell(point["of"]["name"], task) for task in given["tasks"]]}
            if isinstance(point, dict)
            else point
            for point in given["points"]
        ]
        return {**given, "points": points}

    @property
    def values(self) -> list[str]:
        """The values of the axis, in their order."""
        return list(dict.fromkeys(point.value for point in self.points if point.value))

    def cells(self) -> list[Cell]:
        """Every cell once."""
        return list(dict.fromkeys(cell for point in self.points for cell in point.cells))

    def line(self, title: str) -> Line:
        """What the first point of a line is of."""
        return next(point.of for point in self.points if point.line == title)
