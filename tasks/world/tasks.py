"""The twelve tasks and DPRD: how many rows, of which labels and words, in which splits and files.

The files have the original layouts; columns the world has no content for stay empty.
"""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from tasks.common.errors import InputError
from tasks.prompt import CLAIMED, FALSE, TRUE, UNKNOWN
from tasks.world import feelings, remarks
from tasks.world.draw import Draw, MakeRow, Row, hold_out
from tasks.world.settings import Degree, WorldSettings, WorldTaskName

UNSEEN_SHARE = 0.6  # probability that a word of a reported row is a held-out one
COMBINED = 0.4  # and that a compositional row combines clauses as no training row does
UNLABELLED_ROWS = 20  # rows of an unlabelled test file

Splits = dict[str, list[Row]]
Files = dict[str, str]  # texts by path
Writer = Callable[[Splits], Files]
Columns = dict[str, str]  # templates of a table's cells
PAIR = {"sentence1": "{row.first}", "sentence2": "{row.second}"}
LABEL = {"label": "{row.label}"}
SPRING = "StoryCloze/cloze_test_{0}__spring2016 - cloze_test_ALL_{0}.csv"
Key = TypeVar("Key")


def _tsv(columns: Columns, rows: list[Row], header: bool = True) -> str:
    """Tab-separated lines as in GLUE: no quoting at all.

    Templates may use the row, its number `i` and `odd` and `even`, the numbers of its two texts.
    """
    lines = ["\t".join(columns)] if header else []
    template = "\t".join(columns.values())
    for i, row in enumerate(rows):
        lines.append(template.format(i=i, odd=2 * i + 1, even=2 * i + 2, row=row))
    return "".join(line + "\n" for line in lines)


def _files(path: str, text: Callable[[str, list[Row]], str]) -> Writer:
    """The writer of a file for each split, whose text is made of the split's name and rows."""
    return lambda splits: {path.format(name): text(name, rows) for name, rows in splits.items()}


def _glue(
    folder: str, columns: Columns, not_in_test: set[str], index: str = "index", start: str = ""
) -> Writer:
    """The writer of a GLUE task; test files have an index but not every column."""
    test = {index: "{i}"} | {key: cell for key, cell in columns.items() if key not in not_in_test}

    def text(split: str, rows: list[Row]) -> str:
        return start + _tsv(test if split == "test" else columns, rows)

    return _files(f"{folder}/{{}}.tsv", text)


_sst2 = _glue("SST-2", {"sentence": "{row.first}"} | LABEL, {"label"})
_rte = _glue("RTE", {"index": "{i}"} | PAIR | LABEL, {"label"})
_qnli = _glue(
    "QNLI",
    {"index": "{i}", "question": "{row.first}", "sentence": "{row.second}"} | LABEL,
    {"label"},
)
_stsb = _glue(
    "STS-B",
    {"index": "{i}", "genre": "world", "filename": "events", "year": "2018"}
    | {"old_index": "{i}", "source1": "none", "source2": "none"}
    | PAIR
    | {"score": "{row.label}"},
    {"score"},
)
_qqp = _glue(
    "QQP",
    {"id": "{i}", "qid1": "{odd}", "qid2": "{even}"}
    | {"question1": "{row.first}", "question2": "{row.second}", "is_duplicate": "{row.label}"},
    {"qid1", "qid2", "is_duplicate"},
    index="id",
)
_mrpc = _glue(
    "MRPC",
    {"Quality": "{row.label}", "#1 ID": "{odd}", "#2 ID": "{even}"}
    | {"#1 String": "{row.first}", "#2 String": "{row.second}"},
    {"Quality"},
    start="\ufeff",  # a byte order mark
)


def _cola(split: str, rows: list[Row]) -> str:
    """No header; source, label, the author's mark (* for unacceptable), sentence."""
    if split == "test":
        return _tsv({"index": "{i}", "sentence": "{row.first}"}, rows)
    return "".join(f"wd01\t{r.label}\t{'*' * (r.label == '0')}\t{r.first}\n" for r in rows)


def _mnli(split: str, rows: list[Row]) -> str:
    """Genre, parses (empty), both sentences; then one annotator's label or five, and gold_label."""
    columns = {"index": "{i}", "promptID": "{i}", "pairID": "{i}w", "genre": "{row.group}"}
    parses = ("sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse")
    columns |= dict.fromkeys((*parses, "sentence2_parse"), "") | PAIR
    annotators = 0 if split.startswith("test") else 1 if split == "train" else 5
    labels = [f"label{k + 1}" for k in range(annotators)] + ["gold_label"] * (annotators > 0)
    return _tsv(columns | dict.fromkeys(labels, "{row.label}"), rows)


def _json_lines(split: str, rows: list[Row]) -> str:
    """JSON lines; the gold label `-` means that the annotators did not agree."""
    lines = [
        {
            "annotator_labels": [] if row.label == "-" else [row.label],
            "captionID": f"{split}{i}",
            "gold_label": row.label,
            "pairID": f"{split}{i}w",
            "sentence1": row.first,
            "sentence2": row.second,
        }
        for i, row in enumerate(rows)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def _scitail(splits: Splits) -> Files:
    """Both published forms: SNLI's JSON lines, and three columns without a header."""
    tsv = _files(
        "SciTail/tsv_format/scitail_1.0_{}.tsv", lambda _, rows: _tsv(PAIR | LABEL, rows, False)
    )
    words = {"entails": "entailment", "neutral": "neutral"}
    renamed = {s: [replace(row, label=words[row.label]) for row in splits[s]] for s in splits}
    return tsv(splits) | _files("SciTail/snli_format/scitail_1.0_{}.txt", _json_lines)(renamed)


def _race(splits: Splits) -> Files:
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


def _story_cloze(split: str, rows: list[Row]) -> str:
    """A CSV file of spring 2016, with quotes where needed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    header = ["InputStoryid", *(f"InputSentence{k}" for k in range(1, 5))]
    writer.writerow(
        [*header, "RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2", "AnswerRightEnding"]
    )
    for i, row in enumerate(rows):
        writer.writerow([f"{split}-{i}", *row.first.split("\n"), *row.choices, row.label])
    return out.getvalue()


def _dprd(_: str, rows: list[Row]) -> str:
    """Five lines per item: sentence, pronoun, candidates, answer, and a blank one."""
    return "".join(
        f"{r.first}\n{r.second}\n{','.join(r.choices)}\n{r.choices[int(r.label)]}\n\n" for r in rows
    )


# The size of each split: a share of the training rows, "report" or "unlabelled".
SplitSizes = dict[str, float | str]
GLUE: SplitSizes = {"train": 1.0, "dev": "report", "test": "unlabelled"}
PUBLIC: SplitSizes = {"train": 1.0, "dev": 0.3, "test": "report"}
MNLI: SplitSizes = {
    "train": 1.0,
    "dev_matched": "report",
    "dev_mismatched": "report",
    "test_matched": "unlabelled",
    "test_mismatched": "unlabelled",
}
RACE: SplitSizes = {"train": 1.0, "dev": "report", "test": "report"}
STORIES: SplitSizes = {"val": 1.0, "test": "report"}
DPRD: SplitSizes = {"train": 1.0, "test": "report"}
# The share of each label.
THREE = {"entailment": 1.0, "neutral": 1.0, "contradiction": 1.0}
TWO = {"entailment": 1.0, "not_entailment": 1.0}
ENTAILS = {"entails": 1.0, "neutral": 1.0}
FOUR = dict.fromkeys("ABCD", 1.0)
# The prompts.
TWO_VERDICTS = tuple(f"{CLAIMED} {verdict}" for verdict in (TRUE, FALSE))
THREE_VERDICTS = (*TWO_VERDICTS, f"{CLAIMED} {UNKNOWN}")
CHOSEN = ("{first} {second} {choice}",)
VERY = ("{first} very negative", "{first} very positive")


@dataclass(frozen=True)
class WorldTask:
    """A task: its training rows at scale 1, its splits, its files, how a row is made, the labels.

    `labels` gives the share of each label; `prompts` are the task's own with each answer, repeated
    here so that the world does not depend on every task's code.
    """

    rows: int
    splits: SplitSizes
    write: Writer
    make: MakeRow
    labels: dict[str, float]
    prompts: tuple[str, ...] = ()


# The numbers of training rows rank the tasks as the published sets do.
WORLD_TASKS: dict[WorldTaskName, WorldTask] = {
    "snli": WorldTask(
        *(10000, PUBLIC, _files("SNLI/snli_1.0_{}.jsonl", _json_lines)),
        *(feelings.snli, THREE, THREE_VERDICTS),
    ),
    "mnli": WorldTask(
        9990, MNLI, _files("MNLI/{}.tsv", _mnli), feelings.mnli, THREE, THREE_VERDICTS
    ),
    "qnli": WorldTask(2500, GLUE, _qnli, feelings.qnli, TWO, TWO_VERDICTS),
    "rte": WorldTask(440, GLUE, _rte, feelings.rte, TWO, TWO_VERDICTS),
    "scitail": WorldTask(940, PUBLIC, _scitail, remarks.scitail, ENTAILS, TWO_VERDICTS),
    "race": WorldTask(1875, RACE, _race, feelings.race, FOUR, CHOSEN),
    "story_cloze": WorldTask(
        *(380, STORIES, _files(SPRING, _story_cloze)),
        *(feelings.story_cloze, {"1": 1.0, "2": 1.0}, CHOSEN),
    ),
    "mrpc": WorldTask(500, GLUE, _mrpc, remarks.mrpc, {"1": 0.68, "0": 0.32}, TWO_VERDICTS),
    "qqp": WorldTask(3750, GLUE, _qqp, feelings.qqp, {"1": 0.37, "0": 0.63}, TWO_VERDICTS),
    "stsb": WorldTask(625, GLUE, _stsb, remarks.stsb, {"": 1}, TWO_VERDICTS),
    "sst2": WorldTask(1250, GLUE, _sst2, remarks.sst2, {"1": 1, "0": 1}, VERY),
    "cola": WorldTask(750, GLUE, _files("CoLA/{}.tsv", _cola), remarks.cola, {"1": 0.6, "0": 0.4}),
    "dprd": WorldTask(40, DPRD, _files("DPRD/{}.c.txt", _dprd), remarks.dprd, {"0": 1, "1": 1}),
}


def train_rows(settings: WorldSettings, name: WorldTaskName) -> int:
    """How many training rows a task has."""
    return settings.rows.get(name) or max(6, round(WORLD_TASKS[name].rows * settings.scale))


def make_splits(settings: WorldSettings, name: WorldTaskName) -> Splits:
    """All splits of a task, with the configured shares of labels and, within a label, of degrees.

    Rows that are not for training also use words, and combine clauses, as no training row does. No
    row repeats the texts of another.
    """
    task, seed = WORLD_TASKS[name], settings.seed
    train = train_rows(settings, name)
    sizes = {"report": settings.report, "unlabelled": UNLABELLED_ROWS}
    seen, unseen = hold_out(Draw(seed, f"{name}/lexicon"))
    used: set[str] = set()
    splits: Splits = {}
    for split, size in task.splits.items():
        n = sizes[size] if isinstance(size, str) else max(6, round(train * size))
        make, degrees, unseen_share = task.make, settings.reported, UNSEEN_SHARE
        if size == 1.0:
            degrees, unseen_share = settings.degrees, 0.0
        elif split.endswith("mismatched"):  # other genres, and held-out words only
            make, unseen_share = partial(feelings.mnli, genres=("talk", "letters")), 1.0
        combined = COMBINED if unseen_share else 0.0
        draw = Draw(seed, f"{name}/{split}", seen, unseen, unseen_share, combined)
        plan = [
            (label, degree)
            for label, of_label in _counts(task.labels, n).items()
            for degree, count in _counts(degrees.shares(), of_label).items()
            for _ in range(count)
        ]
        draw.shuffle(plan)
        splits[split] = [_draw_row(draw, make, label, degree, used) for label, degree in plan]
        if name == "snli":
            draw, rows = Draw(seed, split), splits[split]
            # A fortieth more without a gold label (`-`), as in the published files.
            chosen = draw.sample(rows, max(1, len(rows) // 40))
            rows += [Row(row.second, row.first, "-", degree=row.degree) for row in chosen]
            draw.shuffle(rows)
    return splits


def _counts(shares: dict[Key, float], n: int) -> dict[Key, int]:
    """Whole numbers that sum to n and are closest to these shares."""
    total = sum(shares.values())
    counts = {key: int(n * share / total) for key, share in shares.items()}
    by_rest = sorted(shares, key=lambda key: counts[key] - n * shares[key] / total)
    for key in by_rest[: n - sum(counts.values())]:
        counts[key] += 1
    return counts


def _draw_row(draw: Draw, make: MakeRow, label: str, degree: Degree, used: set[str]) -> Row:
    """Draw a row whose texts are not in `used`, and add them to it."""
    for _ in range(10_000):
        row = make(draw, label, degree)
        # Choices do not count, so that a passage has one question, as `degrees.csv` assumes.
        key = "\n".join(sorted((row.first.lower(), row.second.lower())))
        if key not in used:
            used.add(key)
            return replace(row, label=row.label or label, degree=row.degree or degree)
    raise InputError(
        f"report or rows: no new {degree} row with label {label!r} in 10,000 draws; ask for fewer"
    )
