"""A cell of the experiment's grid, the language model that it starts from, and their files' paths.

No other place knows these paths.

Light on purpose: the Snakefile, the training programs and the analysis all import it.
"""

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from tasks.common.errors import InputError

Arch = Literal["transformer", "lstm"]
Aux = Literal["on", "off"]  # with or without the auxiliary LM loss
# How much of the pre-trained model is copied: "none" for nothing (the authors' -1), 0 for the
# embeddings alone, k for the embeddings and the lowest k layers.
NTransfer = int | Literal["none"]
# What the language model read. The others are negative controls, the same books in another order:
# "shuffled" the words of each sentence, "sentences-shuffled" the sentences of all books. Or it read
# the books and exchanged the embeddings of content words then (gpt1.permute).
Corpus = Literal["books", "shuffled", "sentences-shuffled", "permuted-embeddings"]

ARCHS: tuple[Arch, ...] = ("transformer", "lstm")
CORPORA: tuple[Corpus, ...] = ("books", "shuffled", "sentences-shuffled")  # that are read
_PATH = re.compile(
    r"(?:variants/(?P<variant>[\w.+-]+)/)?cells"
    r"/(?P<arch>transformer|lstm)(?:-(?P<corpus>(?:sentences-)?shuffled|permuted-embeddings))?"
    r"/(?P<task>\w+)/aux-(?P<aux>on|off)"
    r"/layers-(?P<n_transfer>none|\d+)\.json$"
)


def home(results: str | Path, variant: str) -> Path:
    """The folder of a variant, laid out as the results are; without a variant the results."""
    return Path(results, "variants", variant) if variant else Path(results)


def model_name(arch: Arch, corpus: Corpus) -> str:
    """The folder of a model's files: `transformer`, or `transformer-shuffled` for a control."""
    return arch if corpus == "books" else f"{arch}-{corpus}"


@dataclass(frozen=True)
class PretrainedModel:
    """A language model: an architecture pre-trained on a corpus from one seed.

    Published weights count as seed 0. `variant` names what of the config is another for it.
    """

    arch: Arch
    seed: int
    corpus: Corpus = "books"
    variant: str = ""

    @property
    def name(self) -> str:
        """Architecture and corpus, without the seed."""
        return model_name(self.arch, self.corpus)

    def folder(self, results: str | Path) -> Path:
        """Where its checkpoints and `log.csv` lie."""
        return home(results, self.variant) / Path("pretrain", self.name, f"seed-{self.seed}")

    def checkpoint(self, results: str | Path, update: int) -> Path:
        """Where its weights after a pre-training update lie."""
        return self.folder(results) / f"update-{update}.safetensors"

    def facts(self, results: str | Path, update: int) -> Path:
        """Where the JSON beside that checkpoint lies: its losses, settings and digests."""
        return self.folder(results) / f"update-{update}.json"

    def zero_shot(self, results: str | Path, task: str, update: int) -> Path:
        """Where the JSON of a checkpoint's zero-shot score on a task lies."""
        folder = home(results, self.variant) / "zero_shot" / self.name / task
        return folder / f"seed-{self.seed}" / f"update-{update}.json"

    def probes(self, results: str | Path, update: int) -> Path:
        """Where the JSON of a checkpoint's scores on the probes lies."""
        folder = home(results, self.variant) / "probes" / self.name
        return folder / f"seed-{self.seed}" / f"update-{update}.json"


@dataclass(frozen=True)
class Cell:
    """One place of the grid: an architecture fine-tuned on a task from some transferred layers.

    `corpus` is what the model that the layers come from was pre-trained on.
    `variant` names what of the config is another for a study's cell (`workflow.overlay`).
    """

    arch: Arch
    task: str
    aux: Aux
    n_transfer: NTransfer
    corpus: Corpus = "books"
    variant: str = ""

    @property
    def place(self) -> str:
        """The cell's name: its path below `cells/` and `predictions/`, after that of a variant."""
        return (home("", self.variant) / self._below).as_posix()

    @property
    def _below(self) -> str:
        model = model_name(self.arch, self.corpus)
        return f"{model}/{self.task}/aux-{self.aux}/layers-{self.n_transfer}"

    def facts(self) -> dict[str, Any]:
        """What its files say of it; a cell of the grid has no variant to name."""
        return {key: value for key, value in asdict(self).items() if key != "variant" or value}

    def path(self, results: str | Path) -> Path:
        """Where the cell's JSON lies: scores of every seed, settings, digests."""
        return home(results, self.variant) / "cells" / f"{self._below}.json"

    def predictions(self, results: str | Path) -> Path:
        """Where the predictions behind the cell's scores lie, row by row, as Parquet."""
        return home(results, self.variant) / "predictions" / f"{self._below}.parquet"

    def kept(self, results: str | Path) -> Path:
        """Where the weights of every seed lie, if `experiment.keep` names the cell: a folder."""
        return home(results, self.variant) / "kept" / self._below

    @classmethod
    def parse(cls, path: str | Path) -> "Cell":
        """The cell whose JSON lies at `path`. Raises InputError if it is not a cell's path."""
        match = _PATH.search(Path(path).as_posix())
        if match is None:
            raise InputError(
                f"{path}: not the path of a cell; give .../ARCH/TASK/aux-{{on,off}}/layers-N.json"
            )
        n_transfer = match["n_transfer"]
        n_transfer = n_transfer if n_transfer == "none" else int(n_transfer)
        corpus, variant = match["corpus"] or "books", match["variant"] or ""
        arch, task, aux = match["arch"], match["task"], match["aux"]
        return cls(arch, task, aux, n_transfer, corpus, variant)  # type: ignore[arg-type]

    @classmethod
    def named(cls, place: str) -> "Cell":
        """The cell of that `place`. Raises InputError if no cell has it."""
        parts = place.split("/")
        cell = cls.parse("/".join([*parts[:-4], "cells", *parts[-4:]]) + ".json")
        if cell.place != place:
            raise InputError(f"{place}: not a cell; its name is {cell.place}")
        return cell
