"""DPRD (Rahman and Ng 2012): to which of two candidates does the pronoun refer? Zero-shot only.

Five lines an item: sentence, pronoun, candidates separated by a comma, answer, a blank line. The
file does not say which occurrence of the pronoun is meant, and 51 of its 1,886 sentences have more
than one. The sentences are made of two clauses, the first with both candidates, the second opened
by a connective and with the pronoun; so the pronoun meant is the first one behind both candidates
that follows a connective directly ("..., because they ..."), else the first one behind both, else
the first of all. Read one by one, the published answers of the 51 fit this place, also in "The
priests quoted the words of the Bible for all the suspected witches they found, since *they* feared
the words of the Bible", where the first occurrence is not meant. (The one doubtful answer, at line
6171 of the training file, disagrees with its twin sentence at any place.)
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tasks.common.errors import InputError
from tasks.tables import lines
from tasks.types import Flaw, Row, Task

CONNECTIVE = re.compile(r"\b(because|since|but|so|and|although|if)\s+$", re.I)


def items(path: Path) -> Iterator[Row | Flaw]:
    """One row an item: the text before the pronoun, the text after it, the two candidates."""
    texts = [text.strip() for _, text in lines(path)]
    for start in range(0, len(texts), 5):
        line = start + 1
        five = texts[start : start + 5]
        if len(five) < 4:
            raise InputError(
                f"{path}:{line}: the last item has {len(five)} of 4 lines; get it again"
            )
        sentence, pronoun, listed, answer = five[:4]
        if five[4:] not in ([], [""]):
            raise InputError(f"{path}:{line + 4}: a blank line is needed, found {five[4]!r:.60}")
        # One item of the published test file has a blank after the comma.
        candidates = tuple(candidate.strip() for candidate in listed.split(","))
        if len(candidates) != 2 or "" in candidates:
            raise InputError(
                f"{path}:{line + 2}: two candidates with a comma between, found {listed!r:.60}"
            )
        if answer not in candidates:
            raise InputError(
                f"{path}:{line + 3}: answer {answer!r:.60} is neither of {listed!r:.80}"
            )
        answer = str(candidates.index(answer) + 1)
        yield item(path, line, sentence, pronoun, candidates, answer, str(start // 5))


def item(
    path: Path,
    line: int,
    sentence: str,
    pronoun: str,
    candidates: Sequence[str],
    label: str,
    key: str,
) -> Row:
    """One item: the sentence in two at the pronoun that is meant; `line` is the sentence's."""
    sentence, pronoun = sentence.strip(), pronoun.strip()
    candidates = tuple(candidate.strip() for candidate in candidates)
    place = pronoun_span(sentence, pronoun, candidates)
    if place is None:
        raise InputError(
            f"{path}:{line + 1}: pronoun {pronoun!r:.40} does not occur in {sentence!r:.80}"
        )
    if not sentence[place[1] :].strip():
        raise InputError(f"{path}:{line}: nothing follows the pronoun in {sentence!r:.80}")
    return Row(
        line,
        first=sentence[: place[0]],
        second=sentence[place[1] :],
        choices=candidates,
        label=label,
        key=key,
    )


def pronoun_span(
    sentence: str, pronoun: str, candidates: tuple[str, ...]
) -> tuple[int, int] | None:
    """Start and end of the pronoun that is meant; None if the word does not occur."""
    word = rf"(?<!\w){re.escape(pronoun)}(?!\w)"
    spans = [match.span() for match in re.finditer(word, sentence)] if pronoun else []
    lower = sentence.lower()
    places = [(lower.find(candidate.lower()), len(candidate)) for candidate in candidates]
    behind = max((place + length for place, length in places if place >= 0), default=0)
    later = [span for span in spans if span[0] >= behind]
    linked = [span for span in later if CONNECTIVE.search(sentence[: span[0]])]
    return next(iter(linked or later or spans), None)


dprd = Task(
    name="dprd",
    title="DPRD",
    family="multiple_choice",
    labels=("1", "2"),
    metric="accuracy",
    folder="DPRD",
    files=("{split}.c.txt",),
    parse=items,
    select_fraction=0.0,
    report=("test",),
    rows={"train": 1_322, "test": 564},
    shares=(0.5, 0.5),
    counts={"train": (661, 661), "test": (282, 282)},
    source="get it from www.hlt.utdallas.edu/~vince/data/emnlp12 and put both files there",
)
