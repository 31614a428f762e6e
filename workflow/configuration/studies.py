"""The section `experiment.studies`: what a study compares.

A study is a named set of cells with a table and a figure. Each of its lines is an overlay of the
config: the grid's fully transferred transformer, trained as the config says but for the keys that
the line gives. A line that gives none is that cell itself.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from gpt1.cell import Arch, Aux
from tasks.common.settings import Settings, first_fault, unique

SECTIONS = ("data", "experiment")  # what a line may change
LM_COEF = "experiment.finetune.lm_coef"


def flat(section: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The keys of a section, dotted or nested as they may be, each dotted to its end."""
    found: dict[str, Any] = {}
    for key, value in section.items():
        is_section = isinstance(value, dict) and value
        found |= flat(value, f"{prefix}{key}.") if is_section else {f"{prefix}{key}": value}
    return found


class Line(Settings):
    """A cell of the grid by its three keys, and the config's keys that are others for it."""

    model_config = ConfigDict(extra="allow")

    arch: Arch = "transformer"
    """The architecture, transformer or lstm."""
    aux: Aux = "on"
    """With or without the auxiliary LM loss, on or off."""
    n_transfer: Annotated[int, Field(ge=0)] | Literal["none", "all"] = "all"
    """The number of layers that are transferred, none for nothing at all."""

    @model_validator(mode="before")
    @classmethod
    def _dotted(cls, given: Any) -> Any:
        """Dotted keys alone. A weight of 0 is what the grid calls aux off, here and only here."""
        if not isinstance(given, dict):
            return given
        keys = flat(given)
        for key in keys.keys() - cls.model_fields.keys():
            _check_key(key)
        if keys.get(LM_COEF) == 0 and keys.get("aux") != "on":
            keys["aux"] = "off"
            del keys[LM_COEF]
        if keys.get("aux") == "off" and LM_COEF in keys:
            raise ValueError(f'{LM_COEF}: no effect with aux "off"; remove one of them')
        return keys

    @property
    def overlay(self) -> dict[str, Any]:
        """The values of the config's keys that are others, by their dotted names."""
        return dict(self.model_extra or {})

    def at(self, axis: str, value: Any) -> Self:
        """The same line at a value of the axis."""
        given = {key: getattr(self, key) for key in self.model_fields_set}
        return type(self).model_validate({**given, **self.overlay, axis: value})


class Study(Settings):
    """A named set of cells with a table and a figure: every line at every value of one key."""

    heading: Annotated[str, Field(min_length=1)]
    """The heading of its table."""
    question: str = ""
    """What it compares, in one plain sentence: the caption of its table and of its figure."""
    tasks: Annotated[list[str], Field(min_length=1), unique]
    """The tasks of experiment.tasks that it is run on."""
    axis: str | None = None
    """The key whose values it compares: arch, aux, n_transfer or any of the config, such as
    experiment.finetune.lm_coef."""
    values: list[Any] = []
    """The values of that key, in the order of the figure."""
    lines: Annotated[dict[str, Line], Field(min_length=1)] = {"full": Line()}
    """What each line has in place of the run's, such as {n_transfer: none} or
    {experiment.finetune.l2: 0}, by the line's name."""
    references: dict[str, Line] = {}
    """What the lines are compared with, whatever the value of the axis."""
    kind: Literal["scores", "prediction"] = "scores"
    """What is shown: the scores, or whether a prediction came true."""
    predicted: dict[str, Annotated[list[str], unique]] = {}
    """Of the kind prediction: the tasks on which a line is predicted to lose half or more of the
    gain by pre-training, which is that of the first reference over the second."""

    @model_validator(mode="after")
    def _check_points(self) -> Self:
        if bool(self.axis) != bool(self.values):
            raise ValueError("axis and values: one without the other")
        if self.axis and self.axis not in Line.model_fields:
            _check_key(self.axis)
        if both := self.lines.keys() & self.references.keys():
            raise ValueError(f"lines and references: both have {min(both)!r}")
        for name, line in self.lines.items():
            for key in (*line.model_fields_set, *line.overlay):
                if f"{key}.".startswith(f"{self.axis}."):
                    raise ValueError(f"lines.{name}: {key} is given by the axis")
        if len({str(value) for value in self.values}) < len(self.values):
            raise ValueError("values: each only once")
        try:
            list(self.points())
        except ValidationError as error:
            raise ValueError(f"values: {first_fault(error)}") from None
        self._check_kind()
        return self

    def _check_kind(self) -> None:
        if bool(self.predicted) != (self.kind == "prediction"):
            raise ValueError("predicted and kind: prediction go together")
        if self.kind != "prediction":
            return
        if self.predicted.keys() != self.lines.keys() or self.axis:
            raise ValueError("predicted and lines: predict for each line, of no axis")
        if len(self.references) != 2:
            raise ValueError("references: give one with pre-training and one without")
        for line, names in self.predicted.items():
            if others := set(names) - set(self.tasks):
                raise ValueError(f"predicted.{line}: {min(others)!r} is not in tasks")

    def points(self) -> Iterator[tuple[str, Any, Line]]:
        """Every line at every value, the references first; None where a line has no value."""
        for name, line in self.references.items():
            yield name, None, line
        for name, line in self.lines.items():
            if not self.axis:
                yield name, None, line
            for value in self.values:
                yield name, value, line.at(str(self.axis), value)


def _check_key(key: str) -> None:
    """Raise ValueError for a key that no config has at its head."""
    if key.partition(".")[0] in SECTIONS:
        return
    known = ", ".join(Line.model_fields)
    raise ValueError(f"{key[:60]}: unknown; give {known} or a key such as {LM_COEF}")
