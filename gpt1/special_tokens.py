"""The three special tokens, whose rows follow the BPE vocabulary (paper 3.3; authors' code)."""

from dataclasses import dataclass

N_SPECIAL = 3
NAMES = ("<start>", "<delimiter>", "<classify>")


@dataclass(frozen=True)
class SpecialTokens:
    """Ids of the start, delimiter and classify tokens."""

    start: int
    delimiter: int
    classify: int

    @classmethod
    def after(cls, n_vocab: int) -> "SpecialTokens":
        """The ids after a vocabulary of `n_vocab` BPE tokens: 40478, 40479, 40480 in GPT-1."""
        return cls(n_vocab, n_vocab + 1, n_vocab + 2)
