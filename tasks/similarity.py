"""Semantic similarity: do two sentences say the same? (paper 4.1, table 4; all three from GLUE)

The paper's table gives F1 for MRPC and QQP and Pearson's correlation for STS-B; accuracy and
Spearman's stand beside them. STS-B is trained with six soft classes (authors' code; see
`tasks/stsb.py`).
"""

from dataclasses import replace

from tasks import glue
from tasks.readers import Table
from tasks.task import Task

SENTENCES = ("sentence1", "sentence2")
EQUIVALENCE = ("not_equivalent", "equivalent")
DUPLICATE = ("not_duplicate", "duplicate")

mrpc = Task(
    name="mrpc",
    title="MRPC",
    family="similarity",
    labels=EQUIVALENCE,
    coding={"0": 0, "1": 1},
    metric="f1",
    metrics=("f1", "accuracy"),
    folder="MRPC",
    layouts=(Table("{split}.tsv", first="#1 String", second="#2 String", label="Quality"),),
    report=("dev",),
    rows={"train": 3_668, "dev": 408},
    label_shares=(0.33, 0.67),
    label_counts={"train": (1_194, 2_474), "dev": (129, 279)},
    obtain=glue.OBTAIN,
    # On the hub its `idx` counts on over train, dev and test, and its test labels are public.
    hub=replace(
        glue.source("mrpc", SENTENCES, EQUIVALENCE, train=3_668, validation=408, test=1_725),
        index="",
        unlabelled=(),
    ),
    unlabelled=glue.TEST,
)

qqp = Task(
    name="qqp",
    title="QQP",
    family="similarity",
    labels=DUPLICATE,
    coding={"0": 0, "1": 1},
    metric="f1",
    metrics=("f1", "accuracy"),
    folder="QQP",
    layouts=(Table("{split}.tsv", first="question1", second="question2", label="is_duplicate"),),
    report=("dev",),
    rows={"train": 363_846, "dev": 40_430},
    label_shares=(0.63, 0.37),
    obtain=glue.OBTAIN,
    # The published file has two dozen broken lines and a few empty questions.
    tolerated=0.001,
    hub=glue.source(
        "qqp", ("question1", "question2"), DUPLICATE, train=363_846, validation=40_430, test=390_965
    ),
    unlabelled=glue.TEST,
    unlabelled_index="id",
)

stsb = Task(
    name="stsb",
    title="STS-B",
    family="similarity",
    labels=("0", "1", "2", "3", "4", "5"),
    metric="pearson",
    metrics=("pearson", "spearman"),
    folder="STS-B",
    layouts=(Table("{split}.tsv", first="sentence1", second="sentence2", label="score"),),
    report=("dev",),
    rows={"train": 5_749, "dev": 1_500},
    label_shares=(0.12, 0.15, 0.16, 0.24, 0.23, 0.1),
    obtain=glue.OBTAIN,
    hub=glue.source("stsb", SENTENCES, (), train=5_749, validation=1_500, test=1_379),
    unlabelled=glue.TEST,
)
