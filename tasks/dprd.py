"""DPRD (Rahman and Ng 2012): to which of two candidates does the pronoun refer? Zero-shot only.

Five lines per item: sentence, pronoun, candidates separated by a comma, answer, a blank line. The
files do not say which occurrence of the pronoun is meant, and 51 of the 1,886 sentences have more
than one. Each sentence has two clauses: the first contains both candidates, the second opens with a
connective and contains the pronoun. So the pronoun meant is the first one after both candidates
that directly follows a connective ("..., because they ..."), else the first one after both, else
the first of all. Read one by one, the 51 sentences' published answers fit this rule, also in "The
priests quoted the words of the Bible for all the suspected witches they found, since *they* feared
the words of the Bible", where the first occurrence is not meant. (The one doubtful answer, at line
6171 of the training file, disagrees with its twin sentence at any occurrence.)
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tasks.hub import HubSource, parquet_files
from tasks.layouts import hub_records
from tasks.prompt import Prompt
from tasks.read import Documents, Row, lines, wrong
from tasks.task import Task

CONNECTIVE = re.compile(r"\b(because|since|but|so|and|although|if)\s+$", re.I)


def items(path: Path) -> Iterator[Row]:
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


def items_of_hub(source: HubSource, paths: list[Path]) -> Iterator[Row]:
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
    """Character span of the ambiguous pronoun; None if the word does not occur."""
    word = rf"(?<!\w){re.escape(pronoun)}(?!\w)"
    spans = [match.span() for match in re.finditer(word, sentence)] if pronoun else []
    lower = sentence.lower()
    starts = [(lower.find(candidate.lower()), len(candidate)) for candidate in candidates]
    behind = max((start + length for start, length in starts if start >= 0), default=0)
    later = [span for span in spans if span[0] >= behind]
    linked = [span for span in later if CONNECTIVE.search(sentence[: span[0]])]
    return next(iter(linked or later or spans), None)


dprd = Task(
    name="dprd",
    title="DPRD",
    family="multiple_choice",
    labels=("1", "2"),
    folder="DPRD",
    layouts=(Documents("{split}.c.txt", items),),
    select_fraction=0.0,
    report=("test",),
    rows={"train": 1_322, "test": 564},
    label_counts={"train": (661, 661), "test": (282, 282)},
    prompt=Prompt(before="{first} {choice}", scored="{second}", heuristic="mean"),
    obtain="download it from www.hlt.utdallas.edu/~vince/data/emnlp12 and put both files there",
    hub=HubSource(
        name="dprd",
        repo="community-datasets/definite_pronoun_resolution",
        revision=None,
        config="plain_text",
        licence="unknown",
        files=parquet_files("plain_text", {"train": "train", "test": "test"}),
        texts=("sentence", "pronoun", "candidates"),
        label="label",
        labels={0: "1", 1: "2"},
        named_labels=False,  # they are indices into the list of candidates
        note="the commit begins with 0fdf659",
    ),
    hub_rows=items_of_hub,
)
