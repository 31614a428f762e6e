"""What the analysis knows of a study: its lines and values, with a cell for each task."""

from typing import Literal

from pydantic import Field

from gpt1.cell import Cell
from tasks.common.settings import Settings


class StudyHead(Settings):
    """What the page says of a study, whether or not it was run."""

    name: str
    heading: str
    question: str = ""


class StudyHeads(Settings):
    """The studies that a run can be asked for, in their order."""

    studies: list[StudyHead] = []


class Point(Settings):
    """A line of a study at a value of its axis: a cell for each task.

    `model` names the variant whose language model the cells start from, if it is not the run's own.
    """

    line: str
    value: str = ""  # of a line without an axis
    cells: list[Cell]
    model: str = ""

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
    kind: Literal["scores", "prediction"] = "scores"
    points: list[Point] = Field(min_length=1)
    predicted: dict[str, list[str]] = {}

    @property
    def values(self) -> list[str]:
        """The values of the axis, in their order."""
        return list(dict.fromkeys(point.value for point in self.points if point.value))

    def cells(self) -> list[Cell]:
        """Every cell once."""
        return list(dict.fromkeys(cell for point in self.points for cell in point.cells))

    def model(self, line: str) -> str:
        """The variant of the language model that a line starts from."""
        return next(point.model for point in self.points if point.line == line)
