"""What the bars on a CPU share: how large, with what settings, and the sides taking turns."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench import data
from bench.job import Job, Rows
from bench.sides import ROOT, Side, Turn, alternate
from gpt1.settings import FinetuneSettings, ModelSettings, TransformerShape
from workflow.configuration.model import Config
from workflow.configuration.read import parse, read

GPT1 = ModelSettings()


@dataclass(frozen=True)
class Scale:
    """How large and how often; the defaults are what the bars are about."""

    model: ModelSettings = GPT1  # where a bar says GPT-1 size
    rounds: int = 5
    steps: int = 4  # of fine-tuning at GPT-1's size, in a round
    small_steps: int = 20  # of small models, in a round
    batch: int = 8
    items: int = 2  # multiple-choice items in a step
    memory_rows: int = 32
    plans: int = 3
    config: str = "workflow/config/world.yaml"
    planned: str = "workflow/config/paper.yaml"


QUICK = Scale(
    model=ModelSettings(shape=TransformerShape(n_embd=256, n_head=4, n_ff=1024)),
    rounds=2, steps=1, small_steps=5, memory_rows=8, plans=1,
)  # fmt: skip


@dataclass(frozen=True)
class Bench:
    """What the bars share: the scale, the threads, the folders of rows and of the world."""

    scale: Scale
    threads: int
    out: Path
    world: Path
    real: Path | None = None

    def config(self) -> Config:
        """The config whose model and cells are measured."""
        return parse(read([ROOT / self.scale.config]))

    def corpus(self) -> Path:
        """The world's corpus."""
        return self.world / "corpus" / "corpus.json"

    def job(self, rows: list[Rows], **changes: Any) -> Job:
        """Fine-tuning at GPT-1's size, as the paper does it; a turn's first step is not timed."""
        settings = FinetuneSettings(lr=6.25e-5, batch=self.scale.batch, epochs=1000, model=GPT1,
                                    optimizer={})  # fmt: skip
        runtime = {"threads": self.threads, "precision": "quicker", "skip_pads": True}
        job = Job(
            rows=rows,
            models={"transformer": self.scale.model.model_dump(mode="json")},
            n_vocab=data.PUBLISHED_VOCABULARY,
            training=settings.model_dump(mode="json", exclude={"model"}),
            runtime=runtime,
            rounds=self.scale.rounds,
            warm_up=0,
            untimed=1,
        )
        return replace(job, **changes)

    def write(self, job: Job, name: str) -> Path:
        """The job as a file."""
        self.out.mkdir(parents=True, exist_ok=True)
        return job.write(self.out / f"{name}.json")


def sides_of(bench: Bench, job: Job, name: str, *commands: tuple[str, ...]) -> list[Side]:
    """A worker for each command, whose word JOB stands for the job's file."""
    path = str(bench.write(job, name))
    threads = job.runtime["threads"]
    return [
        Side(module, *(path if word == "JOB" else word for word in words), threads=threads)
        for module, *words in commands
    ]


def race(job: Job, sides: list[Side]) -> Iterator[tuple[Rows, list[list[Turn]], list[str]]]:
    """For each file of rows the turns of each side, and the sides' notes."""
    try:
        for rows in job.rows:
            yield rows, *alternate(sides, job.rounds)
    finally:
        for side in sides:
            side.__exit__()
