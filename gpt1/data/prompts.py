"""A task's prompt as token ids: the context, and the tokens that are scored after it.

The tokenizer encodes each word by itself, so joining the ids of a template's words and of a row's
texts gives the ids of the whole text.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gpt1.data.encoded import EncodedSplit
from gpt1.text.tokenizer import Tokenizer
from tasks.common.errors import InputError
from tasks.prompt import Prompt, parts

Ids = np.ndarray
EMPTY: Ids = np.empty(0, dtype=np.int64)
Fill = Callable[[dict[str, Ids]], list[Ids]]
Encoded = list[tuple[Ids, str | None]]  # a template's words, each with the column after it
Asked = tuple[list[Ids], Ids]  # the context, and what is scored


@dataclass(frozen=True)
class EncodedPrompt:
    """A prompt with its words as ids; `choices` is empty if each row has its own, or none."""

    prompt: Prompt
    before: Fill
    scored: Fill
    choices: list[Fill]

    @classmethod
    def of(cls, prompt: Prompt, task: str, tokenizer: Tokenizer) -> "EncodedPrompt":
        """Encode a prompt.

        Raises InputError if the tokenizer lacks a letter of its words, and for two choices that
        become the same tokens.
        """

        def encoded(text: str) -> Encoded:
            return [(_ids(words, task, tokenizer), column) for words, column in parts(text)]

        before, scored, *choices = map(encoded, (prompt.before, prompt.scored, *prompt.choices))
        _check_different(prompt.choices, choices, task)
        return cls(prompt, _fill(before), _fill(scored), [*map(_fill, choices)])

    def rows(self, split: EncodedSplit) -> Iterator[list[Asked]]:
        """For each row, context and scored tokens of each choice; one pair if there are none."""
        for first, second, own in zip(split.first, split.second, split.choices, strict=True):
            yield self._asked(first, second, own)

    def without_texts(self, split: EncodedSplit) -> Iterator[list[Asked]]:
        """The same without the row's texts; once for all rows if their choices are the same."""
        for own in [[]] if self.choices else split.choices:
            yield self._asked(EMPTY, EMPTY, own)

    def _asked(self, first: Ids, second: Ids, own: list[Ids]) -> list[Asked]:
        asked, texts = [], {"first": first, "second": second}
        filled = [np.concatenate(fill(texts)) for fill in self.choices]
        for choice in filled or own or [EMPTY]:
            row = texts | {"choice": choice}
            asked.append((self.before(row), np.concatenate(self.scored(row))))
        return asked


def _ids(text: str, task: str, tokenizer: Tokenizer) -> Ids:
    ids = np.array(tokenizer.encode(text), dtype=np.int64)
    if not ids.all():  # id 0 is <unk>
        raise InputError(
            f"zero-shot {task}: the tokenizer cannot spell {text.strip()!r}, its letters are not "
            f"in the corpus; give {task} another prompt or other choices, or leave it out of what "
            "is asked zero-shot"
        )
    return ids


def _fill(template: Encoded) -> Fill:
    return lambda row: [
        ids for words, column in template for ids in ((words, row[column]) if column else (words,))
    ]


def _check_different(choices: Sequence[str], encoded: Sequence[Encoded], task: str) -> None:
    """Raise InputError for two choices that are the same tokens: the first would always win."""
    known: dict[Hashable, str] = {}
    for choice, template in zip(choices, encoded, strict=True):
        key = tuple((ids.tobytes(), column) for ids, column in template)
        if key in known:
            raise InputError(
                f"zero-shot {task}: to the tokenizer the choice {choice!r:.60} is the same as "
                f"{known[key]!r:.60}; give two different choices"
            )
        known[key] = choice
