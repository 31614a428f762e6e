"""The two files of a byte-pair vocabulary, as OpenAI published them: names, layout, checks.

The JSON maps pieces to ids: 0 `<unk>`, the bare characters, the same characters with `</w>` at
their end, the merges in rank order, and last `\\n</w>`, which is the whole word "\\n". The other
file has a version line and one merge a line. Any tool for the published files reads ours.
"""

import json
from pathlib import Path

from gpt1.text.normalise import NEWLINE
from tasks.common.errors import InputError
from tasks.common.files import write_atomic

UNKNOWN = "<unk>"
END = "</w>"
NEWLINE_PIECE = NEWLINE + END
FILES = ("encoder.json", "merges.bpe")
PUBLISHED_FILES = ("encoder_bpe_40000.json", "vocab_40000.bpe")
HUB_FILES = ("vocab.json", "merges.txt")  # the same content on the Hugging Face hub
VERSION = "#version: 0.2"

Merges = list[tuple[str, str]]


def find(folder: Path) -> tuple[Path, Path]:
    """Paths of the two files in a folder, by our names or the published ones."""
    for names in (FILES, PUBLISHED_FILES, HUB_FILES):
        paths = [folder / name for name in names]
        if any(path.exists() for path in paths):
            return paths[0], paths[1]
    raise InputError(
        f"{folder}: no tokenizer there; it needs {' and '.join(FILES)} "
        f"(or {' and '.join(PUBLISHED_FILES)}, or {' and '.join(HUB_FILES)})"
    )


def save(folder: str | Path, pieces: list[str], merges: Merges) -> None:
    """Write `encoder.json` and `merges.bpe` in the formats of the published files."""
    with write_atomic(Path(folder) / FILES[0]) as file:
        json.dump({piece: i for i, piece in enumerate(pieces)}, file)
    with write_atomic(Path(folder) / FILES[1]) as file:
        file.writelines(f"{line}\n" for line in [VERSION, *map(" ".join, merges)])


def read_text(path: Path) -> str:
    """A UTF-8 file's text with its line ends as they are."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; make or fetch it first") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; fetch it again") from None


def read_encoder(path: Path) -> list[str]:
    """Pieces in id order. Raises InputError unless the ids are 0, 1, 2 ... each once."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        entries = dict(pairs)
        if len(entries) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise InputError(f"{path}: piece {twice!r} stands there twice; fetch it again")
        return entries

    try:
        ids = json.loads(read_text(path), object_pairs_hook=unique)
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


def read_merges(path: Path) -> Merges:
    """Merges in rank order. Raises InputError for a malformed, repeated or cut off line."""
    lines = read_text(path).split("\n")
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


def check(pieces: list[str], merges: Merges, path: Path) -> None:
    """Raise InputError unless pieces and merges have the layout and belong together."""
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
