"""The original file layouts of the twelve tasks and DPRD, written from rows.

Each writer takes the rows of every split and returns {path: text}; columns that the world has
nothing to say in stay empty, as in the published files' test parts.
"""

import csv
import io
import json
from collections.abc import Callable

from tasks.world.rows import Row

Splits = dict[str, list[Row]]
Files = dict[str, str]


def _tsv(rows: list[list[str]]) -> str:
    """Tab-separated lines as GLUE has them: no quoting at all."""
    return "".join("\t".join(row) + "\n" for row in rows)


def _glue(
    folder: str, header: str, cells: Callable[[int, Row], list[str]], blind: str, splits: Splits
) -> Files:
    """A GLUE task: labelled files, and the test files without their label and under `blind`."""
    keep = [header.split("\t").index(name) for name in blind.split("\t")[1:]]
    files = {}
    for split, rows in splits.items():
        table = [cells(i, row) for i, row in enumerate(rows)]
        if split.startswith("test"):
            body = [blind.split("\t")]
            body += [[str(i), *(row[k] for k in keep)] for i, row in enumerate(table)]
        else:
            body = [header.split("\t"), *table]
        files[f"{folder}/{split}.tsv"] = _tsv(body)
    return files


def cola(splits: Splits) -> Files:
    """No header; source, label, author's mark, sentence."""
    files = {
        f"CoLA/{split}.tsv": _tsv(
            [["wd01", r.label, "" if r.label == "1" else "*", r.first] for r in rows]
        )
        for split, rows in splits.items()
        if split != "test"
    }
    blind = [[str(i), row.first] for i, row in enumerate(splits["test"])]
    return files | {"CoLA/test.tsv": _tsv([["index", "sentence"], *blind])}


def sst2(splits: Splits) -> Files:
    """Sentence and label."""
    return _glue(
        "SST-2", "sentence\tlabel", lambda i, r: [r.first, r.label], "index\tsentence", splits
    )


def mrpc(splits: Splits) -> Files:
    """Quality, two numbers, two strings; with a byte order mark."""
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String"
    cells = lambda i, r: [r.label, str(2 * i + 1), str(2 * i + 2), r.first, r.second]  # noqa: E731
    files = _glue("MRPC", header, cells, header.replace("Quality", "index"), splits)
    return {path: "\ufeff" + text for path, text in files.items()}


def stsb(splits: Splits) -> Files:
    """Ten columns, the last the score; a test file has nine."""
    header = "index genre filename year old_index source1 source2 sentence1 sentence2 score"
    header = header.replace(" ", "\t")

    def cells(i: int, r: Row) -> list[str]:
        return [
            str(i),
            "world",
            "events",
            "2018",
            str(i),
            "none",
            "none",
            r.first,
            r.second,
            r.label,
        ]

    return _glue("STS-B", header, cells, header.removesuffix("\tscore"), splits)


def qqp(splits: Splits) -> Files:
    """Numbers of the row and of both questions, the questions, is_duplicate."""
    header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"
    cells = lambda i, r: [str(i), str(2 * i + 1), str(2 * i + 2), r.first, r.second, r.label]  # noqa: E731
    return _glue("QQP", header, cells, "id\tquestion1\tquestion2", splits)


def mnli(splits: Splits) -> Files:
    """Twelve columns and more, by name: genre, both sentences, the gold label at the end."""
    names = (
        "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse sentence1_parse"
    )
    head = (names + " sentence2_parse sentence1 sentence2").split()
    files = {}
    for split, rows in splits.items():
        extra = {"train": ["label1", "gold_label"]}.get(split)
        extra = extra or [f"label{k}" for k in range(1, 6)] + ["gold_label"]
        table = [head + ([] if split.startswith("test") else extra)]
        for i, r in enumerate(rows):
            cells = [str(i), f"{i}", f"{i}w", r.group, "", "", "", "", r.first, r.second]
            table.append(cells + ([] if split.startswith("test") else [r.label] * len(extra)))
        files[f"MNLI/{split}.tsv"] = _tsv(table)
    return files


def qnli(splits: Splits) -> Files:
    """Index, question, sentence, label."""
    header = "index\tquestion\tsentence\tlabel"
    cells = lambda i, r: [str(i), r.first, r.second, r.label]  # noqa: E731
    return _glue("QNLI", header, cells, "index\tquestion\tsentence", splits)


def rte(splits: Splits) -> Files:
    """Index, two sentences, label."""
    header = "index\tsentence1\tsentence2\tlabel"
    cells = lambda i, r: [str(i), r.first, r.second, r.label]  # noqa: E731
    return _glue("RTE", header, cells, "index\tsentence1\tsentence2", splits)


def _json_lines(rows: list[Row], name: str) -> str:
    lines = [
        {
            "annotator_labels": [] if row.label == "-" else [row.label],
            "captionID": f"{name}{i}",
            "gold_label": row.label,
            "pairID": f"{name}{i}w",
            "sentence1": row.first,
            "sentence2": row.second,
        }
        for i, row in enumerate(rows)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def snli(splits: Splits) -> Files:
    """JSON lines; a gold label `-` says that the annotators did not agree."""
    return {
        f"SNLI/snli_1.0_{split}.jsonl": _json_lines(rows, split) for split, rows in splits.items()
    }


def scitail(splits: Splits) -> Files:
    """Both published forms: SNLI's JSON lines, and three columns without a header."""
    wide = {"entails": "entailment", "neutral": "neutral"}
    files = {}
    for split, rows in splits.items():
        table = [[r.first, r.second, r.label] for r in rows]
        files[f"SciTail/tsv_format/scitail_1.0_{split}.tsv"] = _tsv(table)
        renamed = [Row(r.first, r.second, wide[r.label]) for r in rows]
        files[f"SciTail/snli_format/scitail_1.0_{split}.txt"] = _json_lines(renamed, split)
    return files


def race(splits: Splits) -> Files:
    """One JSON object a passage, in folders by split and school."""
    files: Files = {}
    for split, rows in splits.items():
        passages: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            passages.setdefault((row.group, row.first), []).append(row)
        for number, ((group, text), asked) in enumerate(passages.items()):
            item = {
                "id": f"{group}{number}.txt",
                "article": text,
                "questions": [row.second for row in asked],
                "options": [list(row.choices) for row in asked],
                "answers": [row.label for row in asked],
            }
            files[f"RACE/{split}/{group}/{number}.txt"] = json.dumps(item)
    return files


def story_cloze(splits: Splits) -> Files:
    """The two CSV files of spring 2016, quoted where needed."""
    names = {
        "val": "cloze_test_val__spring2016 - cloze_test_ALL_val.csv",
        "test": "cloze_test_test__spring2016 - cloze_test_ALL_test.csv",
    }
    header = ["InputStoryid", *(f"InputSentence{k}" for k in range(1, 5))]
    header += ["RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2", "AnswerRightEnding"]
    files = {}
    for split, rows in splits.items():
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(header)
        for i, row in enumerate(rows):
            writer.writerow([f"{split}-{i}", *row.first.split("\n"), *row.choices, row.label])
        files[f"StoryCloze/{names[split]}"] = out.getvalue()
    return files


def dprd(splits: Splits) -> Files:
    """Five lines an item: sentence, pronoun, candidates, answer, blank."""
    return {
        f"DPRD/{split}.c.txt": "".join(
            f"{r.first}\n{r.second}\n{','.join(r.choices)}\n{r.choices[int(r.label)]}\n\n"
            for r in rows
        )
        for split, rows in splits.items()
    }
