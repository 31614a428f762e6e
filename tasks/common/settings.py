"""Typed settings of the programs, checked once by pydantic and immutable afterwards.

Every settings class of the suite derives from `Settings`. The classes compose into the config
(`workflow.configuration`), and a program parses its own part of it from the command line with
`Settings.parse`, so that a value is described, bounded and checked in one place only.
"""

import json
import os
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from tasks.common.errors import InputError

Count = Annotated[int, Field(ge=1, le=2**40)]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
SplitName = Annotated[str, Field(min_length=1)]


def _check_unique(values: list[Any]) -> list[Any]:
    if len(set(values)) < len(values):
        raise PydanticCustomError("not_unique", "each value may occur only once")
    return values


# Annotated[list[...], unique]: a list without repeated values.
unique = AfterValidator(_check_unique)


def _check_below(path: str) -> str:
    if os.path.normpath(path).split(os.sep)[0] == os.pardir:
        raise ValueError("leads out of the data folder; name one in it, or give an absolute path")
    return path


# A path below the data folder, or an absolute one.
DataPath = Annotated[str, Field(min_length=1), AfterValidator(_check_below)]


class Settings(BaseModel):
    """Base of all settings: frozen, no unknown keys, no silent conversion, no NaN or infinity."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,  # which describe the keys
    )

    @classmethod
    def parse(cls, text: str) -> Self:
        """The settings that a command line gives as JSON. Raises InputError for an invalid value.

        Use as the `type=` of an argparse argument.
        """
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            raise InputError(first_fault(error)) from None

    def to_json(self) -> str:
        """The settings as `parse` reads them, keys in their order, which may mean something."""
        return json.dumps(self.model_dump(mode="json"))


def first_fault(error: ValidationError) -> str:
    """The first fault that pydantic found: the key's path, what was found, what was expected."""
    fault = error.errors(include_url=False)[0]
    path = ".".join(map(str, fault["loc"]))
    at = f"{path[:100] or error.title}: "
    if fault["type"] == "missing":
        return f"{at}missing"
    if fault["type"] in ("model_type", "model_attributes_type", "dict_type"):
        return f"{at}found {fault['input']!r:.60}; expected a JSON object"
    return f"{at}found {fault['input']!r:.60}; {fault['msg'].lower()}"
