"""What the analysis knows of a study: its lines and values, with a cell for each task."""

from typing import Literal

from pydantic import Field

from gpt1.cell import Cell
from tasks.common.settings import Settings


class Point(Settings):
    """A line of a study at a value of its axis: a cell for each task."""

    line: str
    value: str  # empty where the line has none
    cells: list[Cell]


class StudyPlan(Settings):
    """A study with its cells. `beside` names the lines that have no axis, `axis` may be empty."""

    name: str
    title: str
    axis: str
    tasks: list[str]
    lines: list[str]
    beside: list[str]
    figure: Literal["scores", "differences"] = "scores"
    points: list[Point] = Field(min_length=1)

    def cells(self) -> list[Cell]:
        """Every cell once."""
        return list(dict.fromkeys(cell for point in self.points for cell in point.cells))
