"""Small published data sets in every original layout, written by the tests."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks import Task, task

STORY_HEADER = (
    "InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,"
    "RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding"
)
MNLI_HEADER = [
    *("index", "promptID", "pairID", "genre", "sentence1_binary_parse", "sentence2_binary_parse"),
    *("sentence1_parse", "sentence2_parse", "sentence1", "sentence2"),
    *("label1", "label2", "label3", "label4", "label5", "gold_label"),
]
STSB_HEADER = [
    *("index", "genre", "filename", "year", "old_index", "source1", "source2"),
    *("sentence1", "sentence2", "score"),
]
SNLI_HEADER = ["gold_label", "sentence1_binary_parse", "sentence1", "sentence2", "captionID"]


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def tsv(path: Path, rows: list[list[str]]) -> None:
    put(path, "".join("\t".join(map(str, row)) + "\n" for row in rows))


def glue_pair(folder: Path, header: list[str], row: Callable, splits: tuple[str, ...]) -> None:
    for split in splits:
        tsv(folder / f"{split}.tsv", [header, *(row(split, k) for k in range(10))])


def snli(folder: Path) -> None:
    for split in ("train", "dev", "test"):
        rows = [
            {"gold_label": label, "sentence1": f"{split} premise {k}", "sentence2": f"guess {k}"}
            for k, label in enumerate(["neutral", "-", "entailment", "contradiction"])
        ]
        put(folder / f"snli_1.0_{split}.jsonl", "".join(json.dumps(r) + "\n" for r in rows))


def snli_txt(folder: Path) -> None:
    for split in ("train", "dev", "test"):
        rows = [
            [label, "( parse )", f"{split} premise {k}", f"guess {k}", f"{k}.jpg"]
            for k, label in enumerate(["neutral", "-", "entailment", "contradiction"])
        ]
        tsv(folder / f"snli_1.0_{split}.txt", [SNLI_HEADER, *rows])


def mnli(folder: Path) -> None:
    def row(split: str, k: int) -> list[str]:
        label = ("entailment", "neutral", "contradiction")[k % 3]
        return [str(k), *[""] * 7, f"{split} premise {k}", f"guess {k}", *[""] * 5, label]

    glue_pair(folder, MNLI_HEADER, row, ("dev_matched", "dev_mismatched"))
    # The training file has fewer columns: one annotator's label instead of five.
    keep = [*range(11), 15]
    header = [MNLI_HEADER[j] for j in keep]
    glue_pair(folder, header, lambda s, k: [row(s, k)[j] for j in keep], ("train",))


def qnli(folder: Path) -> None:
    def row(split: str, k: int) -> list[str]:
        return [str(k), f"{split} who {k} ?", f"he {k} .", ("entailment", "not_entailment")[k % 2]]

    glue_pair(folder, ["index", "question", "sentence", "label"], row, ("train", "dev"))


def rte(folder: Path) -> None:
    def row(split: str, k: int) -> list[str]:
        return [str(k), f"{split} fact {k}", f"guess {k}", ("not_entailment", "entailment")[k % 2]]

    glue_pair(folder, ["index", "sentence1", "sentence2", "label"], row, ("train", "dev"))


def scitail(folder: Path) -> None:
    for split in ("train", "dev", "test"):
        rows = [
            [f'{split} "premise {k}', f"guess {k}", ("neutral", "entails")[k % 2]] for k in range(4)
        ]
        tsv(folder / "tsv_format" / f"scitail_1.0_{split}.tsv", rows)


def scitail_snli(folder: Path) -> None:
    for split in ("train", "dev", "test"):
        rows = [
            {
                "sentence1": f'{split} "premise {k}',
                "sentence2": f"guess {k}",
                "gold_label": ("neutral", "entailment")[k % 2],
            }
            for k in range(4)
        ]
        path = folder / "snli_format" / f"scitail_1.0_{split}.txt"
        put(path, "".join(json.dumps(r) + "\n" for r in rows))


def race(folder: Path) -> None:
    for split in ("train", "dev", "test"):
        for group in ("middle", "high"):
            for number in range(2):
                record = {
                    "article": f"{split} {group} story {number}\nwith two lines",
                    "questions": [f"why {k} ?" for k in range(3)],
                    "options": [[f"{w} {k}" for w in "abcd"] for k in range(3)],
                    "answers": ["B", "D", "A"],
                    "id": f"{group}{number}.txt",
                }
                put(folder / split / group / f"{number}.txt", json.dumps(record))


def story_cloze(folder: Path) -> None:
    for split, name in (("val", "ALL_val"), ("test", "ALL_test")):
        rows = [STORY_HEADER]
        for k in range(10):
            rows.append(
                f'{split}-{k},Ann woke.,"She ate, then ran.",It rained.,She fell {k}.,'
                f'"She said ""ow"".",She flew.,{k % 2 + 1}'
            )
        path = folder / f"cloze_test_{split}__spring2016 - cloze_test_{name}.csv"
        put(path, "\r\n".join(rows) + "\r\n")


def mrpc(folder: Path) -> None:
    for split in ("train", "dev"):
        rows = [f"{k % 2}\t1\t2\t{split} one {k}\tother {k}" for k in range(10)]
        header = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"
        put(folder / f"{split}.tsv", "\r\n".join([header, *rows]) + "\r\n")


def qqp(folder: Path) -> None:
    def row(split: str, k: int) -> list[str]:
        return [str(k), "1", "2", f"{split} how {k} ?", f"why {k} ?", str(k % 2)]

    header = ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"]
    glue_pair(folder, header, row, ("train", "dev"))


def stsb(folder: Path) -> None:
    def row(split: str, k: int) -> list[str]:
        return [str(k), *["x"] * 6, f"{split} one {k}", f"other {k}", f"{k / 2:.3f}"]

    glue_pair(folder, STSB_HEADER, row, ("train", "dev"))


def sst2(folder: Path) -> None:
    glue_pair(
        folder, ["sentence", "label"], lambda s, k: [f"{s} film {k} ", k % 2], ("train", "dev")
    )


def cola(folder: Path) -> None:
    for split in ("train", "dev"):
        rows = [["gj04", k % 2, "*", f'{split} "word {k}'] for k in range(10)]
        tsv(folder / f"{split}.tsv", rows)


def dprd(folder: Path) -> None:
    for split in ("train", "test"):
        items = [
            f"The cat saw the dog {k} because it was big.\nit\nThe cat,the dog {k}\nThe cat\n"
            for k in range(3)
        ]
        put(folder / f"{split}.c.txt", "\n".join(items) + "\n")


def any_table(folder: Path, each: Task) -> None:
    """A task without a writer of its own: the columns of its table, and an index."""
    assert each.table, f"{each.name} needs a function in {__name__} that writes its files"
    header = [*(each.table.names or ("index", *each.table.columns))]
    texts = (each.table.first, each.table.second)
    for split in each.rows:
        rows = [[each.label_word(k % len(each.labels)) for _ in header] for k in range(10)]
        for k, row in enumerate(rows):
            for at, name in enumerate(header):
                row[at] = f"{split} {name} {k}" if name in texts else row[at]
                row[at] = str(k) if name == "index" else row[at]
        tsv(folder / f"{split}.tsv", [*([] if each.table.names else [header]), *rows])


WRITERS: dict[str, Callable[[Path], None]] = {
    writer.__name__: writer
    for writer in (
        *(snli, snli_txt, mnli, qnli, rte, scitail, scitail_snli, race, story_cloze),
        *(mrpc, qqp, stsb, sst2, cola, dprd),
    )
}


@pytest.fixture
def published(tmp_path: Path) -> Callable[[str], Path]:
    """Writes the data set of a task (`snli_txt`, `scitail_snli`: the other layout)."""

    def write(name: str) -> Path:
        folder = tmp_path / name
        WRITERS[name](folder) if name in WRITERS else any_table(folder, task(name))
        return folder

    return write
