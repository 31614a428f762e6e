"""The numbers that the paper prints in its Tables 2 to 5, and the models of its ablations.

`NUMBERS` has a row for each number. `column` is the printed head; `task` and `part` say what was
scored: a whole task, one of MNLI's two sets, or one of RACE's two groups. Task `avg` is the mean of
the eight tasks of Table 5, `glue` the server's average.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from gpt1.cell import WORD_VECTORS, Arch, Cell, Corpus
from workflow.configuration import studies
from workflow.grid import Aux, Grid, Variant

OURS = "Finetuned Transformer LM (ours)"  # the paper's own row in Tables 2 to 4
NUMBERS = pd.read_csv(Path(__file__).with_name("paper_numbers.csv"), keep_default_na=False)
TABLE_5 = NUMBERS[NUMBERS["table"] == "Table 5"]
TABLES_2_TO_4 = NUMBERS[NUMBERS["table"] != "Table 5"]
EIGHT = tuple(task for task in TABLE_5["task"].unique() if task != "avg")
TRAIN_ROWS = {  # of these eight tasks, as GLUE had them when the paper was written
    **{"cola": 8_551, "sst2": 67_349, "mrpc": 3_668, "stsb": 5_749},
    **{"qqp": 363_849, "mnli": 392_702, "qnli": 108_436, "rte": 2_490},
}


@dataclass(frozen=True)
class PaperModel:
    """A model of the ablations: `title` in the tables, `name` in the claims.

    `n_transfer` "all" is as many layers as the architecture has. A variant that is not `plain`
    differs in more than these fields, and is found by its title in Table 5, too.
    """

    title: str
    name: str
    arch: Arch = "transformer"
    aux: Aux = "on"
    n_transfer: int | Literal["none", "all"] = "all"
    corpus: Corpus = "books"
    plain: bool = True

    def cell(self, grid: Grid, task: str) -> Cell | None:
        """The variant's cell for a task; None if the run has no such variant."""
        variant = grid.find(self.arch, self.aux, self.n_transfer, self.corpus)
        if not self.plain:
            points = grid.studies["ablation"].points
            named = [p.variant for p in points if p.line == self.title and self._fits(p.variant)]
            variant = named[0] if named else None
        return Cell(variant.name, task) if variant else None

    def _fits(self, of: Variant) -> bool:
        n_transfer = of.n_layer if self.n_transfer == "all" else self.n_transfer
        mine = (self.arch, self.aux, n_transfer, self.corpus)
        return (of.arch, of.aux, of.n_transfer, of.corpus) == mine

    @property
    def printed(self) -> dict[str, float]:
        """The variant's scores in Table 5, by task and as mean `avg`; empty if that has none."""
        rows = TABLE_5[TABLE_5["method"] == self.title]
        return dict(zip(rows["task"], rows["value"], strict=True))


FULL = PaperModel("Transformer w/ aux LM (full)", "full")
NO_PRETRAINING = PaperModel("Transformer w/o pre-training", "w/o pre-training", n_transfer="none")
NO_AUX = PaperModel("Transformer w/o aux LM", "w/o aux LM", aux="off")
LSTM = PaperModel("LSTM w/ aux LM", "LSTM", arch="lstm")
NEITHER = PaperModel(
    "Transformer w/o pre-training, w/o aux LM",
    "w/o pre-training and aux LM",
    aux="off",
    n_transfer="none",
)
FITTED = PaperModel(
    studies.FITTED_TITLE, "from scratch, fitted", aux="off", n_transfer="none", plain=False
)
VECTORS = PaperModel(
    studies.VECTORS_TITLE,
    "word vectors",
    aux="off",
    n_transfer=0,
    corpus=WORD_VECTORS,
    plain=False,
)
SHUFFLED = PaperModel("Transformer w/ aux LM, shuffled words", "shuffled words", corpus="shuffled")
SENTENCES_SHUFFLED = PaperModel(
    "Transformer w/ aux LM, shuffled sentences", "shuffled sentences", corpus="sentences-shuffled"
)
PERMUTED = PaperModel(
    "Transformer w/ aux LM, permuted embeddings",
    "permuted embeddings",
    corpus="permuted-embeddings",
)
EMBEDDINGS = PaperModel("Transformer, embeddings alone", "embeddings alone", n_transfer=0)
EMBEDDINGS_NO_AUX = PaperModel(
    "Transformer, embeddings alone, w/o aux LM",
    "embeddings alone, w/o aux LM",
    aux="off",
    n_transfer=0,
)
LSTM_NO_AUX = PaperModel("LSTM w/o aux LM", "LSTM w/o aux LM", "lstm", "off")


@functools.cache
def published() -> dict[str, tuple[float, float]]:
    """By task, the printed scores of the paper's model and of the best published system."""
    groups = TABLES_2_TO_4["part"].isin(["_middle", "_high"])
    table = TABLES_2_TO_4[~groups & (TABLES_2_TO_4["task"] != "glue")]
    best = table.groupby(["task", table["method"] == OURS, "column"])["value"].max()
    means = best.groupby(["task", "method"]).mean().unstack()  # MNLI has two columns
    return {name: (row[True], row[False]) for name, row in means.iterrows()}
