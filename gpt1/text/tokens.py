"""The three special tokens, and the token files of a corpus, as `gpt1.corpus tokens` writes them.

Reading the files is separate from `gpt1.corpus`, so that pre-training depends neither on the text
nor on the tokenizer.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gpt1.records import CorpusFacts
from tasks.common.errors import InputError, make_again
from tasks.common.files import named_file, sha256_file

N_SPECIAL = 3
NAMES = ("<start>", "<delimiter>", "<classify>")
DTYPE = np.dtype("<u2")


@dataclass(frozen=True)
class SpecialTokens:
    """Ids of the start, delimiter and classify tokens, the rows that follow the BPE vocabulary.

    Source: paper 3.3; authors' code.
    """

    start: int
    delimiter: int
    classify: int

    @classmethod
    def after(cls, n_vocab: int) -> "SpecialTokens":
        """The ids after a vocabulary of `n_vocab` BPE tokens: 40478, 40479, 40480 in GPT-1."""
        return cls(n_vocab, n_vocab + 1, n_vocab + 2)


def open_tokens(corpus: str | Path, split: str) -> np.memmap:
    """The tokens of one split of `corpus.json`: uint16 [n], memory-mapped, document after document.

    Raises InputError for a missing split, and for a file that `corpus.json` does not describe.
    """
    corpus = Path(corpus)
    facts = CorpusFacts.read(corpus, make_again(corpus)).splits.get(split)
    if facts is None:
        raise InputError(f"{corpus}: no split {split!r}; {make_again(corpus)}")
    path = named_file(corpus.parent, facts.file, corpus)
    if not path.is_file() or sha256_file(path) != facts.sha256:
        raise InputError(f"{path}: not what {corpus.name} describes (sha256); {make_again(path)}")
    return np.memmap(path, dtype=DTYPE, mode="r")
