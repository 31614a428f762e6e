"""Classification of one text: sentiment and acceptability (paper 4.1, table 4; both from GLUE)."""

from tasks import glue
from tasks.readers import Table
from tasks.task import Task

SENTIMENT = ("negative", "positive")
ACCEPTABILITY = ("unacceptable", "acceptable")

sst2 = Task(
    name="sst2",
    title="SST-2",
    family="classification",
    labels=SENTIMENT,
    coding={"0": 0, "1": 1},
    metric="accuracy",
    folder="SST-2",
    layouts=(Table("{split}.tsv", first="sentence", label="label"),),
    report=("dev",),
    rows={"train": 67_349, "dev": 872},
    label_shares=(0.45, 0.55),
    label_counts={"train": (29_780, 37_569), "dev": (428, 444)},
    obtain=glue.OBTAIN,
    hub=glue.source("sst2", ("sentence",), SENTIMENT, train=67_349, validation=872, test=1_821),
    unlabelled=glue.TEST,
)

cola = Task(
    name="cola",
    title="CoLA",
    family="classification",
    labels=ACCEPTABILITY,
    coding={"0": 0, "1": 1},
    metric="matthews",
    metrics=("matthews", "accuracy"),
    folder="CoLA",
    layouts=(
        Table(
            "{split}.tsv",
            first="sentence",
            label="label",
            names=("source code", "label", "author's mark", "sentence"),
        ),
    ),
    report=("dev",),
    rows={"train": 8_551, "dev": 1_043},
    label_shares=(0.3, 0.7),
    label_counts={"train": (2_528, 6_023), "dev": (322, 721)},
    obtain=glue.OBTAIN,
    hub=glue.source("cola", ("sentence",), ACCEPTABILITY, train=8_551, validation=1_043, test=1_063),
    unlabelled=glue.TEST,
)
