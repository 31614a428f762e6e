"""The section `experiment.studies`: what a study compares.

A study is a named set of cells with a table and a figure. Each of its cells is the grid's full
transformer with something changed; a change of nothing is that cell itself.
"""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from gpt1.cell import Arch, Aux
from gpt1.variant import Variant
from tasks.common.settings import Settings, first_fault, unique
from tasks.world.settings import Discourse

Value = Annotated[int, Field(ge=0)] | Annotated[float, Field(ge=0)] | str


class Change(Variant):
    """What is changed of the full transformer with the auxiliary loss."""

    arch: Arch = Field("transformer", description="transformer or lstm")
    aux: Aux = Field("on", description='"on" or "off", with or without the auxiliary LM loss')
    n_transfer: Annotated[int, Field(ge=0)] | Literal["none", "all"] = Field(
        "all", description="number of layers that are transferred, none for nothing at all"
    )
    without: Annotated[list[Discourse], unique] = Field(
        [],
        description="kinds of discourse that are left out of the books, the embedded world's, that "
        "the language model reads; the others fill as many words",
    )
    planted: Annotated[list[Annotated[int, Field(ge=1, le=1000)]], unique] = Field(
        [],
        description="how often reported rows are planted into the books that the language model "
        "reads, such as [1, 16]: other rows for each (tasks.world.planting)",
    )

    @property
    def books(self) -> str:
        """The name of the books that its language model reads; empty if the run's own."""
        if self.without:
            return "-".join(("without", *sorted(self.without)))
        return "-".join(("planted", *map(str, sorted(self.planted)))) if self.planted else ""


class Study(Settings):
    """A named set of cells with a table and a figure: every line at every value of one key."""

    heading: Annotated[str, Field(min_length=1)] = Field(description="the heading of its table")
    asks: str = Field(
        "",
        description="what it compares, in one plain sentence: the caption of its table and of its "
        "figure",
    )
    tasks: Annotated[list[str], Field(min_length=1), unique] = Field(
        description="the tasks of experiment.tasks that it is run on"
    )
    axis: str | None = Field(
        None, description="the key of a change whose values it compares, such as lm_coef"
    )
    values: Annotated[list[Value], unique] = Field(
        [], description="the values of that key, in the order of the figure"
    )
    lines: Annotated[dict[str, Change], Field(min_length=1)] = Field(
        {"full": Change()},
        description="what is changed of the full transformer, each by the name of its line",
    )
    beside: dict[str, Change] = Field(
        {}, description="what the lines are compared with, whatever the value of the axis"
    )
    predicted: dict[str, Annotated[list[str], unique]] = Field(
        {},
        description="the tasks on which a line is predicted to lose half or more of the gain by "
        "pre-training, which is that of the first line beside over the second; of every line",
    )
    figure: Literal["scores", "differences"] = Field(
        "scores",
        description="whether its figure shows the scores or the differences to what they are "
        "compared with",
    )

    @model_validator(mode="after")
    def _check_points(self) -> Self:
        if bool(self.axis) != bool(self.values):
            raise ValueError("axis and values: one without the other")
        if self.axis and self.axis not in Change.model_fields:
            raise ValueError(f"axis: {self.axis!r} is no key of a change")
        if both := self.lines.keys() & self.beside.keys():
            raise ValueError(f"lines and beside: both have {min(both)!r}")
        self._check_predicted()
        for line, change in self.lines.items():
            if self.axis and self.axis in change.model_fields_set:
                raise ValueError(f"lines.{line}.{self.axis} is the axis")
        try:
            list(self.points())
        except ValidationError as error:
            raise ValueError(f"values: {first_fault(error)}") from None
        return self

    def _check_predicted(self) -> None:
        if not self.predicted:
            return
        if self.predicted.keys() != self.lines.keys() or self.axis:
            raise ValueError("predicted and lines: predict for each line, of no axis")
        if len(self.beside) != 2:
            raise ValueError("predicted and beside: give a line with pre-training and one without")
        for line, names in self.predicted.items():
            for name in names:
                if name not in self.tasks:
                    raise ValueError(f"predicted.{line}: {name!r} is not in tasks")

    def points(self) -> Iterator[tuple[str, Value | None, Change]]:
        """Every line at every value, those beside first; None where a line has no value."""
        for line, change in self.beside.items():
            yield line, None, change
        for line, change in self.lines.items():
            values: list[Value | None] = [*self.values] or [None]
            for value in values:
                yield line, value, change if value is None else self._at(change, value)

    def _at(self, change: Change, value: Any) -> Change:
        given = {key: getattr(change, key) for key in change.model_fields_set}
        return Change(**given, **{str(self.axis): value})
