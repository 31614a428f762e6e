"""Semantic similarity: do two sentences say the same? (paper 4.1, table 4; all three from GLUE)

The paper's table gives F1 for MRPC and QQP and Pearson's correlation for STS-B; accuracy and
Spearman's stand beside them. Scored on dev, since GLUE hides the test labels. STS-B is trained with
six soft classes (authors' code; see `tasks/stsb.py`).
"""

from tasks.entailment import GLUE
from tasks.tables import Table
from tasks.types import Task

mrpc = Task(
    name="mrpc",
    title="MRPC",
    family="similarity",
    labels=("not_equivalent", "equivalent"),
    coding={"0": 0, "1": 1},
    metric="f1",
    metrics=("f1", "accuracy"),
    folder="MRPC",
    files=("{split}.tsv",),
    parse=Table(first="#1 String", second="#2 String", label="Quality"),
    report=("dev",),
    rows={"train": 3_668, "dev": 408},
    shares=(0.33, 0.67),
    counts={"train": (1_194, 2_474), "dev": (129, 279)},
    source=GLUE,
)

qqp = Task(
    name="qqp",
    title="QQP",
    family="similarity",
    labels=("not_duplicate", "duplicate"),
    coding={"0": 0, "1": 1},
    metric="f1",
    metrics=("f1", "accuracy"),
    folder="QQP",
    files=("{split}.tsv",),
    parse=Table(first="question1", second="question2", label="is_duplicate"),
    report=("dev",),
    rows={"train": 363_846, "dev": 40_430},
    shares=(0.63, 0.37),
    source=GLUE,
    # The published file has two dozen broken lines and a few empty questions.
    tolerated=0.001,
)

stsb = Task(
    name="stsb",
    title="STS-B",
    family="similarity",
    labels=("0", "1", "2", "3", "4", "5"),
    metric="pearson",
    metrics=("pearson", "spearman"),
    folder="STS-B",
    files=("{split}.tsv",),
    parse=Table(first="sentence1", second="sentence2", label="score"),
    report=("dev",),
    rows={"train": 5_749, "dev": 1_500},
    shares=(0.12, 0.15, 0.16, 0.24, 0.23, 0.1),
    source=GLUE,
)
