"""Byte-pair encoding of words in the published GPT-1 layout: training, loading, encoding.

A word's symbols are its characters, the last one carrying `</w>`; the merge of lowest rank that
occurs is applied until none does (Sennrich et al. 2016; authors' code). Ids: 0 `<unk>`, the bare
characters, the same characters with `</w>`, the merges in rank order, and `\\n</w>` last, which is
the whole word "\\n". A symbol that is not in the vocabulary becomes id 0.

    python -m gpt1.bpe train --words words.tsv --merges 1200 --out tokenizer/
"""

import argparse
import hashlib
import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import tokenizers
from tokenizers import models, pre_tokenizers, trainers

from gpt1.text import NEWLINE, words
from tasks.errors import InputError, run
from tasks.files import write_atomic

UNKNOWN = "<unk>"
END = "</w>"
NEWLINE_PIECE = NEWLINE + END
FILES = ("encoder.json", "merges.bpe")
PUBLISHED_FILES = ("encoder_bpe_40000.json", "vocab_40000.bpe")
VERSION = "#version: 0.2"

CACHED_WORDS = 1 << 18

Merges = list[tuple[str, str]]


class Tokenizer:
    """Encodes text to ids with a vocabulary and its merges.

    Attributes: `n_vocab`, the number of pieces without the special rows of the model; `digest`,
    a SHA-256 over both files, which tells this tokenizer from every other.
    """

    def __init__(self, pieces: list[str], merges: Merges, digest: str) -> None:
        self.pieces = pieces
        self.merges = merges
        self.digest = digest
        self.n_vocab = len(pieces)
        self._ids = {piece: i for i, piece in enumerate(pieces)}
        self._model = models.BPE(
            vocab=self._ids,
            merges=merges,
            unk_token=UNKNOWN,
            end_of_word_suffix=END,
            fuse_unk=False,
        )
        self._cache: dict[str, list[int]] = {}

    @classmethod
    def load(cls, folder: str | Path) -> "Tokenizer":
        """Read a folder that `train` wrote, or one with the two published files.

        Raises InputError if a file is missing or cut off, or if ids and merges do not fit.
        """
        encoder_path, merges_path = _find_files(Path(folder))
        pieces = _read_encoder(encoder_path)
        merges = _read_merges(merges_path)
        _check_layout(pieces, merges, encoder_path)
        digest = hashlib.sha256(encoder_path.read_bytes() + merges_path.read_bytes()).hexdigest()
        return cls(pieces, merges, digest)

    @property
    def newline_id(self) -> int:
        """Id of the newline word, the last of the vocabulary."""
        return self.n_vocab - 1

    def id_of(self, piece: str) -> int:
        """Id of one piece, e.g. `very</w>`. Raises InputError if the vocabulary lacks it."""
        if piece not in self._ids:
            raise InputError(f"piece {piece!r} is not in the vocabulary; train with more merges")
        return self._ids[piece]

    def encode(self, text: str) -> list[int]:
        """Ids of raw text after the full cleaning path, without special tokens."""
        return self.encode_words(words(text))

    def encode_words(self, cleaned: Iterable[str]) -> list[int]:
        """Ids of words that are already cleaned and lower-cased."""
        ids: list[int] = []
        known = self._cache.get
        for word in cleaned:
            found = known(word)
            ids.extend(self._encode_word(word) if found is None else found)
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        """Readable text of ids: one space between words, lines ended by newlines."""
        special = {self.n_vocab: "<start>", self.n_vocab + 1: "<delimiter>"}
        special[self.n_vocab + 2] = "<classify>"
        pieces = [special[i] + END if i in special else self.pieces[i] for i in map(int, ids)]
        lines = "".join(pieces).replace(END, " ").split("\n")
        return "\n".join(line.strip(" ") for line in lines)

    def _encode_word(self, word: str) -> list[int]:
        if len(self._cache) >= CACHED_WORDS:
            self._cache.clear()
        ids = [token.id for token in self._model.tokenize(word)] if word else []
        self._cache[word] = ids
        return ids


def train(counts: dict[str, int], n_merges: int) -> tuple[list[str], Merges]:
    """Pieces in id order and merges in rank order, learnt from word counts.

    The same counts give the same result in every process. There are fewer merges than asked for if
    no pair of symbols occurs twice any more. Ties go to the pair of lower ids.
    """
    characters = sorted(set().union(*counts) - {NEWLINE})
    base = [UNKNOWN, *characters, *(c + END for c in characters)]
    # Left to itself the trainer numbers the suffixed characters in the order of a hash map, and
    # ties then fall differently in each run; listing them as special tokens fixes their ids.
    trainer = trainers.BpeTrainer(
        vocab_size=len(base) + n_merges,
        min_frequency=2,
        special_tokens=base,
        end_of_word_suffix=END,
        show_progress=False,
    )
    learner = tokenizers.Tokenizer(models.BPE(unk_token=UNKNOWN, end_of_word_suffix=END))
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    learner.train_from_iterator(_repeated(counts), trainer)
    learnt = json.loads(learner.to_str())["model"]["merges"]

    pieces, merges, seen = list(base), [], set(base)
    for left, right in learnt:
        # Two pairs may spell one piece; the vocabulary has a row for the first of them only.
        if left + right not in seen:
            seen.add(left + right)
            pieces.append(left + right)
            merges.append((left, right))
    return [*pieces, NEWLINE_PIECE], merges


def save(folder: str | Path, pieces: list[str], merges: Merges) -> None:
    """Write `encoder.json` and `merges.bpe` in the formats of the published files."""
    with write_atomic(Path(folder) / FILES[0]) as file:
        json.dump({piece: i for i, piece in enumerate(pieces)}, file)
    with write_atomic(Path(folder) / FILES[1]) as file:
        file.writelines(f"{line}\n" for line in [VERSION, *map(" ".join, merges)])


def read_counts(path: str | Path) -> dict[str, int]:
    """Word counts of a file with lines "word<TAB>count". Raises InputError for any other line."""
    counts: dict[str, int] = {}
    for number, line in enumerate(_read(Path(path)).split("\n")[:-1], 1):
        word, _, count = line.partition("\t")
        if not word or not count.isdecimal() or int(count) == 0 or len(word.split()) != 1:
            raise InputError(f"{path}: line {number}: {line!r} is not a word, a tab and a count")
        counts[word] = counts.get(word, 0) + int(count)
    if not counts:
        raise InputError(f"{path}: no words; clean a corpus first")
    return counts


def _repeated(counts: dict[str, int], at_once: int = 4096) -> Iterator[str]:
    """Each word as often as it occurs, in strings of bounded length: all that the trainer takes."""
    for word, count in sorted(counts.items()):
        whole, rest = divmod(count, at_once)
        yield from itertools.repeat(" ".join([word] * at_once), whole)
        yield " ".join([word] * rest)


def _find_files(folder: Path) -> tuple[Path, Path]:
    for names in (FILES, PUBLISHED_FILES):
        paths = [folder / name for name in names]
        if any(path.exists() for path in paths):
            return paths[0], paths[1]
    raise InputError(
        f"{folder}: no tokenizer there; it needs {' and '.join(FILES)} "
        f"(or {' and '.join(PUBLISHED_FILES)})"
    )


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the tokenizer is made of two") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; fetch it again") from None


def _read_encoder(path: Path) -> list[str]:
    """Pieces in id order of a JSON object from piece to id."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"{path}: piece {twice!r} stands there twice; fetch it again")
        return entries

    try:
        ids = json.loads(_read(path), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: not JSON ({error.msg} at character {error.pos}); cut off?"
        ) from None
    if not isinstance(ids, dict) or not all(type(i) is int for i in ids.values()):
        raise InputError(f"{path}: not an object from pieces to whole numbers; fetch it again")
    pieces = {i: piece for piece, i in ids.items()}
    for i in range(len(ids)):
        if i not in pieces:
            raise InputError(f"{path}: {len(ids)} pieces, but none has id {i}; ids run from 0")
    return [pieces[i] for i in range(len(ids))]


def _read_merges(path: Path) -> Merges:
    lines = _read(path).split("\n")
    if not lines[0].startswith("#version"):
        raise InputError(f"{path}: line 1: found {lines[0][:40]!r}, expected {VERSION!r}")
    if lines[-1]:
        raise InputError(f"{path}: line {len(lines)}: no newline at the end; cut off?")
    merges: dict[tuple[str, str], int] = {}
    for number, line in enumerate(lines[1:-1], 2):
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise InputError(f"{path}: line {number}: {line!r} is not two pieces and one space")
        if (left, right) in merges:
            first = merges[left, right]
            raise InputError(
                f"{path}: line {number}: merge {line!r} stands in line {first} already"
            )
        merges[left, right] = number
    return list(merges)


def _check_layout(pieces: list[str], merges: Merges, path: Path) -> None:
    n_characters, odd = divmod(len(pieces) - len(merges) - 2, 2)
    if n_characters < 1 or odd:
        raise InputError(
            f"{path}: {len(pieces)} pieces do not fit {len(merges)} merges; "
            "do both files belong together?"
        )
    characters = pieces[1 : 1 + n_characters]
    expected = [UNKNOWN, *characters, *(c + END for c in characters)]
    expected += [left + right for left, right in merges]
    expected.append(NEWLINE_PIECE)
    for i, (found, wanted) in enumerate(zip(pieces, expected, strict=True)):
        if found != wanted or (0 < i <= n_characters and len(found) != 1):
            wanted = "one character" if found == wanted else repr(wanted)
            raise InputError(f"{path}: id {i} is {found!r}, expected {wanted}; files of two kinds?")
    ids = {piece: i for i, piece in enumerate(pieces)}
    for rank, pair in enumerate(merges):
        for part in pair:
            if ids.get(part, len(pieces)) >= 1 + 2 * n_characters + rank:
                raise InputError(
                    f"{path}: merge {rank} ({' '.join(pair)!r}) uses {part!r}, "
                    "which no earlier merge makes"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a byte-pair encoding from word counts.")
    command = parser.add_subparsers(required=True).add_parser("train")
    command.add_argument("--words", type=Path, required=True, help="word<TAB>count lines")
    command.add_argument("--merges", type=int, required=True, help="number of merges to learn")
    command.add_argument("--out", type=Path, required=True, help="folder of the two files")
    args = parser.parse_args()
    if args.merges < 1:
        raise InputError(f"--merges {args.merges}: ask for at least one")
    pieces, merges = train(read_counts(args.words), args.merges)
    save(args.out, pieces, merges)
    Tokenizer.load(args.out)
    if len(merges) < args.merges:
        print(f"only {len(merges):,} of {args.merges:,} merges: no pair occurs twice any more")
    n_characters = (len(pieces) - len(merges) - 2) // 2
    print(
        f"{len(pieces):,} pieces: {n_characters:,} characters, {len(merges):,} merges", flush=True
    )


if __name__ == "__main__":
    sys.exit(run(main))
