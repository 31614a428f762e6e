"""A task's prompt as token ids: the context, and the tokens that are scored after it.

The tokenizer encodes each word by itself, so joining the ids of a template's words and of a row's
texts gives the ids of the whole text.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gpt1.data.encoded import EncodedSplit
from gpt1.text.tokenizer import Tokenizer
from tasks.common.errors import InputError
from tasks.prompt import Prompt, parts

Ids = np.ndarray
EMPTY: Ids = np.empty(0, dtype=np.int64)
Fill = Callable[[dict[str, Ids]], list[Ids]]
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
        """Encode a prompt. Raises InputError if the tokenizer lacks a letter of its words."""

        def encode(text: str) -> Ids:
            ids = np.array(tokenizer.encode(text), dtype=np.int64)
            if not ids.all():  # id 0 is <unk>
                raise InputError(
                    f"zero-shot {task}: the tokenizer cannot spell {text.strip()!r}, its letters "
                    f"are not in the corpus; give {task} another prompt or other choices, or leave "
                    "it out of what is asked zero-shot"
                )
            return ids

        def template(text: str) -> Fill:
            encoded = [(encode(words), column) for words, column in parts(text)]
            return lambda row: [
                ids
                for words, column in encoded
                for ids in ((words, row[column]) if column else (words,))
            ]

        choices = [template(choice) for choice in prompt.choices]
        return cls(prompt, template(prompt.before), template(prompt.scored), choices)

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
