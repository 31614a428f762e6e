"""From raw text to the words that the byte-pair encoding splits.

The authors cleaned their books with ftfy, a handful of punctuation rules and spaCy's English rule
tokenizer, and lower-cased afterwards (paper 4.1; authors' code). Fine-tuning text takes the same
path. spaCy's contraction rules ("do n't") are visible in the published vocabulary, so a simpler
splitter gives other pieces.

ftfy works line by line, standardized newlines are words that no spaCy rule reaches across, and so
a long text may be cleaned in blocks of whole lines with the same result as in one piece. One thing
does reach further in ftfy: the first `<` ends the unescaping of HTML entities for the rest of the
text. `clean` carries that over from block to block.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TextIO

import ftfy

from gpt1.text.word_splitter import NEWLINE, Splitter

# Runs of one and the same character. Backslash is absent: the authors' pattern meant to have it,
# but loses it to Python's string escapes, and the published vocabulary was made that way.
_SPACED = re.compile(r'([-~!";?+,)(/*\[\]}{|_])\1*')

# What ftfy turns into a newline.
_LINE_BREAKS = re.compile("[\n\r\x85\u2028\u2029]")

# Both spaCy and its splitter remember every word that they met; a fresh one bounds their memory.
_MOST_WORDS = 150_000  # about 80 MB beside spaCy itself


def standardize(text: str) -> str:
    """Spaces around punctuation runs, plain dashes and dots, single spaces and newlines."""
    for old, new in (("—", "-"), ("–", "-"), ("―", "-"), ("…", "..."), ("´", "'")):
        text = text.replace(old, new)
    lines = (" ".join(line.split()) for line in _SPACED.sub(r" \g<0> ", text).split(NEWLINE))
    return f" {NEWLINE} ".join(filter(None, lines))


def words(text: str) -> list[str]:
    """Lower-cased words of a text after the full cleaning path; a line's end is the word "\\n".

    No word holds a space. A text without anything visible gives no words.
    """
    found = _split(ftfy.fix_text(text))
    return found.split(" ") if found else []


def clean(blocks: Iterable[str], tokenised: bool = False) -> Iterator[str]:
    """Clean a long text given in blocks of whole lines; the joined result is one cleaned text.

    Words are joined by one space and a newline character is the newline word, so the result equals
    that of `words` on the whole text, whatever the blocks, with a newline at its end. A block may
    also end within a line, before a word; then ftfy judges the two parts of that line separately.

    A `tokenised` text is one whose words were split before: all but spaCy's rules is applied, which
    would split its lower-cased words again, and wrongly ("id" into "i d").
    """
    split = _split_tokenised if tokenised else _split
    unescape: str | bool = "auto"
    gap = ""  # what stands between the words so far and those to come
    for block in blocks:
        found = split(ftfy.fix_text(block, unescape_html=unescape))
        if "<" in block:
            unescape = False
        if found:
            yield gap + found.replace(" \n ", "\n")
            gap = " "
        if gap and _LINE_BREAKS.search(block, len(block.rstrip())):
            gap = "\n"
    if gap:
        yield "\n"


def blocks(file: TextIO, size: int = 1 << 16, longest: int = 1 << 20) -> Iterator[str]:
    """Cut a text file into blocks of whole lines, about `size` characters each.

    A line longer than `longest` is cut before a word, so that memory stays bounded. Open the file
    with `newline=""`, which leaves its line ends as they are.
    """
    held = ""
    while read := file.read(size):
        held += read
        cut = held.rfind("\n") + 1
        if not cut and len(held) >= longest:
            visible = held.rstrip()
            start = len(visible) - len(visible.rsplit(None, 1)[-1]) if visible else 0
            cut = start or len(held)
        if cut:
            yield held[:cut]
            held = held[cut:]
    if held:
        yield held


def _split(fixed: str) -> str:
    """Lower-cased words with one space between."""
    standard = standardize(fixed)
    return _splitter().split(standard) if standard else ""


def _split_tokenised(fixed: str) -> str:
    # The Penn Treebank's quotes, which tokenizers write and books do not.
    return standardize(fixed.replace("``", '"').replace("''", '"')).lower()


class _Memory:
    splitter: Splitter | None = None


def _splitter() -> Splitter:
    """This process's splitter, made when first needed and anew after very many words."""
    if _Memory.splitter is None or len(_Memory.splitter) > _MOST_WORDS:
        _Memory.splitter = Splitter()
    return _Memory.splitter
