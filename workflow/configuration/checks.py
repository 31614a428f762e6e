"""Checks that the keys of a config fit each other, and the studies what can be trained.

Each fault is one line: the key's path, what was found, what to do. Whether the data exists is
checked in `workflow.configuration.paths`, the folder of results in `workflow.results_folder`.
"""

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, get_args

from gpt1.cell import UNCHANGED, WORD_VECTORS, Arch
from tasks import TASKS
from tasks.common.errors import InputError
from tasks.hub import corpus, fault
from tasks.splits import faults
from workflow.configuration.model import Config, Experiment
from workflow.configuration.paths import cloze_file, data_sets
from workflow.configuration.sections import ZeroShotOptions
from workflow.configuration.studies import (
    N_TRANSFER,
    PAPER,
    Study,
    like_faults,
    not_of_figure_2,
    not_of_table_5,
    shipped,
)

if TYPE_CHECKING:
    from workflow.plan import Plan

FORMULA = re.compile(r"\s*([=@]\s*\S|[-+](?!(\.inf|[\d.]*(e[-+]?\d+)?)\s*$))", re.I)  # but a number
# What else these names stand for where the names of tasks stand.
TAKEN = dict.fromkeys(("mean", "avg", "avg_all"), "a mean over tasks") | {"corpus": "the books"}
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


def cross_checks(config: Config) -> Iterator[str]:
    """The faults of a config whose keys are valid one by one."""
    experiment = config.experiment
    if wrong := [*_tasks(experiment)]:
        yield from wrong
        return
    yield from like_faults(experiment.studies)
    yield from _texts(experiment)
    yield from _pretrained(experiment) if experiment.pretrained else _pretrain(experiment)
    yield from _zero_shot(experiment)
    yield from _cells(config)
    yield from _data(config)


def _tasks(experiment: Experiment) -> Iterator[str]:
    """Tasks that are neither the suite's nor described, or both, or unusable; unknown names."""
    known = [task.name for task in TASKS]
    for name, entry in experiment.tasks.items():
        key = f"experiment.tasks.{name}"
        if entry.kind is None and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            remedy = f"did you mean {near[0]}" if near else f"there are {', '.join(known)}"
            yield f"{key}: no such task; {remedy}; one of your own needs kind, files and labels"
        elif entry.kind and name in (*known, "dprd"):
            yield f"{key}: is a task of the suite; give your own another name"
        elif entry.kind and name in TAKEN:
            yield f"{key}: is the name of {TAKEN[name]}; give your own task another name"
        elif entry.kind:
            try:
                experiment.task(name)
            except InputError as error:
                yield f"{key}.{error}"
    asked = experiment.zero_shot or ZeroShotOptions()
    names = {  # and what each may name besides the tasks
        "only": (experiment.only or (), asked.tasks),
        "zero_shot.tasks": (asked.tasks, known),
        "zero_shot.normalise": (asked.normalise, known),
    }
    for key, (given, others) in names.items():
        for name in (of for of in given if of not in {*others, *experiment.tasks, "dprd"}):
            yield f"experiment.{key}: no task {name}; there are {', '.join(experiment.tasks)}"


def _texts(experiment: Experiment) -> Iterator[str]:
    """Titles of own tasks that no table could tell from another's; texts that are formulas.

    A spreadsheet would take a title or label that begins like a formula for one, and run it.
    """
    # Table 5 also has the paper's tasks that do not run.
    known = {task.title: task.name for task in (*TASKS, experiment.task("dprd"))}
    for name in experiment.own_tasks:
        title = experiment.task(name).title
        if (other := known.setdefault(title, name)) != name:
            yield f"experiment.tasks.{name}.title: {title!r} is that of {other}; give another"
    for section, named in (("studies", experiment.studies), ("tasks", experiment.own_tasks)):
        for name, of in named.items():
            texts = re.findall(r'"((?:[^"\\]|\\.)*)"', of.to_json())
            for text in filter(FORMULA.match, texts):
                why = f"{text!r} begins like a formula of a spreadsheet; begin with a letter"
                yield f"experiment.{section}.{name}: {why}"


def _pretrain(experiment: Experiment) -> Iterator[str]:
    books, pretrain = experiment.corpus, experiment.pretrain
    if books is None or pretrain is None:
        yield "experiment.pretrain: it or corpus is null; give both, or experiment.pretrained"
        return
    n_books = experiment.world.books if experiment.world and not books.source else 0
    if n_books and isinstance(books.heldout, int) and books.heldout >= n_books:
        what = f"{books.heldout} of {n_books} books leave none to train on; give fewer"
        yield f"experiment.corpus.heldout: {what}"
    has_official = bool(books.source and corpus(books.source).heldout)
    if has_official != (books.heldout == "official"):
        yield (
            f"experiment.corpus.heldout: {books.heldout!r} does not fit; give 'official' where "
            "the source has a held-out split of its own, else a number"
        )
    if books.source and books.shares:
        yield "experiment.corpus.shares: of folders with your own books; leave it out with source"
    if pretrain.warmup >= pretrain.updates:
        yield (
            f"experiment.pretrain.warmup: {pretrain.warmup} updates of warm-up leave none of "
            f"{pretrain.updates}; give fewer than experiment.pretrain.updates"
        )


def _pretrained(experiment: Experiment) -> Iterator[str]:
    """Keys that do not fit published weights, and what to do about each."""
    has_learned = experiment.finetune.embeddings == "learned"
    remedies = {
        "corpus": (experiment.corpus is None, "remove it"),
        "pretrain": (experiment.pretrain is None, "remove it"),
        "tokenizer.merges": (not experiment.tokenizer.merges, "give their vocabulary's folder"),
        "seeds.pretrain": (experiment.seeds.pretrain == [0], "give [0] for their one model"),
        "finetune.embeddings": (has_learned, "remove it, since their books are not here"),
        "arch": (experiment.arch == "transformer", "give transformer"),
    }
    for key, (fits, remedy) in remedies.items():
        if not fits:
            yield f"experiment.{key}: does not fit the weights of experiment.pretrained; {remedy}"


def _zero_shot(experiment: Experiment) -> Iterator[str]:
    section, key = experiment.zero_shot or ZeroShotOptions(), "experiment.zero_shot"
    for task, entry in section.tasks.items():
        if task in experiment.tasks and entry.model_dump(exclude_none=True):
            why = f"no effect, experiment.tasks.{task} says where its rows are; write {{}}"
            yield f"{key}.tasks.{task}: {why}"
        if not experiment.task(task).prompt:
            yield f"{key}.tasks.{task}: it has no prompt; give it one, or remove it"
    for task, scores in section.normalise.items():
        if scores.random >= scores.best:
            both = f"{scores.best:g} at best and {scores.random:g} at random"
            yield f"{key}.normalise.{task}: {both}; give a best above random"


def _cells(config: Config) -> Iterator[str]:
    """What fine-tuning requires of the models, of the device, and of its own keys."""
    experiment, own, runtime = config.experiment, config.experiment.finetune, config.runtime
    key, method, arch = "experiment.finetune", own.method, experiment.arch
    most, read_layer = config.n_layer(arch), f"{key}.method.read_layer"
    asked = {"experiment.n_transfer": experiment.n_transfer, read_layer: method.read_layer}
    for name, layer in asked.items():
        if isinstance(layer, int) and layer > most:
            yield f"{name}: {layer}, but the {arch} has {most} layers; give fewer"
    has_models = bool(experiment.pretrain or experiment.pretrained)
    if has_models and config.checkpoint() not in config.updates():
        known = ", ".join(map(str, config.updates()))
        yield f"{key}.checkpoint: {own.checkpoint} has no checkpoint; give one of {known}"
    if arch == "lstm" and method.read_layer != "top":
        yield f"{read_layer}: is the transformer's; give top, or another arch"
    if own.embeddings != "learned" and experiment.n_transfer == "none":
        yield f"{key}.embeddings: n_transfer none has none of {own.embeddings}; give n_transfer: 0"
    if method.frozen and own.lm_coef:
        yield f"{key}.method.frozen: there is no auxiliary loss; give lm_coef: 0"
    if runtime.pretrain_processes > 1 and runtime.device not in ("cpu", "cuda"):
        what = f"{runtime.pretrain_processes} cannot share the device {runtime.device}"
        yield f"runtime.pretrain_processes: {what}; give 1, or the device cuda or cpu"


def _data(config: Config) -> Iterator[str]:
    """Data sets of two places, or of splits that they lack; a world that has no effect."""
    experiment, sets = config.experiment, data_sets(config)
    if world := experiment.world:
        if all(found.entry.source for found in sets.values()):
            yield "experiment.world: no effect, no data set is taken from a folder; remove it"
        if not any(share for kind, share in world.shares().items() if kind not in world.exclude):
            yield "experiment.world.exclude: no kind of discourse is left; exclude fewer"
        books = experiment.corpus
        if world.exclude and (books is None or books.source or config.data):
            yield "experiment.world: the run reads other books; remove exclude"
    for name, found in sets.items():
        key, entry = found.key, found.entry
        if entry.folder and entry.source:
            yield f"{key}: both folder and source are given; remove one, or give source: null"
        elif entry.revision and not entry.source:
            yield f"{key}.revision: no effect on a folder; remove it, or give source instead"
        elif entry.source and found.hub and (wrong := fault(found.hub, entry.revision)):
            yield f"{key}.source: {wrong}"
        if name in experiment.own_tasks and entry.min_rows:
            yield f"{key}.min_rows: no effect on rows of your own; remove it"
        if name != "corpus":
            wrong_splits = faults(experiment.task(name), config.prepare(name))
            yield from (f"{key}.{wrong}" for wrong in wrong_splits)


def study_faults(plan: "Plan", study: str) -> Iterator[str]:
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
    counts = Counter(point.key for point in plan.study(study).points)
    for title, text in (key for key, n in counts.items() if n > 1):  # such as `all` and 12 layers
        yield f"{key}.{entry.part(title)}: {text} twice among the values; give it once"
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


def _not_comparable(plan: "Plan", name: str, study: Study, tasks: list[str]) -> Iterator[str]:
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
    """The keys of an `overlay` that a line's cells do not depend on.

    They concern the other architecture, another task, a language model that the line does not have,
    or settings that train nothing, and would train the same cells again under another name.
    """
    (other,) = set(get_args(Arch)) - {arch}
    sections = tuple(f"{key}." for key in (*NOT_TRAINED, *(() if has_models else OF_MODELS)))
    for key in overlay:
        short = key.removeprefix("experiment.")
        of_task = short.startswith("tasks.") and short.split(".")[1] not in tasks
        if other in key.split(".") or of_task or f"{short}.".startswith(sections):
            yield key


def run_faults(plan: "Plan") -> Iterator[str]:
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
