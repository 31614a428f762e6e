"""Natural language inference: does the premise entail the hypothesis? (paper 4.1, table 2)

Five sets: SNLI and SciTail are scored on public test labels; of the GLUE sets MNLI, QNLI and RTE
only the dev labels are public, so these are scored on dev and the tables say so. QNLI here is the
second release, the only one still distributed (the paper had the first). QNLI's "premise" is the
question, as GLUE orders the columns.
"""

from dataclasses import replace

from tasks import glue
from tasks.hub import THREE_SPLITS, HubSource, parquet_files
from tasks.readers import JsonLines, Table
from tasks.task import Task

THREE_WAY = ("entailment", "neutral", "contradiction")
TWO_WAY = ("entailment", "not_entailment")
SENTENCES = ("sentence1", "sentence2")
PAIR = ("premise", "hypothesis")
PAIRS = {"first": "sentence1", "second": "sentence2", "label": "gold_label"}

snli = Task(
    name="snli",
    title="SNLI",
    family="entailment",
    labels=THREE_WAY,
    no_gold_label="-",
    metric="accuracy",
    folder="SNLI",
    layouts=(
        JsonLines("snli_1.0_{split}.jsonl", **PAIRS),
        JsonLines("snli_1.0_{split}.txt", **PAIRS),
    ),
    select="dev",
    report=("test",),
    rows={"train": 549_367, "dev": 9_842, "test": 9_824},
    label_shares=(0.33, 0.33, 0.33),
    label_counts={"dev": (3_329, 3_235, 3_278)},
    obtain="get SNLI 1.0 from nlp.stanford.edu/projects/snli and unpack it there",
    hub=HubSource(
        name="snli",
        repo="stanfordnlp/snli",
        revision="cdb5c3d5eed6ead6e5a341c8e56e669bb666725b",
        config="plain_text",
        licence="cc-by-sa-4.0",
        files=parquet_files("plain_text", THREE_SPLITS),
        rows={"train": 550_152, "dev": 10_000, "test": 10_000},
        columns=(*PAIR, "label"),
        texts=PAIR,
        label="label",
        labels=dict(enumerate(THREE_WAY)),
        note="label -1 is a row without a gold label: dropped, as the authors did",
    ),
)

MNLI_HUB = glue.source(
    "mnli",
    PAIR,
    THREE_WAY,
    train=392_702,
    validation_matched=9_815,
    validation_mismatched=9_832,
    test_matched=9_796,
    test_mismatched=9_847,
)

mnli = Task(
    name="mnli",
    title="MNLI",
    family="entailment",
    labels=THREE_WAY,
    no_gold_label="-",
    metric="accuracy",
    folder="MNLI",
    layouts=(Table("{split}.tsv", **PAIRS),),
    report=("dev_matched", "dev_mismatched"),
    rows={"train": 392_702, "dev_matched": 9_815, "dev_mismatched": 9_832},
    label_shares=(0.33, 0.33, 0.33),
    label_counts={"dev_matched": (3_479, 3_123, 3_213)},
    obtain=glue.OBTAIN,
    # The diagnostic set, which a model of MNLI answers, is a configuration of its own.
    hub=replace(
        MNLI_HUB,
        files=MNLI_HUB.files | {"ax": ("ax/test-*.parquet",)},
        rows=MNLI_HUB.rows | {"ax": 1_104},
        unlabelled=(*MNLI_HUB.unlabelled, "ax"),
    ),
    unlabelled={
        "test_matched": ("test_matched.tsv",),
        "test_mismatched": ("test_mismatched.tsv",),
        # GLUE has it in a folder of its own, or it was put beside the others.
        "ax": ("diagnostic.tsv", "../diagnostic/diagnostic.tsv"),
    },
    optional_unlabelled=("ax",),
)

qnli = Task(
    name="qnli",
    title="QNLI",
    family="entailment",
    labels=TWO_WAY,
    metric="accuracy",
    folder="QNLI",
    layouts=(Table("{split}.tsv", first="question", second="sentence", label="label"),),
    report=("dev",),
    rows={"train": 104_743, "dev": 5_463},
    wrong_counts={108_436: "this is the first release, no longer distributed; take QNLIv2"},
    label_shares=(0.5, 0.5),
    obtain=glue.OBTAIN,
    hub=glue.source(
        "qnli", ("question", "sentence"), TWO_WAY, train=104_743, validation=5_463, test=5_463
    ),
    unlabelled=glue.TEST,
)

rte = Task(
    name="rte",
    title="RTE",
    family="entailment",
    labels=TWO_WAY,
    metric="accuracy",
    folder="RTE",
    layouts=(Table("{split}.tsv", first="sentence1", second="sentence2", label="label"),),
    report=("dev",),
    rows={"train": 2_490, "dev": 277},
    label_shares=(0.5, 0.5),
    label_counts={"train": (1_249, 1_241), "dev": (146, 131)},
    obtain=glue.OBTAIN,
    hub=glue.source("rte", SENTENCES, TWO_WAY, train=2_490, validation=277, test=3_000),
    unlabelled=glue.TEST,
)

scitail = Task(
    name="scitail",
    title="SciTail",
    family="entailment",
    labels=("neutral", "entailment"),
    coding={"neutral": 0, "entailment": 1, "entails": 1},
    metric="accuracy",
    folder="SciTail",
    layouts=(
        JsonLines("snli_format/scitail_1.0_{split}.txt", **PAIRS),
        Table(
            "tsv_format/scitail_1.0_{split}.tsv",
            first="premise",
            second="hypothesis",
            label="label",
            names=(*PAIR, "label"),
        ),
    ),
    select="dev",
    report=("test",),
    rows={"train": 23_596, "dev": 1_304, "test": 2_126},
    wrong_counts={
        23_097: "this is tsv_format read with CSV quoting, which glued rows together; "
        "take snli_format",
        23_088: "this is dgem_format, in which rows are glued together; take snli_format",
    },
    label_shares=(0.6, 0.4),
    label_counts={"test": (1_284, 842)},
    obtain="get SciTail 1.1 from allenai.org/data/scitail and unpack it there",
    hub=HubSource(
        name="scitail",
        repo="allenai/scitail",
        revision="0cc4353235b289165dfde1c7c5d1be983f99ce44",
        config="snli_format",
        licence="none on the card",
        files=parquet_files("snli_format", THREE_SPLITS),
        rows={"train": 23_596, "dev": 1_304, "test": 2_126},
        columns=(
            *("sentence1_binary_parse", "sentence1_parse", "sentence1"),
            *("sentence2_parse", "sentence2", "annotator_labels", "gold_label"),
        ),
        texts=SENTENCES,
        label="gold_label",
        labels={"neutral": "neutral", "entailment": "entailment"},
        note="tsv_format and dgem_format of the same repository have lost rows to quoting",
    ),
)
