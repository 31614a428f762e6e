"""Classification of one text: sentiment and acceptability (paper 4.1, table 4; both from GLUE).

Scored on dev, since GLUE hides the test labels.
"""

from tasks.entailment import GLUE
from tasks.tables import Table
from tasks.types import Task

sst2 = Task(
    name="sst2",
    title="SST-2",
    family="classification",
    labels=("negative", "positive"),
    coding={"0": 0, "1": 1},
    metric="accuracy",
    folder="SST-2",
    files=("{split}.tsv",),
    parse=Table(first="sentence", label="label"),
    report=("dev",),
    rows={"train": 67_349, "dev": 872},
    shares=(0.45, 0.55),
    counts={"train": (29_780, 37_569), "dev": (428, 444)},
    source=GLUE,
)

cola = Task(
    name="cola",
    title="CoLA",
    family="classification",
    labels=("unacceptable", "acceptable"),
    coding={"0": 0, "1": 1},
    metric="matthews",
    metrics=("matthews", "accuracy"),
    folder="CoLA",
    files=("{split}.tsv",),
    parse=Table(
        first="sentence", label="label", names=("source code", "label", "author's mark", "sentence")
    ),
    report=("dev",),
    rows={"train": 8_551, "dev": 1_043},
    shares=(0.3, 0.7),
    counts={"train": (2_528, 6_023), "dev": (322, 721)},
    source=GLUE,
)
