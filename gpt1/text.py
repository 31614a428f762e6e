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
from typing import TYPE_CHECKING, TextIO

import ftfy

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer as SpacyTokenizer

NEWLINE = "\n"

_REPLACED = str.maketrans({"—": "-", "–": "-", "―": "-", "…": "...", "´": "'"})
# Runs of one and the same character. Backslash is absent: the authors' pattern meant to have it,
# but loses it to Python's string escapes, and the published vocabulary was made that way.
_SPACED = re.compile("(" + "|".join(re.escape(c) + "+" for c in '-~!";?+,)(/*[]}{|_') + ")")
_LINE_END = re.compile(r"\s*\n\s*")
_BLANKS = re.compile(r"[^\S\n]+")

# What ftfy turns into a newline.
_LINE_BREAKS = re.compile("[\n\r\x85\u2028\u2029]")

# spaCy remembers every word that it met; a fresh tokenizer now and then bounds its memory.
_MOST_WORDS = 400_000  # about 200 MB


def standardize(text: str) -> str:
    """Spaces around punctuation runs, plain dashes and dots, single spaces and newlines."""
    text = _SPACED.sub(r" \1 ", text.translate(_REPLACED))
    return _BLANKS.sub(" ", _LINE_END.sub(" \n ", text)).strip()


def words(text: str) -> list[str]:
    """Lower-cased words of a text after the full cleaning path; a line's end is the word "\\n".

    No word holds a space. A text without anything visible gives no words.
    """
    return _split(ftfy.fix_text(text))


def clean(blocks: Iterable[str]) -> Iterator[str]:
    """Clean a long text given in blocks of whole lines; the joined result is one cleaned text.

    Words are joined by one space and a newline character is the newline word, so the result equals
    that of `words` on the whole text, whatever the blocks, with a newline at its end. A block may
    also end within a line, before a word; then ftfy judges the two parts of that line separately.
    """
    unescape: str | bool = "auto"
    gap = ""  # what stands between the words so far and those to come
    for block in blocks:
        found = _split(ftfy.fix_text(block, unescape_html=unescape))
        if "<" in block:
            unescape = False
        if found:
            yield gap + " ".join(found).replace(" \n ", "\n")
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


def _split(fixed: str) -> list[str]:
    standard = standardize(fixed)
    if not standard:
        return []
    # spaCy's newline token may carry the space behind it ("\n "); the authors map it to "\n".
    tokens = _tokenizer()(standard)
    return [NEWLINE if token.text.isspace() else token.text.lower() for token in tokens]


class _Spacy:
    tokenizer: "SpacyTokenizer | None" = None


def _tokenizer() -> "SpacyTokenizer":
    """This process's spaCy tokenizer, made when first needed and anew after very many words."""
    if _Spacy.tokenizer is None or len(_Spacy.tokenizer.vocab) > _MOST_WORDS:
        import spacy  # takes two seconds, which programs that only decode need not wait for

        _Spacy.tokenizer = spacy.blank("en").tokenizer
    return _Spacy.tokenizer
