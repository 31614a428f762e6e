"""The two files of a byte-pair vocabulary, as OpenAI published them: names, layout, checks.

The JSON file maps tokens to ids: 0 is `<unk>`, then come the bare characters, the same characters
with `</w>` at their end, the results of the merges in rank order, and last `\\n</w>`, which is the
whole word "\\n". The other file has a version line and one merge per line. Any tool that reads the
published files reads ours.
"""

import json
from collections import Counter
from pathlib import Path

from tasks.common.errors import InputError
from tasks.common.files import parse_json, write_atomic

NEWLINE = "\n"  # the word that ends a line
UNKNOWN = "<unk>"
END = "</w>"
NEWLINE_TOKEN = NEWLINE + END
FILES = ("encoder.json", "merges.bpe")
PUBLISHED_FILES = ("encoder_bpe_40000.json", "vocab_40000.bpe")
HUB_FILES = ("vocab.json", "merges.txt")  # the same content on the Hugging Face hub
VERSION = "#version: 0.2"

Merges = list[tuple[str, str]]


def find(folder: Path) -> tuple[Path, Path]:
    """Paths of the two files in a folder, by our names or either of the published ones.

    Raises InputError if none of the files is there.
    """
    for names in (FILES, PUBLISHED_FILES, HUB_FILES):
        paths = [folder / name for name in names]
        if any(path.exists() for path in paths):
            return paths[0], paths[1]
    raise InputError(
        f"{folder}: no tokenizer in it; it needs {' and '.join(FILES)} "
        f"(or {' and '.join(PUBLISHED_FILES)}, or {' and '.join(HUB_FILES)})"
    )


def save(folder: str | Path, tokens: list[str], merges: Merges) -> None:
    """Write `encoder.json` and `merges.bpe` in the formats of the published files."""
    with write_atomic(Path(folder) / FILES[0]) as file:
        json.dump({token: i for i, token in enumerate(tokens)}, file)
    with write_atomic(Path(folder) / FILES[1]) as file:
        file.writelines(f"{line}\n" for line in [VERSION, *map(" ".join, merges)])


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, its line ends unchanged. Raises InputError if it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; make or fetch it first") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; fetch it again") from None


def read_encoder(path: Path) -> list[str]:
    """Tokens in id order. Raises InputError unless the ids are 0, 1, 2, ..., each once."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        for token, times in Counter(token for token, _ in pairs).items():
            if times > 1:
                raise InputError(f"{path}: token {token!r} appears twice; fetch it again")
        return dict(pairs)

    try:
        ids = parse_json(read_text(path), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}: not JSON ({error.msg} at character {error.pos}); truncated?"
        ) from None
    if not isinstance(ids, dict) or not all(type(i) is int for i in ids.values()):
        raise InputError(f"{path}: not an object from tokens to whole numbers; fetch it again")
    if missing := set(range(len(ids))).difference(ids.values()):
        raise InputError(
            f"{path}: {len(ids)} tokens, but none has id {min(missing)}; ids must be 0, 1, 2, ... "
            "without gaps"
        )
    return sorted(ids, key=ids.__getitem__)


def read_merges(path: Path) -> Merges:
    """Merges in rank order. Raises InputError for a malformed, repeated or truncated line."""
    lines = read_text(path).split("\n")
    if not lines[0].startswith("#version"):
        raise InputError(f"{path}: line 1: found {lines[0][:40]!r}, expected {VERSION!r}")
    if lines[-1]:
        raise InputError(f"{path}: line {len(lines)}: no newline at the end; truncated?")
    merges: dict[tuple[str, str], int] = {}
    for number, line in enumerate(lines[1:-1], 2):
        left, _, right = line.partition(" ")
        if not left or not right or " " in right:
            raise InputError(f"{path}: line {number}: {line!r} is not two tokens and one space")
        if (first := merges.setdefault((left, right), number)) < number:
            raise InputError(f"{path}: line {number}: merge {line!r} is already on line {first}")
    return list(merges)


def check(tokens: list[str], merges: Merges, path: Path) -> None:
    """Raise InputError unless tokens and merges have the layout above and belong together."""
    n_characters, odd = divmod(len(tokens) - len(merges) - 2, 2)
    if n_characters < 1 or odd:
        raise InputError(
            f"{path}: {len(tokens)} tokens do not fit {len(merges)} merges; "
            "do both files belong together?"
        )
    characters = tokens[1 : 1 + n_characters]
    if long := [token for token in characters if len(token) != 1]:
        raise InputError(
            f"{path}: found {long[0]!r}, expected one character; do both files belong together?"
        )
    expected = [UNKNOWN, *characters, *(c + END for c in characters)]
    expected += [*(left + right for left, right in merges), NEWLINE_TOKEN]
    for i, (token, expected_token) in enumerate(zip(tokens, expected, strict=True)):
        if token != expected_token:
            raise InputError(
                f"{path}: id {i} is {token!r}, expected {expected_token!r}; "
                "do both files belong together?"
            )
    known = set(expected[: 1 + 2 * n_characters])
    for rank, pair in enumerate(merges):
        if unknown := [token for token in pair if token not in known]:
            raise InputError(
                f"{path}: merge {rank} ({' '.join(pair)!r}) uses {unknown[0]!r}, "
                "which no earlier merge makes"
            )
        known.add("".join(pair))
