"""Where the files of a run lie, on which raw files a job depends, and which of them are missing."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpt1.text.settings import CorpusSettings
from gpt1.text.vocabulary import FILES, HUB_FILES, PUBLISHED_FILES
from gpt1.weights.files import FILES as WEIGHT_FILES
from tasks import task
from tasks.common.errors import InputError
from tasks.corpora import corpus
from tasks.hub import MANIFEST, HubSource, pinned
from tasks.settings import DataSource
from tasks.splits import choose_splits
from workflow.configuration.model import Config

WORLD_PROBES = "Probes/probes.jsonl"  # in the embedded world
MANY_FILES = 500  # above this number of raw files, a folder's sub-folders stand for them


@dataclass(frozen=True)
class DataSet:
    """The corpus or a task, as the run reads it."""

    key: str  # of its entry in the config
    entry: DataSource | CorpusSettings
    hub: HubSource | None  # None for books in a folder
    local: str  # its folder, where it is not fetched
    snapshots: str  # where what is fetched lies

    @property
    def folder(self) -> str:
        """Its folder, or its snapshot of the hub at one commit."""
        if not (self.entry.source and self.hub):
            return self.local
        return f"{self.snapshots}/{self.hub.name}/{pinned(self.hub, self.entry.revision)}"


def data_sets(config: Config) -> dict[str, DataSet]:
    """Every data set that the run reads, by its name: `corpus` or the task's."""
    experiment, found = config.experiment, {}

    def add(name: str, key: str, entry: Any, source: HubSource | None, folder: str) -> None:
        local = os.path.join(config.data or f"{config.results}/world", entry.folder or folder)
        found[name] = DataSet(key, entry, source, local, f"{config.results}/raw")

    if books := experiment.corpus:
        source = corpus(books.source) if books.source else None
        add("corpus", "experiment.corpus", books, source, "books")
    for name, entry in config.examples().items():
        section = "tasks" if name in experiment.tasks else "zero_shot.tasks"
        add(name, f"experiment.{section}.{name}", entry, task(name).hub, task(name).folder)
    return found


def raw_files(config: Config, name: str) -> list[str]:
    """What a job that reads a data set depends on: its files, or their manifest."""
    data_set = data_sets(config)[name]
    if data_set.entry.source:
        return [f"{data_set.folder}/{MANIFEST}"]
    if config.is_synthetic(data_set.entry):
        return [f"{config.results}/world/manifest.json"]
    files = files_below(data_set.folder)
    if name in config.unlabelled():  # some lie outside the task's folder: MNLI's diagnostic set
        folder = Path(data_set.folder)
        others = task(name).unlabelled_files(folder).values()
        files += [str(path) for path in others if path.parent != folder]
    return files


def files_below(folder: str) -> list[str]:
    """The files of a folder, sorted.

    A folder of very many files (RACE as published: 28,000) is watched by its sub-folders instead,
    whose time changes when a file is added or removed; checking each file would slow every start.
    Editing one of those files in place goes unnoticed; touch its folder.
    """
    below = sorted(path for path in Path(folder).rglob("*") if not path.name.startswith("."))
    found = [str(path) for path in below if path.is_file()]
    if len(found) <= MANY_FILES:
        return found
    return [folder, *(str(path) for path in below if path.is_dir())]


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


def probes_file(config: Config) -> str | None:
    """The file of probes: the one that is given, else the embedded world's, if there is one."""
    if config.experiment.probes:
        return os.path.join(config.data or "", config.experiment.probes)
    if config.experiment.world and config.data is None:
        return f"{config.results}/world/{WORLD_PROBES}"
    return None


def raw_probes(config: Config) -> list[str]:
    """What a job that reads the probes depends on."""
    given = config.experiment.probes
    return [str(probes_file(config))] if given else [f"{config.results}/world/manifest.json"]


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
    by_folder = any(not data_set.entry.source for data_set in data_sets(config).values())
    return by_folder and config.data is None and config.experiment.world is None


def missing_data(config: Config) -> Iterator[str]:
    """Raw data that is missing, one line each; empty if all is there."""
    data, world = config.data, config.experiment.world
    in_folders = [found for found in data_sets(config).values() if not found.entry.source]
    folders = {f"{found.key}.folder": found.folder for found in in_folders}
    published = published_folders(config)
    if has_no_data(config):
        paths = map(Path, (folders | published).values())
        names = dict.fromkeys(path.name for path in paths if not path.is_absolute())
        yield (
            f"data: missing; give the folder that holds {'/, '.join(names)}/ in their original "
            "layouts, with --config data=FOLDER"
        )
        return
    if data and world:
        yield (
            "experiment.world: no effect where data is given; take a config without it, such "
            "as workflow/config/novels.yaml"
        )
    if data and not Path(data).is_dir():
        yield f"data: no folder {data!r}; give the folder of the raw data"
        return
    for name in config.unlabelled() if data else ():
        found = data_sets(config)[name]
        if found in in_folders and Path(found.folder).is_dir():
            yield from _missing_unlabelled(name, found.folder)
    for key, folder in ((folders if data else {}) | published).items():
        if not Path(folder).is_dir():
            yield f"{key}: no folder {folder}; {_where_from(key)}, or name another folder"
            continue
        # Snakemake would take them for wildcards.
        braced = next((name for name in files_below(folder) if set("{}") & set(name)), None)
        if braced:
            yield f"{key}: {braced} has braces in its name; rename it"
    for name, found in data_sets(config).items() if data else ():
        if name != "corpus" and found in in_folders and Path(found.folder).is_dir():
            yield from _missing_splits(config, name, found)
    books = folders.get("experiment.corpus.folder")
    if data and books and Path(books).is_dir() and not any(Path(books).rglob("*.txt")):
        yield f"experiment.corpus.folder: no .txt file in {books}; put the books there"
    if config.experiment.probes:
        yield from _missing_probes(str(probes_file(config)))
    if config.experiment.tokenizer.folder:
        remedy = "put it there" + ("" if config.experiment.pretrained else ", or give merges")
        yield from _missing("experiment.tokenizer.folder", tokenizer_files(config), remedy)
    if config.experiment.pretrained:
        yield from _missing("experiment.pretrained.path", weight_files(config), "put it there")


def _where_from(key: str) -> str:
    """How to get the files of a data set, by the key of its folder."""
    section, _, name = key.removesuffix(".folder").rpartition(".")
    if not key.endswith(".folder") or section == "experiment" and name != "corpus":
        return "put the files there (docs/published-weights.md says where they are published)"
    if section == "experiment":
        return "put books there, each a .txt file, or give a corpus of the hub with source"
    where = task(name).obtain
    return f"{where}, or give source: hub" if task(name).hub.repo else where


def _missing(key: str, paths: list[str], remedy: str) -> Iterator[str]:
    """Files that a folder lacks; a missing folder is reported by itself."""
    for path in paths:
        if Path(path).parent.is_dir() and not Path(path).is_file():
            yield f"{key}: no file {path}; {remedy}"


def _missing_splits(config: Config, name: str, found: DataSet) -> Iterator[str]:
    """Official splits that are read and have no file, or too many, in a task's folder."""
    needed = choose_splits(task(name), config.prepare(name)).files
    for split in dict.fromkeys(needed.values()):
        try:
            task(name).files(found.folder, split)
        except InputError as error:
            yield f"{found.key}: {error}"


def _missing_probes(path: str) -> Iterator[str]:
    """What is wrong with the path of the probes that the config names."""
    if not Path(path).is_file():
        yield f"experiment.probes: no file {path}; put it there, or leave the key out"
    elif set("{}") & set(path):  # Snakemake would take them for wildcards
        yield f"experiment.probes: {path} has braces in its name; rename it"


def _missing_unlabelled(name: str, folder: str) -> Iterator[str]:
    """Unlabelled rows for the submission that a task's folder lacks; the world makes them."""
    if missing := task(name).missing_unlabelled(folder):
        yield (
            f"experiment.submission: {folder} lacks {' and '.join(missing)}, the unlabelled rows "
            "to predict; put it there, or give false"
        )
