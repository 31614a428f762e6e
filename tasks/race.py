"""RACE: English examinations for middle and high schools, four answers a question.

(paper 4.1, table 3) One JSON object a file: `article`, `questions`, `options`, `answers`. The paper
reports each half and the whole, so every example carries its half as its group. Its figure 2 shows
dev, its table most likely test: both are reported.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.common.errors import InputError
from tasks.tables import lines, load_json, text_of
from tasks.types import Example, Flaw, Row, Task


def questions(path: Path) -> Iterator[Row | Flaw]:
    """One row a question of one article file; all share the article's text."""
    record = load_json(path, "\n".join(text for _, text in lines(path)))
    article = text_of(path, record, "article")
    asked, options, answers = (
        _list(path, record, key) for key in ("questions", "options", "answers")
    )
    if not len(asked) == len(options) == len(answers):
        raise InputError(
            f"{path}:1: {len(asked)} questions, {len(options)} option lists and {len(answers)} "
            "answers; each question needs one of both: get the file again"
        )
    for number, each in enumerate(zip(asked, options, answers, strict=True)):
        yield row(1, path.parent.name, path.name, number, article, *each)


def row(
    line: int,
    group: str,
    file: str,
    number: int,
    article: Any,
    asked: Any,
    options: Any,
    answer: Any,
) -> Row | Flaw:
    """One question: its school, its article's file, its number there, and what the file holds."""
    if not (isinstance(options, list) and len(options) == 4):
        found = len(options) if isinstance(options, list) else type(options).__name__
        return Flaw(line, "not four options", f"question {number + 1}: 4 options, found {found}")
    if not all(isinstance(text, str) for text in (article, asked, answer, *options)):
        return Flaw(line, "not text", f"question {number + 1}: question, options, answer are texts")
    if not asked.strip():
        return Flaw(line, "empty text", f"question {number + 1} is empty")
    # The hub's high12.txt lies as high/12.txt in the original layout.
    key = f"{group}/{file.removeprefix(group).removesuffix('.txt')}/{number}"
    return Row(line, article, answer, asked, tuple(options), group, key)


def place(example: Example) -> tuple[str, str, int]:
    """Where a question stands when the articles' files are sorted by name."""
    *_, group, article, number = example.guid.split("/")
    return group, f"{article}.txt", int(number)


def _list(path: Path, record: dict, key: str) -> list:
    value = record.get(key)
    if not isinstance(value, list):
        raise InputError(f"{path}:1: a list under {key!r} is needed, found {value!r:.60}")
    return value


race = Task(
    name="race",
    title="RACE",
    family="multiple_choice",
    labels=("A", "B", "C", "D"),
    metric="accuracy",
    folder="RACE",
    files=("{split}/*/*.txt",),
    parse=questions,
    groups=("middle", "high"),
    report=("test", "dev"),
    rows={"train": 87_866, "dev": 4_887, "test": 4_934},
    shares=(0.23, 0.25, 0.26, 0.26),
    source="ask for RACE at www.cs.cmu.edu/~glai1/data/race and unpack it there",
    # A few options and questions are empty upstream.
    tolerated=0.001,
)
