"""A task's encoded examples, and the padded batches of token sequences that they become.

`gpt1.encode` writes the examples. Reading them needs only pyarrow, so that training depends on
neither `datasets` nor the tokenizer, which take longer to import than many a cell takes to train.

Every example becomes S sequences: one for a text or a pair, two for a similarity (both orders), one
per choice. Source: paper 3.3 and figure 1; the authors' code for truncation (`n_ctx // 2 - 2`
tokens a side), for pads (id 0, on the right, never read) and for the classify token as the last
one.
"""

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from gpt1.records import EncodedFacts, Role
from gpt1.streams import stream
from gpt1.text.tokens import SpecialTokens
from tasks.common.arrow import read_split, split_digest, split_names
from tasks.common.errors import InputError
from tasks.common.files import sha256_json
from tasks.common.records import facts_path
from tasks.spec import TaskSpec

KEPT_COLUMNS = ("guid", "group", "label", "first", "second", "choices")
PAD = 0


@dataclass(frozen=True)
class EncodedSplit:
    """Examples of one split; every list and array has one entry for each example.

    `labels` is int64 (float64 for STS-B); texts are int32 arrays of ids without special tokens,
    empty where the task has no such text; `choices` holds one array for each choice.
    """

    guids: list[str]
    groups: list[str]
    labels: np.ndarray
    first: list[np.ndarray]
    second: list[np.ndarray]
    choices: list[list[np.ndarray]]

    def __len__(self) -> int:
        return len(self.guids)

    def take(self, rows: np.ndarray) -> "EncodedSplit":
        """The examples with these row numbers."""
        lists = {
            name: [getattr(self, name)[i] for i in rows]
            for name in ("guids", "groups", "first", "second", "choices")
        }
        return EncodedSplit(**lists, labels=self.labels[rows])


@dataclass(frozen=True)
class EncodedTask:
    """A task's encoded splits in their order, and their facts."""

    facts: EncodedFacts
    splits: dict[str, EncodedSplit]

    @property
    def spec(self) -> TaskSpec:
        """The task's family, number of classes and metrics."""
        return self.facts.spec

    @property
    def tokenizer(self) -> str:
        """Digest of the tokenizer."""
        return self.facts.tokenizer

    def named(self, *roles: Role) -> list[str]:
        """Names of the splits that have one of these roles."""
        return [name for name in self.splits if self.facts.splits[name].role in roles]

    @property
    def main(self) -> str:
        """The first reported split, whose score stands for the task."""
        return self.named("report")[0]

    def sequences(self, n_ctx: int) -> dict[str, "Sequences"]:
        """The labelled splits as sequences of at most `n_ctx` tokens."""
        special = SpecialTokens.after(self.facts.n_vocab)
        return {
            name: build_sequences(self.spec.family, self.splits[name], special, n_ctx)
            for name in self.named("train", "select", "report")
        }

    @cached_property
    def labelled_digest(self) -> str:
        """Digest of everything that decides a training result: the spec and the labelled splits."""
        return self._digest("train", "select", "report")

    @cached_property
    def unlabelled_digest(self) -> str:
        """Digest of the spec and the unlabelled splits."""
        return self._digest("unlabelled")

    def _digest(self, *roles: Role) -> str:
        digests = {name: self.facts.splits[name].sha256 for name in self.named(*roles)}
        return sha256_json({"spec": asdict(self.spec), "splits": list(digests.items())})


def load_task(folder: str | Path) -> EncodedTask:
    """Read what `gpt1.encode` wrote to `folder` and `folder`.json.

    Raises InputError for a file that is missing, truncated, foreign or not the one that the facts
    describe.
    """
    path = facts_path(folder)
    facts = EncodedFacts.read(path)
    names = split_names(folder)
    if set(names) != facts.splits.keys():
        raise InputError(f"{folder}: its splits are not those of {path}; encode the task again")
    for name in names:
        if split_digest(folder, name) != facts.splits[name].sha256:
            raise InputError(f"{folder}/{name}: not what {path} describes; encode the task again")
    return EncodedTask(facts, {name: read_encoded(folder, name) for name in names})


def read_encoded(folder: str | Path, split: str) -> EncodedSplit:
    """One split. Raises InputError for a file that is missing, truncated or something else."""
    table = read_split(folder, split)
    columns = {key: table[key].combine_chunks() for key in KEPT_COLUMNS}
    return EncodedSplit(
        guids=columns["guid"].to_pylist(),
        groups=columns["group"].to_pylist(),
        labels=np.from_dlpack(columns["label"]),  # `to_numpy` would import pandas (0.25 s)
        first=_rows(columns["first"]),
        second=_rows(columns["second"]),
        choices=_rows(columns["choices"]),
    )


def _rows(lists: pa.ListArray) -> list[Any]:
    """An array for each row of a list<int32>, without a copy; a list of arrays if it is nested."""
    values = lists.values
    values = _rows(values) if isinstance(values, pa.ListArray) else np.from_dlpack(values)
    offsets = np.from_dlpack(lists.offsets).tolist()
    return [values[start:end] for start, end in itertools.pairwise(offsets)]


@dataclass(frozen=True)
class Sequences:
    """A split ready for training: `ids` [N, S, T] padded with 0, `lengths` [N, S], `labels` [N].

    `groups` holds each example's group (for RACE, middle or high).
    """

    ids: np.ndarray
    lengths: np.ndarray
    labels: np.ndarray
    groups: list[str]
    truncated: float  # share of the examples that lost tokens

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows' ids `[len(rows), S, t]`, cut to the longest sequence, and their lengths."""
        lengths = self.lengths[rows]
        return self.ids[rows, :, : lengths.max()], lengths


def single(text: np.ndarray, special: SpecialTokens, n_ctx: int) -> np.ndarray:
    """start text classify."""
    return _join([special.start], text[: n_ctx - 2], [special.classify])


def pair(first: np.ndarray, second: np.ndarray, special: SpecialTokens, n_ctx: int) -> np.ndarray:
    """start first delimiter second classify, each side cut to `n_ctx // 2 - 2` tokens."""
    side = n_ctx // 2 - 2
    texts = ([special.start], first[:side], [special.delimiter], second[:side])
    return _join(*texts, [special.classify])


def question_answer(
    document: np.ndarray,
    question: np.ndarray,
    answer: np.ndarray,
    special: SpecialTokens,
    n_ctx: int,
) -> np.ndarray:
    """start document question delimiter answer classify; the document is cut first.

    Question and answer keep up to `n_ctx // 2 - 2` tokens each; the document gets the rest of
    `n_ctx`, at least one token (chosen here; nothing was published).
    """
    side = n_ctx // 2 - 2
    question, answer = question[:side], answer[:side]
    document = document[: n_ctx - 3 - len(question) - len(answer)]
    texts = ([special.start], document, question, [special.delimiter], answer)
    return _join(*texts, [special.classify])


def build_sequences(
    family: str, split: EncodedSplit, special: SpecialTokens, n_ctx: int
) -> Sequences:
    """All sequences of an encoded split of a task's `family`."""
    rows = []
    for first, second, choices in zip(split.first, split.second, split.choices, strict=True):
        if family == "classification":
            sequences = [single(first, special, n_ctx)]
        elif family == "entailment":
            sequences = [pair(first, second, special, n_ctx)]
        elif family == "similarity":
            sequences = [pair(a, b, special, n_ctx) for a, b in ((first, second), (second, first))]
        elif len(second):
            sequences = [question_answer(first, second, c, special, n_ctx) for c in choices]
        else:
            sequences = [pair(first, c, special, n_ctx) for c in choices]
        rows.append(sequences)
    lengths = np.array([[len(s) for s in row] for row in rows], dtype=np.int32)
    ids = np.full((*lengths.shape, int(lengths.max())), PAD, dtype=np.int32)
    for i, row in enumerate(rows):
        for j, sequence in enumerate(row):
            ids[i, j, : len(sequence)] = sequence
    truncated = float(np.mean(n_ctx_needed(family, split) > n_ctx))
    return Sequences(ids, lengths, np.asarray(split.labels), split.groups, truncated)


def input_lengths(family: str, split: EncodedSplit) -> np.ndarray:
    """Tokens `[n]` of each untruncated input: texts (the longest choice) and special tokens."""
    first, second, choice = _text_lengths(split)
    return first + second + choice + (2 if family == "classification" else 3)


def n_ctx_needed(family: str, split: EncodedSplit) -> np.ndarray:
    """The smallest n_ctx `[n]` at which `build_sequences` truncates nothing of an example.

    A pair needs room for its longer side twice; if there is a question, so do question and answer.
    """
    first, second, choice = _text_lengths(split)
    whole = input_lengths(family, split)
    if family == "classification":
        return whole
    pairs = 2 * np.maximum(first, np.maximum(second, choice)) + 4
    if family != "multiple_choice":
        return pairs
    return np.where(second > 0, np.maximum(whole, 2 * np.maximum(second, choice) + 4), pairs)


def sample(n: int, limit: int | None) -> np.ndarray:
    """Row numbers of at most `limit` of `n` rows, in order: always the same random sample.

    Files are often sorted (by source, by grade), so the first rows would not be representative.
    """
    if limit is None or limit >= n:
        return np.arange(n)
    return np.sort(stream("sample of rows").permutation(n)[:limit])


def epoch_batches(n: int, batch: int, seed: int, number: int) -> Iterator[np.ndarray]:
    """Row numbers of an epoch's batches, shuffled by (seed, number), without a partial last one."""
    order = stream("order of an epoch", seed, number).permutation(n)
    for start in range(0, n - batch + 1, batch):
        yield order[start : start + batch]


def by_length(tokens: np.ndarray, limit: int) -> Iterator[np.ndarray]:
    """Batches of row numbers, of rows of similar length, for scoring.

    `tokens` `[n]` holds the rows' lengths; a batch of several rows has at most `limit` tokens, pads
    included.
    """
    order, start = np.argsort(tokens, kind="stable"), 0
    for end in range(1, len(order) + 1):
        if end == len(order) or (end + 1 - start) * tokens[order[end]] > limit:
            yield order[start:end]
            start = end


def _text_lengths(split: EncodedSplit) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of tokens `[n]` of the first text, the second text and the longest choice."""
    first = np.array([len(ids) for ids in split.first])
    second = np.array([len(ids) for ids in split.second])
    return first, second, np.array([max(map(len, row), default=0) for row in split.choices])


def _join(*texts: list[int] | np.ndarray) -> np.ndarray:
    return np.concatenate([np.asarray(text, dtype=np.int32) for text in texts])
