"""Typed settings of the embedded world; equal settings give equal files, byte by byte."""

from typing import Annotated, Literal

from pydantic import Field

from tasks.common.settings import Settings
from tasks.settings import Count

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
TrainRows = Annotated[int, Field(ge=6, le=5_000)]


class WorldSettings(Settings):
    """What `tasks.world` is given: the seed and the sizes of everything it writes."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        default=7, description="seed of the books and the tasks"
    )
    words: Count = Field(
        default=600_000,
        description="approximate number of words of the corpus, spread evenly over books",
    )
    books: Count = Field(default=80, description="number of books")
    scale: Annotated[float, Field(gt=0)] = Field(
        default=1.0, description="factor on the rows of every training split"
    )
    report: Annotated[int, Field(ge=10, le=2**40)] = Field(
        default=200, description="rows of each reported split; RACE has three fifths of them"
    )
    rows: dict[WorldTaskName, TrainRows] = Field(
        default={}, description="training rows of single tasks, such as {rte: 60}, instead of scale"
    )
