"""The two files of a byte-pair vocabulary, as OpenAI published them: names, layout, checks.

The JSON file maps tokens to ids: 0 is `<unk>`, then come the bare characters, the same characters
with `</w>` at their end, the results of the merges in rank order, and last `\\n</w>`, which is the
whole word "\\n". The other file has a version line and one merge per line. Any tool that reads the
published files reads ours.
"""

import json
from pathlib import Path

from tasks.common.errors import InputError
from tasks.common.files import write_atomic

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


def check(ids: dict[str, int], merges: Merges, path: Path) -> None:
    """Raise InputError unless ids and merges have the layout above and belong together."""
    if missing := set(range(len(ids))).difference(ids.values()):
        raise InputError(
            f"{path}: {len(ids)} tokens, but none has id {min(missing)}; ids must be 0, 1, 2, ... "
            "without gaps"
        )
    n_characters, odd = divmod(len(ids) - len(merges) - 2, 2)
    if n_characters < 1 or odd:
        raise InputError(
            f"{path}: {len(ids)} tokens do not fit {len(merges)} merges; "
            "do both files belong together?"
        )
    tokens = sorted(ids, key=ids.__getitem__)
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
    if unknown := [token for pair in merges for token in pair if token not in ids]:
        raise InputError(f"{path}: no token {unknown[0]!r}, which a merge uses; fetch it again")
