"""A task's prompt as token ids: the texts that stand before what is scored, and what is scored.

The tokenizer encodes each word by itself, so the ids of a template's words and of a row's texts,
joined, are those of the whole text.
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
Asked = tuple[list[Ids], Ids]  # what stands before, and what is scored


@dataclass(frozen=True)
class EncodedPrompt:
    """A prompt whose words are ids. `choices` is empty where each row has its own, or none."""

    prompt: Prompt
    before: Fill
    scored: Fill
    choices: list[Fill]

    @classmethod
    def of(cls, prompt: Prompt, task: str, tokenizer: Tokenizer) -> "EncodedPrompt":
        """Raises InputError if the tokenizer lacks a letter of one of the prompt's words."""

        def encode(text: str) -> Ids:
            ids = np.array(tokenizer.encode(text), dtype=np.int64)
            if not ids.all():  # id 0 is <unk>
                raise InputError(
                    f"zero-shot {task}: the tokenizer cannot spell {text.strip()!r}, its letters "
                    f"are not in the corpus; leave {task} out of experiment.zero_shot.tasks"
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
        """For each row what is asked of each choice; once where there is nothing to choose."""
        for first, second, own in zip(split.first, split.second, split.choices, strict=True):
            yield self._asked(first, second, own)

    def without_texts(self, split: EncodedSplit) -> Iterator[list[Asked]]:
        """The same without the row's texts; once for all rows where their choices are the same."""
        for own in [[]] if self.choices else split.choices:
            yield self._asked(EMPTY, EMPTY, own)

    def _asked(self, first: Ids, second: Ids, own: list[Ids]) -> list[Asked]:
        asked, texts = [], {"first": first, "second": second}
        filled = [np.concatenate(fill(texts)) for fill in self.choices]
        for choice in filled or own or [EMPTY]:
            row = texts | {"choice": choice}
            asked.append((self.before(row), np.concatenate(self.scored(row))))
        return asked
