"""Checks that the keys of a config fit each other.

Each fault is one line: the key's path, what was found, what to do. Whether the data exists is
checked in `workflow.configuration.paths`, the folder of results in `workflow.results_folder`.
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
from workflow.configuration.studies import liked

# What else these names stand for where the names of tasks stand.
FORMULA = re.compile(r"\s*([=@]\s*\S|[-+](?!(\.inf|[\d.]*(e[-+]?\d+)?)\s*$))", re.I)  # but a number
TAKEN = dict.fromkeys(("mean", "avg", "avg_all"), "a mean over tasks") | {"corpus": "the books"}


def cross_checks(config: Config) -> Iterator[str]:
    """The faults of a config whose keys are valid one by one."""
    experiment = config.experiment
    if wrong := [*_tasks(experiment)]:
        yield from wrong
        return
    yield from _likes(experiment)
    yield from _titles(experiment)
    yield from _formulas(experiment)
    yield from _pretrained(experiment) if experiment.pretrained else _pretrain(experiment)
    yield from _layers(config)
    yield from _zero_shot(experiment)
    yield from _finetune(config)
    yield from _world(config)
    yield from _sources(config)
    yield from _runtime(config)


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
    asked = experiment.zero_shot
    names = {
        "only": experiment.only or (),
        "zero_shot.tasks": asked.tasks if asked else (),
        "zero_shot.normalise": asked.normalise if asked else (),
    }
    for key, given in names.items():
        others = (asked.tasks if asked else ()) if key == "only" else known
        for name in {*given} - {*experiment.tasks, *others, "dprd"}:
            yield f"experiment.{key}: no task {name}; there are {', '.join(experiment.tasks)}"


def _likes(experiment: Experiment) -> Iterator[str]:
    """Lines that are like no line, or else those that are like each other in a circle."""
    studies = experiment.studies
    left = [
        (study, title, line.like)
        for study, entry in studies.items()
        for title, line in entry.titled.items()
        if line and line.like
    ]
    unknown = [of for of in left if not liked(studies, *of[:2])]
    for study, title, like in unknown or left:
        entry, why = studies[study], "is like others in a circle; give one of them its keys instead"
        if unknown:
            titles = {*entry.titled, *studies["ablation"].titled} - {title}
            near = difflib.get_close_matches(like, titles, n=1)
            remedy = f"; did you mean {near[0]!r}?" if near else "; give the title of one"
            why = f"is no other line of the study and none of Table 5{remedy}"
        yield f"experiment.studies.{study}.{entry.part(title)}.like: {like!r} {why}"


def _titles(experiment: Experiment) -> Iterator[str]:
    """Own tasks with the title of another task, which no table could tell apart."""
    # Table 5 also has the paper's tasks that do not run.
    known = {task.title: task.name for task in (*TASKS, experiment.task("dprd"))}
    for name in experiment.own_tasks:
        title = experiment.task(name).title
        if (other := known.setdefault(title, name)) != name:
            yield f"experiment.tasks.{name}.title: {title!r} is that of {other}; give another"


def _formulas(experiment: Experiment) -> Iterator[str]:
    """Titles and labels that a spreadsheet would take for a formula in a table, and run."""
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
        yield (
            f"experiment.corpus.heldout: {books.heldout} of {n_books} books leave none to train "
            "on; give fewer"
        )
    has_official = bool(books.source and corpus(books.source).heldout)
    if has_official != (books.heldout == "official"):
        yield (
            f"experiment.corpus.heldout: {books.heldout!r} does not fit; give 'official' where "
            "the source has a held-out split of its own, else a number"
        )
    if pretrain.warmup >= pretrain.updates:
        yield (
            f"experiment.pretrain.warmup: {pretrain.warmup} updates of warm-up leave none of "
            f"{pretrain.updates}; give fewer than experiment.pretrain.updates"
        )


def _pretrained(experiment: Experiment) -> Iterator[str]:
    """Keys that do not fit published weights, and what to do about each."""
    remedies = {
        "corpus": (experiment.corpus is not None, "remove it"),
        "pretrain": (experiment.pretrain is not None, "remove it"),
        "tokenizer.merges": (bool(experiment.tokenizer.merges), "give their vocabulary's folder"),
        "seeds.pretrain": (experiment.seeds.pretrain != [0], "give [0] for their one model"),
        "finetune.embeddings": (
            experiment.finetune.embeddings != "learned",
            "remove it, since their books are not here",
        ),
        "arch": (experiment.arch != "transformer", "give transformer"),
    }
    for key, (is_wrong, remedy) in remedies.items():
        if is_wrong:
            yield f"experiment.{key}: does not fit the weights of experiment.pretrained; {remedy}"


def _layers(config: Config) -> Iterator[str]:
    """Layers that the model does not have."""
    experiment, arch = config.experiment, config.experiment.arch
    most = config.n_layer(arch)
    asked = {
        "n_transfer": experiment.n_transfer,
        "finetune.method.read_layer": experiment.finetune.method.read_layer,
    }
    for key, layer in asked.items():
        if isinstance(layer, int) and layer > most:
            yield f"experiment.{key}: {layer}, but the {arch} has {most} layers; give fewer"


def _zero_shot(experiment: Experiment) -> Iterator[str]:
    if not (section := experiment.zero_shot):
        return
    for task, entry in section.tasks.items():
        if task in experiment.tasks and entry.model_dump(exclude_none=True):
            yield (
                f"experiment.zero_shot.tasks.{task}: no effect, experiment.tasks.{task} says "
                "where its rows are; write {}"
            )
        if not experiment.task(task).prompt:
            yield f"experiment.zero_shot.tasks.{task}: it has no prompt; give it one, or remove it"
    for task, scores in section.normalise.items():
        if scores.random >= scores.best:
            yield (
                f"experiment.zero_shot.normalise.{task}: {scores.best:g} at best and "
                f"{scores.random:g} at random; give a best above random"
            )


def _finetune(config: Config) -> Iterator[str]:
    """What the settings of fine-tuning require of the model and of each other."""
    experiment, own = config.experiment, config.experiment.finetune
    key, method = "experiment.finetune", own.method
    has_models = bool(experiment.pretrain or experiment.pretrained)
    if has_models and config.checkpoint() not in config.updates():
        known = ", ".join(map(str, config.updates()))
        yield f"{key}.checkpoint: {own.checkpoint} has no checkpoint; give one of {known}"
    if experiment.arch == "lstm" and method.read_layer != "top":
        yield f"{key}.method.read_layer: is the transformer's; give top, or another arch"
    if own.embeddings != "learned" and experiment.n_transfer == "none":
        yield f"{key}.embeddings: n_transfer none has none of {own.embeddings}; give n_transfer: 0"
    if method.frozen and own.lm_coef:
        yield f"{key}.method.frozen: there is no auxiliary loss; give lm_coef: 0"


def _world(config: Config) -> Iterator[str]:
    """A world that has no effect, or exclusions that leave nothing or have no effect."""
    experiment = config.experiment
    if not (world := experiment.world):
        return
    if all(data_set.entry.source for data_set in data_sets(config).values()):
        yield "experiment.world: no effect, no data set is taken from a folder; remove it"
    if not any(share for kind, share in world.shares().items() if kind not in world.exclude):
        yield "experiment.world.exclude: no kind of discourse is left; exclude fewer"
    books = experiment.corpus
    if world.exclude and (books is None or books.source or config.data):
        yield "experiment.world: the run reads other books; remove exclude"


def _sources(config: Config) -> Iterator[str]:
    """A data set comes from a folder or from the hub at a commit; its splits are the task's."""
    for name, found in data_sets(config).items():
        entry = found.entry
        if entry.folder and entry.source:
            yield f"{found.key}: both folder and source are given; remove one, or give source: null"
        elif entry.revision and not entry.source:
            yield f"{found.key}.revision: no effect on a folder; remove it, or give source instead"
        elif entry.source and found.hub and (wrong := fault(found.hub, entry.revision)):
            yield f"{found.key}.source: {wrong}"
        if name in config.experiment.own_tasks and entry.min_rows:
            yield f"{found.key}.min_rows: no effect on rows of your own; remove it"
        if name != "corpus":
            wrong_splits = faults(config.experiment.task(name), config.prepare(name))
            yield from (f"{found.key}.{wrong}" for wrong in wrong_splits)


def _runtime(config: Config) -> Iterator[str]:
    runtime = config.runtime
    if runtime.pretrain_processes > 1 and runtime.device not in ("cpu", "cuda"):
        yield (
            f"runtime.pretrain_processes: {runtime.pretrain_processes} cannot share the device "
            f"{runtime.device}; give 1, or the device cuda or cpu"
        )
