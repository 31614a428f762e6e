"""The twelve tasks of the paper's tables 2 to 4, and DPRD of its zero-shot figure, as data.

The eight GLUE sets have no public test labels: they are scored on dev, and the tables say so;
predictions on their test rows are for the GLUE server. SNLI, SciTail, RACE and Story Cloze are
scored on their public test labels. The fields are described in `tasks.task.Task`.
"""

from typing import Any

from tasks import layouts
from tasks.hub import THREE_SPLITS, HubSource, parquet_files
from tasks.prompt import FALSE_TRUE, TRUE_FALSE, TRUE_UNKNOWN_FALSE, Prompt
from tasks.read import Documents, Table
from tasks.task import Task

THREE_WAY = ("entailment", "neutral", "contradiction")
TWO_WAY = ("entailment", "not_entailment")
PAIR = ("premise", "hypothesis")
NUMBERED = {"0": 0, "1": 1}


def glue(
    title: str, table: Table, rows: dict[str, int], hub: dict[str, Any] | None = None, **task: Any
) -> Task:
    """A set of GLUE; `hub` and `task` are further fields of `HubSource` and `Task`.

    `rows` has the row count of every split; `test` splits and MNLI's `ax` have no public labels.
    """
    name = title.lower().replace("-", "")
    hidden = {split: n for split, n in rows.items() if split.startswith(("test", "ax"))}
    texts = tuple(filter(None, (table.first, table.second)))
    hub = {"texts": texts, "index": "idx", "unlabelled": tuple(hidden), **(hub or {})}
    files = parquet_files(rows, name)
    if "ax" in rows:
        files["ax"] = ("ax/test-*.parquet",)
    return Task(
        name=name,
        title=title,
        layouts=(table,),
        rows={split: n for split, n in rows.items() if split not in hidden},
        unlabelled=hidden,
        obtain="download it from gluebenchmark.com/tasks and unpack it there",
        hub=HubSource(
            name=name,
            repo="nyu-mll/glue",
            revision="bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c",
            config=name,
            licence="other (GLUE: each set its own)",
            files=files,
            label="label",
            labels={} if "pearson" in task.get("metrics", ()) else dict(enumerate(task["labels"])),
            **hub,
        ),
        **{"report": ("dev",), **task},
    )


# Natural language inference: does the premise entail the hypothesis?
snli = Task(
    name="snli",
    title="SNLI",
    family="entailment",
    labels=THREE_WAY,
    no_gold_label=("-", "-1"),
    layouts=(
        Table("snli_1.0_{split}.jsonl", "sentence1", "gold_label", "sentence2"),
        Table("snli_1.0_{split}.txt", "sentence1", "gold_label", "sentence2"),
    ),
    rows={"train": 549_367, "dev": 9_842, "test": 9_824},
    label_counts={"dev": (3_329, 3_235, 3_278)},
    prompt=TRUE_UNKNOWN_FALSE,
    obtain="download SNLI 1.0 from nlp.stanford.edu/projects/snli and unpack it there",
    hub=HubSource(
        name="snli",
        repo="stanfordnlp/snli",
        revision="cdb5c3d5eed6ead6e5a341c8e56e669bb666725b",
        config="plain_text",
        licence="cc-by-sa-4.0",
        files=parquet_files(THREE_SPLITS, "plain_text"),
        texts=PAIR,
        label="label",
        labels=dict(enumerate(THREE_WAY)),
        note="label -1 is a row without a gold label: dropped, as the authors did",
    ),
)

mnli = glue(
    "MNLI",
    Table("{split}.tsv", first="sentence1", second="sentence2", label="gold_label"),
    family="entailment",
    labels=THREE_WAY,
    no_gold_label=("-",),
    rows={"train": 392_702, "dev_matched": 9_815, "dev_mismatched": 9_832}
    # `ax` is the diagnostic set, which an MNLI model answers.
    | {"test_matched": 9_796, "test_mismatched": 9_847, "ax": 1_104},
    report=("dev_matched", "dev_mismatched"),
    averages_splits=True,  # as in Table 5
    label_counts={"dev_matched": (3_479, 3_123, 3_213)},
    prompt=TRUE_UNKNOWN_FALSE,
    hub={"texts": PAIR},
)

# The second release, the only one still distributed; the paper used the first.
qnli = glue(
    "QNLI",
    Table("{split}.tsv", first="question", second="sentence", label="label"),
    family="entailment",
    labels=TWO_WAY,
    rows={"train": 104_743, "dev": 5_463, "test": 5_463},
    label_counts={"dev": (2_702, 2_761)},
    prompt=TRUE_FALSE,
    # The digest of a file identical to public copies (SHA-256 ac19409d...).
    digests={"dev": "63c8fe0ea6553450886b402d1ebbea67293f9f1291ad91382de162c53ed191d7"},
)

rte = glue(
    "RTE",
    Table("{split}.tsv", first="sentence1", second="sentence2", label="label"),
    family="entailment",
    labels=TWO_WAY,
    rows={"train": 2_490, "dev": 277, "test": 3_000},
    label_counts={"train": (1_249, 1_241), "dev": (146, 131)},
    prompt=TRUE_FALSE,
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
    layouts=(
        Table(
            *("snli_format/scitail_1.0_{split}.txt", "sentence1", "gold_label", "sentence2"),
            kind=".jsonl",
        ),
        Table(
            *("tsv_format/scitail_1.0_{split}.tsv", "premise", "label", "hypothesis"),
            names=(*PAIR, "label"),
        ),
    ),
    rows={"train": 23_596, "dev": 1_304, "test": 2_126},
    label_shares=(0.6, 0.4),
    label_counts={"test": (1_284, 842)},
    prompt=FALSE_TRUE,
    obtain="download SciTail 1.1 from allenai.org/data/scitail and unpack it there",
    hub=HubSource(
        name="scitail",
        repo="allenai/scitail",
        revision="0cc4353235b289165dfde1c7c5d1be983f99ce44",
        config="snli_format",
        licence="none on the card",
        files=parquet_files(THREE_SPLITS, "snli_format"),
        texts=("sentence1", "sentence2"),
        label="gold_label",
        labels={"neutral": "neutral", "entailment": "entailment"},
        note="tsv_format and dgem_format of the same repository have lost rows to quoting",
    ),
)

# English examinations for middle and high schools, four answers per question. The paper reports
# RACE-m, RACE-h and the whole, so every example carries its school as its group. The paper's figure
# 2 shows dev, its table most likely test: both are reported.
race = Task(
    name="race",
    title="RACE",
    family="multiple_choice",
    labels=("A", "B", "C", "D"),
    layouts=(Documents("{split}/*/*.txt", layouts.race),),
    groups=("middle", "high"),
    several_rows_a_text=True,
    report=("test", "dev"),
    rows={"train": 87_866, "dev": 4_887, "test": 4_934},
    label_shares=(0.23, 0.25, 0.26, 0.26),
    prompt=Prompt(heuristic="mean"),
    obtain="ask for RACE at www.cs.cmu.edu/~glai1/data/race and unpack it there",
    # A few options and questions are empty upstream.
    tolerated=0.001,
    hub=HubSource(
        name="race",
        repo="ehovy/race",
        revision="2fec9fd81f1dc971569a9b729c43f2f0e6436637",
        config="middle and high",
        licence="other: non-commercial research only, no redistribution",
        files=parquet_files(THREE_SPLITS, "middle", "high"),
        texts=("article", "question", "options"),
        index="example_id",
        label="answer",
        labels={letter: letter for letter in "ABCD"},
        caution="no redistribution: the rows that this card shows are not to be passed on",
        note="middle 25,421 / 1,436 / 1,436 rows, high 62,445 / 3,451 / 3,498",
    ),
    hub_rows=layouts.race_of_hub,
)

# Spring 2016: which of two sentences ends the story? The labelled training set is the official
# validation file: 1,871 stories, of which the authors' code holds out 374 to select the epoch.
story_cloze = Task(
    name="story_cloze",
    title="Story Cloze",
    family="multiple_choice",
    labels=("1", "2"),
    layouts=(Documents("cloze_test_{split}__spring2016*.csv", layouts.stories),),
    train="val",
    select_fraction=0.2,
    rows={"val": 1_871, "test": 1_871},
    label_counts={"val": (962, 909), "test": (960, 911)},
    prompt=Prompt(),
    # Digests of four public copies, equal but for blanks and a broken character in one test file.
    digests={
        "val": "ff3039c12c9cfb6f1e691b8cfa94d38e7bbceab54287e8a06980f24cc547cb03",
        "test": "75885923719e6e678c9f2b3db998cfa30a9b65fd6ab0d6bc45b0c7e5783e4ddd",
    },
    obtain="ask for it at cs.rochester.edu/nlp/rocstories (a free form) and put both files there",
    hub=HubSource(
        name="story_cloze",
        licence="unknown; free after a form",
        caution=(
            "no permission to redistribute it is known: the rows that this card shows are not to "
            "be passed on"
        ),
        by_hand=(
            "fill in the form at cs.rochester.edu/nlp/rocstories, and put the two CSV files of "
            "spring 2016 whose links come by e-mail into StoryCloze/ of the data folder, named "
            "`cloze_test_val__spring2016 - cloze_test_ALL_val.csv` and "
            "`cloze_test_test__spring2016 - cloze_test_ALL_test.csv`, then set {folder: StoryCloze}"
        ),
    ),
)

# Semantic similarity: do two sentences mean the same? The paper's table has F1 and, for STS-B,
# Pearson's correlation; accuracy and Spearman's correlation are reported beside them.
mrpc = glue(
    "MRPC",
    Table("{split}.tsv", first="#1 String", second="#2 String", label="Quality"),
    family="similarity",
    labels=("not_equivalent", "equivalent"),
    coding=NUMBERED,
    metrics=("f1", "accuracy"),
    rows={"train": 3_668, "dev": 408, "test": 1_725},
    label_shares=(0.33, 0.67),
    label_counts={"train": (1_194, 2_474), "dev": (129, 279)},
    prompt=FALSE_TRUE,
    # Digests of files identical to public copies (git blobs 4d28927 and f23d81f).
    digests={
        "train": "e020172c67063d01a942886595371b294cbcb518db47a16adc6d40311c45317e",
        "dev": "dbb571ffa8dfce96fc444dc169034db8fa2ecbf993df5f8b2882ade63d0baa46",
    },
    # There `idx` runs on across train, dev and test, and the test labels are public.
    hub={"texts": ("sentence1", "sentence2"), "index": "", "unlabelled": ()},
)

qqp = glue(
    "QQP",
    Table("{split}.tsv", first="question1", second="question2", label="is_duplicate"),
    family="similarity",
    labels=("not_duplicate", "duplicate"),
    coding=NUMBERED,
    metrics=("f1", "accuracy"),
    rows={"train": 363_846, "dev": 40_430, "test": 390_965},
    label_shares=(0.63, 0.37),
    prompt=FALSE_TRUE,
    # The published file has two dozen broken lines and a few empty questions.
    tolerated=0.001,
    # Its questions come from Quora's CSV, and the 946 with a quotation mark are still CSV-quoted.
    csv_quoted=True,
    unlabelled_index="id",
)

# Trained with six soft classes, as in the authors' code (`tasks.metrics.soft_labels`).
stsb = glue(
    "STS-B",
    Table("{split}.tsv", first="sentence1", second="sentence2", label="score"),
    family="similarity",
    labels=("0", "1", "2", "3", "4", "5"),
    metrics=("pearson", "spearman"),
    rows={"train": 5_749, "dev": 1_500, "test": 1_379},
    label_shares=(0.12, 0.15, 0.16, 0.24, 0.23, 0.1),
    prompt=FALSE_TRUE,
)

# Classification of one text: sentiment and acceptability.
sst2 = glue(
    "SST-2",
    Table("{split}.tsv", first="sentence", label="label"),
    family="classification",
    labels=("negative", "positive"),
    coding=NUMBERED,
    rows={"train": 67_349, "dev": 872, "test": 1_821},
    label_shares=(0.45, 0.55),
    label_counts={"train": (29_780, 37_569), "dev": (428, 444)},
    prompt=Prompt(before="{first} very", choices=("negative", "positive"), heuristic="sum"),
    # Digests of files identical to public copies (git blobs 781e7d9 and b1285ff).
    digests={
        "train": "c8a21ea5ffb2ec52d5aec4983645d9a951b3de4cb9edb07e39d4ab233b752f62",
        "dev": "28baa7f82e5d03953228a5eed415fe2d40d7ac03f3544c9df4991ca2a975f7f3",
    },
)

cola = glue(
    "CoLA",
    Table(
        *("{split}.tsv", "sentence", "label"),
        names=("source code", "label", "author's mark", "sentence"),
    ),
    family="classification",
    labels=("unacceptable", "acceptable"),
    coding=NUMBERED,
    metrics=("matthews", "accuracy"),
    rows={"train": 8_551, "dev": 1_043, "test": 1_063},
    label_shares=(0.3, 0.7),
    label_counts={"train": (2_528, 6_023), "dev": (322, 721)},
    prompt=Prompt(before="", scored="{first}", heuristic="threshold"),
    # The digest of a file identical to a public copy (git blob f0472d1) except for the last line
    # end. Copies of the training file differ in one row.
    digests={"dev": "b6c27fdaabfd26e2c8a38d54ee5d9f7e4824aa78c80de8f74cc6d9d65d061b07"},
)

# Rahman and Ng 2012: to which of two candidates does the pronoun refer? Zero-shot only.
dprd = Task(
    name="dprd",
    title="DPRD",
    family="multiple_choice",
    labels=("1", "2"),
    layouts=(Documents("{split}.c.txt", layouts.dprd),),
    select_fraction=0.0,
    rows={"train": 1_322, "test": 564},
    label_counts={"train": (661, 661), "test": (282, 282)},
    prompt=Prompt(before="{first} {choice}", scored="{second}", heuristic="mean"),
    obtain="download it from www.hlt.utdallas.edu/~vince/data/emnlp12 and put both files there",
    hub=HubSource(
        name="dprd",
        repo="community-datasets/definite_pronoun_resolution",
        revision=None,
        config="plain_text",
        licence="unknown",
        files=parquet_files(["train", "test"], "plain_text"),
        texts=("sentence", "pronoun", "candidates"),
        label="label",
        labels={0: "1", 1: "2"},
        named_labels=False,  # they are indices into the list of candidates
        note="the commit begins with 0fdf659",
    ),
    hub_rows=layouts.dprd_of_hub,
)
