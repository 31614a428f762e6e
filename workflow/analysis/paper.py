"""What the paper prints in its Tables 2 to 5, and the models that they are of.

`NUMBERS` has the columns `table`, `method`, `column`, `value`.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pandas as pd

from gpt1.cell import Arch, Aux, Cell, Corpus
from workflow.grid import Grid

OURS = "Finetuned Transformer LM (ours)"  # the paper's own row in Tables 2 to 4
NUMBERS = pd.read_csv(Path(__file__).with_name("paper_numbers.csv"))
# Tables 2 to 4, by table and printed column: the task, and which part of its splits.
COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "Table 2": {
        "MNLI-m": ("mnli", "_matched"),
        "MNLI-mm": ("mnli", "_mismatched"),
        "SNLI": ("snli", ""),
        "SciTail": ("scitail", ""),
        "QNLI": ("qnli", ""),
        "RTE": ("rte", ""),
    },
    "Table 3": {
        "StoryCloze": ("story_cloze", ""),
        "RACE-m": ("race", "_middle"),
        "RACE-h": ("race", "_high"),
        "RACE": ("race", ""),
    },
    "Table 4": {
        "CoLA_mcc": ("cola", ""),
        "SST2_acc": ("sst2", ""),
        "MRPC_f1": ("mrpc", ""),
        "STSB_pearson": ("stsb", ""),
        "QQP_f1": ("qqp", ""),
    },
}
TABLE_5 = {  # by task the printed column; `avg` is the mean of the eight
    "avg": "Avg",
    "cola": "CoLA_mcc",
    "sst2": "SST2_acc",
    "mrpc": "MRPC_f1",
    "stsb": "STSB_pearson",
    "qqp": "QQP_f1",
    "mnli": "MNLI_acc",
    "qnli": "QNLI_acc",
    "rte": "RTE_acc",
}
EIGHT = tuple(name for name in TABLE_5 if name != "avg")


@dataclass(frozen=True)
class Variant:
    """A model of the ablations: `title` in the tables, `name` in the claims.

    `n_transfer` "all" is as many layers as the architecture has.
    """

    title: str
    name: str
    arch: Arch = "transformer"
    aux: Aux = "on"
    n_transfer: int | Literal["none", "all"] = "all"
    corpus: Corpus = "books"

    def cell(self, grid: Grid, task: str) -> Cell | None:
        """Its cell of a task; None if the grid has not this architecture."""
        if self.n_transfer != "all":
            return Cell(self.arch, task, self.aux, self.n_transfer, self.corpus)
        most = grid.n_layer.get(self.arch)
        return None if most is None else Cell(self.arch, task, self.aux, most, self.corpus)

    def printed(self, task: str) -> float | None:
        """Its score on a task, or in the mean `avg`, by Table 5; None if that has none."""
        return _table_5().get((self.title, TABLE_5.get(task)))


FULL = Variant("Transformer w/ aux LM (full)", "full")
NO_PRETRAINING = Variant("Transformer w/o pre-training", "w/o pre-training", n_transfer="none")
NO_AUX = Variant("Transformer w/o aux LM", "w/o aux LM", aux="off")
LSTM = Variant("LSTM w/ aux LM", "LSTM", arch="lstm")
NEITHER = Variant(
    "Transformer w/o pre-training, w/o aux LM", "neither", aux="off", n_transfer="none"
)
SHUFFLED = Variant("Transformer w/ aux LM, shuffled books", "shuffled books", corpus="shuffled")
EMBEDDINGS = Variant("Transformer, embeddings alone", "embeddings alone", n_transfer=0)
PAPER_VARIANTS = (FULL, NO_PRETRAINING, NO_AUX, LSTM)
FURTHER_VARIANTS = (
    NEITHER,
    Variant("LSTM w/o pre-training", "", "lstm", n_transfer="none"),
    Variant("LSTM w/o aux LM", "", "lstm", "off"),
    Variant("LSTM w/o pre-training, w/o aux LM", "", "lstm", "off", "none"),
)


def variants(grid: Grid) -> list[Variant]:
    """The paper's four, the negative control if it is run, the further ones that the grid holds."""
    further = [v for v in FURTHER_VARIANTS if v.arch in grid.arch and v.aux in grid.aux]
    return [*PAPER_VARIANTS, *([SHUFFLED] if grid.shuffled else []), *further]


@functools.cache
def published() -> dict[str, tuple[float, float]]:
    """By task the score of the paper's model and of the best published system, as printed."""
    places = {
        column: name
        for columns in COLUMNS.values()
        for column, (name, part) in columns.items()
        if part not in ("_middle", "_high")
    }
    table = NUMBERS[NUMBERS["column"].isin(places) & NUMBERS["table"].isin(list(COLUMNS))]
    table = table.assign(task=table["column"].map(places), ours=table["method"] == OURS)
    best = table.groupby(["task", "ours", "column"])["value"].max()
    means = best.groupby(["task", "ours"]).mean().unstack()  # MNLI has two columns
    return {name: (row[True], row[False]) for name, row in means.iterrows()}


@functools.cache
def _table_5() -> dict[tuple[str, str | None], float]:
    table = NUMBERS[NUMBERS["table"] == "Table 5"]
    return table.set_index(["method", "column"])["value"].to_dict()
