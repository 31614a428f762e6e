"""The runtime section of the config: what may change the speed of a run and not its results."""

from typing import Annotated

from pydantic import Field

from gpt1.settings import Count, RuntimeOptions, Workers
from tasks.common.settings import Settings


class PerStage(Settings):
    """A limit of the two kinds of long jobs, and how far a further attempt raises it."""

    pretrain: Count = Field(description="of a pre-training job")
    finetune: Count = Field(description="of a fine-tuning or zero-shot job")
    most: Count | None = Field(
        None,
        description="of any job: what a node or a partition allows, where a further attempt, "
        "which asks for as much again, would ask for more (null: no limit)",
    )

    def of(self, stage: str, attempt: int) -> int:
        """What the jobs of a stage ask for in an attempt, the first being 1."""
        asked: int = attempt * getattr(self, stage)
        return asked if self.most is None else min(asked, self.most)


class Minutes(PerStage):
    """The time limits: of the long jobs, and of those that prepare the data."""

    data: Count = Field(
        60,
        description="of a job that prepares data: books, tokens, tokenizer, examples, "
        "contamination, imported weights, data cards",
    )


class Runtime(RuntimeOptions):
    """What may change the speed of a run, and its numbers by rounding or dropout masks at most."""

    pretrain_threads: Workers = Field(1, description="CPU threads of a pre-training job")
    pretrain_processes: Workers = Field(
        1,
        description="processes that pre-train one model together, each with pretrain_threads "
        "threads and, if device is cuda, a GPU of its own",
    )
    finetune_threads: Workers = Field(1, description="CPU threads of a fine-tuning job")
    gpu_model: Annotated[str, Field(pattern=r"^[a-zA-Z0-9_.]+\z")] | None = Field(
        None, description="kind of GPU that a job asks a cluster for, such as a100 (null: any)"
    )
    shards: Count = Field(
        1, description="number of jobs that the intermediate layers of a sweep are cut into"
    )
    corpus_shards: Annotated[int, Field(ge=1, le=10_000)] = Field(
        1,
        description="number of jobs that normalising the corpus is cut into; the tokens stay the "
        "same, changing it repeats the merge",
    )
    mem_mb: PerStage = Field(
        PerStage(pretrain=1500, finetune=1500),
        description="memory that a job asks a cluster for, in MB",
    )
    minutes: Minutes = Field(
        Minutes(pretrain=60, finetune=30),
        description="time that a job asks a cluster for, in minutes; a partition must allow it, "
        "or the job waits for ever",
    )
