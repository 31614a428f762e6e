"""Typed settings of the synthetic world; equal settings give equal files, byte by byte."""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from tasks.common.settings import Settings, unique

WorldTaskName = Literal[
    "snli",
    "mnli",
    "qnli",
    "rte",
    "scitail",
    "race",
    "story_cloze",
    "mrpc",
    "qqp",
    "stsb",
    "sst2",
    "cola",
    "dprd",
]
Discourse = Literal["remarks", "stories", "deeds", "kinds", "questions", "reasons", "forms"]
# What settles a label: classes of words; one of two clauses; a word that reverses another.
Degree = Literal["lexical", "relational", "compositional"]
DEGREES: tuple[Degree, ...] = get_args(Degree)
TrainRows = Annotated[int, Field(ge=6, le=20_000)]
Share = Annotated[float, Field(ge=0, le=1)]
# The share of each kind of discourse in the books' words.
SHARES: dict[Discourse, float] = {
    "remarks": 0.14,
    "stories": 0.22,
    "deeds": 0.26,
    "kinds": 0.1,
    "questions": 0.17,
    "reasons": 0.06,
    "forms": 0.05,
}


def _check_discourse(given: dict[Discourse, float]) -> dict[Discourse, float]:
    if not any({**SHARES, **given}.values()):
        raise ValueError("books need a kind of discourse with a share above 0")
    return given


def _check_left(exclude: list[Discourse], info: ValidationInfo) -> list[Discourse]:
    shares = {**SHARES, **info.data.get("discourse", {})}
    if not any(share for kind, share in shares.items() if kind not in exclude):
        raise ValueError("no kind of discourse is left; exclude fewer")
    return exclude


class Degrees(Settings):
    """A share for each degree of difficulty."""

    lexical: Share = 0.4
    """what classes of words settle"""
    relational: Share = 0.4
    """two clauses, one of which counts"""
    compositional: Share = 0.2
    """a word that reverses another, such as a negation"""

    def shares(self) -> dict[Degree, float]:
        """The share of every degree."""
        return {degree: getattr(self, degree) for degree in DEGREES}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not any(self.shares().values()):
            raise ValueError("a degree needs a share above 0")
        return self


class WorldSettings(Settings):
    """The settings of `tasks.world`: the seed and the sizes of everything it writes."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = 7
    """seed of the books and the tasks"""
    words: Annotated[int, Field(ge=1, le=10**9)] = 600_000
    """approximate number of words in the corpus, spread evenly over the books"""
    books: Annotated[int, Field(ge=1, le=10_000)] = 80
    """number of books"""
    discourse: Annotated[dict[Discourse, Share], AfterValidator(_check_discourse)] = {}
    """shares of the books' words for single kinds of discourse, in place of their defaults, such as
    {reasons: 0}; all shares are divided by their sum"""
    degrees: Degrees = Degrees()
    """shares of the training rows of each degree of difficulty; they are divided by their sum"""
    reported: Degrees = Degrees(lexical=0.25, relational=0.25, compositional=0.5)
    """the same for all other rows, by default half of them compositional"""
    book_degrees: Degrees = Degrees(lexical=1.0, relational=1.0, compositional=1.0)
    """factors on how often the books' paragraphs are of each degree; with {relational: 0,
    compositional: 0} they tell everything in the plainest way"""
    scale: Annotated[float, Field(gt=0, le=10)] = 1.0
    """factor on the number of rows of every training split"""
    report: Annotated[int, Field(ge=10, le=10_000)] = 200
    """number of rows in each reported split"""
    rows: dict[WorldTaskName, TrainRows] = {}
    """number of training rows of single tasks, such as {rte: 60}, in place of scale"""
    cloze: Annotated[int, Field(ge=10, le=10_000)] = 200
    """number of cloze items for each skill"""
    exclude: Annotated[list[Discourse], unique, AfterValidator(_check_left)] = []
    """kinds of discourse left out of the books; the others fill the same number of words"""

    @field_validator("degrees", "reported", "book_degrees", mode="before")
    @classmethod
    def _complete(cls, given: Any, info: ValidationInfo) -> Any:
        """A degree that is not given has the default of its key, as the other keys do."""
        default = cls.model_fields[info.field_name or ""].default
        return {**default.model_dump(), **given} if isinstance(given, dict) else given

    def shares(self) -> dict[Discourse, float]:
        """The share of every kind of discourse."""
        return {**SHARES, **self.discourse, **dict.fromkeys(self.exclude, 0.0)}
