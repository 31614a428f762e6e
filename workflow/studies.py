"""Studies: which cells each has, what these start from, and which files its table is made of.

Light, since the Snakefile plans with it.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from gpt1.cell import Arch, Cell, PretrainedModel
from workflow.configuration.read import ConfigError, merge, parse, refuse
from workflow.configuration.studies import Line
from workflow.overlay import Variants, name
from workflow.study_plan import Point, StudyHead, StudyHeads, StudyPlan

FORMS = ("csv", "md", "svg")  # of a study's files those that the page shows
# Sections of experiment that no cell's scores depend on.
NOT_TRAINED = ("grid", "keep", "margins", "probes", "studies", "submission", "zero_shot")


def cell(variants: Variants, line: Line, task: str) -> Cell:
    """The cell of a task that a line leads to."""
    variant = name(variants.effective(line))
    n_layer = variants.config(variant).n_layer(line.arch)
    n_transfer = n_layer if line.n_transfer == "all" else line.n_transfer
    return Cell(line.arch, task, line.aux, n_transfer, variant=variant)


def plan(variants: Variants, study: str) -> StudyPlan:
    """The cells of a study. Raises ConfigError, a line for each fault, if it cannot be made."""
    own = variants.base.experiment.studies[study]
    refuse(faults(variants, study))
    points = []
    for line, value, given in own.points():
        cells = [cell(variants, given, task) for task in own.tasks]
        shown = "" if value is None else f"{value}"
        model = variants.at(cells[0].variant, "model")
        points.append(Point(line=line, value=shown, cells=cells, model=model))
    return StudyPlan(
        title=own.heading,
        axis=_axis_name(own.axis or ""),
        tasks=own.tasks,
        lines=list(own.lines),
        references=list(own.references),
        kind=own.kind,
        points=points,
        predicted=own.predicted,
    )


def _axis_name(key: str) -> str:
    """The last part of a key; the last two where that is an architecture: `lr.transformer`."""
    parts = key.split(".")
    return ".".join(parts[-2:] if parts[-1] in get_args(Arch) else parts[-1:])


def faults(variants: Variants, study: str) -> Iterator[str]:
    """Why a study cannot be made: what the config with each of its overlays lacks, a line each."""
    base, own = variants.base, variants.base.experiment.studies[study]
    key = f"experiment.studies.{study}"
    for task in own.tasks:
        if task not in base.experiment.tasks:
            yield f"{key}.tasks: {task} is not in experiment.tasks; add it there, or remove it"
    for line, value, given in own.points():
        place = f"{key}.{'references' if line in own.references else 'lines'}.{line}"
        at = "" if value is None else f" at {own.axis} {value}"
        try:
            parse(_alone(variants, given))
        except ConfigError as error:
            yield from (f"{place}{at}: {fault}" for fault in error.faults)
        if base.experiment.pretrained and variants.at(name(variants.effective(given)), "model"):
            yield f"{place}{at}: experiment.pretrained gives the weights; no model can be trained"
        for changed in _of_no_cell(given, own.tasks):
            remedy = "make the line a reference" if changed == own.axis else "remove it"
            if not changed.startswith(f"{own.axis}."):  # its values may have a part for each line
                yield f"{place}{at}: {changed} changes none of its cells; {remedy}"


def _of_no_cell(line: Line, tasks: list[str]) -> Iterator[str]:
    """The keys of a line that its cells do not depend on.

    They are of the other architecture, of another task, or of what is made of cells, and would
    train the same cells once more under another name.
    """
    (other,) = set(get_args(Arch)) - {line.arch}
    for key in line.overlay:
        section, _, below = key.removeprefix("experiment.").partition(".")
        of_task = section == "tasks" and below.partition(".")[0] not in tasks
        if other in key.split(".") or of_task or section in NOT_TRAINED:
            yield key


def _alone(variants: Variants, line: Line) -> dict:
    """The config of a run whose grid has the cells of a line alone."""
    keys = variants.keys(variants.effective(line))
    n_transfer = "none" if line.n_transfer == "all" else line.n_transfer
    layers = {**keys["experiment"]["grid"]["layers"], line.arch: [n_transfer]}
    grid = {"arch": [line.arch], "aux": [line.aux], "layers_without_aux": None, "shuffled": []}
    seeds = {"shuffled": None}
    return merge(keys, {"experiment": {"grid": {**grid, "layers": layers}, "seeds": seeds}})


def heads(variants: Variants) -> StudyHeads:
    """The studies that can be made, as the page names them."""
    known = variants.base.experiment.studies
    return StudyHeads(
        studies=[
            StudyHead(name=study, heading=own.heading, question=own.question)
            for study, own in known.items()
            if not list(faults(variants, study))
        ]
    )


def made(variants: Variants) -> list[str]:
    """The files of the studies that were made, which the page shows; each as if it were whole."""
    found: list[str] = []
    for study in variants.base.experiment.studies:
        stem = Path(variants.base.results, "studies", study)
        files = [stem.with_suffix(f".{form}") for form in FORMS]
        if any(file.is_file() for file in files) and not list(faults(variants, study)):
            found += map(str, files)
    return found


def sources(variants: Variants, cell: Cell) -> list[PretrainedModel]:
    """The language models that a cell's seeds start from, one for each pre-training seed."""
    seeds = variants.config(cell.variant).experiment.seeds.sources(cell.corpus)
    variant = variants.at(cell.variant, "model")
    return [PretrainedModel(cell.arch, seed, cell.corpus, variant) for seed in seeds]


def run_faults(variants: Variants) -> Iterator[str]:
    """What the config of a run, and no variant's, is checked for, one line each.

    Cells of experiment.keep that neither the grid nor a study has.
    """
    known = set(variants.base.grid().cells())
    for study in variants.base.experiment.studies.values() if variants.base.kept() else ():
        for _, _, line in study.points():
            known |= {cell(variants, line, task) for task in study.tasks}
    for one in variants.base.kept():
        if one not in known:
            yield (
                f"experiment.keep: {one.place} is not a cell of experiment.grid, nor of a study; "
                "add it there, or remove it"
            )


def inputs(variants: Variants, study: StudyPlan) -> list[str]:
    """What a study reads beside its cells, below `<results>`.

    Of the run's own checkpoints their zero-shot scores; of shares of the training rows all rows;
    with a prediction the probes of its language models after the last update.
    """
    base, updates = variants.base, variants.base.updates()
    cells = study.cells()
    models = list(dict.fromkeys(model for cell in cells for model in sources(variants, cell)))
    found: list[Path] = []
    if study.axis == "checkpoint":
        tasks = [task for task in study.tasks if task in base.experiment.zero_shot.tasks]
        own = [model for model in models if not model.variant]
        found += [m.zero_shot("<results>", t, u) for m in own for t in tasks for u in updates]
    if study.axis == "train_share":
        found += [Path("<results>", "examples", task) for task in study.tasks]
    if study.kind == "prediction":
        found += [model.probes("<results>", updates[-1]) for model in models]
    return [str(path) for path in found]
