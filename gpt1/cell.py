"""A cell of a run (a variant on a task), the language model that it starts from, and their files.

No other module knows these paths below a folder of results. A *variant* is a named overlay of the
config; its name says what differs, as `arch-lstm+finetune.lm_coef-0` does, and `full` is the
variant that changes nothing.

Light on purpose: the Snakefile, the training programs and the analysis all import it.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from tasks.common.errors import InputError

Arch = Literal["transformer", "lstm"]
# How much of the pre-trained model is copied: "none" for nothing (the authors' -1), 0 for the
# embeddings alone, k for the embeddings and the lowest k layers.
NTransfer = int | Literal["none"]
# What the language model was trained on. All but the books are negative controls: "shuffled" has
# the words of each sentence in random order, "sentences-shuffled" the sentences of all books;
# "permuted-embeddings" is a model of the books whose content words then exchanged their embeddings
# (gpt1.permute), "word-vectors" one with word vectors in place of its embeddings (gpt1.vectors).
Corpus = Literal["books", "shuffled", "sentences-shuffled", "permuted-embeddings", "word-vectors"]
# Which embeddings fine-tuning starts from.
Embeddings = Literal["learned", "permuted", "vectors"]

Shuffled = Literal["words", "sentences"]

ARCHS: tuple[Arch, ...] = ("transformer", "lstm")
SHUFFLED: dict[Shuffled, Corpus] = {"words": "shuffled", "sentences": "sentences-shuffled"}
PERMUTED: Corpus = "permuted-embeddings"
WORD_VECTORS: Corpus = "word-vectors"
# The files of published weights, as `transformers` has them, without the tokenizer.
WEIGHT_FILES = CONFIG_FILE, TENSORS_FILE = "config.json", "model.safetensors"
UNCHANGED = "full"  # the variant that changes nothing
ROWS = "rows.parquet"  # beside the scores of each checkpoint of a language model
_NAME = r"(?P<variant>[\w.+-]+)/(?P<task>\w+)"


def home(results: str | Path, variant: str) -> Path:
    """The folder of a variant's own files, laid out like the results; the results if unchanged."""
    return Path(results) if variant == UNCHANGED else Path(results, "variants", variant)


def needs_model(n_transfer: NTransfer, corpus: Corpus) -> bool:
    """Whether anything of a language model is transferred, its embeddings or its layers."""
    return n_transfer != "none" and (n_transfer > 0 or corpus != WORD_VECTORS)


@dataclass(frozen=True)
class PretrainedModel:
    """A language model: an architecture pre-trained from one seed.

    Published weights count as seed 0. `variant` names how its config differs from the run's, and
    with `permuted` its content words have exchanged their embeddings.
    """

    arch: Arch
    seed: int
    variant: str = UNCHANGED
    permuted: bool = False

    @property
    def name(self) -> str:
        """The architecture, without the seed; with a suffix if permuted."""
        return f"{self.arch}-{PERMUTED}" if self.permuted else self.arch

    def folder(self, results: str | Path) -> Path:
        """The folder of its checkpoints and `log.csv`."""
        return home(results, self.variant) / Path("pretrain", self.name, f"seed-{self.seed}")

    def checkpoint(self, results: str | Path, update: int) -> Path:
        """The path of its weights after a pre-training update."""
        return self.folder(results) / f"update-{update}.safetensors"

    def facts(self, results: str | Path, update: int) -> Path:
        """The path of the JSON beside that checkpoint: its losses, settings and digests."""
        return self.folder(results) / f"update-{update}.json"

    def zero_shot(self, results: str | Path, task: str, update: int) -> Path:
        """The path of the JSON of a checkpoint's zero-shot score on a task."""
        folder = home(results, self.variant) / "zero_shot" / self.name / task
        return folder / f"seed-{self.seed}" / f"update-{update}.json"

    def zero_shot_rows(self, results: str | Path, task: str) -> Path:
        """The path of what is behind its scores on a task, row by row, as Parquet."""
        return self.zero_shot(results, task, 0).with_name(ROWS)

    def cloze(self, results: str | Path, update: int) -> Path:
        """The path of the JSON of a checkpoint's scores on the cloze items."""
        folder = home(results, self.variant) / "cloze" / self.name
        return folder / f"seed-{self.seed}" / f"update-{update}.json"

    def cloze_rows(self, results: str | Path) -> Path:
        """The path of what is behind its scores on the cloze items, item by item, as Parquet."""
        return self.cloze(results, 0).with_name(ROWS)


@dataclass(frozen=True)
class Cell:
    """A variant on a task, with all its seeds."""

    variant: str
    task: str

    @property
    def name(self) -> str:
        """The cell's name: its path below `cells/`, `predictions/` and `kept/`."""
        return f"{self.variant}/{self.task}"

    def path(self, results: str | Path) -> Path:
        """The path of the cell's JSON: scores of every seed, settings, digests."""
        return Path(results, "cells", f"{self.name}.json")

    def predictions(self, results: str | Path) -> Path:
        """The path of the predictions behind the cell's scores, row by row, as Parquet."""
        return Path(results, "predictions", f"{self.name}.parquet")

    def kept(self, results: str | Path) -> Path:
        """The folder of the weights of every seed, if `experiment.keep` names the cell."""
        return Path(results, "kept", self.name)

    @classmethod
    def parse(cls, path: str | Path) -> Self:
        """The cell whose JSON is at `path`. Raises InputError if it is not a cell's path."""
        match = re.fullmatch(rf"(?:.*/)?cells/{_NAME}\.json", Path(path).as_posix())
        if match is None:
            raise InputError(f"{path}: not the path of a cell; give .../cells/VARIANT/TASK.json")
        return cls(**match.groupdict())

    @classmethod
    def named(cls, name: str) -> Self:
        """The cell with this `name`. Raises InputError if it cannot be a cell's name."""
        match = re.fullmatch(_NAME, name)
        if match is None:
            raise InputError(f"{name}: not a cell; give VARIANT/TASK, such as full/sst2")
        return cls(**match.groupdict())
