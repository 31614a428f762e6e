"""What stands on the page, in its order. What is not named here stands in a section at the end."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Item:
    """Something that a run has; `name` is that of its module or file."""

    kind: Literal["table", "figure", "cards", "alarms", "study"]
    name: str
    title: str


@dataclass(frozen=True)
class Part:
    """A section of the page."""

    name: str
    title: str
    introduction: str
    items: tuple[Item, ...]


OUTLINE = (
    Part(
        "verdicts",
        "Verdicts",
        "Each claim of the paper is put as a contrast of this run's scores and judged by its "
        "interval. Where the world is made, a positive control comes first: effects of known "
        "direction that a suite which measures what it says must see.",
        (
            Item("table", "positive_control", "The positive control"),
            Item("table", "claims", "The paper's claims"),
        ),
    ),
    Part(
        "tables",
        "The paper's tables, beside ours",
        "Lines in italics are the paper's own numbers. They come from the GLUE test server or "
        "from public test sets; ours are on the split that a column names.",
        (
            Item("table", "main", "Tables 2 to 4: published systems and this run"),
            Item("figure", "ablation", "Table 5 as a picture"),
            Item("figure", "differences", "What each part is worth"),
            Item("figure", "aux_gain", "The auxiliary loss and the size of the training set"),
            Item("table", "ablation", "Table 5: the ablations, with the negative control"),
            Item("table", "degrees", "Table 5 by degree of difficulty"),
        ),
    ),
    Part(
        "figures",
        "The paper's Figure 2, beside ours",
        "Left what each transferred layer adds, right what a language model can do without any "
        "fine-tuning. The paper prints no numbers for its curves.",
        (
            Item("figure", "layer_transfer", "Figure 2, left: layers transferred"),
            Item("figure", "heat_map", "Task by layers"),
            Item("table", "layer_transfer", "Figure 2, left, in numbers"),
            Item("figure", "zero_shot", "Figure 2, right: zero-shot scores along pre-training"),
            Item("table", "zero_shot", "Figure 2, right, in numbers"),
        ),
    ),
    Part(
        "studies",
        "Studies",
        "What a run can be asked for by name, beyond the paper; each is a table and a figure.",
        (),
    ),
    Part(
        "models",
        "The language models",
        "What pre-training has reached before any fine-tuning: perplexity on held-out books, and "
        "skills that the books teach.",
        (
            Item("figure", "pretraining", "Held-out perplexity"),
            Item("table", "pretraining", "Perplexity in numbers"),
            Item("figure", "probes", "Skills along pre-training"),
            Item("table", "probes", "Skills in numbers"),
        ),
    ),
    Part(
        "data",
        "The data",
        "Which rows were used, and whether the books hold any of those that are reported.",
        (
            Item("table", "contamination", "Contamination"),
            Item("cards", "data_cards", "Data cards"),
        ),
    ),
    Part(
        "cost",
        "What it cost",
        "On the machine of this run; the scores do not depend on it.",
        (
            Item("figure", "cost_score", "Cost against score"),
            Item("figure", "cost", "Where the time went"),
            Item("table", "cost", "By stage"),
            Item("table", "cost_pretraining", "Pre-training"),
            Item("table", "cost_cells", "Fine-tuning"),
        ),
    ),
    Part(
        "alarms",
        "Cells and alarms",
        "Every run is watched: a score at the majority rate, a constant prediction, a loss that "
        "does not fall, training rows that are not fitted. An alarm is no fault by itself; small "
        "models without pre-training raise them for good reason.",
        (
            Item("alarms", "alarms", "Alarms by kind of model"),
            Item("table", "cells", "Every cell of the grid"),
        ),
    ),
    Part("further", "Further tables and figures", "", ()),
)
