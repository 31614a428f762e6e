"""The original file layouts of the twelve tasks and DPRD, written from rows.

Each writer takes the rows of every split and returns {path: text}. Columns the world has no content
for stay empty. Layouts of tables are given as {column: template of its cell}.
"""

import csv
import io
import json

from tasks.world.rows import Row

Splits = dict[str, list[Row]]
Files = dict[str, str]
Columns = dict[str, str]
PAIR = {"sentence1": "{row.first}", "sentence2": "{row.second}"}
LABEL = {"label": "{row.label}"}


def _tsv(columns: Columns, rows: list[Row], header: bool = True) -> str:
    """Tab-separated lines as in GLUE: no quoting at all.

    Templates may use the row, its number `i` and `odd` and `even`, the numbers of its two texts.
    """
    lines = ["\t".join(columns)] if header else []
    template = "\t".join(columns.values())
    for i, row in enumerate(rows):
        lines.append(template.format(i=i, odd=2 * i + 1, even=2 * i + 2, row=row))
    return "".join(line + "\n" for line in lines)


def _glue(
    folder: str, columns: Columns, splits: Splits, not_in_test: set[str], index: str = "index"
) -> Files:
    """The files of a GLUE task; test files have an index and not every column."""
    test = {index: "{i}"} | {key: cell for key, cell in columns.items() if key not in not_in_test}
    return {
        f"{folder}/{split}.tsv": _tsv(test if split.startswith("test") else columns, rows)
        for split, rows in splits.items()
    }


def cola(splits: Splits) -> Files:
    """No header; source, label, the author's mark (* for unacceptable), sentence."""
    files = {"CoLA/test.tsv": _tsv({"index": "{i}", "sentence": "{row.first}"}, splits["test"])}
    for split in ("train", "dev"):
        lines = (f"wd01\t{r.label}\t{'*' * (r.label == '0')}\t{r.first}\n" for r in splits[split])
        files[f"CoLA/{split}.tsv"] = "".join(lines)
    return files


def sst2(splits: Splits) -> Files:
    """Sentence and label."""
    return _glue("SST-2", {"sentence": "{row.first}"} | LABEL, splits, {"label"})


def mrpc(splits: Splits) -> Files:
    """Quality, two ids, two strings; with a byte order mark."""
    columns = {"Quality": "{row.label}", "#1 ID": "{odd}", "#2 ID": "{even}"}
    columns |= {"#1 String": "{row.first}", "#2 String": "{row.second}"}
    files = _glue("MRPC", columns, splits, {"Quality"})
    return {path: "\ufeff" + text for path, text in files.items()}


def stsb(splits: Splits) -> Files:
    """Ten columns, the last one the score; test files have nine."""
    columns = {"index": "{i}", "genre": "world", "filename": "events", "year": "2018"}
    columns |= {"old_index": "{i}", "source1": "none", "source2": "none"}
    return _glue("STS-B", columns | PAIR | {"score": "{row.label}"}, splits, {"score"})


def qqp(splits: Splits) -> Files:
    """Ids of the row and of both questions, the questions, is_duplicate."""
    columns = {"id": "{i}", "qid1": "{odd}", "qid2": "{even}"}
    columns |= {"question1": "{row.first}", "question2": "{row.second}"}
    columns |= {"is_duplicate": "{row.label}"}
    return _glue("QQP", columns, splits, {"qid1", "qid2", "is_duplicate"}, index="id")


def mnli(splits: Splits) -> Files:
    """Genre, parses (empty), both sentences; then one annotator's label or five, and gold_label."""
    columns = {"index": "{i}", "promptID": "{i}", "pairID": "{i}w", "genre": "{row.group}"}
    parses = ("sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse")
    columns |= dict.fromkeys((*parses, "sentence2_parse"), "") | PAIR
    files = {}
    for split, rows in splits.items():
        annotators = 0 if split.startswith("test") else 1 if split == "train" else 5
        labels = [f"label{k + 1}" for k in range(annotators)] + ["gold_label"] * (annotators > 0)
        files[f"MNLI/{split}.tsv"] = _tsv(columns | dict.fromkeys(labels, "{row.label}"), rows)
    return files


def qnli(splits: Splits) -> Files:
    """Index, question, sentence, label."""
    columns = {"index": "{i}", "question": "{row.first}", "sentence": "{row.second}"} | LABEL
    return _glue("QNLI", columns, splits, {"label"})


def rte(splits: Splits) -> Files:
    """Index, two sentences, label."""
    return _glue("RTE", {"index": "{i}"} | PAIR | LABEL, splits, {"label"})


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
    """JSON lines; the gold label `-` means that the annotators did not agree."""
    return {
        f"SNLI/snli_1.0_{split}.jsonl": _json_lines(rows, split) for split, rows in splits.items()
    }


def scitail(splits: Splits) -> Files:
    """Both published forms: SNLI's JSON lines, and three columns without a header."""
    words = {"entails": "entailment", "neutral": "neutral"}
    files = {}
    for split, rows in splits.items():
        path = f"SciTail/tsv_format/scitail_1.0_{split}.tsv"
        files[path] = _tsv(PAIR | LABEL, rows, header=False)
        renamed = [Row(r.first, r.second, words[r.label]) for r in rows]
        files[f"SciTail/snli_format/scitail_1.0_{split}.txt"] = _json_lines(renamed, split)
    return files


def race(splits: Splits) -> Files:
    """One JSON object per passage, in folders by split and school."""
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
    """The two CSV files of spring 2016, with quotes where needed."""
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
    """Five lines per item: sentence, pronoun, candidates, answer, and a blank one."""
    return {
        f"DPRD/{split}.c.txt": "".join(
            f"{r.first}\n{r.second}\n{','.join(r.choices)}\n{r.choices[int(r.label)]}\n\n"
            for r in rows
        )
        for split, rows in splits.items()
    }
