"""Checks that the keys of a config fit each other.

Each fault is one line: the key's path, what was found, what to do. Whether the data exists is
checked in `workflow.configuration.paths`, the folder of results in `workflow.results_folder`,
studies in `workflow.studies`.
"""

import difflib
import re
from collections.abc import Iterator

from tasks import TASKS
from tasks.common.errors import InputError
from tasks.hub import corpus, fault
from tasks.splits import faults
from workflow.configuration.model import Config, Experiment
from workflow.configuration.paths import data_sets
from workflow.configuration.sections import ZeroShotOptions
from workflow.configuration.studies import like_faults

FORMULA = re.compile(r"\s*([=@]\s*\S|[-+](?!(\.inf|[\d.]*(e[-+]?\d+)?)\s*$))", re.I)  # but a number
# What else these names stand for where the names of tasks stand.
TAKEN = dict.fromkeys(("mean", "avg", "avg_all"), "a mean over tasks") | {"corpus": "the books"}


def cross_checks(config: Config) -> Iterator[str]:
    """The faults of a config whose keys are valid one by one."""
    experiment = config.experiment
    if wrong := [*_tasks(experiment)]:
        yield from wrong
        return
    yield from like_faults(experiment.studies)
    yield from _texts(experiment)
    yield from model_faults(experiment)
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


def model_faults(experiment: Experiment) -> Iterator[str]:
    """Why no language model can be trained, or none that is published be read."""
    yield from _pretrained(experiment) if experiment.pretrained else _pretrain(experiment)


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
