"""Question answering by choosing: RACE and Story Cloze (paper 4.1, table 3).

RACE: English examinations for middle and high schools, four answers per question; each file is a
JSON object with `article`, `questions`, `options`, `answers`. The paper reports RACE-m, RACE-h and
the whole, so every example carries its school as its group. The paper's figure 2 shows dev, its
table most likely test: both are reported.

Story Cloze, spring 2016: which of two sentences ends the story? The labelled training set is the
official validation file: 1,871 stories, of which the authors' code holds out 374 to select the
epoch; the score is on the official test file.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks import readers
from tasks.formats import LARGEST_CELL
from tasks.hub import THREE_SPLITS, HubSource
from tasks.hub_records import hub_records
from tasks.prompt import Prompt
from tasks.readers import Documents, Row, wrong
from tasks.task import Task

SENTENCES = tuple(f"InputSentence{k}" for k in (1, 2, 3, 4))
ENDINGS = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
STORY = ("InputStoryid", *SENTENCES, *ENDINGS, "AnswerRightEnding")


def questions(path: Path, text: str) -> Iterator[Row]:
    """One row per question of a RACE article's file; all share the article's text."""
    types = {"article": str, "questions": list, "options": list, "answers": list}
    article, *lists = readers.json_values(path, text, types)
    if len({len(values) for values in lists}) > 1:
        asked, options, answers = map(len, lists)
        what = f"{asked} questions, {options} option lists and {answers} answers"
        raise wrong(path, 1, f"{what}; each question needs one of each: download the file again")
    for number, values in enumerate(zip(*lists, strict=True)):
        name = (path.parent.name, path.name, number)
        yield question(Row(path, 1), name, article, *values)


def question(
    row: Row, name: tuple[str, str, int], article: Any, asked: Any, options: Any, answer: Any
) -> Row:
    """The row of one question; `name` is its school, its article's file and its number there."""
    group, file, number = name
    # The hub's high12.txt is high/12.txt in the original layout.
    row = row._replace(key=f"{group}/{file.removeprefix(group).removesuffix('.txt')}/{number}")
    if not (isinstance(options, list) and len(options) == 4):
        count = len(options) if isinstance(options, list) else type(options).__name__
        flaw = f"question {number + 1}: expected 4 options, found {count}"
        return row._replace(reason="not four options", flaw=flaw)
    if not all(isinstance(text, str) for text in (article, asked, answer, *options)):
        flaw = f"question {number + 1}: question, options, answer are texts"
        return row._replace(reason="not text", flaw=flaw)
    if readers.is_blank(asked):
        return row._replace(reason="empty text", flaw=f"question {number + 1} is empty")
    return row._replace(first=article, second=asked, choices=options, label=answer, group=group)


def race_hub_rows(source: HubSource, paths: list[Path]) -> Iterator[Row]:
    """The hub's questions, in the order of the original files."""
    n_questions: Counter[str] = Counter()
    rows = {}
    for path, line, _, record in hub_records(source, paths):
        school, article = path.parent.name, record["example_id"]
        name = (school, article.removeprefix(school), n_questions[article])
        n_questions[article] += 1
        values = (record[key] for key in ("article", "question", "options", "answer"))
        rows[name] = question(Row(path, line), name, *values)
    for name in sorted(rows):
        yield rows[name]


def stories(path: Path, text: str) -> Iterator[Row]:
    """One row per story of Story Cloze, a real CSV: quoting counts, and a header is needed."""
    csv.field_size_limit(LARGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        names = next(reader)
        for column in STORY:
            if column not in names:
                raise wrong(path, 1, f"no column {column!r}, found {readers.shown(names)}")
        for cells in reader:
            line = reader.line_num
            if len(cells) != len(names):
                what = f"expected {len(names)} columns, found {len(cells)}; {readers.ORIGINAL}"
                raise wrong(path, line, what)
            cell = dict(zip(names, cells, strict=True))
            if empty := [name for name in SENTENCES if readers.is_blank(cell[name])]:
                raise wrong(path, line, f"{empty[0]} is empty; every story needs four sentences")
            story = " ".join(cell[name].strip() for name in SENTENCES)
            endings = tuple(cell[name] for name in ENDINGS)
            yield Row(path, line, cell[STORY[0]], cell[STORY[-1]], story, choices=endings)
    except csv.Error as error:
        what = f"not CSV ({error}); export the sheet again"
        raise wrong(path, reader.line_num, what) from None


race = Task(
    name="race",
    title="RACE",
    family="multiple_choice",
    labels=("A", "B", "C", "D"),
    folder="RACE",
    layouts=(Documents("{split}/*/*.txt", questions),),
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
        files={
            ours: (f"middle/{theirs}-*.parquet", f"high/{theirs}-*.parquet")
            for ours, theirs in THREE_SPLITS.items()
        },
        texts=("article", "question", "options"),
        index="example_id",
        label="answer",
        labels={letter: letter for letter in "ABCD"},
        caution="no redistribution: the rows that this card shows are not to be passed on",
        note="middle 25,421 / 1,436 / 1,436 rows, high 62,445 / 3,451 / 3,498",
    ),
    hub_rows=race_hub_rows,
)

story_cloze = Task(
    name="story_cloze",
    title="Story Cloze",
    family="multiple_choice",
    labels=("1", "2"),
    folder="StoryCloze",
    layouts=(Documents("cloze_test_{split}__spring2016*.csv", stories),),
    train="val",
    select_fraction=0.2,
    report=("test",),
    rows={"val": 1_871, "test": 1_871},
    label_shares=(0.5, 0.5),
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
        folder="StoryCloze",
        by_hand=(
            "fill in the form at cs.rochester.edu/nlp/rocstories, and put the two CSV files of "
            "spring 2016 whose links come by e-mail into StoryCloze/ of the data folder, named "
            "`cloze_test_val__spring2016 - cloze_test_ALL_val.csv` and "
            "`cloze_test_test__spring2016 - cloze_test_ALL_test.csv`"
        ),
    ),
)
