"""The claims of the paper's results and analysis, each as a contrast of scores.

The list is at the end; `workflow.analysis.evidence` finds what a run says about each kind of claim.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import tasks
from gpt1.cell import Arch, Aux, Corpus
from workflow.analysis.paper import NUMBERS, OURS
from workflow.analysis.tables.ablation import EIGHT, PAPER_COLUMNS
from workflow.analysis.tables.main import COLUMNS as PAPER_PLACES


@dataclass(frozen=True)
class Variant:
    """A model of the ablations; `n_transfer` "all" is as many layers as the architecture has."""

    arch: Arch = "transformer"
    aux: Aux = "on"
    n_transfer: int | Literal["none", "all"] = "all"
    corpus: Corpus = "books"


FULL = Variant()
NO_PRETRAINING = Variant(n_transfer="none")
NO_AUX = Variant(aux="off")
LSTM = Variant(arch="lstm")
EMBEDDINGS = Variant(n_transfer=0)
SHUFFLED = Variant(corpus="shuffled")
NAMES = {
    FULL: "full",
    NO_PRETRAINING: "w/o pre-training",
    NO_AUX: "w/o aux LM",
    LSTM: "LSTM",
    EMBEDDINGS: "embeddings alone",
    SHUFFLED: "shuffled books",
}
PRINTED = {  # the row of the paper's Table 5
    FULL: "Transformer w/ aux LM (full)",
    NO_PRETRAINING: "Transformer w/o pre-training",
    NO_AUX: "Transformer w/o aux LM",
    LSTM: "LSTM w/ aux LM",
}
NLI = tuple(task.name for task in tasks.PAPER_TASKS if task.family == "entailment")


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of variants, and what it is called."""

    name: str
    weights: Mapping[Variant, float]

    def printed(self, task: str) -> float | None:
        """The paper's value on a task, by its Table 5; None if that does not have it."""
        if task not in PAPER_COLUMNS or any(variant not in PRINTED for variant in self.weights):
            return None
        table = NUMBERS[NUMBERS["table"] == "Table 5"].set_index(["method", "column"])["value"]
        values = (w * table[PRINTED[v], PAPER_COLUMNS[task]] for v, w in self.weights.items())
        return round(float(sum(values)), 1)


def minus(a: Variant, b: Variant) -> Contrast:
    """The difference of two variants."""
    return Contrast(f"{NAMES[a]} − {NAMES[b]}", {a: 1.0, b: -1.0})


@functools.cache
def published() -> dict[str, tuple[float, float]]:
    """By task the score of the paper's model and of the best published system, as printed."""
    places = {
        column: name
        for columns in PAPER_PLACES.values()
        for column, (name, part) in columns.items()
        if part not in ("_middle", "_high")
    }
    table = NUMBERS[NUMBERS["column"].isin(places) & NUMBERS["table"].isin(list(PAPER_PLACES))]
    table = table.assign(task=table["column"].map(places), ours=table["method"] == OURS)
    best = table.groupby(["task", "ours", "column"])["value"].max()
    means = best.groupby(["task", "ours"]).mean().unstack()  # MNLI has two columns
    return {name: (row[True], row[False]) for name, row in means.iterrows()}


def paper_lead(name: str) -> float:
    """How many points the paper's model is ahead of the best published system on a task."""
    ours, best = published()[name]
    return round(ours - best, 1)


@dataclass(frozen=True)
class Claim:
    """A statement of a section of the paper, the paper's value, and the side of 0 it lies on."""

    statement: str
    section: str = "5"
    paper: float | None = None
    direction: int = 1
    contrast_name: ClassVar[str] = ""


@dataclass(frozen=True, kw_only=True)
class Average(Claim):
    """About the mean of a contrast over the tasks `of` (None: all of the grid)."""

    contrast: Contrast
    of: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class EachTask(Claim):
    """About a contrast on each of the tasks `of` (None: all of the grid), a test for each."""

    contrast: Contrast
    of: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class SizeTrend(Claim):
    """A contrast rises by so many points with ten times as many training rows."""

    contrast: Contrast


@dataclass(frozen=True)
class LayerSlope(Claim):
    """The mean over tasks rises with the layers, 0 to all, by so many points a layer."""

    contrast_name = "mean over tasks, points a layer"


@dataclass(frozen=True)
class LayerRanks(Claim):
    """Spearman's correlation of the mean over tasks with the layers, 0 to all."""

    contrast_name = "rank correlation of the mean over tasks with the layers"


@dataclass(frozen=True)
class ZeroShotRise(Claim):
    """How much the transformer's mean zero-shot score changes from one checkpoint to the next."""

    contrast_name = "change of the mean relative score from checkpoint to checkpoint, in %"


@dataclass(frozen=True)
class ZeroShotVariation(Claim):
    """How much more the LSTM's zero-shot scores go up and down than the transformer's."""

    contrast_name = "LSTM − transformer, ups and downs of the relative score in %"


@dataclass(frozen=True)
class Wins(Claim):
    """The number of tasks on which the full transformer beats the best published system."""

    contrast_name = "tasks won"


@dataclass(frozen=True)
class AgainstPublished(Claim):
    """The full transformer minus the best published system, a test for each task."""

    contrast_name = "full − best published"


EIGHT_TASKS = tuple(EIGHT)
PRETRAINING, AUX = minus(FULL, NO_PRETRAINING), minus(FULL, NO_AUX)
CONTROL = "negative control"
THIRD = Contrast(
    "a third of (full − w/o pre-training) − (shuffled books − w/o pre-training)",
    {FULL: 1 / 3, NO_PRETRAINING: 2 / 3, SHUFFLED: -1.0},
)
CLAIMS: list[Claim] = [
    Average(
        "Pre-training helps on average over the paper's eight tasks",
        paper=14.8,
        contrast=PRETRAINING,
        of=EIGHT_TASKS,
    ),
    Average("Pre-training helps on average", contrast=PRETRAINING),
    EachTask("Pre-training helps on every task", contrast=PRETRAINING),
    Average(
        "The LSTM scores less on average over the paper's eight tasks",
        paper=5.6,
        contrast=minus(FULL, LSTM),
        of=EIGHT_TASKS,
    ),
    Average("The LSTM scores less on average", contrast=minus(FULL, LSTM)),
    EachTask("The LSTM wins on MRPC alone", contrast=minus(FULL, LSTM)),
    Average("The auxiliary loss helps natural language inference", contrast=AUX, of=NLI),
    EachTask(
        "The auxiliary loss helps each inference task and QQP", contrast=AUX, of=(*NLI, "qqp")
    ),
    SizeTrend("The auxiliary loss helps larger sets more than smaller ones", contrast=AUX),
    Average("The embeddings alone help", contrast=minus(EMBEDDINGS, NO_PRETRAINING)),
    EachTask(
        "The layers above the embeddings help MNLI",
        paper=9.0,
        contrast=minus(FULL, EMBEDDINGS),
        of=("mnli",),
    ),
    Average("The layers above the embeddings help", contrast=minus(FULL, EMBEDDINGS)),
    LayerSlope("Each further layer helps"),
    LayerRanks("Each further layer helps: monotone trend"),
    ZeroShotRise("Zero-shot scores rise steadily along pre-training"),
    ZeroShotVariation("The LSTM's zero-shot scores vary more"),
    Average("Books of shuffled words help less", CONTROL, contrast=minus(FULL, SHUFFLED)),
    Average("Books of shuffled words give at most a third of the gain", CONTROL, contrast=THIRD),
    Wins("Better than the best published system on 9 of 12 tasks", "4", paper=9.0),
    AgainstPublished("Better than the best published system but for RTE, SST-2 and MRPC", "4"),
]
