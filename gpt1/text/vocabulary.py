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
HUB_FILE = "tokenizer.json"  # both in one, all that `transformers` 5 saves
KINDS: tuple[tuple[str, ...], ...] = (FILES, PUBLISHED_FILES, HUB_FILES, (HUB_FILE,))
VERSION = "#version: 0.2"

Merges = list[tuple[str, str]]


def find(folder: Path) -> list[Path]:
    """Paths of the two files in a folder, by our names or either set of published names.

    Of a folder without them, the path of `tokenizer.json`. Raises InputError if none is there.
    """
    for names in KINDS:
        paths = [folder / name for name in names]
        if any(path.exists() for path in paths):
            return paths
    known, *others = (" and ".join(names) for names in KINDS)
    raise InputError(f"{folder}: no tokenizer in it; it needs {known} (or {', or '.join(others)})")


def contents(folder: Path) -> list[bytes]:
    """The two files of a folder; of `tokenizer.json` alone, as `save` writes what it holds."""
    paths = find(folder)
    if len(paths) == 2:
        return [path.read_bytes() for path in paths]
    ids, merges = read_hub(paths[0])
    return [text.encode() for text in _texts(sorted(ids, key=ids.__getitem__), merges)]


def read_hub(path: str | Path) -> tuple[dict[str, int], Merges]:
    """Ids and merges of a `tokenizer.json`, without its added tokens."""
    model = json.loads(read_text(Path(path)))["model"]
    pairs = (pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"])
    return dict(model["vocab"]), [(left, right) for left, right in pairs]


def save(folder: str | Path, tokens: list[str], merges: Merges) -> None:
    """Write `encoder.json` and `merges.bpe` in the formats of the published files."""
    for name, text in zip(FILES, _texts(tokens, merges), strict=True):
        with write_atomic(Path(folder) / name) as file:
            file.write(text)


def _texts(tokens: list[str], merges: Merges) -> tuple[str, str]:
    lines = [VERSION, *map(" ".join, merges)]
    ids = {token: i for i, token in enumerate(tokens)}
    return json.dumps(ids), "".join(f"{line}\n" for line in lines)


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
    tokens = dict(zip(ids.values(), ids, strict=True))  # by id
    n_characters = (len(ids) - len(merges) - 2) // 2
    characters = [tokens.get(i, "") for i in range(1, 1 + n_characters)]
    expected = [UNKNOWN, *characters, *(c + END for c in characters)]
    expected += [*(left + right for left, right in merges), NEWLINE_TOKEN]
    together = "do both files belong together?"
    if n_characters < 1 or len(expected) != len(ids):
        raise InputError(f"{path}: {len(ids)} tokens do not fit {len(merges)} merges; {together}")
    for i, token in enumerate(expected):
        if tokens.get(i) != token:
            raise InputError(f"{path}: id {i} is {tokens.get(i)!r}, expected {token!r}; {together}")
    for part in (part for pair in merges for part in pair):
        if part not in ids:
            raise InputError(f"{path}: no token {part!r}, which a merge uses; fetch it again")
    if long := [token for token in characters if len(token) != 1]:
        raise InputError(f"{path}: found {long[0]!r}, expected one character; {together}")
