"""Studies: what they read, what is made of them, the jobs that train their cells, and refusals.

Variants that start from the same language models, or from none, train in one process per task,
because starting a process costs as much as training a small cell. A cell whose weights are kept has
a job of its own. Light, because the Snakefile plans with it.
"""

import difflib
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from gpt1.cell import UNCHANGED, WORD_VECTORS, Arch, Cell
from workflow.configuration.checks import cross_checks
from workflow.configuration.paths import cloze_file
from workflow.configuration.read import refuse
from workflow.configuration.sections import BASELINES, BEST, SHALLOW
from workflow.configuration.studies import (
    N_TRANSFER,
    OF_THE_PAPER,
    PAPER,
    Study,
    not_of_figure_2,
    not_of_table_5,
    shipped,
)
from workflow.grid import StudyHead, StudyPlan
from workflow.plan import Plan

# Keys or sections of experiment that no cell's scores depend on, and those that only cells with a
# language model depend on.
NOT_TRAINED = (
    *("all", "keep", "margins", "cloze", "studies", "submission", "world.cloze", "zero_shot"),
)
OF_MODELS = ("pretrain", "seeds.pretrain", "finetune.checkpoint")
# Keys of experiment, and of one of its tasks, that change the reported rows.
OF_REPORTED_ROWS = ("world.seed", "world.report", "world.reported")
OF_A_TASKS_REPORTED_ROWS = ("limit_report", "report_on")
SEEDS = "experiment.seeds.finetune"
FORMS = ("csv", "md", "svg")  # the files of another study that the page shows
MOST = 90  # titles of a study: a figure has a look for each (`workflow.analysis.figures.style`)


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
            for task in study.tasks:
                found.setdefault(Cell(point.variant.name, task), point.row)
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


def study_faults(plan: Plan, study: str) -> Iterator[str]:
    """Why a study cannot be made: the faults of the config with each overlay, a line each."""
    base, entry = plan.base, plan.base.experiment.studies[study]
    key, tasks = f"experiment.studies.{study}", entry.tasks or list(base.experiment.tasks)
    for task in tasks:
        if task not in base.experiment.tasks:
            yield f"{key}.tasks: {task} is not in experiment.tasks; add it there, or remove it"
    for task, taught in entry.skills.items():
        # Imported here, because a plan starts sooner without the program that writes the world.
        from tasks.world.make import SKILLS

        for wrong in sorted({task} - {*tasks} | {*taught} - {*SKILLS}):
            yield f"{key}.skills.{task}: there is no {wrong} among the study's tasks and the skills"
    if entry.skills and not cloze_file(base):
        yield f"{key}.skills: there are no cloze items; give experiment.cloze, or remove skills"
    points = plan.study(study).points
    counts = Counter(point.key for point in points)
    for title, text in (key for key, n in counts.items() if n > 1):  # such as `all` and 12 layers
        yield f"{key}.{entry.part(title)}: {text} twice among the values; give it once"
    rows = {*BASELINES.values(), *SHALLOW.values(), BEST}
    rows |= {f"{BASELINES['bag_of_words']}, {point.at}" for point in points}
    for title, row in {point.key: (point.line, point.row) for point in points}.values():
        if row in rows:
            why = f"another row of its tables is {row!r}; give another title"
            yield f"{key}.{entry.part(title)}: {why}"
        rows.add(row)
    if (n := len({point.line for point in points})) > MOST:
        yield f"{key}.lines: {n} with the references, but a figure shows {MOST}; make two studies"
    seeds = next(entry.points())[2].get(SEEDS)
    for title, value, overlay in entry.points():
        at = "" if value is None else f" at {entry.axis} {value}"
        point = f"{key}.{entry.part(title)}{at}"
        name = plan.named(overlay)
        if unfit := list(cross_checks(plan.config(name))):
            yield from (f"{point}: {fault}" for fault in unfit)
            continue
        own = plan.config(name).experiment
        for kind in ("pretrained", "world"):  # for which the run has rules or not
            if (getattr(own, kind) is None) != (getattr(base.experiment, kind) is None):
                why = "a line neither adds nor drops it; give a config of its own"
                yield f"{point}: experiment.{kind}: {why}"
        if own.tasks.keys() != base.experiment.tasks.keys():
            yield f"{point}: has other tasks than the run; remove what drops or adds them"
            continue
        variant = plan.variant(name)
        is_own = variant.model != UNCHANGED or variant.arch == "lstm"
        if base.experiment.pretrained and variant.models() and is_own:
            yield f"{point}: experiment.pretrained gives the weights; no model can be trained"
        yield from (f"{point}: {of}" for of in _not_comparable(plan, name, entry, tasks))
        if overlay.get(SEEDS) != seeds:
            yield f"{point}: {SEEDS} is the same in all lines, which are paired by it; remove it"
        has_models = bool(variant.models()) or entry.axis == N_TRANSFER  # values may include none
        read = {"experiment.pretrain.shuffled"} if variant.corpus == WORD_VECTORS else ()
        keys = [key for key in overlay if key not in read]
        for changed in _of_no_cell(keys, variant.arch, tasks, has_models):
            remedy = "make the line a reference" if changed == entry.axis else "remove it"
            if not changed.startswith(f"{entry.axis}."):  # values may have parts for other lines
                yield f"{point}: {changed} changes none of its cells; {remedy}"


def _not_comparable(plan: Plan, name: str, study: Study, tasks: list[str]) -> Iterator[str]:
    """Why a variant's scores, of cells or of cloze items, cannot be compared with the run's."""
    base, config = plan.base, plan.config(name)
    of_tasks = (f"tasks.{task}.{key}" for task in tasks for key in OF_A_TASKS_REPORTED_ROWS)
    of_rows = tuple(f"experiment.{key}." for key in (*OF_REPORTED_ROWS, *of_tasks))
    for key in plan.overlays[name]:
        if f"{key}.".startswith(of_rows):
            yield f"{key}: all lines are compared on the run's reported rows; remove it"
    has_items = study.skills and plan.variant(name).models() and cloze_file(base)
    if has_items and config.updates() != base.updates():
        yield (
            "experiment.pretrain: has other checkpoints than the run's, whose cloze items are "
            "compared; remove updates and checkpoints"
        )


def _of_no_cell(
    overlay: Iterable[str], arch: Arch, tasks: list[str], has_models: bool
) -> Iterator[str]:
    """The keys of an `overlay` that the cells of a variant do not depend on.

    They concern the other architecture, another task, a language model that it does not have,
    or settings that train nothing, and would train the same cells again under another name.
    """
    (other,) = set(get_args(Arch)) - {arch}
    sections = tuple(f"{key}." for key in (*NOT_TRAINED, *(() if has_models else OF_MODELS)))
    for key in overlay:
        short = key.removeprefix("experiment.")
        of_task = short.startswith("tasks.") and short.split(".")[1] not in tasks
        if other in key.split(".") or of_task or f"{short}.".startswith(sections):
            yield key


def run_faults(plan: Plan) -> Iterator[str]:
    """The faults of a run as a whole, which no line's config shows by itself, one line each."""
    experiment, studies = plan.base.experiment, plan.base.experiment.studies
    if unknown := [study for study in experiment.all if study not in studies]:
        yield f"experiment.all: {unknown[0]} is no study; give some of {', '.join(studies)}"
        return
    if "ablation" not in experiment.all:
        yield "experiment.all: without ablation, whose first line all else is compared with; add it"
        return
    yield from _misspelt(studies)
    for study in experiment.all:
        yield from study_faults(plan, study)
        # The cells that `all` samples and lists have the run's seeds.
        entry, remedy = studies[study], "remove it, or ask for a study with other seeds by name"
        points = entry.points()
        for title in dict.fromkeys(t for t, _, of in points if SEEDS in plan.effective(of)):
            key = f"experiment.studies.{study}.{entry.part(title)}"
            yield f"{key}: {SEEDS} is the run's in what all makes; {remedy}"
    yield from (f"experiment.studies.ablation.{of}" for of in not_of_table_5(studies["ablation"]))
    if "layer_transfer" in experiment.all:
        archs = [point.variant.arch for point in plan.study("layer_transfer").points]
        found = not_of_figure_2(studies["layer_transfer"], archs)
        yield from (f"experiment.studies.layer_transfer.{of}" for of in found)
    for key, is_wrong in (
        ("arch", experiment.arch != "transformer"),
        ("n_transfer", experiment.n_transfer != "all"),
        ("finetune.lm_coef", not experiment.finetune.lm_coef),
        ("pretrain.shuffled", experiment.pretrain and experiment.pretrain.shuffled),
        ("finetune.embeddings", experiment.finetune.embeddings != "learned"),
    ):
        if is_wrong:
            yield f"experiment.{key}: not that of {PAPER!r}; give it in a line of a study"
    kept = plan.base.kept()
    known = {cell for study in studies if kept for cell in plan.study(study).cells()}
    for cell in (cell for cell in kept if cell not in known):
        near = difflib.get_close_matches(cell.name, [one.name for one in known], n=1)
        remedy = f"did you mean {near[0]}?" if near else "add it to one"
        yield f"experiment.keep: {cell.name} is not a cell of a study; {remedy}"


def _misspelt(studies: Mapping[str, Study]) -> Iterator[str]:
    """Additions to a study, or lines to remove, whose names only resemble existing ones."""
    for study, entry in studies.items():
        near = difflib.get_close_matches(study, studies.keys() - {study}, n=1, cutoff=0.75)
        if near and entry.model_fields_set <= {"lines", "references", "values"}:
            remedy = "correct it, or give it a heading of its own"
            yield f"experiment.studies.{study}: did you mean {near[0]}? {remedy}"
        known = shipped(has_lstm=True).get(study, {}).get("lines", {})
        for title, line in [*entry.lines.items(), *entry.references.items()]:
            if line is None and title not in known:
                near = difflib.get_close_matches(title, {*known, *entry.lines} - {title}, n=1)
                remedy = f"did you mean {near[0]!r}?" if near else "give one of an earlier file"
                where = f"experiment.studies.{study}.{entry.part(title)}"
                yield f"{where}: there is no such line to remove; {remedy}"
