"""Natural language inference: does the premise entail the hypothesis? (paper 4.1, table 2)

Five sets: SNLI and SciTail are scored on public test labels; for the GLUE sets MNLI, QNLI and RTE
only the dev labels are public, so these are scored on dev and the tables say so. QNLI's "premise"
is the question, as GLUE orders the columns.
"""

from dataclasses import replace

from tasks import glue
from tasks.hub import THREE_SPLITS, HubSource, parquet_files
from tasks.prompt import CLAIMED, FALSE, TRUE, UNKNOWN, Prompt
from tasks.readers import Table
from tasks.task import Task

THREE_WAY = ("entailment", "neutral", "contradiction")
TWO_WAY = ("entailment", "not_entailment")
SENTENCES = ("sentence1", "sentence2")
PAIR = ("premise", "hypothesis")
THREE_VERDICTS = Prompt(CLAIMED, choices=(TRUE, UNKNOWN, FALSE))
TWO_VERDICTS = Prompt(CLAIMED, choices=(TRUE, FALSE))

snli = Task(
    name="snli",
    title="SNLI",
    family="entailment",
    labels=THREE_WAY,
    no_gold_label=("-", "-1"),
    folder="SNLI",
    layouts=(
        Table("snli_1.0_{split}.jsonl", "sentence1", "gold_label", "sentence2"),
        Table("snli_1.0_{split}.txt", "sentence1", "gold_label", "sentence2"),
    ),
    select="dev",
    report=("test",),
    rows={"train": 549_367, "dev": 9_842, "test": 9_824},
    label_shares=(0.33, 0.33, 0.33),
    label_counts={"dev": (3_329, 3_235, 3_278)},
    prompt=THREE_VERDICTS,
    obtain="download SNLI 1.0 from nlp.stanford.edu/projects/snli and unpack it there",
    hub=HubSource(
        name="snli",
        repo="stanfordnlp/snli",
        revision="cdb5c3d5eed6ead6e5a341c8e56e669bb666725b",
        config="plain_text",
        licence="cc-by-sa-4.0",
        files=parquet_files("plain_text", THREE_SPLITS),
        texts=PAIR,
        label="label",
        labels=dict(enumerate(THREE_WAY)),
        note="label -1 is a row without a gold label: dropped, as the authors did",
    ),
)

mnli = glue.task(
    name="mnli",
    title="MNLI",
    family="entailment",
    labels=THREE_WAY,
    no_gold_label=("-",),
    table=Table("{split}.tsv", first="sentence1", second="sentence2", label="gold_label"),
    texts=PAIR,
    rows={
        "train": 392_702,
        "validation_matched": 9_815,
        "validation_mismatched": 9_832,
        "test_matched": 9_796,
        "test_mismatched": 9_847,
    },
    report=("dev_matched", "dev_mismatched"),
    averages_splits=True,  # as in Table 5
    label_shares=(0.33, 0.33, 0.33),
    label_counts={"dev_matched": (3_479, 3_123, 3_213)},
    prompt=THREE_VERDICTS,
    optional_unlabelled=("ax",),
)
# The diagnostic set, which an MNLI model answers, is a separate configuration on the hub. GLUE has
# it in a separate folder too, unless it was put beside the other files.
mnli = replace(
    mnli,
    unlabelled_rows=mnli.unlabelled_rows | {"ax": 1_104},
    unlabelled=mnli.unlabelled | {"ax": ("diagnostic.tsv", "../diagnostic/diagnostic.tsv")},
    hub=replace(
        mnli.hub,
        files=mnli.hub.files | {"ax": ("ax/test-*.parquet",)},
        unlabelled=(*mnli.hub.unlabelled, "ax"),
    ),
)

# The second release, the only one still distributed; the paper used the first.
qnli = glue.task(
    name="qnli",
    title="QNLI",
    family="entailment",
    labels=TWO_WAY,
    table=Table("{split}.tsv", first="question", second="sentence", label="label"),
    texts=("question", "sentence"),
    rows={"train": 104_743, "validation": 5_463, "test": 5_463},
    label_shares=(0.5, 0.5),
    label_counts={"dev": (2_702, 2_761)},
    prompt=TWO_VERDICTS,
    # The digest of a file identical to public copies (SHA-256 ac19409d...).
    digests={"dev": "63c8fe0ea6553450886b402d1ebbea67293f9f1291ad91382de162c53ed191d7"},
)

rte = glue.task(
    name="rte",
    title="RTE",
    family="entailment",
    labels=TWO_WAY,
    table=Table("{split}.tsv", first="sentence1", second="sentence2", label="label"),
    texts=SENTENCES,
    rows={"train": 2_490, "validation": 277, "test": 3_000},
    label_shares=(0.5, 0.5),
    label_counts={"train": (1_249, 1_241), "dev": (146, 131)},
    prompt=TWO_VERDICTS,
    # Digests of files identical to public copies (dev: git blob 78e67cc; train: row by row).
    digests={
        "train": "05b40672d53b25195c66b7d38d4024af455cecabb36e63adf6eb1bdd3bed000e",
        "dev": "7c6d7e3498a39d40bc03fcb7076f4a43e908b0ae803e263a6eee9ab576dbc0c8",
    },
)

scitail = Task(
    name="scitail",
    title="SciTail",
    family="entailment",
    labels=("neutral", "entailment"),
    coding={"neutral": 0, "entailment": 1, "entails": 1},
    folder="SciTail",
    layouts=(
        Table(
            "snli_format/scitail_1.0_{split}.txt",
            first="sentence1",
            second="sentence2",
            label="gold_label",
            kind=".jsonl",
        ),
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
    label_shares=(0.6, 0.4),
    label_counts={"test": (1_284, 842)},
    prompt=Prompt(CLAIMED, choices=(FALSE, TRUE)),
    obtain="download SciTail 1.1 from allenai.org/data/scitail and unpack it there",
    hub=HubSource(
        name="scitail",
        repo="allenai/scitail",
        revision="0cc4353235b289165dfde1c7c5d1be983f99ce44",
        config="snli_format",
        licence="none on the card",
        files=parquet_files("snli_format", THREE_SPLITS),
        texts=SENTENCES,
        label="gold_label",
        labels={"neutral": "neutral", "entailment": "entailment"},
        note="tsv_format and dgem_format of the same repository have lost rows to quoting",
    ),
)
