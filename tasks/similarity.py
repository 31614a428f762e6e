"""Semantic similarity: do two sentences mean the same? (paper 4.1, table 4; all three from GLUE)

The paper's table gives F1 for MRPC and QQP and Pearson's correlation for STS-B; accuracy and
Spearman's correlation are reported beside them. STS-B is trained with six soft classes (authors'
code; see `tasks/stsb.py`).
"""

from dataclasses import replace

from tasks import glue
from tasks.prompt import CLAIMED, FALSE, TRUE, Prompt
from tasks.readers import Table

SENTENCES = ("sentence1", "sentence2")
VERDICTS = Prompt(CLAIMED, choices=(FALSE, TRUE))

mrpc = glue.task(
    name="mrpc",
    title="MRPC",
    family="similarity",
    labels=("not_equivalent", "equivalent"),
    coding={"0": 0, "1": 1},
    metric="f1",
    metrics=("f1", "accuracy"),
    table=Table("{split}.tsv", first="#1 String", second="#2 String", label="Quality"),
    texts=SENTENCES,
    rows={"train": 3_668, "validation": 408, "test": 1_725},
    label_shares=(0.33, 0.67),
    label_counts={"train": (1_194, 2_474), "dev": (129, 279)},
    prompt=VERDICTS,
    # Digests of files identical to public copies (git blobs 4d28927 and f23d81f).
    digests={
        "train": "e020172c67063d01a942886595371b294cbcb518db47a16adc6d40311c45317e",
        "dev": "dbb571ffa8dfce96fc444dc169034db8fa2ecbf993df5f8b2882ade63d0baa46",
    },
)
# On the hub MRPC's `idx` runs on across train, dev and test, and its test labels are public.
mrpc = replace(mrpc, hub=replace(mrpc.hub, index="", unlabelled=()))

qqp = glue.task(
    name="qqp",
    title="QQP",
    family="similarity",
    labels=("not_duplicate", "duplicate"),
    coding={"0": 0, "1": 1},
    metric="f1",
    metrics=("f1", "accuracy"),
    table=Table("{split}.tsv", first="question1", second="question2", label="is_duplicate"),
    texts=("question1", "question2"),
    rows={"train": 363_846, "validation": 40_430, "test": 390_965},
    label_shares=(0.63, 0.37),
    prompt=VERDICTS,
    # The published file has two dozen broken lines and a few empty questions.
    tolerated=0.001,
    # Its questions come from Quora's CSV, and the 946 with a quotation mark are still CSV-quoted.
    csv_quoted=True,
    unlabelled_index="id",
)

stsb = glue.task(
    name="stsb",
    title="STS-B",
    family="similarity",
    labels=("0", "1", "2", "3", "4", "5"),
    metric="pearson",
    metrics=("pearson", "spearman"),
    table=Table("{split}.tsv", first="sentence1", second="sentence2", label="score"),
    texts=SENTENCES,
    rows={"train": 5_749, "validation": 1_500, "test": 1_379},
    label_shares=(0.12, 0.15, 0.16, 0.24, 0.23, 0.1),
    prompt=VERDICTS,
)
