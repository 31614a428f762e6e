"""Typed reading of the small JSON files of a run: a model for each kind, with all its checks.

Keys that the analysis does not use are ignored; NaN, infinity and silent conversions are refused.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from gpt1.cell import Arch, Aux, Corpus, NTransfer
from gpt1.settings import ModelSettings
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tasks.common.settings import first_fault

REMEDY = "delete the file and run its job again"
Score = Annotated[float, Field(ge=-100.001, le=100.001)]  # a correlation may round past 1
Scores = dict[str, dict[str, Score]]  # by split and metric


class Record(BaseModel):
    """Base of all records."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)

    @classmethod
    def read(cls, path: Path, **place: Any) -> Self:
        """The record in a JSON file; `place` gives fields whose value its path determines.

        Raises InputError, naming file and key, if it is missing, damaged or of another place.
        """
        try:
            record = cls.model_validate(read_json(path))
        except ValidationError as error:
            raise InputError(f"{path}: {first_fault(error)}; {REMEDY}") from None
        for key, expected in place.items():
            found = getattr(record, key)
            if found != expected:
                raise InputError(
                    f"{path}: {key!r} is {found!r}, its path says {expected!r}; {REMEDY}"
                )
        return record

    @classmethod
    def find(cls, path: Path, **place: Any) -> Self | None:
        """The record in a JSON file that need not be there; raises InputError like `read`."""
        return cls.read(path, **place) if path.exists() else None


def read_examples(results: Path, names: Iterable[str]) -> dict[str, "ExamplesRecord"]:
    """The facts of those tasks that were prepared. Raises InputError for a damaged file."""
    found = {name: ExamplesRecord.find(results / "examples" / f"{name}.json") for name in names}
    return {name: record for name, record in found.items() if record}


def check_examples(path: Path, digests: dict[str, str], other: Path, known: dict[str, str]) -> None:
    """Raise InputError unless the `digests` in `path`, by split, are those in the file `other`."""
    for split, digest in digests.items():
        if known.get(split) != digest:
            raise InputError(f"{path}: its {split} rows are not those of {other}; {REMEDY}")


class Run(Record):
    """One seed of a cell; `select_by_epoch` are the scores by which its epoch was chosen."""

    seed: int
    pretrain_seed: int
    scores: Scores
    alarms: list[str]
    select_by_epoch: list[dict[str, float]] = []
    train_tokens: float
    train_seconds: float
    peak_mb: float | None = None
    cpu: str = ""


class Baselines(Record):
    """The scores that any model has to beat."""

    majority: Scores
    bag_of_words: Scores


class BaselinesRecord(Baselines):
    """`baselines/TASK.json`; of the baselines that a task does not have there are no scores."""

    task: str
    word_overlap: Scores = {}
    one_text: Scores = {}
    word_pairs: Scores = {}
    word_classes: Scores = {}
    affix_bigrams: Scores = {}


class CellRecord(Record):
    """`cells/ARCH/TASK/aux-X/layers-N.json`; `predictions` is the SHA-256 of their file."""

    arch: Arch
    task: str
    aux: Aux
    n_transfer: NTransfer
    corpus: Corpus
    variant: str = ""
    baselines: Baselines
    seeds: list[Run]
    predictions: str = Field(validation_alias=AliasPath("digests", "predictions"))


class Processor(Record):
    """The CPU of one seed of a cell: its model, and the instructions that torch used."""

    cpu: str = ""


class Environment(Record):
    """What a cell was trained with, by its JSON: runtime settings, CPUs, versions of packages."""

    runtime: dict[str, str | bool | int | None] = {}
    versions: dict[str, str] = {}
    seeds: list[Processor] = []

    @property
    def description(self) -> tuple[tuple[str, str], ...]:
        """All of it by name, as text; the CPUs are those of all seeds."""
        cpus = "; ".join(sorted({seed.cpu for seed in self.seeds}))
        named = {**self.runtime, "processor": cpus, **self.versions}
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in named.items()}
        return tuple((name, text) for name, text in texts.items() if text)


class ExamplesRecord(Record):
    """`examples/TASK.json`: which published rows are not there, digests and rows by split.

    `published` says whether they are published rows, not made ones or, as `own` says, the user's.
    """

    note: str
    sha256: dict[str, str]
    rows: dict[str, int] = {}
    published: bool = Field(True, validation_alias=AliasPath("settings", "published"))
    own: bool = Field(False, validation_alias=AliasPath("settings", "own"))


class EncodedSplit(Record):
    """Facts of an encoded split; `examples` is the digest of the split that was encoded.

    `lengths` counts the rows by the tokens of the whole input, `n_ctx_needed` by the smallest
    window that truncates nothing.
    """

    role: str
    rows: int
    examples: str
    lengths: dict[str, int]
    n_ctx_needed: dict[str, int]


class EncodedRecord(Record):
    """`encoded/TASK.json`."""

    splits: dict[str, EncodedSplit]

    @property
    def mean_length(self) -> float:
        """Mean tokens of a training input."""
        rows = self.splits["train"].lengths
        return sum(int(length) * n for length, n in rows.items()) / sum(rows.values())


class SplitMarks(Record):
    """Of each row the words of its longest text, and how many in a row stand in the books."""

    words: list[int]
    match: list[int]


class Marks(Record):
    """`contamination/TASK.json`; `examples` are the digests of the splits that were searched."""

    task: str
    examples: dict[str, str]
    splits: dict[str, SplitMarks]


class ZeroShotScore(Record):
    """`zero_shot/ARCH/TASK/seed-K/update-N.json`."""

    arch: Arch
    seed: int
    task: str
    update: int
    metric: str
    split: str
    score: Score
    tokens: float | None = None
    n: int | None = None
    threshold: float | None = None


class SkillScore(Record):
    """The score on the probes of one skill: `correct` of `n` items of `choices` continuations."""

    n: Annotated[int, Field(ge=1)]
    correct: Annotated[int, Field(ge=0)]
    choices: Annotated[int, Field(ge=2)]
    accuracy: Score
    chance: Score


class ProbeScores(Record):
    """`probes/MODEL/seed-K/update-N.json`; `tokens` is None for published weights."""

    arch: Arch
    corpus: Corpus
    seed: int
    update: int
    tokens: float | None
    skills: dict[str, SkillScore]


class Checkpoint(Record):
    """`pretrain/ARCH/seed-K/update-N.json`, losses in nats per token.

    Of published weights it is not known how they were trained; a train loss there is not before the
    first update.
    """

    arch: Arch
    seed: int
    corpus: Corpus = "books"
    update: int
    tokens: float | None = None
    seconds: float | None = None
    peak_mb: float | None = None
    cpu: str = ""
    heldout_loss: float | None = None
    heldout_perplexity: float | None = None
    train_loss: float | None = None
    n_vocab: int | None = None
    model: ModelSettings | None = None
