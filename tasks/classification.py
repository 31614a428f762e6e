"""Classification of one text: sentiment and acceptability (paper 4.1, table 4; both from GLUE)."""

from tasks import glue
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
    # Of files that equal public copies (git blobs 781e7d9 and b1285ff).
    digests={
        "train": "2d6f413196e416fde48a4dbb5cd1f996c1f8598d1a0e904df8e52b6fe1dc4bae",
        "dev": "0e08e34f56bbdc5cddf66adf0ab4688e3d3a1fc6e6688a41917375040441d4ea",
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
    # Of a file that equals a public copy (git blob f0472d1, but for the last line end). Copies of
    # the training file differ in a row.
    digests={"dev": "904fcc97e705cc9f453494b657ca65d50264f78bcbb9eb23e51fbc9e2175cda8"},
)
