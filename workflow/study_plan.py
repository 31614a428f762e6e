"""What the analysis knows of a study: its lines and values, with a cell for each task."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from gpt1.cell import Cell
from tasks.common.settings import Settings


def books_folder(results: str | Path, name: str) -> Path:
    """Where all that is made of a study's own books lies; without a name the results themselves.

    It is laid out as these are: world, corpus, pretrain, cells, predictions, probes.
    """
    return Path(results, "books", name) if name else Path(results)


class StudyHead(Settings):
    """What the page says of a study, whether or not it was run."""

    name: str
    heading: str
    asks: str = ""


class StudyHeads(Settings):
    """The studies that a run can be asked for, in their order."""

    studies: list[StudyHead] = []


class Point(Settings):
    """A line of a study at a value of its axis: a cell for each task.

    `books` names what the language model read, where that is not what the run's own did.
    """

    line: str
    value: str  # empty where the line has none
    cells: list[Cell]
    books: str = ""

    def folder(self, results: str | Path) -> Path:
        """The results folder that its cells are below."""
        return books_folder(results, self.books)

    def place(self, cell: Cell) -> str:
        """One of its cells, as the table names it."""
        return books_folder("", self.books).joinpath(cell.place).as_posix()


class StudyPlan(Settings):
    """A study with its cells. `beside` names the lines that have no axis, `axis` may be empty.

    `predicted` are, by line, the tasks on which it is predicted to lose what pre-training gives.
    """

    name: str
    title: str
    axis: str
    tasks: list[str]
    lines: list[str]
    beside: list[str]
    figure: Literal["scores", "differences"] = "scores"
    points: list[Point] = Field(min_length=1)
    predicted: dict[str, list[str]] = {}

    def cells(self) -> list[Cell]:
        """Every cell once."""
        return list(dict.fromkeys(cell for point in self.points for cell in point.cells))

    def books(self) -> list[str]:
        """The names of the books that its language models read, the run's own being none."""
        return list(dict.fromkeys(point.books for point in self.points))

    @property
    def is_of_planted_rows(self) -> bool:
        """Whether it asks what planted rows do."""
        return any(name.startswith("planted") for name in self.books())
