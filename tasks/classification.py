"""Classification of one text: sentiment and acceptability (paper 4.1, table 4; both from GLUE)."""

from tasks import glue
from tasks.prompt import Prompt
from tasks.readers import Table

sst2 = glue.task(
    name="sst2",
    title="SST-2",
    family="classification",
    labels=("negative", "positive"),
    coding={"0": 0, "1": 1},
    table=Table("{split}.tsv", first="sentence", label="label"),
    texts=("sentence",),
    rows={"train": 67_349, "validation": 872, "test": 1_821},
    label_shares=(0.45, 0.55),
    label_counts={"train": (29_780, 37_569), "dev": (428, 444)},
    prompt=Prompt(before="{first} very", choices=("negative", "positive"), heuristic="sum"),
    # Digests of files identical to public copies (git blobs 781e7d9 and b1285ff).
    digests={
        "train": "c8a21ea5ffb2ec52d5aec4983645d9a951b3de4cb9edb07e39d4ab233b752f62",
        "dev": "28baa7f82e5d03953228a5eed415fe2d40d7ac03f3544c9df4991ca2a975f7f3",
    },
)

cola = glue.task(
    name="cola",
    title="CoLA",
    family="classification",
    labels=("unacceptable", "acceptable"),
    coding={"0": 0, "1": 1},
    metric="matthews",
    metrics=("matthews", "accuracy"),
    table=Table(
        "{split}.tsv",
        first="sentence",
        label="label",
        names=("source code", "label", "author's mark", "sentence"),
    ),
    texts=("sentence",),
    rows={"train": 8_551, "validation": 1_043, "test": 1_063},
    label_shares=(0.3, 0.7),
    label_counts={"train": (2_528, 6_023), "dev": (322, 721)},
    prompt=Prompt(before="", scored="{first}", heuristic="threshold"),
    # The digest of a file identical to a public copy (git blob f0472d1) except for the last line
    # end. Copies of the training file differ in one row.
    digests={"dev": "b6c27fdaabfd26e2c8a38d54ee5d9f7e4824aa78c80de8f74cc6d9d65d061b07"},
)
