"""Studies: what they read, what is made of them, and the jobs that train their cells.

Lines that start from the same language models, or from none, train in one process per task, because
starting a process costs as much as training a small cell. A cell whose weights are kept has a job
of its own. Light, because the Snakefile plans with it.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpt1.cell import Cell
from workflow.configuration.checks import study_faults
from workflow.configuration.paths import cloze_file
from workflow.configuration.read import refuse
from workflow.configuration.studies import OF_THE_PAPER
from workflow.grid import StudyHead, StudyPlan
from workflow.plan import Plan

FORMS = ("csv", "md", "svg")  # the files of another study that the page shows


def plan(lines: Plan, study: str) -> StudyPlan:
    """The plan of a study. Raises ConfigError, a line for each fault, if it cannot be made."""
    refuse(study_faults(lines, study))
    return lines.plan(study)


@functools.cache
def heads(lines: Plan) -> list[StudyHead]:
    """The studies that can be made besides the paper's two, as the page names them."""
    return [
        StudyHead(name=study, heading=entry.heading or study, question=entry.question)
        for study, entry in lines.base.experiment.studies.items()
        if study not in OF_THE_PAPER and not list(study_faults(lines, study))
    ]


def cells(lines: Plan) -> dict[Cell, str]:
    """Every cell of the studies that can be made, and its line's title in the first of them."""
    found: dict[Cell, str] = {}
    others = (lines.plan(head.name) for head in heads(lines))
    for study in (*lines.grid().studies.values(), *others):
        for point in study.points:
            value = f", {study.axis} {point.value}" if point.value else ""
            for task in study.tasks:
                found.setdefault(Cell(point.of.name, task), f"{point.line}{value}")
    return found


def made(lines: Plan) -> list[str]:
    """The files, for the page, of studies that `all` makes or that are already made.

    They are all forms of a study if any exists.
    """
    there: list[str] = []
    for study in heads(lines):
        stem = Path(lines.base.results, "studies", study.name)
        files = [stem.with_suffix(f".{form}") for form in FORMS]
        if study.name in lines.base.experiment.all or any(file.is_file() for file in files):
            there += map(str, files)
    return there


def inputs(lines: Plan, study: StudyPlan) -> list[str]:
    """The files that a study reads besides its cells, below `<results>`.

    The facts of its language models; along checkpoints, the zero-shot scores of the run's own;
    along shares of the training rows, all rows; with `skills`, the cloze scores of its language
    models at every update.
    """
    base, updates = lines.base, lines.base.updates()
    # No rule scores a model whose embeddings were permuted after pre-training.
    starts = [(m, p.of.update) for p in study.points for m in p.of.models() if not m.permuted]
    models = dict.fromkeys(model for model, _ in starts)
    files = [model.facts("<results>", update) for model, update in starts]
    if study.axis == "checkpoint":
        tasks = [task for task in study.tasks if task in base.experiment.zero_shot_tasks]
        of_run = [model for model in models if not model.variant]
        files += [m.zero_shot("<results>", t, u) for m in of_run for t in tasks for u in updates]
    if study.axis == "train_share":
        files += [Path("<results>", "examples", task) for task in study.tasks]
    scored = updates if study.skills and cloze_file(base) else []
    files += [model.cloze("<results>", update) for model in models for update in scored]
    return [str(path) for path in files]


@dataclass(frozen=True)
class Job:
    """The `lines`, named by their variants, that one process trains on each of the `tasks`.

    Each of them tells what all read and start from, see `_shared`. If `is_kept`, the weights of its
    only cell are an output.
    """

    name: str  # of the rule
    tasks: tuple[str, ...]
    lines: tuple[str, ...]
    together: tuple[str, ...]  # all lines that would share a job with one shard
    is_kept: bool = False


def _shared(lines: Plan, variant: str) -> tuple[Any, ...]:
    """What the lines of a job have in common.

    Their language models at an update, one for each pre-training seed, or none; whose task rows,
    tokens of these and tokens of books they read; the seeds of fine-tuning; and the standard
    deviation of initial weights that are not transferred.
    """
    config, line = lines.config(variant), lines.line(variant)
    read = (lines.at(variant, stage) for stage in ("tasks", "encoded", "tokens"))
    own = config.experiment
    seeds = (*own.seeds.finetune,), (*line.pretrain,)
    return (*line.models(),), config.checkpoint(), *read, *seeds, own.finetune.init_std


def jobs(lines: Plan) -> Iterator[Job]:
    """The jobs, those of the run's studies first; a cell belongs to the first study that has it.

    Lines that share their language models are split into `runtime.shards` jobs.
    """
    experiment, known = lines.base.experiment, set[Cell]()
    names: dict[str, int] = {}
    kept = {(lines.variant(cell.line), cell.task): cell for cell in lines.base.kept()}
    for study in dict.fromkeys([*experiment.all, *experiment.studies]):
        together: dict[tuple[str, tuple[str, ...], tuple[Any, ...]], list[str]] = {}
        plan = lines.plan(study)
        for point in plan.points:
            name = point.of.name
            if tasks := tuple(task for task in plan.tasks if Cell(name, task) not in known):
                known |= {Cell(name, task) for task in tasks}
                variant = lines.variant(name)
                kind = point.of.arch if point.of.models() else "from_scratch"
                key = f"finetune_{study}_{kind}", tasks, _shared(lines, variant)
                together.setdefault(key, []).append(variant)
        for (name, tasks, _), variants in together.items():
            every, n = tuple(variants), min(lines.base.runtime.shards, len(variants))
            for i in range(n):
                job = Job(
                    name, tasks, every[i * len(every) // n : (i + 1) * len(every) // n], every
                )
                for part in _without_kept(job, kept):
                    names[part.name] = number = names.get(part.name, 0) + 1
                    yield part if number == 1 else replace(part, name=f"{part.name}_{number}")


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
