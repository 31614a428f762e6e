"""What no single key can tell: keys of the config that must fit each other.

Each fault is one line: the key's path, what was found, what to do. Whether the data is there is
checked in `workflow.configuration.paths`.
"""

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

import tasks
from gpt1.cell import ARCHS
from tasks.corpora import corpus
from tasks.hub import fault
from tasks.splits import faults
from workflow.configuration.model import Config, Experiment
from workflow.configuration.paths import data_sets


def cross_checks(config: Config) -> Iterator[str]:
    """The faults of a config whose keys are valid one by one."""
    experiment = config.experiment
    yield from _pretrained(experiment) if experiment.pretrained else _pretrain(experiment)
    yield from _tokenizer(experiment)
    yield from _layers(config)
    yield from _intermediate_aux(experiment)
    yield from _shuffled(experiment)
    yield from _splits(config)
    yield from _zero_shot(experiment)
    yield from _submission(config)
    yield from _finetune(config)
    yield from _world(config)
    yield from _processes(config)
    yield from _sources(config)
    yield from dangerous_results(config)
    yield from outside_data(config)
    yield from _studies(experiment)


def _studies(experiment: Experiment) -> Iterator[str]:
    """Names that are no file's; the rest is checked when a study is asked for."""
    for name in experiment.studies:
        if not re.fullmatch("[a-z0-9_]+", name):
            yield f"experiment.studies.{name}: give it a name of a-z, 0-9 and _ alone"


def _pretrain(experiment: Experiment) -> Iterator[str]:
    books, pretrain = experiment.corpus, experiment.pretrain
    for key, section in (("corpus", books), ("pretrain", pretrain)):
        if section is None:
            yield f"experiment.{key}: null; give its keys, or experiment.pretrained"
    if books is None or pretrain is None:
        return
    heldout, n_books = books.heldout, experiment.world.books if experiment.world else None
    if n_books and not books.source and isinstance(heldout, int) and heldout >= n_books:
        yield (
            f"experiment.corpus.heldout: {heldout} of {n_books} books leave none to train on; "
            "give fewer"
        )
    official = corpus(books.source).heldout if books.source else None
    if bool(official) != (heldout == "official"):
        yield f"experiment.corpus.heldout: {heldout!r}, but {books.source or 'this corpus'} " + (
            "has a published held-out split; use 'official'"
            if official
            else "has no published held-out split; give a number"
        )
    if pretrain.warmup >= pretrain.updates:
        yield (
            f"experiment.pretrain.warmup: {pretrain.warmup} updates of warm-up leave none of "
            f"{pretrain.updates}; give fewer than experiment.pretrain.updates"
        )


def _pretrained(experiment: Experiment) -> Iterator[str]:
    """What has no place beside published weights."""
    for key in ("corpus", "pretrain"):
        if getattr(experiment, key) is not None:
            yield (
                f"experiment.{key}: no effect, experiment.pretrained gives published weights; "
                "remove one of them"
            )
    if experiment.seeds.pretrain != [0]:
        yield (
            f"experiment.seeds.pretrain: {experiment.seeds.pretrain}, but experiment.pretrained "
            "gives one model, which counts as seed 0; give [0]"
        )
    if experiment.tokenizer.merges:
        yield (
            "experiment.tokenizer.merges: published weights have a vocabulary already; give "
            "{folder: NAME}, the folder that holds it"
        )
    for arch in experiment.grid.arch:
        if arch != "transformer":
            yield (
                f"experiment.grid.arch: {arch} cannot start from experiment.pretrained; "
                "give [transformer]"
            )


def _tokenizer(experiment: Experiment) -> Iterator[str]:
    given = experiment.tokenizer
    if given.merges and given.folder:
        yield "experiment.tokenizer: both merges and folder are given; remove one of them"
    elif not given.merges and not given.folder:
        yield (
            "experiment.tokenizer: neither merges nor folder is given; give {merges: 40000} or "
            "{folder: NAME}"
        )


def _layers(config: Config) -> Iterator[str]:
    for arch in ARCHS:
        if arch not in config.experiment.grid.arch:
            continue
        most = config.n_layer(arch)
        for layer in getattr(config.experiment.grid.layers, arch):
            if layer != "none" and layer > most:
                yield (
                    f"experiment.grid.layers.{arch}: {layer} layers cannot be transferred, the "
                    f"model has {most}; give none or 0 to {most}"
                )


def _intermediate_aux(experiment: Experiment) -> Iterator[str]:
    grid = experiment.grid
    for aux in grid.intermediate_aux or []:
        if aux not in grid.aux:
            yield (
                f'experiment.grid.intermediate_aux: "{aux}" is not in experiment.grid.aux; add it '
                "there, or remove it"
            )


def _shuffled(experiment: Experiment) -> Iterator[str]:
    """The negative control stands beside the fully transferred transformer with aux on."""
    grid = experiment.grid
    if not grid.shuffled:
        if experiment.seeds.shuffled:
            yield (
                "experiment.seeds.shuffled: no effect, experiment.grid.shuffled is false; remove it"
            )
        return
    if experiment.pretrained:
        yield (
            "experiment.grid.shuffled: there are no books to shuffle, experiment.pretrained gives "
            "published weights; give false"
        )
    if "transformer" not in grid.arch or "on" not in grid.aux:
        yield (
            "experiment.grid.shuffled: the control is a transformer with aux on, which "
            "experiment.grid does not have; add it, or give false"
        )


def _splits(config: Config) -> Iterator[str]:
    """Names of splits, which differ from task to task."""
    for name, data_set in data_sets(config).items():
        if name != "corpus":
            yield from (
                f"{data_set.key}.{f}" for f in faults(tasks.task(name), config.prepare(name))
            )


def _zero_shot(experiment: Experiment) -> Iterator[str]:
    section = experiment.zero_shot
    for task, entry in section.tasks.items():
        given = [key for key, value in entry if value is not None]
        if task in experiment.tasks and given:
            yield (
                f"experiment.zero_shot.tasks.{task}.{given[0]}: no effect, experiment.tasks.{task} "
                "states it already; write {}"
            )
    for task, scores in section.normalise.items():
        path = f"experiment.zero_shot.normalise.{task}"
        if task not in section.tasks:
            yield f"{path}: no effect, the task is not in experiment.zero_shot.tasks; remove it"
        if scores.random >= scores.best:
            yield (
                f"{path}: best, {scores.best:g}, counts as 1 and random, {scores.random:g}, as 0; "
                "give a best above random"
            )


def _submission(config: Config) -> Iterator[str]:
    """What is submitted is the fully transferred transformer with the auxiliary loss."""
    grid, most = config.experiment.grid, config.n_layer("transformer")
    if not config.experiment.submission:
        return
    if "transformer" not in grid.arch or "on" not in grid.aux:
        yield (
            "experiment.submission: submits the transformer with aux on, which experiment.grid "
            "does not have; add it, or give false"
        )
    elif most not in grid.layers.transformer:
        yield (
            f"experiment.submission: submits the transformer with {most} layers transferred; add "
            f"{most} to experiment.grid.layers.transformer, or give false"
        )


def _finetune(config: Config) -> Iterator[str]:
    """What the method of fine-tuning asks of the models, the grid and the tasks."""
    experiment, own = config.experiment, config.experiment.finetune
    key, method = "experiment.finetune", own.method
    has_models = bool(experiment.pretrain or experiment.pretrained)
    if has_models and config.checkpoint() not in config.updates():
        known = ", ".join(map(str, config.updates()))
        yield f"{key}.checkpoint: {own.checkpoint} has no checkpoint; give one of {known}"
    for arch in experiment.grid.arch:
        most = config.n_layer(arch)
        for name in ("skip_layer", "read_layer"):
            layer = getattr(method, name)
            if isinstance(layer, int) and layer > most:
                yield f"{key}.method.{name}: {layer}, but the {arch} has {most} layers; give fewer"
        if arch == "lstm" and method.read_layer != "top":
            yield f"{key}.method.read_layer: is the transformer's; give top, or another grid.arch"
        rates = {
            getattr(experiment.tasks[task].lr, arch) or getattr(own.lr, arch)
            for task in own.multi_task
            if task in experiment.tasks
        }
        if len(rates) > 1:
            yield f"{key}.multi_task: its tasks have {len(rates)} learning rates; give them one"
    for name in ("frozen", "prompted"):
        if getattr(method, name) and "on" in experiment.grid.aux:
            yield f'{key}.method.{name}: there is no auxiliary loss; give aux: "off"'
    if len(own.multi_task) == 1:
        yield f"{key}.multi_task: {own.multi_task[0]} alone; give two tasks or more, or none"
    for task in own.multi_task:
        if task not in experiment.tasks:
            yield f"{key}.multi_task: {task} is not in experiment.tasks; add it there"


def _world(config: Config) -> Iterator[str]:
    """What is left out of the world's books, or planted into them."""
    experiment = config.experiment
    if not (world := experiment.world):
        return
    shape = experiment.model.transformer
    if world.exclude and world.planted:
        yield "experiment.world.planted: into other books than those of exclude; give one of them"
    kinds = set(world.shares()) - set(world.exclude)
    if not any(world.shares()[kind] for kind in kinds):
        yield "experiment.world.exclude: no kind of discourse is left; exclude fewer"
    books = experiment.corpus
    if (world.exclude or world.planted) and (books is None or books.source or config.data):
        yield "experiment.world: the run reads other books; remove exclude and planted"
    if shape.block == "modern" and shape.n_embd // shape.n_head % 2:
        yield "experiment.model.transformer.block: modern ones need heads of an even width"


def _processes(config: Config) -> Iterator[str]:
    runtime = config.runtime
    if runtime.pretrain_processes > 1 and runtime.device not in ("cpu", "cuda"):
        yield (
            f"runtime.pretrain_processes: {runtime.pretrain_processes} cannot share the device "
            f"{runtime.device}; give 1, or the device cuda or cpu"
        )


def _sources(config: Config) -> Iterator[str]:
    """A data set comes from a folder or from the hub, and from the hub at a commit."""
    world, found = config.experiment.world, data_sets(config)
    if world and all(data_set.entry.source for data_set in found.values()):
        yield "experiment.world: no effect, no data set is taken from a folder; remove it"
    for name, data_set in found.items():
        key, entry = data_set.key, data_set.entry
        remedy = "{source: wikitext103}" if name == "corpus" else "{source: hub}"
        if entry.folder and entry.source:
            yield f"{key}: both folder and source are given; remove one of them"
        elif not entry.source and entry.revision:
            yield f"{key}.revision: no effect on a folder; remove it, or give {remedy} instead"
        elif entry.source and data_set.hub and (wrong := fault(data_set.hub, entry.revision)):
            yield f"{key}.source: {wrong}"
        if not entry.min_rows or entry.source:
            continue
        if name == "corpus":
            yield f"{key}.min_rows: no effect on a folder of books, which has any number; remove it"
        elif world:
            yield f"{key}.min_rows: no effect on the embedded world, whose rows are made; remove it"


PROJECT = Path(__file__).resolve().parent.parent.parent
CODE = ("bench", "docs", "gpt1", "tasks", "tests", "workflow")
SYSTEM = {"bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "usr"}


def dangerous_results(config: Config) -> Iterator[str]:
    """A results folder that would put files of the project or of the system in danger.

    Links are followed; a relative path begins where the run is started.
    """
    given, path = (Path(f(config.results)) for f in (os.path.abspath, os.path.realpath))
    remedy = "name a folder of its own, such as results/mine"
    if path == Path.home().resolve():
        yield f"results: {config.results!r} is your home folder; {remedy}"
    elif path in (PROJECT, *PROJECT.parents, *Path.cwd().parents):
        yield f"results: {config.results!r} holds the project or the folder of this run; {remedy}"
    elif max(map(len, path.parts)) > 200:
        yield f"results: a name of {max(map(len, path.parts))} characters, at most 200; {remedy}"
    elif len(str(path)) > 1000:
        yield f"results: a path of {len(str(path)):,} characters, at most 1,000; {remedy}"
    elif os.path.isfile(path):
        yield f"results: {config.results!r} is a file; {remedy}"
    elif path.is_relative_to(PROJECT):
        top = path.relative_to(PROJECT).parts[0]
        if top in CODE or top.startswith("."):
            yield f"results: {config.results!r} is in {top}/, a part of the project; {remedy}"
    elif {given.parts[1], path.parts[1]} & SYSTEM and not path.is_relative_to("/dev/shm"):
        yield f"results: {config.results!r} is a folder of the system; {remedy}"


def unwritable_results(config: Config) -> Iterator[str]:
    """Why no results can be written, in one line; empty if they can."""
    folder = Path(os.path.realpath(config.results))
    there = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    if not os.access(there, os.W_OK | os.X_OK):
        read_only = os.statvfs(there).f_flag & os.ST_RDONLY
        closed = errno.EACCES if there.is_dir() else errno.ENOTDIR
        reason = os.strerror(errno.EROFS if read_only else closed)
        yield f"results: {config.results!r}: {reason} in {there}; name a folder of your own"


def outside_data(config: Config) -> Iterator[str]:
    """Folders and files of the data folder that lie outside it."""
    found, experiment = data_sets(config).values(), config.experiment
    given = {f"{data_set.key}.folder": data_set.entry.folder for data_set in found}
    if config.data:  # else they lie where the run is started
        given["experiment.tokenizer.folder"] = experiment.tokenizer.folder
        given["experiment.probes"] = experiment.probes
        if experiment.pretrained:
            given["experiment.pretrained.path"] = experiment.pretrained.path
    for key, path in given.items():
        if path and os.path.normpath(path).split(os.sep)[0] == os.pardir:
            yield (
                f"{key}: {path!r} leads out of the data folder; name one in it, or give an "
                "absolute path"
            )
