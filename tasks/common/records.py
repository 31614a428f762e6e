"""JSON files that one program writes and others read: one class for each, which does both."""

import json
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json
from tasks.common.settings import first_fault

REMEDY = "delete the file and run its job again"
Score = Annotated[float, Field(ge=-100.001, le=100.001)]  # a correlation may round past 1
Scores = dict[str, dict[str, Score]]  # by split (or split_group) and metric
Counts = dict[str, int]


def facts_path(folder: str | Path) -> Path:
    """The JSON file that describes a folder: beside it, with the same name."""
    return Path(f"{folder}.json")


class Record(BaseModel):
    """Base of all records: no silent conversion, no NaN or infinity; unknown keys are ignored."""

    model_config = ConfigDict(frozen=True, strict=True, allow_inf_nan=False)

    @classmethod
    def read(cls, path: Path, remedy: str = REMEDY, **of_path: Any) -> Self:
        """The record in a JSON file; `of_path` gives the fields that its path determines.

        Raises InputError, naming file and key, if it is missing, damaged or does not fit its path.
        """
        try:
            record = cls.model_validate_json(json.dumps(read_json(path)))
        except ValidationError as error:
            raise InputError(f"{path}: {first_fault(error)}; {remedy}") from None
        for key, expected in of_path.items():
            value = getattr(record, key)
            if value != expected:
                raise InputError(
                    f"{path}: {key!r} is {value!r}, its path says {expected!r}; {remedy}"
                )
        return record

    @classmethod
    def find(cls, path: Path, **of_path: Any) -> Self | None:
        """The record in a JSON file, None if there is no file; raises InputError like `read`."""
        return cls.read(path, **of_path) if path.exists() else None

    def write(self, path: Path) -> None:
        """Write the record as JSON, atomically."""
        write_json(path, self.model_dump(mode="json"))


class Baselines(Record):
    """The scores that any model has to beat."""

    majority: Scores
    bag_of_words: Scores


class BaselinesRecord(Baselines):
    """`baselines/TASK.json`; a baseline that does not apply to the task has no scores."""

    task: str
    word_overlap: Scores = {}
    one_text: Scores = {}
    word_pairs: Scores = {}
    word_classes: Scores = {}
    class_orders: Scores = {}
    nearest_neighbours: Scores = {}
    affix_bigrams: Scores = {}


class DocumentFacts(Record):
    """A document's counts of words, lines and raw bytes; `sha256` is of the normalised text."""

    name: str
    words: int
    lines: int
    source_bytes: int
    sha256: str
    heldout: bool


class DocumentsFacts(Record):
    """`<folder>.json`, beside the folder of documents; `rows` and `origin` describe a hub source.

    `words.tsv` has `word_types` different words, and its digest is `words_sha256`.
    """

    source: str
    origin: dict[str, str]
    rows: dict[str, Counts]
    versions: dict[str, str]
    word_types: int
    words_sha256: str
    documents: list[DocumentFacts]
    made: bool = False  # the books of a synthetic world
