"""From raw text to the words that the byte-pair encoding splits.

The authors fixed their books with ftfy, a handful of punctuation rules and spaCy's English rule
tokenizer, and lower-cased afterwards (paper 4.1; authors' code). Fine-tuning text takes the same
path. spaCy's contraction rules ("do n't") are visible in the published vocabulary, so a simpler
splitter would give different tokens.

spaCy's rules are read from a table. A word that is an exception ("don't") is split into the parts
that the table gives. From any other, prefixes and suffixes are stripped until an exception is left,
or nothing more can be stripped; the rest is split at infixes unless it is a URL. Finally,
exceptions that these patterns tore apart are restored.

ftfy works line by line, and newlines are words that no spaCy rule reaches across. So a long text
can be normalised in blocks of whole lines with the same result as in one piece. One thing in ftfy
does reach further: the first `<` ends the unescaping of HTML entities for the rest of the text.
`normalise` carries that over from block to block.
"""

import functools
import json
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import ftfy

from gpt1.text.vocabulary import NEWLINE

TABLE = "english_rules.json"
CACHED_WORDS = 1 << 17  # some 30 MB
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
    return _BREAK.join(map(split_line, standardise(fixed).split(_BREAK)))


def _split_tokenised(fixed: str) -> str:
    # The Penn Treebank's quotes, which tokenizers write and books do not.
    return standardise(fixed.replace("``", '"').replace("''", '"')).lower()


def split_line(line: str) -> str:
    """Split a line, its words separated by single spaces, into lower-cased words."""
    words = line.split(" ")
    parts = [_parts(word) for word in words]
    if None in parts:
        return _lower(rules().rejoin([rules().split(word) for word in words]))
    return " ".join(filter(None, parts))


@functools.lru_cache(CACHED_WORDS)
def _parts(word: str) -> str | None:
    """The lower-cased parts of a word, or None if they may depend on the words around it.

    If rejoining changes nothing in the word alone, it changes nothing beside other words either:
    they can only remove matches, not add any.
    """
    parts = rules().split(word)
    return _lower(parts) if rules().rejoin([parts]) == parts else None


def _lower(parts: list[str]) -> str:
    return " ".join([part.lower() for part in parts])


class Rules:
    """The compiled table.

    `version`: the version of spaCy that the rules come from; `units`: a pattern of units of
    measurement; `exceptions`: each exception's parts; `torn`: the parts into which the patterns
    alone would split exceptions.
    """

    def __init__(self, table: dict[str, Any]) -> None:
        self.version, self.units = table["spacy"], table["units"]
        self.prefix, self.suffix = re.compile(table["prefix"]), re.compile(table["suffix"])
        self.infix, self.url = re.compile(f"({table['infix']})"), re.compile(table["url"])
        patterns, words = (self.prefix, self.suffix, self.infix), table["exceptions"]
        self.exceptions: dict[str, list[str]] = {}  # empty: only patterns split the words below
        splittable = (word for word in words if any(of.search(word) for of in patterns))
        self.torn = {tuple(self.split(word)) for word in splittable}
        self.longest = max(map(len, self.torn))
        self.exceptions = {word: parts.split(" ") for word, parts in words.items()}

    def split(self, word: str) -> list[str]:
        """The parts of a word, before torn exceptions are restored."""
        first: list[str] = []
        last: list[str] = []
        while word not in self.exceptions:
            start, end = len(word) - len(self.prefix.sub("", word, count=1)), len(word)
            if word[start:] not in self.exceptions:
                end = start + len(self.suffix.sub("", word[start:], count=1))
                if word[:end] in self.exceptions:
                    start = 0
            if (start, end) == (0, len(word)):
                break
            first.append(word[:start])
            last.append(word[end:])
            word = word[start:end]
        inner = [word] if self.url.match(word) else self.infix.split(word)
        inner = self.exceptions.get(word, inner)
        return list(filter(None, [*first, *inner, *reversed(last)]))

    def rejoin(self, words: list[list[str]]) -> list[str]:
        """The parts of consecutive words, with torn exceptions split as in the table instead.

        Of overlapping matches the longest wins, and of equally long ones the first. A match that
        spans two words is not restored, but still blocks shorter ones that overlap it: ":o" stays
        torn in "well:o )", where ":o )" looks like a face with a nose.
        """
        parts = list(chain.from_iterable(words))
        word_of = [i for i, word in enumerate(words) for _ in word]
        lengths, n = range(self.longest, 0, -1), len(parts)
        spans = [(i, i + length) for length in lengths for i in range(n - length + 1)]
        seen: set[int] = set()
        whole: list[tuple[int, int]] = []
        for start, end in spans:
            if tuple(parts[start:end]) in self.torn:
                if word_of[start] == word_of[end - 1] and not {start, end - 1} & seen:
                    whole.append((start, end))
                seen.update(range(start, end))
        for start, end in sorted(whole, reverse=True):
            parts[start:end] = self.exceptions["".join(parts[start:end])]
        return parts


@functools.cache
def rules() -> Rules:
    """The rules of `english_rules.json`."""
    return Rules(json.loads(Path(__file__).with_name(TABLE).read_text(encoding="utf-8")))
