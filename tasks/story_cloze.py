"""Story Cloze, spring 2016: which of two sentences ends the story? (paper 4.1, table 3)

The labelled training set is the official validation file: 1,871 stories, of which the authors' code
keeps 374 apart to select the epoch; the score is the official test file's.
"""

from collections.abc import Iterator
from pathlib import Path

from tasks.tables import csv_rows
from tasks.types import Flaw, Row, Task

SENTENCES = tuple(f"InputSentence{k}" for k in (1, 2, 3, 4))
ENDINGS = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")


def stories(path: Path) -> Iterator[Row | Flaw]:
    """One row a story: its four sentences joined by a space, and the two endings."""
    for row in csv_rows(path, ("InputStoryid", *SENTENCES, *ENDINGS, "AnswerRightEnding")):
        if isinstance(row, Flaw):
            yield row
            continue
        line, cell = row
        sentences = [cell[name].strip() for name in SENTENCES]
        if "" in sentences:
            name = SENTENCES[sentences.index("")]
            yield Flaw(line, "empty text", f"{name} is empty; every story needs four sentences")
            continue
        yield Row(
            line,
            first=" ".join(sentences),
            label=cell["AnswerRightEnding"],
            choices=tuple(cell[name] for name in ENDINGS),
            key=cell["InputStoryid"],
        )


story_cloze = Task(
    name="story_cloze",
    title="Story Cloze",
    family="multiple_choice",
    labels=("1", "2"),
    metric="accuracy",
    folder="StoryCloze",
    files=("cloze_test_{split}__spring2016*.csv",),
    parse=stories,
    train="val",
    select_fraction=0.2,
    report=("test",),
    rows={"val": 1_871, "test": 1_871},
    shares=(0.5, 0.5),
    source="ask for it at cs.rochester.edu/nlp/rocstories (a free form) and put both files there",
)
