"""Checks of a run's studies, which need the config of each of their lines.

Each fault is one line, as in `workflow.configuration.checks`.
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, get_args

from gpt1.cell import VECTORS, Arch
from workflow.configuration.checks import cross_checks
from workflow.configuration.paths import cloze_file
from workflow.configuration.studies import (
    N_TRANSFER,
    OF_THE_PAPER,
    PAPER,
    PRINTED,
    Line,
    Study,
    shipped,
)

if TYPE_CHECKING:
    from workflow.plan import Plan

# Keys or sections of experiment that no cell's scores depend on, and those that only cells with a
# language model depend on.
NOT_TRAINED = (
    *("all", "keep", "margins", "cloze", "studies", "submission", "zero_shot"),
    "world.cloze",
)
OF_MODELS = ("pretrain", "seeds.pretrain", "finetune.checkpoint")
# Keys of experiment, and of one of its tasks, that change the reported rows.
OF_REPORTED_ROWS = ("world.seed", "world.report", "world.reported")
OF_A_TASKS_REPORTED_ROWS = ("limit_report", "report_on")
SEEDS = "experiment.seeds.finetune"
FIGURE_2 = "experiment.studies.layer_transfer"
NOT_OF_TABLE_5 = ("axis", "values", "references", "skills")


def study_faults(lines: "Plan", study: str) -> Iterator[str]:
    """Why a study cannot be made: the faults of the config with each overlay, a line each."""
    base, entry = lines.base, lines.base.experiment.studies[study]
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
    counts = Counter(point.key for point in lines.plan(study).points)
    for title, text in (key for key, n in counts.items() if n > 1):  # such as `all` and 12 layers
        yield f"{key}.{entry.part(title)}: {text} twice among the values; give it once"
    seeds = next(entry.points())[2].get(SEEDS)
    for title, value, overlay in entry.points():
        at = "" if value is None else f" at {entry.axis} {value}"
        point = f"{key}.{entry.part(title)}{at}"
        variant = lines.named(overlay)
        if unfit := list(cross_checks(lines.config(variant))):
            yield from (f"{point}: {fault}" for fault in unfit)
            continue
        if lines.config(variant).experiment.tasks.keys() != base.experiment.tasks.keys():
            yield f"{point}: has other tasks than the run; remove what drops or adds them"
            continue
        line = lines.line(variant)
        if base.experiment.pretrained and line.models() and (line.model or line.arch == "lstm"):
            yield f"{point}: experiment.pretrained gives the weights; no model can be trained"
        yield from (f"{point}: {of}" for of in _not_comparable(lines, variant, entry, tasks))
        if overlay.get(SEEDS) != seeds:
            yield f"{point}: {SEEDS} is the same in all lines, which are paired by it; remove it"
        has_models = bool(line.models()) or entry.axis == N_TRANSFER  # values may include none
        read = {"experiment.pretrain.shuffled"} if line.corpus == VECTORS else ()
        keys = [key for key in overlay if key not in read]
        for changed in _of_no_cell(keys, line.arch, tasks, has_models):
            remedy = "make the line a reference" if changed == entry.axis else "remove it"
            if not changed.startswith(f"{entry.axis}."):  # values may have parts for other lines
                yield f"{point}: {changed} changes none of its cells; {remedy}"


def _not_comparable(lines: "Plan", variant: str, study: Study, tasks: list[str]) -> Iterator[str]:
    """Why a variant's scores, of cells or of cloze items, cannot be compared with the run's."""
    base, config = lines.base, lines.config(variant)
    of_tasks = (f"tasks.{task}.{key}" for task in tasks for key in OF_A_TASKS_REPORTED_ROWS)
    of_rows = tuple(f"experiment.{key}." for key in (*OF_REPORTED_ROWS, *of_tasks))
    for key in lines.overlays[variant]:
        if f"{key}.".startswith(of_rows):
            yield f"{key}: all lines are compared on the run's reported rows; remove it"
    has_items = study.skills and lines.line(variant).models() and cloze_file(base)
    if has_items and config.updates() != base.updates():
        yield (
            "experiment.pretrain: has other checkpoints than the run's, whose cloze items are "
            "compared; remove updates and checkpoints"
        )


def _of_no_cell(
    overlay: Iterable[str], arch: Arch, tasks: list[str], has_models: bool
) -> Iterator[str]:
    """The keys of an `overlay` that a line's cells do not depend on.

    They concern the other architecture, another task, a language model that the line does not have,
    or settings that train nothing, and would train the same cells again under another name.
    """
    (other,) = set(get_args(Arch)) - {arch}
    unused = NOT_TRAINED if has_models else (*NOT_TRAINED, *OF_MODELS)
    for key in overlay:
        short = key.removeprefix("experiment.")
        of_task = short.startswith("tasks.") and short.split(".")[1] not in tasks
        is_unused = f"{short}.".startswith(tuple(f"{section}." for section in unused))
        if other in key.split(".") or of_task or is_unused:
            yield key


def run_faults(lines: "Plan") -> Iterator[str]:
    """The faults of a run as a whole, which no line's config shows by itself, one line each."""
    experiment = lines.base.experiment
    for study in experiment.all:
        if study not in experiment.studies:
            known = ", ".join(experiment.studies)
            yield f"experiment.all: {study} is no study; give some of {known}"
            return
    if "ablation" not in experiment.all:
        yield "experiment.all: without ablation, whose first line all else is compared with; add it"
        return
    yield from _misspelt(experiment.studies)
    for study in experiment.all:
        yield from study_faults(lines, study)
    yield from _with_other_seeds(lines)
    yield from _not_of_the_paper(lines)
    table_5 = experiment.studies["ablation"].lines.get(PAPER)
    if table_5 is None or table_5.overlay:
        yield (
            f"experiment.studies.ablation.lines: the others are compared with {PAPER!r}, which is "
            "the config itself; keep it as it is"
        )
    if experiment.studies["ablation"].tasks:
        yield "experiment.studies.ablation.tasks: Table 5 has all tasks; give experiment.only"
    for title, keys in shipped(has_lstm=True)["ablation"]["lines"].items():
        line = experiment.studies["ablation"].lines.get(title)
        if title in PRINTED and line and line.overlay != Line.model_validate(keys).overlay:
            yield (
                f"experiment.studies.ablation.lines.{title}: the paper's scores of it stand beside "
                "it; keep it as it is, or give null and a line of another title"
            )
    for key, is_wrong in (
        ("arch", experiment.arch != "transformer"),
        ("n_transfer", experiment.n_transfer != "all"),
        ("finetune.lm_coef", not experiment.finetune.lm_coef),
        ("pretrain.shuffled", experiment.pretrain and experiment.pretrain.shuffled),
        ("finetune.embeddings", experiment.finetune.embeddings != "learned"),
    ):
        if is_wrong:
            yield f"experiment.{key}: not that of {PAPER!r}; give it in a line of a study"
    known_cells = {
        cell
        for study in experiment.studies
        for cell in (lines.plan(study).cells() if experiment.keep else ())
    }
    for cell in lines.base.kept():
        if cell not in known_cells:
            near = difflib.get_close_matches(cell.name, [known.name for known in known_cells], n=1)
            remedy = f"did you mean {near[0]}?" if near else "add it to one"
            yield f"experiment.keep: {cell.name} is not a cell of a study; {remedy}"


def _with_other_seeds(lines: "Plan") -> Iterator[str]:
    """Faults: lines with seeds of their own in studies whose cells `all` samples and lists."""
    for study in lines.base.experiment.all:
        entry = lines.base.experiment.studies[study]
        points = entry.points()
        for title in dict.fromkeys(t for t, _, of in points if SEEDS in lines.effective(of)):
            yield (
                f"experiment.studies.{study}.{entry.part(title)}: {SEEDS} is the run's in what all "
                "makes; remove it, or ask for a study with other seeds by name"
            )


def _not_of_the_paper(lines: "Plan") -> Iterator[str]:
    """Faults: what other studies may have, but neither Table 5 nor Figure 2 (left)."""
    experiment = lines.base.experiment
    table_5, figure_2 = (experiment.studies[study] for study in OF_THE_PAPER)
    of_table_5 = {key: getattr(table_5, key) for key in NOT_OF_TABLE_5}
    of_table_5 |= {f"lines.{t}.minus": line.minus for t, line in table_5.lines.items() if line}
    for key in (key for key, value in of_table_5.items() if value):
        yield (
            f"experiment.studies.ablation.{key}: Table 5 compares each line with {PAPER!r}; "
            "remove it, or give it in a study of another name"
        )
    if "layer_transfer" in experiment.all:
        own = {f"lines.{t}.axis": of.axis for t, of in figure_2.lines.items() if of and of.axis}
        for key, axis in ({"axis": figure_2.axis} | own).items():
            if axis != N_TRANSFER:
                yield (
                    f"{FIGURE_2}.{key}: {axis or 'null'}, but Figure 2 is drawn along n_transfer; "
                    "give that, or a study of another name"
                )
        if all(point.of.arch == "lstm" for point in lines.plan("layer_transfer").points):
            yield f"{FIGURE_2}.lines: none is a transformer; keep one, or take it out of all"


def _misspelt(studies: Mapping[str, Study]) -> Iterator[str]:
    """Faults: additions to a study, or lines to remove, whose names only resemble existing ones."""
    for study, entry in studies.items():
        near = difflib.get_close_matches(study, studies.keys() - {study}, n=1, cutoff=0.75)
        if near and entry.model_fields_set <= {"lines", "references", "values"}:
            remedy = "correct it, or give it a heading of its own"
            yield f"experiment.studies.{study}: did you mean {near[0]}? {remedy}"
    for study, entry in studies.items():
        known = shipped(has_lstm=True).get(study, {}).get("lines", {})
        for title, line in [*entry.lines.items(), *entry.references.items()]:
            if line is None and title not in known:
                near = difflib.get_close_matches(title, {*known, *entry.lines} - {title}, n=1)
                remedy = f"did you mean {near[0]!r}?" if near else "give one of an earlier file"
                where = f"experiment.studies.{study}.{entry.part(title)}"
                yield f"{where}: there is no such line to remove; {remedy}"
