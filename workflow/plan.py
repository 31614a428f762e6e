"""The grid and its files: which cells exist, which job trains which of them, where each file lies.

Pure functions of the config, so that they can be tested and so that the Snakefile stays light: no
torch, no pandas. A cell's path does not depend on how the cells are cut into jobs.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks import catalogue, hidden

PLACE = "{arch}/{task}/aux-{aux}/layers-{n_transfer}.json"
CELL = "{results}/cells/" + PLACE
PREDICTIONS = "{results}/predictions/" + PLACE
PUBLISHED_BPE = ("encoder_bpe_40000.json", "vocab_40000.bpe")
# The file names of a vocabulary and of published weights, as in gpt1.text.vocabulary and
# gpt1.weights.published,
# whose imports would slow every start of the graph.
VOCABULARIES = (("encoder.json", "merges.bpe"), PUBLISHED_BPE, ("vocab.json", "merges.txt"))
WEIGHTS = {
    "openai": ("params_shapes.json", *(f"params_{i}.npy" for i in range(10))),
    "huggingface": ("config.json", "model.safetensors"),
}
MANY_FILES = 500  # above this number of raw files, a folder's sub-folders stand for them


@dataclass(frozen=True)
class Cell:
    """One place of the grid; `n_transfer` is `none` or a number of layers, as text."""

    arch: str
    task: str
    aux: str
    n_transfer: str

    def path(self, results: str) -> str:
        """Where the cell's JSON lies under the folder `results`."""
        return CELL.format(results=results, **vars(self))

    def predictions(self, results: str) -> str:
        """Where the answers behind the cell's scores lie."""
        return PREDICTIONS.format(results=results, **vars(self))


@dataclass(frozen=True)
class Job:
    """A part of the sweep of one (arch, task, aux) that one process trains, for every task and aux.

    `part` is `ends` (nothing and everything transferred) or `between`; `shard` counts from 1.
    """

    arch: str
    part: str
    shard: int
    layers: tuple[str, ...]

    @property
    def name(self) -> str:
        """The rule's name."""
        end = f"_{self.shard}" if self.part == "between" else ""
        return f"finetune_{self.arch}_{self.part}{end}"

    @property
    def cells(self) -> list[Cell]:
        """The cells that the job trains, with the wildcards `{task}` and `{aux}` left open."""
        return [Cell(self.arch, "{task}", "{aux}", n) for n in self.layers]


def checkpoint_updates(updates: int, n: int) -> list[int]:
    """0, the untrained model, and `n` log-spaced updates from 1 % of `updates` (or 1) to the last.

    Strictly rising; fewer than `n` where `updates` is too small to hold as many.
    """
    first = max(1, round(updates / 100))
    spaced = (round(first * (updates / first) ** (i / (n - 1))) for i in range(n - 1))
    return sorted({0, *spaced, updates})


def n_layer(config: dict[str, Any], arch: str) -> int:
    """Number of layers of an architecture."""
    return config["experiment"]["model"][arch]["n_layer"]


def layers(config: dict[str, Any], arch: str) -> list[str]:
    """The values of `n_transfer` in an architecture's grid, as text."""
    return [str(n) for n in config["experiment"]["grid"]["layers"][arch]]


def cells(config: dict[str, Any]) -> list[Cell]:
    """Every cell of the grid."""
    grid = config["experiment"]["grid"]
    return [
        Cell(arch, task, aux, n)
        for arch in grid["arch"]
        for task in config["experiment"]["tasks"]
        for aux in grid["aux"]
        for n in layers(config, arch)
    ]


def ends(config: dict[str, Any]) -> list[Cell]:
    """The cells of the ablation table: nothing and everything transferred, for every arch and aux.

    The paper's Table 5 has four of these variants; the table shows the others below them.
    """
    return [
        cell
        for cell in cells(config)
        if cell.n_transfer in ("none", str(n_layer(config, cell.arch)))
    ]


def fully_transferred(config: dict[str, Any]) -> list[Cell]:
    """The cells of the paper's Tables 2 to 4: the transformer with all its layers."""
    full = ("transformer", str(n_layer(config, "transformer")))
    return [cell for cell in cells(config) if (cell.arch, cell.n_transfer) == full]


def jobs(config: dict[str, Any]) -> Iterator[Job]:
    """How the grid is cut; each job stands for one process per task and aux."""
    for arch in config["experiment"]["grid"]["arch"]:
        names = layers(config, arch)
        ends = [n for n in names if n in ("none", str(n_layer(config, arch)))]
        between = [n for n in names if n not in ends]
        if ends:
            yield Job(arch, "ends", 1, tuple(ends))
        for i, shard in enumerate(shards(between, config["runtime"]["shards"]), start=1):
            yield Job(arch, "between", i, shard)


def shards(names: list[str], n: int) -> list[tuple[str, ...]]:
    """`names` in at most `n` runs of neighbours whose sizes differ by one at most."""
    n = min(n, len(names))
    return [tuple(names[i * len(names) // n : (i + 1) * len(names) // n]) for i in range(n)]


def example_tasks(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Every task whose examples are read, with its entry: the grid's and the zero-shot tasks."""
    experiment = config["experiment"]
    alone = {t: e for t, e in experiment["zero_shot"]["tasks"].items() if e}
    return {**experiment["tasks"], **alone}


def hidden_tasks(config: dict[str, Any]) -> list[str]:
    """The GLUE tasks whose test rows without labels are predicted, for the hand-in."""
    tasks = config["experiment"]["tasks"] if config["experiment"]["submission"] else ()
    return [name for name in tasks if name in hidden.NAMES]


def hidden_elsewhere(config: dict[str, Any], name: str) -> list[str]:
    """Files of those rows that lie outside the task's folder: MNLI's diagnostic set, for AX."""
    folder = Path(data_folder(config, name, config["experiment"]["tasks"][name]))
    found = hidden.files(name, folder).values()
    return [str(path) for path in found if path.parent != folder]


def entries(config: dict[str, Any]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every data set that the run reads, by its key: its name in the catalogue, and its entry.

    The name of a corpus is its source; a corpus in a folder has none.
    """
    experiment = config["experiment"]
    found = {}
    if "pretrained" not in experiment:
        found["experiment.corpus"] = (corpus_source(config), experiment["corpus"])
    for task, entry in experiment["zero_shot"]["tasks"].items():
        if entry:  # {} is a task of the grid
            found[f"experiment.zero_shot.tasks.{task}"] = (task, entry)
    for task, entry in experiment["tasks"].items():
        found[f"experiment.tasks.{task}"] = (task, entry)
    return found


def corpus_source(config: dict[str, Any]) -> str:
    """The corpus's name in the catalogue of the hub; empty where it is a folder of books."""
    return config["experiment"]["corpus"].get("source", "")


def data_folder(config: dict[str, Any], name: str, entry: dict[str, Any]) -> str:
    """Where the data of an entry lies: its folder, or its snapshot of the hub at one commit."""
    if "source" in entry:
        commit = catalogue.pinned(name, entry.get("revision"))
        return f"{config['results']}/raw/{name}/{commit}"
    root = config["data"] or f"{config['results']}/world"
    return f"{root}/{entry['folder']}"


def raw_folders(config: dict[str, Any]) -> dict[str, str]:
    """Every folder of raw data that must be there, by the key that names it."""
    found = {
        f"{key}.folder": data_folder(config, name, entry)
        for key, (name, entry) in entries(config).items()
        if "source" not in entry
    }
    return found | published_folders(config)


def no_data(config: dict[str, Any]) -> bool:
    """Whether raw data has neither been given nor is going to be made or fetched."""
    by_folder = any("source" not in entry for _, entry in entries(config).values())
    return by_folder and config["data"] is None and "world" not in config["experiment"]


def published_folders(config: dict[str, Any]) -> dict[str, str]:
    """The folders of a published vocabulary and published weights, by the key that names them.

    They are no part of the embedded world: without `data` they lie where the run is started.
    """
    experiment, root = config["experiment"], config["data"] or ""
    folders = {}
    if "pretrained" in experiment:
        path = experiment["pretrained"]["path"]
        folders["experiment.pretrained.path"] = os.path.join(root, path)
    if "folder" in experiment["tokenizer"]:
        folder = experiment["tokenizer"]["folder"]
        folders["experiment.tokenizer.folder"] = os.path.join(root, folder)
    return folders


def tokenizer_files(config: dict[str, Any]) -> list[str]:
    """The tokenizer's vocabulary and merges: trained into the results, or published ones."""
    if "folder" not in config["experiment"]["tokenizer"]:
        return [f"{config['results']}/tokenizer/{name}" for name in VOCABULARIES[0]]
    folder = Path(published_folders(config)["experiment.tokenizer.folder"])
    there = (names for names in VOCABULARIES if any((folder / name).exists() for name in names))
    return [str(folder / name) for name in next(there, PUBLISHED_BPE)]


def weight_files(config: dict[str, Any]) -> list[str]:
    """The files of the published weights that the suite starts from."""
    folder = published_folders(config)["experiment.pretrained.path"]
    kind = config["experiment"]["pretrained"]["format"]
    return [os.path.join(folder, name) for name in WEIGHTS[kind]]


def raw_files(folder: str) -> list[str]:
    """What a job that reads a folder depends on: its files, sorted.

    A folder of very many files (RACE as published: 28,000) is watched by its sub-folders instead,
    whose time changes when a file comes or goes; stating each file would slow every start. A file
    of those that is changed in place reruns nothing: touch its folder.
    """
    below = sorted(path for path in Path(folder).rglob("*") if not path.name.startswith("."))
    found = [str(path) for path in below if path.is_file()]
    if len(found) <= MANY_FILES:
        return found
    return [folder, *(str(path) for path in below if path.is_dir())]
