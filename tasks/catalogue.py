"""Where each data set lies on the Hugging Face hub: repository, commit, files, columns, labels.

Data only, so that fetching, reading and checking share one page. A commit of `None` could not be
looked up when this was written: such an entry is refused until the config pins it (`revision:`).
Two data sets cannot be had by a program at all; theirs is a way to obtain them by hand.

Splits have the names of `tasks.types.Task` (`dev`), not the hub's (`validation`). Row counts are
the hub's own, so SNLI's include the rows without a gold label (785, 158 and 176 of them).
"""

import re
from dataclasses import dataclass, field

from tasks.common.errors import InputError

COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Entry:
    """A data set on the hub.

    `files`: for each split the patterns of its files in the repository. `labels`: the hub's value
    of the column `label`, and the word of the task's `labels` that it stands for; empty where the
    label is a score (STS-B) or there is none (a corpus). `hidden`: splits whose labels are all -1.
    `by_hand`: how to obtain what has no repository; `folder` is where it goes, under the data
    folder of the config. `caution`: what the data card warns of.
    """

    name: str
    licence: str
    rows: dict[str, int]
    repo: str = ""
    revision: str | None = None
    config: str = ""
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    label: str = ""
    labels: dict[int | str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    text: str = ""
    by_hand: str = ""
    folder: str = ""
    note: str = ""
    caution: str = ""

    @property
    def patterns(self) -> list[str]:
        """The patterns of the files of all splits."""
        return [pattern for each in self.files.values() for pattern in each]

    @property
    def heldout(self) -> str | None:
        """The split of a corpus that its publisher set apart from training; None without one."""
        return next((split for split in ("test", "dev") if split in self.files), None)


def _parquet(config: str, **splits: str) -> dict[str, tuple[str, ...]]:
    """The usual layout, `cola/train-00000-of-00001.parquet`; `splits` maps our names to theirs."""
    return {ours: (f"{config}/{theirs}-*.parquet",) for ours, theirs in splits.items()}


def _glue(
    name: str, rows: tuple[int, ...], columns: tuple[str, ...], labels: tuple[str, ...]
) -> Entry:
    """A configuration of the GLUE repository; `rows` of train, the dev splits, the test splits."""
    if name == "mnli":
        splits = {
            "train": "train",
            "dev_matched": "validation_matched",
            "dev_mismatched": "validation_mismatched",
            "test_matched": "test_matched",
            "test_mismatched": "test_mismatched",
        }
    else:
        splits = {"train": "train", "dev": "validation", "test": "test"}
    files = _parquet(name, **splits)
    if name == "mnli":  # the diagnostic set, which a model of MNLI answers
        files["ax"] = ("ax/test-*.parquet",)
    labelled = ("train", "dev", "dev_matched", "dev_mismatched")
    hidden = tuple(split for split in files if split not in labelled and name != "mrpc")
    return Entry(
        name=name,
        repo="nyu-mll/glue",
        revision="bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c",
        config=name,
        licence="other (GLUE: each set its own)",
        files=files,
        rows=dict(zip(files, rows, strict=True)),
        columns=(*columns, "label", "idx"),
        label="label",
        labels=dict(enumerate(labels)),
        hidden=hidden,
    )


SENTENCE, SENTENCES = ("sentence",), ("sentence1", "sentence2")
PAIR = ("premise", "hypothesis")
THREE_WAY = ("entailment", "neutral", "contradiction")
TWO_WAY = ("entailment", "not_entailment")
THREE_SPLITS = {"train": "train", "dev": "validation", "test": "test"}

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="snli",
        repo="stanfordnlp/snli",
        revision="cdb5c3d5eed6ead6e5a341c8e56e669bb666725b",
        config="plain_text",
        licence="cc-by-sa-4.0",
        files=_parquet("plain_text", **THREE_SPLITS),
        rows={"train": 550_152, "dev": 10_000, "test": 10_000},
        columns=(*PAIR, "label"),
        label="label",
        labels=dict(enumerate(THREE_WAY)),
        note="label -1 is a row without a gold label: dropped, as the authors did",
    ),
    _glue("mnli", (392_702, 9_815, 9_832, 9_796, 9_847, 1_104), PAIR, THREE_WAY),
    # The second release of QNLI; the paper had the first, which is not distributed any more.
    _glue("qnli", (104_743, 5_463, 5_463), ("question", "sentence"), TWO_WAY),
    _glue("rte", (2_490, 277, 3_000), SENTENCES, TWO_WAY),
    Entry(
        name="scitail",
        repo="allenai/scitail",
        revision="0cc4353235b289165dfde1c7c5d1be983f99ce44",
        config="snli_format",
        licence="none on the card",
        files=_parquet("snli_format", **THREE_SPLITS),
        rows={"train": 23_596, "dev": 1_304, "test": 2_126},
        columns=(
            *("sentence1_binary_parse", "sentence1_parse", "sentence1"),
            *("sentence2_parse", "sentence2", "annotator_labels", "gold_label"),
        ),
        label="gold_label",
        labels={"neutral": "neutral", "entailment": "entailment"},
        note="tsv_format and dgem_format of the same repository have lost rows to quoting",
    ),
    Entry(
        name="race",
        repo="ehovy/race",
        revision="2fec9fd81f1dc971569a9b729c43f2f0e6436637",
        config="middle and high",
        licence="other: non-commercial research only, no redistribution",
        files={
            ours: (f"middle/{theirs}-*.parquet", f"high/{theirs}-*.parquet")
            for ours, theirs in THREE_SPLITS.items()
        },
        rows={"train": 87_866, "dev": 4_887, "test": 4_934},
        columns=("example_id", "article", "answer", "question", "options"),
        label="answer",
        labels={letter: letter for letter in "ABCD"},
        caution="no redistribution: the rows that this card shows are not to be passed on",
        note="middle 25,421 / 1,436 / 1,436 rows, high 62,445 / 3,451 / 3,498",
    ),
    Entry(
        name="story_cloze",
        licence="unknown; free after a form",
        caution=(
            "no leave to redistribute it is known: the rows that this card shows are not to be "
            "passed on. The two files have the same columns and as many rows, so that one "
            "in the other's place is not found out"
        ),
        rows={"val": 1_871, "test": 1_871},
        folder="StoryCloze",
        by_hand=(
            "fill in the form at cs.rochester.edu/nlp/rocstories, and put the two CSV files of "
            "spring 2016 whose links come by e-mail into StoryCloze/ of the data folder, named "
            "`cloze_test_val__spring2016 - cloze_test_ALL_val.csv` and "
            "`cloze_test_test__spring2016 - cloze_test_ALL_test.csv`"
        ),
    ),
    _glue("mrpc", (3_668, 408, 1_725), SENTENCES, ("not_equivalent", "equivalent")),
    _glue(
        "qqp",
        (363_846, 40_430, 390_965),
        ("question1", "question2"),
        ("not_duplicate", "duplicate"),
    ),
    _glue("stsb", (5_749, 1_500, 1_379), SENTENCES, ()),
    _glue("sst2", (67_349, 872, 1_821), SENTENCE, ("negative", "positive")),
    _glue("cola", (8_551, 1_043, 1_063), SENTENCE, ("unacceptable", "acceptable")),
    Entry(
        name="dprd",
        repo="community-datasets/definite_pronoun_resolution",
        revision=None,
        config="plain_text",
        licence="unknown",
        files=_parquet("plain_text", train="train", test="test"),
        rows={"train": 1_322, "test": 564},
        columns=("sentence", "pronoun", "candidates", "label"),
        label="label",
        labels={0: "1", 1: "2"},
        note="the commit begins with 0fdf659",
    ),
)

CORPORA: tuple[Entry, ...] = (
    Entry(
        name="bookcorpus",  # sentences, one a row, without the books' borders
        repo="bookcorpus/bookcorpus",
        # A pull request with parquet files: the main branch is a script, which no longer loads.
        revision="d904700c5e5d69e71bcadbe182d2c5201fbbb007",
        config="plain_text",
        licence="unknown (terms of Smashwords)",
        files=_parquet("plain_text", train="train"),
        rows={"train": 74_004_228},
        columns=("text",),
        text="text",
        folder="books",
        by_hand=(
            "collect the books as UTF-8 text, one .txt file a book, and put them into books/ of "
            "the data folder"
        ),
    ),
    Entry(
        name="bookcorpus_text",  # sentences, one a line, without the books' borders
        repo="rojagtap/bookcorpus",
        revision=None,
        licence="mit, says the uploader, who is no authority on it",
        files={"train": ("books_large_p1.txt", "books_large_p2.txt")},
        rows={},  # told nowhere
        text="line",
        note="the commit begins with 7600e0b",
    ),
    Entry(
        name="wikitext103",
        repo="Salesforce/wikitext",
        revision="b08601e04326c79dfdd32d625aee71d232d685c3",
        config="wikitext-103-raw-v1",
        licence="cc-by-sa-3.0, gfdl",
        files=_parquet("wikitext-103-raw-v1", **THREE_SPLITS),
        rows={"train": 1_801_350, "dev": 3_760, "test": 4_358},
        columns=("text",),
        text="text",
    ),
    Entry(
        name="lm1b",
        repo="billion-word-benchmark/lm1b",
        # Of the branch refs/convert/parquet: the main branch is a script.
        revision="8d52bfd3cc2819fc1166dbb8144c328e2690de3e",
        config="plain_text",
        licence="none on the card",
        files={split: (f"plain_text/{split}/*.parquet",) for split in ("train", "test")},
        rows={"train": 30_301_028, "test": 306_688},
        columns=("text",),
        text="text",
    ),
    Entry(
        name="tinystories",
        repo="roneneldan/TinyStories",
        revision="f54c09fd23315a6f9c86f9dc80f725de7d8f9c64",
        config="default",
        licence="cdla-sharing-1.0",
        files=_parquet("data", train="train", dev="validation"),
        rows={"train": 2_119_719, "dev": 21_990},
        columns=("text",),
        text="text",
    ),
)


def entry(name: str) -> Entry:
    """The entry of a task or a corpus. Raises InputError for any other name."""
    known = {each.name: each for each in (*ENTRIES, *CORPORA)}
    if name not in known:
        raise InputError(f"no data set {name!r} in the catalogue; it has {' '.join(known)}")
    return known[name]


def fault(name: str, revision: str | None = None) -> str | None:
    """Why an entry cannot be fetched at `revision` (None: the catalogue's), and the remedy."""
    found = entry(name)
    if not found.repo:
        return f"{name} is not on the hub; {found.by_hand}, then give {{folder: {found.folder}}}"
    if revision is None and found.revision is None:
        return (
            f"no commit of {found.repo} is known here ({found.note}); look it up on the hub and "
            "give revision: with its 40 hexadecimal digits"
        )
    if revision is not None and not COMMIT.fullmatch(revision):
        return (
            f"{revision!r} is no commit; a branch moves and a short hash may not be unique: "
            "give the 40 hexadecimal digits"
        )
    return None


def pinned(name: str, revision: str | None = None) -> str:
    """The commit to fetch, 40 hexadecimal digits; InputError if there is none."""
    wrong = fault(name, revision)
    if wrong:
        raise InputError(wrong)
    return revision or entry(name).revision or ""
