"""Natural language inference: does the premise entail the hypothesis? (paper 4.1, table 2)

Five sets: SNLI and SciTail are scored on public test labels; of the GLUE sets MNLI, QNLI and RTE
only the dev labels are public, so these are scored on dev and the tables say so. QNLI here is the
second release, the only one still distributed (the paper had the first). QNLI's "premise" is the
question, as GLUE orders the columns.
"""

from collections.abc import Iterator
from pathlib import Path

from tasks.tables import Table, cells, json_lines
from tasks.types import Flaw, Row, Task

GLUE = "get it from the GLUE benchmark (gluebenchmark.com/tasks) and unpack it there"
THREE_WAY = ("entailment", "neutral", "contradiction")
TWO_WAY = ("entailment", "not_entailment")


def pairs(path: Path) -> Iterator[Row | Flaw]:
    """SNLI's fields, as JSON lines or (a `.txt` that starts with a header) as a table."""
    with open(path, "rb") as file:
        is_json = file.read(4).removeprefix(b"\xef\xbb\xbf").startswith(b"{")
    if is_json or path.suffix == ".jsonl":
        for line, values in json_lines(path, ("sentence1", "sentence2", "gold_label")):
            yield Row(line, first=values[0], second=values[1], label=values[2])
    else:
        yield from Table(first="sentence1", second="sentence2", label="gold_label")(path)


def scitail_rows(path: Path) -> Iterator[Row | Flaw]:
    """`snli_format/*.txt` holds JSON lines; `tsv_format/*.tsv` three columns without header."""
    if path.suffix != ".tsv":
        yield from pairs(path)
        return
    for row in cells(path, 3):
        if isinstance(row, Flaw):
            yield row
        else:
            line, (premise, hypothesis, label) = row
            yield Row(line, first=premise, second=hypothesis, label=label)


snli = Task(
    name="snli",
    title="SNLI",
    family="entailment",
    labels=THREE_WAY,
    no_label="-",
    metric="accuracy",
    folder="SNLI",
    files=("snli_1.0_{split}.jsonl", "snli_1.0_{split}.txt"),
    parse=pairs,
    select="dev",
    report=("test",),
    rows={"train": 549_367, "dev": 9_842, "test": 9_824},
    shares=(0.33, 0.33, 0.33),
    counts={"dev": (3_329, 3_235, 3_278)},
    source="get SNLI 1.0 from nlp.stanford.edu/projects/snli and unpack it there",
)

mnli = Task(
    name="mnli",
    title="MNLI",
    family="entailment",
    labels=THREE_WAY,
    no_label="-",
    metric="accuracy",
    folder="MNLI",
    files=("{split}.tsv",),
    parse=Table(first="sentence1", second="sentence2", label="gold_label"),
    report=("dev_matched", "dev_mismatched"),
    rows={"train": 392_702, "dev_matched": 9_815, "dev_mismatched": 9_832},
    shares=(0.33, 0.33, 0.33),
    counts={"dev_matched": (3_479, 3_123, 3_213)},
    source=GLUE,
)

qnli = Task(
    name="qnli",
    title="QNLI",
    family="entailment",
    labels=TWO_WAY,
    metric="accuracy",
    folder="QNLI",
    files=("{split}.tsv",),
    parse=Table(first="question", second="sentence", label="label"),
    report=("dev",),
    rows={"train": 104_743, "dev": 5_463},
    shares=(0.5, 0.5),
    source=GLUE,
)

rte = Task(
    name="rte",
    title="RTE",
    family="entailment",
    labels=TWO_WAY,
    metric="accuracy",
    folder="RTE",
    files=("{split}.tsv",),
    parse=Table(first="sentence1", second="sentence2", label="label"),
    report=("dev",),
    rows={"train": 2_490, "dev": 277},
    shares=(0.5, 0.5),
    counts={"train": (1_249, 1_241), "dev": (146, 131)},
    source=GLUE,
)

scitail = Task(
    name="scitail",
    title="SciTail",
    family="entailment",
    labels=("neutral", "entailment"),
    coding={"neutral": 0, "entailment": 1, "entails": 1},
    metric="accuracy",
    folder="SciTail",
    files=("snli_format/scitail_1.0_{split}.txt", "tsv_format/scitail_1.0_{split}.tsv"),
    parse=scitail_rows,
    select="dev",
    report=("test",),
    rows={"train": 23_596, "dev": 1_304, "test": 2_126},
    shares=(0.6, 0.4),
    counts={"test": (1_284, 842)},
    source="get SciTail 1.1 from allenai.org/data/scitail and unpack it there",
)
