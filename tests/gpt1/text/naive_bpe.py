"""Normalisation and BPE implemented again, naively and slowly, without the package."""

import functools
import itertools
import json
from pathlib import Path

import ftfy
import pytest

GOLDEN = Path(__file__).with_name("golden_sentences.json")
# Get spaces around them. No backslash: the authors' pattern loses it.
SPACED = set("-~!\"';?+,)(/*[]}{|_") - {"'"}


def golden() -> dict[str, list[str]]:
    return json.loads(GOLDEN.read_text(encoding="utf-8"))


def sentences() -> list[str]:
    return [sentence for group in golden().values() for sentence in group]


def standardise(text: str) -> str:
    for old, new in (("—", "-"), ("–", "-"), ("―", "-"), ("…", "..."), ("´", "'")):
        text = text.replace(old, new)
    runs = ("".join(run) for _, run in itertools.groupby(text))
    text = "".join(f" {run} " if run[0] in SPACED else run for run in runs)
    out = ""
    for blank, run in itertools.groupby(text, str.isspace):
        run = "".join(run)
        out += (" \n " if "\n" in run else " ") if blank else run
    return out.strip()


@functools.cache
def english():
    """spaCy's English pipeline; skips the test, saying so, where spaCy is absent."""
    return pytest.importorskip("spacy", reason="spaCy, the oracle, is not installed").blank("en")


def words(text: str) -> list[str]:
    """Tokens of spaCy's whole pipeline; its newline token may end in a space."""
    tokens = [token.text.lower() for token in english()(standardise(ftfy.fix_text(text)))]
    return ["\n" if token == "\n " else token for token in tokens]


def bpe(word: str, ranks: dict[tuple[str, str], int]) -> list[str]:
    """Tokens of a word: the first pair by rank is merged everywhere, from the left, until none."""
    tokens = [*word[:-1], word[-1] + "</w>"]
    while len(tokens) > 1:
        best = min(itertools.pairwise(tokens), key=lambda pair: ranks.get(pair, len(ranks)))
        if best not in ranks:
            break
        merged, i = [], 0
        while i < len(tokens):
            if tuple(tokens[i : i + 2]) == best:
                merged.append("".join(best))
                i += 2
            else:
                merged.append(tokens[i])
                i += 1
        tokens = merged
    return tokens


class NaiveTokenizer:
    """Encodes with the two files of a vocabulary, which it reads itself."""

    def __init__(self, encoder: Path, merges: Path) -> None:
        self.ids = json.loads(encoder.read_text(encoding="utf-8"))
        lines = merges.read_text(encoding="utf-8").split("\n")[1:-1]
        self.ranks = {tuple(line.split()): rank for rank, line in enumerate(lines)}

    def encode_words(self, normalised: list[str]) -> list[int]:
        return [self.ids.get(token, 0) for word in normalised for token in bpe(word, self.ranks)]

    def encode(self, text: str) -> list[int]:
        return self.encode_words(words(text))
