"""Where a run's files lie, which raw files a job depends on, and which of them are missing."""

import contextlib
import functools
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from gpt1.cell import WEIGHT_FILES
from gpt1.settings import CorpusSettings
from gpt1.text.vocabulary import FILES, KINDS, PUBLISHED_FILES
from tasks.common.errors import InputError
from tasks.common.files import MANIFEST, read_json, sha256_file, sha256_json, write_json
from tasks.hub import HubSource, corpus
from tasks.settings import DataSource
from tasks.splits import choose_splits
from workflow.configuration.model import Config

WORLD_CLOZE = "Cloze/items.jsonl"  # in the synthetic world
MANY_FILES = 500  # above this number of raw files, a folder's sub-folders stand for them


@dataclass(frozen=True)
class DataSet:
    """The corpus or a task, as the run reads it."""

    key: str  # of its entry in the config
    entry: DataSource | CorpusSettings
    hub: HubSource | None  # None for books in a folder
    folder: str  # its own, or its snapshot of the hub at one commit


def data_sets(config: Config, run: str | None = None) -> dict[str, DataSet]:
    """Every data set that the run reads, by its name: `corpus` or the task's.

    Of the config of a variant, `run` is the run's folder of results, which has what is fetched.
    """
    experiment, sets = config.experiment, dict[str, DataSet]()
    entries: dict[str, DataSource | CorpusSettings | None] = {"corpus": experiment.corpus}
    for name, entry in (entries | config.examples()).items():
        if entry is None:
            continue
        if isinstance(entry, CorpusSettings):
            key, own, hub = name, "books", corpus(entry.source) if entry.source else None
        else:
            task = experiment.task(name)
            section = "tasks" if name in experiment.tasks else "zero_shot.tasks"
            key, own, hub = f"{section}.{name}", task.folder, task.hub
        below = config.data or (f"{config.results}/world" if config.is_synthetic(entry) else "")
        folder = os.path.join(below, entry.folder or own) or "."
        if entry.source and hub:  # whose commit `cross_checks` asks for
            folder = f"{run or config.results}/raw/{hub.name}/{entry.revision or hub.revision}"
        sets[name] = DataSet(f"experiment.{key}", entry, hub, folder)
    return sets


def raw_files(config: Config, name: str, run: str | None = None) -> list[str]:
    """What a job that reads a data set depends on: its files, or their manifest (`data_sets`)."""
    data_set = data_sets(config, run)[name]
    if data_set.entry.source:
        return [f"{data_set.folder}/{MANIFEST}"]
    if config.is_synthetic(data_set.entry):
        return [f"{config.results}/world/manifest.json"]
    if own := config.experiment.own_tasks.get(name):
        given = (os.path.join(data_set.folder, path) for path in own.by_split.values())
        return list(map(os.path.normpath, given))
    files = files_below(data_set.folder)
    if name in config.unlabelled():  # some lie outside the task's folder: MNLI's diagnostic set
        folder = Path(data_set.folder)
        others = config.experiment.task(name).unlabelled_files(folder).values()
        files += [str(path) for path in others if path.parent != folder]
    return files


def files_below(folder: str) -> list[str]:
    """The files of a folder, sorted.

    A folder of very many files (RACE as published: 28,000) is watched by its sub-folders instead,
    whose modification time changes when a file is added or removed; checking each file would slow
    every start. What the files hold is compared all the same, see `content`.
    """
    if not os.path.isdir(folder):  # rglob fails on a name that is too long
        return []
    below = sorted(path for path in Path(folder).rglob("*") if not path.name.startswith("."))
    files = [str(path) for path in below if path.is_file()]
    if len(files) <= MANY_FILES:
        return files
    return [folder, *(str(path) for path in below if path.is_dir())]


@functools.cache
def content(files: tuple[str, ...], known: str = ".snakemake/digests.json") -> str:
    """Twelve hex digits over what `files` hold; a folder stands for the files that lie in it.

    A file replaced by one that is older than the results has another digest, though not a later
    time. The digests are kept in the file `known`, and taken from there while size, times and inode
    of what a path leads to are the same. A file that cannot be read has none: its job says why.
    """
    try:
        read = read_json(known)
    except InputError:
        read = {}
    before = read if isinstance(read, dict) else {}
    now: dict[str, str] = {}
    for path in files:
        below = sorted(os.listdir(path)) if os.path.isdir(path) else []
        for file in (path, *(os.path.join(path, name) for name in below if name[0] != ".")):
            with contextlib.suppress(OSError):
                if os.path.isfile(file):
                    found = os.stat(file)
                    times = f"{found.st_mtime_ns} {found.st_ctime_ns}"
                    state = f"{found.st_size} {times} {found.st_ino}"
                    same, _, digest = str(before.get(file)).rpartition(" ")
                    now[file] = f"{state} {digest if same == state else sha256_file(file)}"
    if any(before.get(file) != of for file, of in now.items()):
        with contextlib.suppress(InputError, OSError):
            write_json(known, before | now)
    return sha256_json({file: of.rpartition(" ")[2] for file, of in now.items()})[:12]


def cloze_file(config: Config) -> str | None:
    """The file of cloze items: the given one, else the synthetic world's, if there is one."""
    if config.experiment.cloze:
        return os.path.join(config.data or "", config.experiment.cloze)
    if config.experiment.world and config.data is None:
        return f"{config.results}/world/{WORLD_CLOZE}"
    return None


def raw_cloze(config: Config) -> list[str]:
    """What a job that reads the cloze items depends on."""
    return named_files(config).get("experiment.cloze", [f"{config.results}/world/manifest.json"])


def named_files(config: Config) -> dict[str, list[str]]:
    """The files of published weights, of a published vocabulary and of cloze items, by their key.

    They are not part of the synthetic world: without `data` they lie where the run is started.
    """
    weights, folder = config.experiment.pretrained, config.experiment.tokenizer.folder
    root, files = config.data or "", {}
    if weights:
        path = os.path.join(root, weights.path)
        files["experiment.pretrained.path"] = [os.path.join(path, name) for name in WEIGHT_FILES]
    if folder:
        path = os.path.join(root, folder)
        there = (kind for kind in KINDS if any(os.path.exists(f"{path}/{name}") for name in kind))
        names = next(there, PUBLISHED_FILES)
        files["experiment.tokenizer.folder"] = [os.path.join(path, name) for name in names]
    if items := config.experiment.cloze:
        files["experiment.cloze"] = [os.path.join(root, items)]
    return files


def tokenizer_files(config: Config) -> list[str]:
    """The tokenizer's vocabulary and merges: trained into the results, or published ones."""
    own = [f"{config.results}/tokenizer/{name}" for name in FILES]
    return named_files(config).get("experiment.tokenizer.folder", own)


def missing_data(config: Config, asked: Collection[str]) -> Iterator[str]:
    """Missing raw data, one line each; empty if all is there.

    Data sets are `asked` for by name, named files by the key that names them.
    """
    data, sets = config.data, data_sets(config)
    in_folders = {k: of for k, of in sets.items() if k in asked and not of.entry.source}
    named = {key: paths for key, paths in named_files(config).items() if key in asked}
    below = [found for found in in_folders.values() if config.is_below_data(found.entry)]
    if below and data is None and config.experiment.world is None:
        folders = [found.folder for found in below]
        folders += [os.path.dirname(files[0]) for files in named.values()]
        names = dict.fromkeys(os.path.basename(path) for path in folders if not os.path.isabs(path))
        yield (
            f"data: missing; give the folder that holds {'/, '.join(names)}/ in their original "
            "layouts, with --config data=FOLDER, or put a config with the synthetic world first, "
            "as in --configfile workflow/config/world.yaml mine.yaml"
        )
        return
    if data and config.experiment.world:
        yield (
            "experiment.world: no effect where data is given; take a config without it, such "
            "as workflow/config/novels.yaml"
        )
    if data and not os.path.isdir(data):
        yield f"data: no folder {data!r}; give the folder of the raw data"
        return
    for name, found in in_folders.items():
        if config.is_synthetic(found.entry):
            continue  # made in the run
        faults = dict.fromkeys(_lacking(config, name, found.folder))
        yield from (f"{found.key}: {fault}" for fault in faults)
    for key, paths in named.items():
        if missing := [path for path in paths if not os.path.isfile(path)]:
            yield f"{key}: no file {missing[0]}; put it there (docs/published-weights.md)"


def _lacking(config: Config, name: str, folder: str) -> Iterator[str]:
    """A folder without books; splits to read without a file, or with too many; no unlabelled rows.

    `name` is that of a data set.
    """
    if name == "corpus":
        if not os.path.isdir(folder) or not any(Path(folder).rglob("*.txt")):
            remedy = "put books there, each a .txt file, or give a corpus of the hub with source"
            yield f"no .txt file in {folder}; {remedy}"
        return
    task = config.experiment.task(name)
    if config.prepare(name).own:
        absent = (path for path in raw_files(config, name) if not os.path.isfile(path))
        yield from (f"no file {path}; give its path in files" for path in absent)
        return
    hub = ", or give source: hub" if task.hub.repo else ""
    for split in choose_splits(task, config.prepare(name)).files.values():
        try:
            task.files(folder, split)
        except InputError as error:
            yield f"{error}{hub}"
    is_asked = name in config.unlabelled() and os.path.isdir(folder)
    if is_asked and (missing := task.missing_unlabelled(folder)):
        yield (
            f"{folder} lacks {' and '.join(missing)}, the unlabelled rows to predict; put it "
            "there, or give experiment.submission: false"
        )
