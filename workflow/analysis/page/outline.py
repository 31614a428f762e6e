"""What stands on the page, in its order: the titles by the file of the results that is shown."""

from dataclasses import dataclass

ALARMS = "cells.csv#alarms"  # counted from cells.csv; no file of its own
CARDS = "data_cards.md"


@dataclass(frozen=True)
class Part:
    """A section of the page; what has no place in any stands in `further`."""

    name: str
    title: str
    introduction: str = ""
    items: dict[str, str] | None = None


OUTLINE = (
    Part(
        "verdicts",
        "Verdicts",
        "Each claim of the paper is put as a contrast of this run's scores and judged by its "
        "interval. In the embedded world a positive control comes first: effects of known "
        "direction that a working suite must find.",
        {
            "positive_control.csv": "The positive control",
            "claims.csv": "The paper's claims",
        },
    ),
    Part(
        "tables",
        "The paper's tables, beside ours",
        "Lines in italics are the paper's own numbers. They come from the GLUE test server or "
        "from public test sets; ours are on the split that a column names.",
        {
            "main.csv": "Tables 2 to 4: published systems and this run",
            "figures/ablation.svg": "Table 5 as a picture",
            "figures/differences.svg": "What each part is worth",
            "figures/aux_gain.svg": "The auxiliary loss and the size of the training set",
            "ablation.csv": "Table 5: the ablations, with the negative control",
            "degrees.csv": "Table 5 by degree of difficulty",
        },
    ),
    Part(
        "figures",
        "The paper's Figure 2, beside ours",
        "Left: what each transferred layer adds. Right: what a language model can do without any "
        "fine-tuning. The paper prints no numbers for its curves.",
        {
            "figures/layer_transfer.svg": "Figure 2, left: layers transferred",
            "figures/heat_map.svg": "Task by layers",
            "layer_transfer.csv": "Figure 2, left, in numbers",
            "figures/zero_shot.svg": "Figure 2, right: zero-shot scores along pre-training",
            "zero_shot.csv": "Figure 2, right, in numbers",
        },
    ),
    Part(
        "studies",
        "Studies",
        "What a run can be asked for by name, beyond the paper; each is a table and a figure.",
    ),
    Part(
        "models",
        "The language models",
        "What pre-training has reached before any fine-tuning: perplexity on held-out books, and "
        "skills that the books teach.",
        {
            "figures/pretraining.svg": "Held-out perplexity",
            "pretraining.csv": "Perplexity in numbers",
            "figures/probes.svg": "Skills along pre-training",
            "probes.csv": "Skills in numbers",
        },
    ),
    Part(
        "data",
        "The data",
        "Which rows were used, and whether the books contain any of the reported ones.",
        {"contamination.csv": "Contamination", CARDS: "Data cards"},
    ),
    Part(
        "cost",
        "What it cost",
        "On the machines of this run, whose processors the tables name.",
        {
            "figures/cost_score.svg": "Cost against score",
            "figures/cost.svg": "Where the time went",
            "cost.csv": "By stage",
            "cost_pretraining.csv": "Pre-training",
        },
    ),
    Part(
        "alarms",
        "Cells and alarms",
        "Every run is watched: a score at the majority rate, a constant prediction, a loss that "
        "does not fall, training rows that are not fitted. An alarm is not a fault in itself; "
        "small models without pre-training raise them for good reason.",
        {ALARMS: "Alarms by kind of model", "cells.csv": "Every cell of the grid"},
    ),
    Part("further", "Further tables and figures"),
)
