"""Typed settings of the data: where a data set comes from and which of its rows are used."""

from typing import Annotated, Literal

from pydantic import Field

from tasks.common.settings import Commit, Count, DataPath, Settings, SplitName, unique
from tasks.own import OwnTask


class DataSource(Settings):
    """Where a data set comes from: a folder of the published files, or the Hugging Face hub."""

    folder: DataPath | None = None
    """the data set's folder under the data folder, such as CoLA"""
    source: Literal["hub"] | None = None
    """in place of folder: hub, for the Hugging Face hub"""
    revision: Commit | None = None
    """the commit of the hub's repository, 40 hexadecimal digits (default: the one that the task
    names)"""
    min_rows: dict[SplitName, Count] | None = None
    """if the files are a subset of the published ones, the minimum number of rows per split, such
    as {test: 9818}"""


class TaskRows(DataSource):
    """A task's source and which of its rows are used."""

    limit_train: Count | None = None
    """maximum number of training rows"""
    limit_report: Count | None = None
    """maximum number of rows of each reported split, and of an official split that selects the
    epoch"""
    train_from: SplitName | None = None
    """the official split to train on (default: the task's own)"""
    carve: dict[SplitName, Annotated[float, Field(gt=0, lt=1)]] | None = None
    """for a task with a single labelled file, that of train_from: the shares of its rows to train
    on and to report, such as {train: 0.8, dev: 0.2}; rows that share a sentence, question or
    article stay together"""
    report_on: Annotated[list[SplitName], Field(min_length=1), unique] | None = None
    """the official splits to report (default: the task's own)"""


class PrepareSettings(TaskRows):
    """The settings of `tasks.prepare` for one task.

    `own` describes a user's own task. `published` is False for own tasks and for the synthetic
    world, where no published number applies. `unlabelled` adds GLUE's test rows, whose labels are
    not public, as further splits.
    """

    own: OwnTask | None = None
    published: bool = True
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    select_fraction: Annotated[float, Field(gt=0, lt=1)] = 0.1
    unlabelled: bool = False

    @property
    def is_made(self) -> bool:
        """Whether the rows come from the synthetic world."""
        return not self.published and not self.own
