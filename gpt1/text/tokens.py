"""The token files of a corpus, as pre-training reads them: what `gpt1.corpus` wrote.

Apart from `gpt1.corpus`, so that pre-training depends neither on the books nor on the tokenizer.
"""

from pathlib import Path

import numpy as np

from tasks.common.errors import InputError
from tasks.common.files import read_json

DTYPE = np.dtype("<u2")


def open_tokens(corpus: str | Path, split: str) -> np.memmap:
    """The tokens of a split of `corpus.json`, memory-mapped: uint16, all its books in a row."""
    corpus = Path(corpus)
    try:
        facts = read_json(corpus)["splits"][split]
        path, length = corpus.parent / facts["file"], facts["tokens"]
    except (KeyError, TypeError):
        raise InputError(f"{corpus}: tells of no split {split!r}; make it again") from None
    found = path.stat().st_size if path.exists() else 0
    if found != length * DTYPE.itemsize or not found:
        raise InputError(
            f"{path}: {found:,} bytes, expected {length * DTYPE.itemsize:,}; make it again"
        )
    return np.memmap(path, dtype=DTYPE, mode="r", shape=(length,))
