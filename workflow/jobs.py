"""How the cells of all studies are split into jobs.

Lines that start from the same language models, or from none, train in one process per task, because
starting a process costs as much as training a small cell. A cell whose weights are kept has a job
of its own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gpt1.cell import Cell, PretrainedModel
from workflow.plan import Plan


@dataclass(frozen=True)
class Job:
    """The `lines`, named by their variants, that one process trains on each of the `tasks`.

    They share the language models `sources` at `update`, one for each of the seeds `pretrain`, or
    none; the variants `rows`, `encoded` and `tokens`, which have the task rows, their tokens and
    those of the books; the fine-tuning `seeds`; and `init_std`, the standard deviation of initial
    weights that are not transferred. If `is_kept`, the weights of its only cell are an output.
    """

    name: str  # of the rule
    tasks: tuple[str, ...]
    sources: tuple[PretrainedModel, ...]
    pretrain: tuple[int, ...]
    update: int
    rows: str
    encoded: str
    tokens: str
    seeds: tuple[int, ...]
    init_std: float | None
    lines: tuple[str, ...] = ()
    together: tuple[str, ...] = ()  # all lines that would share a job with one shard
    is_kept: bool = False


def _job(lines: Plan, name: str, variant: str, tasks: tuple[str, ...]) -> Job:
    """What jobs of a line, given by its variant, have in common; `name` is that of their rule."""
    config, line = lines.config(variant), lines.line(variant)
    return Job(
        name,
        tasks,
        tuple(line.models()),
        tuple(line.pretrain),
        config.checkpoint(),
        lines.at(variant, "tasks"),
        lines.at(variant, "encoded"),
        lines.at(variant, "tokens"),
        tuple(config.experiment.seeds.finetune),
        config.experiment.finetune.init_std,
    )


def jobs(lines: Plan) -> Iterator[Job]:
    """The jobs, those of the run's studies first; a cell belongs to the first study that has it.

    Lines that share their language models are split into `runtime.shards` jobs.
    """
    experiment, known = lines.base.experiment, set[Cell]()
    names: dict[str, int] = {}
    kept = {(lines.variant(cell.line), cell.task): cell for cell in lines.base.kept()}
    for study in dict.fromkeys([*experiment.all, *experiment.studies]):
        together: dict[Job, list[str]] = {}
        plan = lines.plan(study)
        for point in plan.points:
            name = point.of.name
            if tasks := tuple(task for task in plan.tasks if Cell(name, task) not in known):
                known |= {Cell(name, task) for task in tasks}
                variant = lines.variant(name)
                kind = point.of.arch if point.of.models() else "from_scratch"
                job = _job(lines, f"finetune_{study}_{kind}", variant, tasks)
                together.setdefault(job, []).append(variant)
        for job, variants in together.items():
            every = tuple(variants)
            for cut in _cuts(every, lines.base.runtime.shards):
                for part in _without_kept(replace(job, lines=cut, together=every), kept):
                    names[part.name] = n = names.get(part.name, 0) + 1
                    yield part if n == 1 else replace(part, name=f"{part.name}_{n}")


def _without_kept(job: Job, kept: dict[tuple[str, str], Cell]) -> Iterator[Job]:
    """A job for each cell of `job` that is kept, by variant and task, then those for the others."""
    others: dict[tuple[str, ...], list[str]] = {}  # tasks by lines
    for task in job.tasks:
        others.setdefault(tuple(v for v in job.lines if (v, task) not in kept), []).append(task)
        for variant in job.lines:
            if cell := kept.get((variant, task)):
                name = f"finetune_kept_{re.sub('[^A-Za-z0-9]', '_', cell.name)}"
                yield replace(job, name=name, tasks=(task,), lines=(variant,), is_kept=True)
    for variants in sorted(filter(None, others), key=len, reverse=True):
        yield replace(job, tasks=tuple(others[variants]), lines=variants)


def _cuts(variants: tuple[str, ...], shards: int) -> Iterator[tuple[str, ...]]:
    n = min(shards, len(variants))
    for i in range(n):
        yield variants[i * len(variants) // n : (i + 1) * len(variants) // n]
