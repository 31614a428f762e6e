"""Where the files of a run lie, on which raw files a job depends, and which of them are missing."""

import os
from collections.abc import Iterator
from pathlib import Path

from gpt1.text.settings import CorpusSettings
from gpt1.text.vocabulary import FILES, HUB_FILES, PUBLISHED_FILES
from gpt1.weights.files import FILES as WEIGHT_FILES
from tasks import hub, task
from tasks.corpora import corpus
from tasks.settings import DataSource
from workflow.config import Config

CORPUS = "experiment.corpus"
MANY_FILES = 500  # above this number of raw files, a folder's sub-folders stand for them


def data_sets(config: Config) -> dict[str, tuple[str, DataSource | CorpusSettings]]:
    """Every data set that the run reads, by its key in the config: its name, and its entry.

    The name of a corpus is its source; a corpus in a folder has none.
    """
    experiment = config.experiment
    found: dict[str, tuple[str, DataSource | CorpusSettings]] = {}
    if experiment.corpus and not experiment.pretrained:
        found[CORPUS] = (experiment.corpus.source or "", experiment.corpus)
    for name, entry in config.examples().items():
        found[task_key(config, name)] = (name, entry)
    return found


def hub_source(key: str, name: str) -> hub.HubSource:
    """Where the data set at `key` lies on the hub."""
    return corpus(name) if key == CORPUS else task(name).hub


def data_folder(config: Config, key: str) -> str:
    """Where a data set lies: in its folder, or in its snapshot of the hub at one commit."""
    name, entry = data_sets(config)[key]
    if entry.source:
        commit = hub.pinned(hub_source(key, name), entry.revision)
        return f"{config.results}/raw/{name}/{commit}"
    folder = entry.folder or ("books" if key == CORPUS else task(name).folder)
    return os.path.join(config.data or f"{config.results}/world", folder)


def task_key(config: Config, name: str) -> str:
    """The key of a task's entry in the config."""
    section = "tasks" if name in config.experiment.tasks else "zero_shot.tasks"
    return f"experiment.{section}.{name}"


def is_on_the_hub(config: Config, key: str) -> bool:
    """Whether the data set at `key` is fetched."""
    return data_sets(config)[key][1].source is not None


def task_folder(config: Config, name: str) -> str:
    """Where the raw data of a task lies."""
    return data_folder(config, task_key(config, name))


def corpus_folder(config: Config) -> str:
    """Where the books or the snapshot of the corpus lie."""
    return data_folder(config, CORPUS)


def raw_files(config: Config, key: str) -> list[str]:
    """What a job that reads the data set at `key` depends on: its files, or their manifest."""
    name, entry = data_sets(config)[key]
    folder = data_folder(config, key)
    if entry.source:
        return [f"{folder}/{hub.MANIFEST}"]
    if config.data is None:
        return [f"{config.results}/world/manifest.json"]
    return files_below(folder) + (diagnostic_files(config, name) if key != CORPUS else [])


def files_below(folder: str) -> list[str]:
    """The files of a folder, sorted.

    A folder of very many files (RACE as published: 28,000) is watched by its sub-folders instead,
    whose time changes when a file is added or removed; checking each file would slow every start.
    A file of those that is changed in place reruns nothing: touch its folder.
    """
    below = sorted(path for path in Path(folder).rglob("*") if not path.name.startswith("."))
    found = [str(path) for path in below if path.is_file()]
    if len(found) <= MANY_FILES:
        return found
    return [folder, *(str(path) for path in below if path.is_dir())]


def diagnostic_files(config: Config, name: str) -> list[str]:
    """Unlabelled files that lie outside the task's folder: MNLI's diagnostic set, for AX."""
    if name not in config.unlabelled():
        return []
    folder = Path(task_folder(config, name))
    return [str(p) for p in task(name).unlabelled_files(folder).values() if p.parent != folder]


def published_folders(config: Config) -> dict[str, str]:
    """The folders of a published vocabulary and published weights, by the key that names them.

    They are no part of the embedded world: without `data` they lie where the run is started.
    """
    experiment, root = config.experiment, config.data or ""
    folders = {}
    if experiment.pretrained:
        path = experiment.pretrained.path
        folders["experiment.pretrained.path"] = os.path.join(root, path)
    if experiment.tokenizer.folder:
        folder = experiment.tokenizer.folder
        folders["experiment.tokenizer.folder"] = os.path.join(root, folder)
    return folders


def tokenizer_files(config: Config) -> list[str]:
    """The tokenizer's vocabulary and merges: trained into the results, or published ones."""
    if not config.experiment.tokenizer.folder:
        return [f"{config.results}/tokenizer/{name}" for name in FILES]
    folder = Path(published_folders(config)["experiment.tokenizer.folder"])
    kinds = (FILES, PUBLISHED_FILES, HUB_FILES)
    there = (names for names in kinds if any((folder / name).exists() for name in names))
    return [str(folder / name) for name in next(there, PUBLISHED_FILES)]


def weight_files(config: Config) -> list[str]:
    """The files of the published weights that the suite starts from."""
    assert config.experiment.pretrained is not None
    folder = published_folders(config)["experiment.pretrained.path"]
    return [
        os.path.join(folder, name) for name in WEIGHT_FILES[config.experiment.pretrained.format]
    ]


def has_no_data(config: Config) -> bool:
    """Whether raw data is needed that is neither given nor made nor fetched."""
    by_folder = any(not entry.source for _, entry in data_sets(config).values())
    return by_folder and config.data is None and config.experiment.world is None


def missing_data(config: Config, planning: bool = False) -> Iterator[str]:
    """Raw data that is missing, one line each; empty if all is there.

    A plan may leave the raw data out altogether.
    """
    data = config.data
    folders = {
        f"{key}.folder": data_folder(config, key)
        for key, (_, entry) in data_sets(config).items()
        if not entry.source
    } | published_folders(config)
    if has_no_data(config) and planning:
        return
    if has_no_data(config):
        names = [Path(f).name for f in folders.values() if not Path(f).is_absolute()]
        yield (
            f"data: missing; give the folder that holds {'/, '.join(dict.fromkeys(names))}/ in "
            "their original layouts, with --config data=FOLDER"
        )
        return
    if data is None:
        folders = published_folders(config)
    elif config.experiment.world:
        yield (
            "experiment.world: no effect where data is given; take a config without it, such "
            "as workflow/config/novels.yaml"
        )
    if data and not Path(data).is_dir():
        yield f"data: no folder {data!r}; give the folder of the raw data"
        return
    yield from _missing_unlabelled(config)
    for key, folder in folders.items():
        if not Path(folder).is_dir():
            yield f"{key}: no folder {folder}; put the files there, or name another folder"
            continue
        # Snakemake would take them for wildcards.
        braced = next((name for name in files_below(folder) if set("{}") & set(name)), None)
        if braced:
            yield f"{key}: {braced} has braces in its name; rename it"
    books = folders.get("experiment.corpus.folder")
    if books and Path(books).is_dir() and not any(Path(books).rglob("*.txt")):
        yield f"experiment.corpus.folder: no .txt file in {books}; put the books there"
    if config.experiment.tokenizer.folder:
        remedy = "put it there" + ("" if config.experiment.pretrained else ", or give merges")
        yield from _missing("experiment.tokenizer.folder", tokenizer_files(config), remedy)
    if config.experiment.pretrained:
        yield from _missing("experiment.pretrained.path", weight_files(config), "put it there")


def _missing(key: str, paths: list[str], remedy: str) -> Iterator[str]:
    """Files that a folder lacks; a missing folder is reported by itself."""
    for path in paths:
        if Path(path).parent.is_dir() and not Path(path).is_file():
            yield f"{key}: no file {path}; {remedy}"


def _missing_unlabelled(config: Config) -> Iterator[str]:
    """Unlabelled rows for the submission that a folder of raw data lacks; the world makes them."""
    for name in config.unlabelled() if config.data else ():
        folder = task_folder(config, name)
        if config.examples()[name].source or not Path(folder).is_dir():
            continue
        if missing := task(name).missing_unlabelled(folder):
            yield (
                f"experiment.submission: {folder} lacks {' and '.join(missing)}, the "
                "unlabelled rows to predict; put it there, or give false"
            )
