"""From raw text to the words that the byte-pair encoding splits.

The authors fixed their books with ftfy, a handful of punctuation rules and spaCy's English rule
tokenizer (`english`), and lower-cased afterwards (paper 4.1; authors' code). Fine-tuning text takes
the same path. spaCy's contraction rules ("do n't") are visible in the published vocabulary, so a
simpler splitter would give different tokens.

ftfy works line by line, and newlines are words that no spaCy rule reaches across. So a long text
can be normalised in blocks of whole lines with the same result as in one piece. One thing in ftfy
does reach further: the first `<` ends the unescaping of HTML entities for the rest of the text.
`normalise` carries that over from block to block.
"""

import re
from collections.abc import Iterator

import ftfy

from gpt1.text import english
from gpt1.text.vocabulary import NEWLINE

# Runs of the same character. The backslash is missing: the authors' pattern was meant to have it,
# but loses it to Python's string escapes, and the published vocabulary was made that way.
SPACED = re.compile(r'([-~!";?+,)(/*\[\]}{|_])\1*')
DASHES = (("—", "-"), ("–", "-"), ("―", "-"), ("…", "..."), ("´", "'"))
_BREAK = f" {NEWLINE} "


def standardise(text: str) -> str:
    """Put spaces around runs of punctuation, and make dashes, dots, spaces and newlines plain."""
    for old, new in DASHES:
        text = text.replace(old, new)
    lines = (" ".join(line.split()) for line in SPACED.sub(r" \g<0> ", text).split(NEWLINE))
    return _BREAK.join(filter(None, lines))


def words(text: str) -> list[str]:
    """The normalised, lower-cased words of a text; the end of a line is the word "\\n".

    No word contains a space. A text without anything visible has no words.
    """
    split = _split(ftfy.fix_text(text))
    return split.split(" ") if split else []


def normalise(text: str, tokenised: bool = False) -> str:
    """Normalise a long text, block by block, to words joined by one space.

    A newline stands for the newline word and ends the text; apart from that, the result is that of
    `words`. A text without words gives an empty string.

    A `tokenised` text was split into words by its publisher: spaCy's rules are skipped, since they
    would split its lower-cased words again, and wrongly ("id" into "i d").
    """
    split = _split_tokenised if tokenised else _split
    unescape: str | bool = "auto"
    normalised = []
    for block in cut(text):
        normalised.append(split(ftfy.fix_text(block, unescape_html=unescape)))
        if "<" in block:
            unescape = False
    return "".join(block.replace(" \n ", "\n") + "\n" for block in normalised if block)


def cut(text: str, size: int = 1 << 16) -> Iterator[str]:
    """Cut a text into blocks of whole lines, each of at least `size` characters but the last."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + size) + 1 or len(text)
        yield text[start:end]
        start = end


def _split(fixed: str) -> str:
    """Lower-cased words with one space between them."""
    return _BREAK.join(map(english.split, standardise(fixed).split(_BREAK)))


def _split_tokenised(fixed: str) -> str:
    # The Penn Treebank's quotes, which tokenizers write and books do not.
    return standardise(fixed.replace("``", '"').replace("''", '"')).lower()
