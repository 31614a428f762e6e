"""Studies: which cells each has, and what those cells are trained with.

Light, since the Snakefile plans with it. A change that is none
(the paper's own lm_coef, the last update, every layer from the top) leaves a cell of the grid, so
studies share what is there.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gpt1.cell import Arch, Cell, PretrainedModel, model_name
from gpt1.settings import PretrainSettings, RunSettings
from gpt1.variant import NAME, Variant
from tasks.common.errors import InputError
from workflow.config_studies import Change
from workflow.configuration.model import Config
from workflow.study_faults import change_faults, study_faults
from workflow.study_plan import Point, StudyHead, StudyHeads, StudyPlan

VARIANT = NAME  # what the rules know a variant by, a regular expression
FORMS = ("csv", "md", "svg")  # of a study's files those that the page shows


def plan(config: Config, name: str) -> StudyPlan:
    """The cells of the study `name` of the config."""
    study = config.experiment.studies[name]
    points = [
        Point(
            line=line,
            value="" if value is None else f"{value}",
            cells=[cell(config, change, task) for task in study.tasks],
            books=change.books,
        )
        for line, value, change in study.points()
    ]
    return StudyPlan(
        name=name,
        title=study.heading,
        axis=study.axis or "",
        tasks=study.tasks,
        lines=list(study.lines),
        beside=list(study.beside),
        figure=study.figure,
        points=points,
        predicted=study.predicted,
    )


def heads(config: Config) -> StudyHeads:
    """The studies that can be made under the config, as the page names them."""
    known = config.experiment.studies.items()
    return StudyHeads(
        studies=[
            StudyHead(name=name, heading=study.heading, asks=study.asks)
            for name, study in known
            if not list(study_faults(config, name))
        ]
    )


def made(config: Config) -> list[str]:
    """The files of the studies that were made, which the page shows; each as if it were whole."""
    stems = [Path(config.results, "studies", study.name) for study in heads(config).studies]
    files = [[stem.with_suffix(f".{form}") for form in FORMS] for stem in stems]
    return [str(file) for found in files if any(f.is_file() for f in found) for file in found]


def cell(config: Config, change: Change, task: str) -> Cell:
    """The cell of a task that a change leads to, under the one name that it has."""
    n_layer = change.n_layer or config.n_layer(change.arch)
    n = n_layer if change.n_transfer == "all" else change.n_transfer
    aux = "off" if change.lm_coef == 0 else change.aux
    same: dict[str, Any] = dict(_unchanged(config, change, task))
    if aux == "off":
        same["lm_coef"] = None
    if n in ("none", 0, n_layer):
        same["transfer"] = "lowest"
    if n == "none":
        same |= {"update": None, "left_out": "none"}
    given = {key: getattr(change, key) for key in Variant.model_fields}
    return Cell(change.arch, task, aux, n, variant=Variant(**{**given, **same}).name)


def _unchanged(config: Config, change: Change, task: str) -> Iterator[tuple[str, Any]]:
    """The keys of a change that only repeat what the config has, each with what stands for it."""
    own, shape = config.finetune(change.arch, task, "on"), config.model(change.arch).shape
    for key in () if change.together else ("lm_coef", "lr", "epochs"):  # a task may have its own
        if getattr(change, key) == getattr(own, key):
            yield key, None
    for key in ("n_layer", "n_hidden"):
        if getattr(change, key) == getattr(shape, key, None):
            yield key, None
    l2 = config.optimizer(change).l2
    if change.l2 == l2:
        yield "l2", None
    if (l2 if change.l2 is None else change.l2) == 0:  # in whatever way
        yield "decay", "authors"
    if change.block == "modern" and change.decay == "adamw":
        yield "decay", "authors"
    if change.update == config.updates()[-1]:
        yield "update", None
    if change.read_layer == (change.n_layer or shape.n_layer):
        yield "read_layer", "top"


def together(config: Config) -> list[list[Cell]]:
    """What is trained on several tasks at once in the studies that can be made: a cell of each."""
    known: dict[tuple[Cell, ...], None] = {}
    for name, study in config.experiment.studies.items():
        changes = [change for _, _, change in study.points() if change.together]
        if changes and not list(study_faults(config, name)):
            for change in changes:
                known[tuple(cell(config, change, task) for task in change.together)] = None
    return [list(cells) for cells in known]


def keepable(config: Config) -> Iterator[Cell]:
    """The cells of the studies that can be made whose weights can be kept.

    They are of models that are trained, on one task each, from what read the run's own books.
    """
    for head in heads(config).studies:
        study = config.experiment.studies[head.name]
        for _, _, change in study.points():
            if not (change.prompted or change.together or change.books):
                yield from (cell(config, change, task) for task in study.tasks)


def sources(config: Config, cell: Cell) -> list[PretrainedModel]:
    """The language models that a cell's seeds start from, one for each pre-training seed."""
    seeds = config.experiment.seeds
    variant = Variant.named(cell.variant).model.name
    used = seeds.of(cell.corpus)[: len(seeds.finetune)]
    return [PretrainedModel(cell.arch, seed, cell.corpus, variant) for seed in used]


def checkpoint_update(config: Config, cell: Cell) -> int:
    """The pre-training update whose checkpoint a cell is fine-tuned from."""
    update = Variant.named(cell.variant).update
    return config.updates()[-1] if update is None else update


def settings(config: Config, cells: list[Cell]) -> RunSettings:
    """For `gpt1.finetune`: how the cells of a study that one model makes are trained."""
    return RunSettings(
        tasks={
            cell.task: config.finetune(cell.arch, cell.task, cell.aux, Variant.named(cell.variant))
            for cell in cells
        }
    )


def pretrain_settings(config: Config, arch: Arch, seed: str, variant: str) -> PretrainSettings:
    """For `gpt1.pretrain`: how a study's own language model is trained.

    Exits with a line if no language model has this name.
    """
    task, name = next(iter(config.experiment.tasks)), model_name(arch, "books", variant)
    found = _checked(config, Cell(arch, task, "on", "none", variant=variant), name)
    own = Variant.named(found.variant).model
    if own.name != variant:
        sys.exit(f"error: {name}: this model is {model_name(arch, 'books', own.name)}; use that")
    return config.pretrain(arch, int(seed), own)


def cell_at(config: Config, path: str) -> Cell:
    """The cell of a path that was asked for.

    Exits with a line if it cannot be made, or if it is a cell that has another path: one that is
    trained in the same way would be trained twice, and under a name that says it is not.
    """
    try:
        given = Cell.parse(path)
    except InputError as error:
        sys.exit(f"error: {error}")
    if given.task not in config.experiment.tasks:
        sys.exit(f"error: {path}: {given.task} is not in experiment.tasks; add it there")
    found = _checked(config, given, path)
    if (own := found.path("").as_posix()) != path:
        sys.exit(f"error: {path}: this cell is {own}; ask for that")
    return found


def _checked(config: Config, given: Cell, place: str) -> Cell:
    """The cell under its own name. Exits with a line about `place` if it cannot be made."""
    try:
        variant = Variant.named(given.variant)
    except InputError as error:
        sys.exit(f"error: {error}")
    values = {key: getattr(variant, key) for key in Variant.model_fields}
    change = Change(arch=given.arch, aux=given.aux, n_transfer=given.n_transfer, **values)
    for fault in change_faults(config, change, [given.task]):
        sys.exit(f"error: {place}: {fault}")
    return cell(config, change, given.task)


def zero_shot_files(config: Config, study: StudyPlan) -> list[str]:
    """The zero-shot scores that stand beside the fine-tuned ones: of a study of checkpoints."""
    if study.axis != "update":
        return []
    tasks = [task for task in study.tasks if task in config.experiment.zero_shot.tasks]
    models = [model for cell in study.cells() for model in sources(config, cell)]
    files = [
        m.zero_shot("<results>", t, u) for m in models for t in tasks for u in config.updates()
    ]
    return list(dict.fromkeys(map(str, files)))
