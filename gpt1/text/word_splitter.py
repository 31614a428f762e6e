"""spaCy's English tokenizer with a memory of words: the same words in a fraction of the time.

spaCy splits at spaces, then each word by itself (exceptions such as "don't", and affixes), and ends
with one pass over the whole text, which restores exceptions that the affixes had split. The result
of splitting a word by itself is remembered here. The last pass may look across a space, and so a
line with a word that it could change is left to spaCy as a whole; such words are very rare.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from gpt1.text.vocabulary import NEWLINE

if TYPE_CHECKING:
    from spacy.tokenizer import Tokenizer


class WordSplitter:
    """Splits standardised text: words with one space between, the newline being a word."""

    def __init__(self) -> None:
        import spacy  # takes two seconds, which programs that only decode need not wait for

        self._spacy = spacy.blank("en").tokenizer
        self._spacy.vocab.lex_attr_getters = {}  # what else spaCy would note of each new word
        self._without_last_pass = _without_last_pass(self._spacy)
        self._split_exceptions = _split_exceptions(self._spacy)
        self._known = {NEWLINE: NEWLINE}
        self._context_dependent: set[str] = set()

    def __len__(self) -> int:
        """The number of words in memory, spaCy's or ours, whichever is more."""
        return max(len(self._known), len(self._spacy.vocab))

    def split(self, text: str) -> str:
        """The lower-cased words with one space between them; a newline stays a word of its own."""
        words = text.split(" ")
        self._learn(sorted(set(words).difference(self._known)))
        if self._context_dependent.isdisjoint(words):
            return self._look_up(words)
        return f" {NEWLINE} ".join(map(self._split_line, text.split(f" {NEWLINE} ")))

    def _split_line(self, line: str) -> str:
        words = line.split(" ")
        if self._context_dependent.isdisjoint(words):
            return self._look_up(words)
        return _lowered(token.text for token in self._spacy(line))

    def _look_up(self, words: list[str]) -> str:
        return " ".join(map(self._known.__getitem__, words))

    def _learn(self, words: list[str]) -> None:
        """Remember what each word becomes, and whether the last pass could change it."""
        tokens: list[str] = []
        for token in self._without_last_pass("".join(f"{word} " for word in words)):
            tokens.append(token.text)
            if token.whitespace_:
                word = "".join(tokens)
                self._known[word] = _lowered(tokens)
                if self._holds_split_exception(tokens):
                    self._context_dependent.add(word)
                tokens.clear()

    def _holds_split_exception(self, tokens: list[str]) -> bool:
        return any(
            tokens[i : i + len(split)] == split
            for i, token in enumerate(tokens)
            for split in self._split_exceptions.get(token, ())
        )


def _lowered(tokens: Iterable[str]) -> str:
    # One by one: the lower case of a sigma depends on the letter behind it.
    return " ".join(token.lower() for token in tokens)


def _without_last_pass(tokenizer: "Tokenizer") -> "Tokenizer":
    """A tokenizer of the same rules whose last pass knows no exception.

    spaCy gives that pass those exceptions in which it finds affixes at the moment when it gets the
    rules; so it gets them while its affix functions find nothing.
    """
    enabled: list[bool] = []

    def disabled(search: Callable[[str], Any], nothing: Any) -> Callable[[str], Any]:
        return lambda string: search(string) if enabled else nothing

    copy = type(tokenizer)(
        tokenizer.vocab,
        tokenizer.rules,
        disabled(tokenizer.prefix_search, None),
        disabled(tokenizer.suffix_search, None),
        disabled(tokenizer.infix_finditer, ()),
        tokenizer.token_match,
        tokenizer.url_match,
    )
    enabled.append(True)
    return copy


def _split_exceptions(tokenizer: "Tokenizer") -> dict[str, list[list[str]]]:
    """The exceptions that affixes alone would split wrongly, as they would split them: the token
    sequences that the last pass looks for, by their first token."""
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
    sequences: dict[str, list[list[str]]] = {}
    for exception, parts in tokenizer.rules.items():
        split = [token.text for token in affixes(exception)]
        if split != [part[ORTH] for part in parts]:
            sequences.setdefault(split[0], []).append(split)
    return sequences
