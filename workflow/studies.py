"""Studies: what they read, what is made of them, and the jobs that train their cells.

Variants that start from the same language models, or from none, train in one process per task,
because starting a process costs as much as training a small cell. A cell whose weights are kept has
a job of its own. Light, because the Snakefile plans with it.
"""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpt1.cell import UNCHANGED, Cell
from workflow.configuration.checks import study_faults
from workflow.configuration.paths import cloze_file
from workflow.configuration.read import refuse
from workflow.configuration.studies import OF_THE_PAPER
from workflow.grid import StudyHead, StudyPlan
from workflow.plan import Plan

FORMS = ("csv", "md", "svg")  # the files of another study that the page shows


def checked(plan: Plan, study: str) -> StudyPlan:
    """The plan of a study. Raises ConfigError, a line for each fault, if it cannot be made."""
    refuse(study_faults(plan, study))
    return plan.study(study)


@functools.cache
def heads(plan: Plan) -> list[StudyHead]:
    """The studies that can be made besides the paper's two, as the page names them."""
    return [
        StudyHead(name=study, heading=entry.heading or study, question=entry.question)
        for study, entry in plan.base.experiment.studies.items()
        if study not in OF_THE_PAPER and not list(study_faults(plan, study))
    ]


def cells(plan: Plan) -> dict[Cell, str]:
    """Every cell of the studies that can be made, and its variant's title in the first of them."""
    found: dict[Cell, str] = {}
    others = (plan.study(head.name) for head in heads(plan))
    for study in (*plan.grid().studies.values(), *others):
        for point in study.points:
            value = f", {study.axis} {point.value}" if point.value else ""
            for task in study.tasks:
                found.setdefault(Cell(point.variant.name, task), f"{point.line}{value}")
    return found


def made(plan: Plan) -> list[str]:
    """The files, for the page, of studies that `all` makes or that are already made.

    They are all forms of a study if any exists.
    """
    there: list[str] = []
    for study in heads(plan):
        stem = Path(plan.base.results, "studies", study.name)
        files = [stem.with_suffix(f".{form}") for form in FORMS]
        if study.name in plan.base.experiment.all or any(file.is_file() for file in files):
            there += map(str, files)
    return there


def inputs(plan: Plan, study: StudyPlan) -> list[str]:
    """The files that a study reads besides its cells, below `<results>`.

    The facts of its language models; along checkpoints, the zero-shot scores of the run's own;
    along shares of the training rows, all rows; with `skills`, the cloze scores of its language
    models at every update.
    """
    base, updates = plan.base, plan.base.updates()
    # No rule scores a model whose embeddings were permuted after pre-training.
    starts = [
        (m, p.variant.update) for p in study.points for m in p.variant.models() if not m.permuted
    ]
    models = dict.fromkeys(model for model, _ in starts)
    files = [model.facts("<results>", update) for model, update in starts]
    if study.axis == "checkpoint":
        tasks = [task for task in study.tasks if task in base.experiment.zero_shot_tasks]
        of_run = [model for model in models if model.variant == UNCHANGED]
        files += [m.zero_shot("<results>", t, u) for m in of_run for t in tasks for u in updates]
    if study.axis == "train_share":
        files += [Path("<results>", "examples", task) for task in study.tasks]
    scored = updates if study.skills and cloze_file(base) else []
    files += [model.cloze("<results>", update) for model in models for update in scored]
    return [str(path) for path in files]


@dataclass(frozen=True)
class Job:
    """The `variants` that one process trains on each of the `tasks`.

    Each of them tells what all read and start from, see `_shared`. If `is_kept`, the weights of its
    only cell are an output.
    """

    name: str  # of the rule
    tasks: tuple[str, ...]
    variants: tuple[str, ...]
    together: tuple[str, ...]  # all that would share a job with one shard
    is_kept: bool = False


def _shared(plan: Plan, variant: str) -> tuple[Any, ...]:
    """What the variants of a job have in common.

    Their language models at an update, one for each pre-training seed, or none; whose task rows,
    tokens of these and tokens of books they read; the seeds of fine-tuning; and the standard
    deviation of initial weights that are not transferred.
    """
    config, described = plan.config(variant), plan.variant(variant)
    read = (plan.at(variant, stage) for stage in ("tasks", "encoded", "tokens"))
    own = config.experiment
    seeds = (*own.seeds.finetune,), (*described.pretrain,)
    return (*described.models(),), config.checkpoint(), *read, *seeds, own.finetune.init_std


def jobs(plan: Plan) -> Iterator[Job]:
    """The jobs, those of the run's studies first; a cell belongs to the first study that has it.

    Variants that share their language models are split into `runtime.shards` jobs.
    """
    experiment, known = plan.base.experiment, set[Cell]()
    names: dict[str, int] = {}
    kept = {(cell.variant, cell.task): cell for cell in plan.base.kept()}
    for study in dict.fromkeys([*experiment.all, *experiment.studies]):
        together: dict[tuple[str, tuple[str, ...], tuple[Any, ...]], list[str]] = {}
        entry = plan.study(study)
        for point in entry.points:
            name = point.variant.name
            if tasks := tuple(task for task in entry.tasks if Cell(name, task) not in known):
                known |= {Cell(name, task) for task in tasks}
                kind = point.variant.arch if point.variant.models() else "from_scratch"
                key = f"finetune_{study}_{kind}", tasks, _shared(plan, name)
                together.setdefault(key, []).append(name)
        for (name, tasks, _), variants in together.items():
            every, n = tuple(variants), min(plan.base.runtime.shards, len(variants))
            for i in range(n):
                job = Job(
                    name, tasks, every[i * len(every) // n : (i + 1) * len(every) // n], every
                )
                for part in _without_kept(job, kept):
                    names[part.name] = number = names.get(part.name, 0) + 1
                    yield part if number == 1 else replace(part, name=f"{part.name}_{number}")


def _without_kept(job: Job, kept: dict[tuple[str, str], Cell]) -> Iterator[Job]:
    """A job for each cell of `job` that is kept, by variant and task, then those for the others."""
    others: dict[tuple[str, ...], list[str]] = {}  # tasks by variants
    for task in job.tasks:
        others.setdefault(tuple(v for v in job.variants if (v, task) not in kept), []).append(task)
        for variant in job.variants:
            if cell := kept.get((variant, task)):
                name = f"finetune_kept_{re.sub('[^A-Za-z0-9]', '_', cell.name)}"
                yield replace(job, name=name, tasks=(task,), variants=(variant,), is_kept=True)
    for variants in sorted(filter(None, others), key=len, reverse=True):
        yield replace(job, tasks=tuple(others[variants]), variants=variants)
