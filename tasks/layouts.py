"""Layouts that no table describes: the hub's parquet files, RACE, Story Cloze and DPRD.

RACE: one JSON object per article, with `article`, `questions`, `options` and `answers`. Story
Cloze: a real CSV, where quoting counts. DPRD: five lines per item: sentence, pronoun, candidates
separated by a comma, answer, a blank line.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.common.errors import InputError
from tasks.common.parquet import class_names, open_parquet, parquet_records
from tasks.hub import FETCH_AGAIN, HubSource
from tasks.read import (
    ORIGINAL,
    Row,
    is_blank,
    json_object,
    lines,
    records,
    shown,
    wrong,
)

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

ARTICLE = {"article": str, "questions": list, "options": list, "answers": list}
SENTENCES = tuple(f"InputSentence{k}" for k in (1, 2, 3, 4))
ENDINGS = ("RandomFifthSentenceQuiz1", "RandomFifthSentenceQuiz2")
CONNECTIVE = re.compile(r"\b(because|since|but|so|and|although|if)\s+$", re.I)
STORY = ("InputStoryid", *SENTENCES, *ENDINGS, "AnswerRightEnding")


def hub_rows(source: HubSource, paths: list[Path]) -> Iterator[Row]:
    """The rows of one or two texts and a label, numbered within the split."""
    for path, line, number, record in hub_records(source, paths):
        texts = [record[name] for name in source.texts]
        if None in texts:
            flaw = "null text; remove the row or restore it"
            yield Row(path, line, reason="empty text", flaw=flaw)
        else:
            key = str(record[source.index] if source.index else number)
            value = record[source.label]
            yield Row(path, line, key, source.labels.get(value, str(value)), *texts)


def race(path: Path) -> Iterator[Row]:
    """One row per question of a RACE article's file; all share the article's text."""
    record = json_object(path, "\n".join(text for _, text in lines(path)), 1)
    for key, kind in ARTICLE.items():
        if not isinstance(record.get(key), kind):
            expected = f"expected {'a text' if kind is str else 'a list'} under {key!r}"
            found = (
                f"found {record[key]!r:.60}" if key in record else f"the keys are {shown(record)}"
            )
            raise wrong(path, 1, f"{expected}, {found}")
    article, *lists = (record[key] for key in ARTICLE)
    if len({len(values) for values in lists}) > 1:
        asked, options, answers = map(len, lists)
        what = f"{asked} questions, {options} option lists and {answers} answers"
        raise wrong(path, 1, f"{what}; each question needs one of each: download the file again")
    for number, values in enumerate(zip(*lists, strict=True)):
        name = (path.parent.name, path.name, number)
        yield race_question(Row(path, 1), name, article, *values)


def race_question(
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
    if is_blank(asked):
        return row._replace(reason="empty text", flaw=f"question {number + 1} is empty")
    return row._replace(first=article, second=asked, choices=options, label=answer, group=group)


def race_of_hub(source: HubSource, paths: list[Path]) -> Iterator[Row]:
    """The hub's questions, in the order of the original files."""
    n_questions: Counter[str] = Counter()
    rows = {}
    for path, line, _, record in hub_records(source, paths):
        school, article = path.parent.name, record["example_id"]
        name = (school, article.removeprefix(school), n_questions[article])
        n_questions[article] += 1
        values = (record[key] for key in ("article", "question", "options", "answer"))
        rows[name] = race_question(Row(path, line), name, *values)
    return (rows[name] for name in sorted(rows))


def stories(path: Path) -> Iterator[Row]:
    """One row per story of a Story Cloze file, which has a header."""
    for line, record in records(path, ".csv"):
        if isinstance(record, str):
            raise wrong(path, line, f"{record}; {ORIGINAL}")
        if missing := [column for column in STORY if column not in record]:
            raise wrong(path, 1, f"no column {missing[0]!r}, found {shown(record)}")
        if empty := [column for column in SENTENCES if is_blank(record[column])]:
            raise wrong(path, line, f"{empty[0]} is empty; every story needs four sentences")
        story = " ".join(record[column].strip() for column in SENTENCES)
        endings = tuple(record[column] for column in ENDINGS)
        yield Row(path, line, record[STORY[0]], record[STORY[-1]], story, choices=endings)


def dprd(path: Path) -> Iterator[Row]:
    """One row per item: the text before the pronoun, the text after it, the two candidates."""
    texts = [text.strip() for _, text in lines(path)]
    for start in range(0, len(texts), 5):
        line = start + 1
        if len(texts) < start + 4:
            what = f"the last item has {len(texts) - start} of 4 lines; download it again"
            raise wrong(path, line, what)
        sentence, pronoun, listed, answer, *blank = texts[start : start + 5]
        # One item of the published test file has a blank after the comma.
        candidates = [candidate.strip() for candidate in listed.split(",")]
        if any(blank):
            raise wrong(path, line + 4, f"expected a blank line, found {blank[0]!r:.60}")
        if len(candidates) != 2 or "" in candidates:
            expected = "expected two candidates with a comma between"
            raise wrong(path, line + 2, f"{expected}, found {listed!r:.60}")
        if answer not in candidates:
            raise wrong(path, line + 3, f"answer {answer!r:.60} is neither of {listed!r:.80}")
        row = Row(path, line, str(start // 5), str(candidates.index(answer) + 1))
        yield _split_at_pronoun(row, sentence, pronoun, candidates)


def dprd_of_hub(source: HubSource, paths: list[Path]) -> Iterator[Row]:
    """The hub's records, one per item."""
    for path, line, number, record in hub_records(source, paths):
        value = record["label"]
        row = Row(path, line, str(number), source.labels.get(value, str(value)))
        candidates = [candidate.strip() for candidate in record["candidates"]]
        sentence, pronoun = record["sentence"].strip(), record["pronoun"].strip()
        yield _split_at_pronoun(row, sentence, pronoun, candidates)


def _split_at_pronoun(row: Row, sentence: str, pronoun: str, candidates: list[str]) -> Row:
    """`row` with its sentence split at the ambiguous pronoun; its line is the sentence's."""
    span = pronoun_span(sentence, pronoun, candidates)
    if span is None:
        what = f"pronoun {pronoun!r:.40} does not occur in {sentence!r:.80}"
        raise wrong(row.path, row.line + 1, what)
    if not sentence[span[1] :].strip():
        raise wrong(row.path, row.line, f"nothing follows the pronoun in {sentence!r:.80}")
    first, second = sentence[: span[0]], sentence[span[1] :]
    return row._replace(first=first, second=second, choices=candidates)


def pronoun_span(sentence: str, pronoun: str, candidates: Sequence[str]) -> tuple[int, int] | None:
    """Character span of the ambiguous pronoun; None if the word does not occur.

    The files do not say which one is meant, and 51 of the 1,886 sentences have more than one. Each
    sentence has two clauses: the first contains both candidates, the second opens with a connective
    and contains the pronoun. So the pronoun meant is the first one after both candidates that
    directly follows a connective ("..., because they ..."), else the first one after both, else the
    first of all. Read one by one, the 51 sentences' published answers fit this rule, also in "The
    priests quoted the words of the Bible for all the suspected witches they found, since *they*
    feared the words of the Bible", where the first occurrence is not meant. (The one doubtful
    answer, at line 6171 of the training file, disagrees with its twin sentence at any occurrence.)
    """
    word = rf"(?<!\w){re.escape(pronoun)}(?!\w)"
    spans = [match.span() for match in re.finditer(word, sentence)] if pronoun else []
    lower = sentence.lower()
    starts = [(lower.find(candidate.lower()), len(candidate)) for candidate in candidates]
    behind = max((start + length for start, length in starts if start >= 0), default=0)
    later = [span for span in spans if span[0] >= behind]
    linked = [span for span in later if CONNECTIVE.search(sentence[: span[0]])]
    return next(iter(linked or later or spans), None)


def hub_records(
    source: HubSource, paths: list[Path]
) -> Iterator[tuple[Path, int, int, dict[str, Any]]]:
    """The records of a source's parquet files.

    Each comes as its file, line (from 1), number within the split (from 0) and values by column.
    Raises InputError for a file that is truncated, of another task, or whose labels are not coded
    as the source says, and if there are no rows.
    """
    number = 0
    for path in paths:
        with open_parquet(path, FETCH_AGAIN) as file:
            _check_schema(path, file, source)
            for line, record in enumerate(parquet_records(file, source.columns), start=1):
                yield path, line, number, record
                number += 1
    if not number:
        raise InputError(f"{paths[0]}: no rows; {FETCH_AGAIN}")


def _check_schema(path: Path, file: "ParquetFile", source: HubSource) -> None:
    """Raise InputError unless a file has the source's columns, and labels coded as it says."""
    schema = file.schema_arrow
    missing = [name for name in source.columns if name not in schema.names]
    if missing:
        raise InputError(
            f"{path}: expected columns {', '.join(source.columns)}, found "
            f"{', '.join(schema.names)}; {source.note or FETCH_AGAIN}"
        )
    type_ = str(schema.field(source.label).type)
    expected = {int: "int", str: "string"}[type(min(source.labels))] if source.labels else "float"
    if expected not in type_:
        raise InputError(
            f"{path}: {source.label!r} holds {type_}, a label of {source.name} is {expected}; "
            + FETCH_AGAIN
        )
    if expected == "int" and source.named_labels:
        names = class_names(file, source.label)
        if names != list(source.labels.values()):
            raise InputError(
                f"{path}: labels 0, 1, .. are named {', '.join(names) or 'nothing'}, expected "
                f"{', '.join(source.labels.values())}; use the pinned revision, whose files name "
                "them so"
            )
