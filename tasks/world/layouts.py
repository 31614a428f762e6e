"""The original file layouts of the twelve tasks and DPRD, written from rows.

Each writer takes the rows of every split and returns {path: text}. Columns the world has no content
for stay empty. Layouts of tables are given as {column: template of its cells}.
"""

import csv
import io
import json
from collections.abc import Callable

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
    folder: str, columns: Columns, not_in_test: set[str], index: str = "index"
) -> Callable[[Splits], Files]:
    """The writer of a GLUE task; test files have an index but not every column."""
    test = {index: "{i}"} | {key: cell for key, cell in columns.items() if key not in not_in_test}

    def write(splits: Splits) -> Files:
        return {
            f"{folder}/{split}.tsv": _tsv(test if split.startswith("test") else columns, rows)
            for split, rows in splits.items()
        }

    return write


sst2 = _glue("SST-2", {"sentence": "{row.first}"} | LABEL, {"label"})
rte = _glue("RTE", {"index": "{i}"} | PAIR | LABEL, {"label"})
_qnli = {"index": "{i}", "question": "{row.first}", "sentence": "{row.second}"}
qnli = _glue("QNLI", _qnli | LABEL, {"label"})
_stsb = {"index": "{i}", "genre": "world", "filename": "events", "year": "2018"}
_stsb |= {"old_index": "{i}", "source1": "none", "source2": "none"}
stsb = _glue("STS-B", _stsb | PAIR | {"score": "{row.label}"}, {"score"})
_qqp = {"id": "{i}", "qid1": "{odd}", "qid2": "{even}"}
_qqp |= {"question1": "{row.first}", "question2": "{row.second}", "is_duplicate": "{row.label}"}
qqp = _glue("QQP", _qqp, {"qid1", "qid2", "is_duplicate"}, index="id")
_mrpc = {"Quality": "{row.label}", "#1 ID": "{odd}", "#2 ID": "{even}"}
_mrpc |= {"#1 String": "{row.first}", "#2 String": "{row.second}"}
_write_mrpc = _glue("MRPC", _mrpc, {"Quality"})


def mrpc(splits: Splits) -> Files:
    """GLUE files with a byte order mark."""
    return {path: "\ufeff" + text for path, text in _write_mrpc(splits).items()}


def cola(splits: Splits) -> Files:
    """No header; source, label, the author's mark (* for unacceptable), sentence."""
    files = {"CoLA/test.tsv": _tsv({"index": "{i}", "sentence": "{row.first}"}, splits["test"])}
    for split in ("train", "dev"):
        lines = (f"wd01\t{r.label}\t{'*' * (r.label == '0')}\t{r.first}\n" for r in splits[split])
        files[f"CoLA/{split}.tsv"] = "".join(lines)
    return files


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
