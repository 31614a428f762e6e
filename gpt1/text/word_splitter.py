"""spaCy's English tokenizer with a memory of words: the same tokens in a fraction of the time.

spaCy splits at spaces, then each word by itself (exceptions such as "don't", and affixes), and ends
with one pass over the whole text, in which exceptions that the affixes tore apart are mended. What
becomes of a word by itself is remembered here. The last pass may look across a space, and so a line
with a word that it could mend is left to spaCy as a whole; such words are very rare.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer

NEWLINE = "\n"


class Splitter:
    """Splits standardized text: words with one space between, a newline being a word."""

    def __init__(self) -> None:
        import spacy  # takes two seconds, which programs that only decode need not wait for

        self._spacy = spacy.blank("en").tokenizer
        self._spacy.vocab.lex_attr_getters = {}  # what else spaCy would note of each new word
        self._alone = _without_last_pass(self._spacy)
        self._torn = _torn(self._spacy)
        self._known = {NEWLINE: NEWLINE}
        self._mendable: set[str] = set()

    def __len__(self) -> int:
        """The number of words in memory, spaCy's or ours, whichever is more."""
        return max(len(self._known), len(self._spacy.vocab))

    def split(self, text: str) -> str:
        """The lower-cased tokens with one space between; a newline stays a word of its own."""
        words = text.split(" ")
        self._learn(sorted(set(words).difference(self._known)))
        if self._mendable.isdisjoint(words):
            return self._look_up(words)
        return f" {NEWLINE} ".join(map(self._split_line, text.split(f" {NEWLINE} ")))

    def _split_line(self, line: str) -> str:
        words = line.split(" ")
        if self._mendable.isdisjoint(words):
            return self._look_up(words)
        return _lowered(token.text for token in self._spacy(line))

    def _look_up(self, words: list[str]) -> str:
        return " ".join(map(self._known.__getitem__, words))

    def _learn(self, words: list[str]) -> None:
        """Remember each word's tokens before the last pass, and the words that it could change."""
        tokens: list[str] = []
        for token in self._alone("".join(f"{word} " for word in words)):
            tokens.append(token.text)
            if token.whitespace_:
                word = "".join(tokens)
                self._known[word] = _lowered(tokens)
                if self._is_torn(tokens):
                    self._mendable.add(word)
                tokens.clear()

    def _is_torn(self, tokens: list[str]) -> bool:
        return any(
            tokens[i : i + len(torn)] == torn
            for i, token in enumerate(tokens)
            for torn in self._torn.get(token, ())
        )


def _lowered(tokens: Iterable[str]) -> str:
    # One by one: the lower case of a sigma depends on what stands behind it.
    return " ".join(token.lower() for token in tokens)


def _without_last_pass(tokenizer: "Tokenizer") -> "Tokenizer":
    """A tokenizer of the same rules whose last pass knows no exception.

    spaCy hands that pass the exceptions in which it finds affixes when it is given them; so they
    are given while the affixes are out of sight.
    """
    visible: list[bool] = []

    def hidden(search: Callable[[str], Any], none: Any) -> Callable[[str], Any]:
        return lambda string: search(string) if visible else none

    alone = type(tokenizer)(
        tokenizer.vocab,
        tokenizer.rules,
        hidden(tokenizer.prefix_search, None),
        hidden(tokenizer.suffix_search, None),
        hidden(tokenizer.infix_finditer, ()),
        tokenizer.token_match,
        tokenizer.url_match,
    )
    visible.append(True)
    return alone


def _torn(tokenizer: "Tokenizer") -> dict[str, list[list[str]]]:
    """What the affixes alone make of each exception, if that is not as it should be, by its first
    token: the sequences that the last pass looks for."""
    from spacy.symbols import ORTH

    affixes = type(tokenizer)(
        tokenizer.vocab,
        None,
        tokenizer.prefix_search,
        tokenizer.suffix_search,
        tokenizer.infix_finditer,
        tokenizer.token_match,
        tokenizer.url_match,
    )
    found: dict[str, list[list[str]]] = {}
    for exception, parts in tokenizer.rules.items():
        torn = [token.text for token in affixes(exception)]
        if torn != [part[ORTH] for part in parts]:
            found.setdefault(torn[0], []).append(torn)
    return found
