"""Static word vectors of a run's own books: what words are, without any language model.

    python -m gpt1 vectors results/corpus/corpus.json --width 48 --out width-48.safetensors

The contexts of a token are the tokens up to three places before and after it, with each place
counted separately (Levy and Goldberg 2014, CoNLL). Their positive pointwise mutual information,
with context counts smoothed by the exponent 0.75, is factored by a truncated SVD; the left singular
vectors are used without the singular values (Levy, Goldberg and Dagan 2015, TACL 3:211). Equal
books give equal bytes.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from gpt1.records import CorpusFacts, VectorsFacts
from gpt1.text.tokens import open_tokens
from gpt1.weights.checkpoint import sidecar, write_tensors
from tasks.common.errors import InputError
from tasks.common.files import sha256_file

WINDOW, SMOOTHING, CHUNK = 3, 0.75, 2**24  # places, exponent, tokens counted at a time


def counted(tokens: np.ndarray, n_vocab: int, distance: int) -> sparse.csr_array:
    """How often each token occurs `distance` places before each other one [n_vocab, n_vocab]."""
    total = sparse.csr_array((n_vocab, n_vocab))
    for start in range(0, len(tokens) - distance, CHUNK):
        part = np.asarray(tokens[start : start + CHUNK + distance])
        pairs = part[:-distance], part[distance:]
        total += sparse.coo_array((np.ones(len(pairs[0])), pairs), shape=total.shape).tocsr()
    return total


def positive_information(counts: sparse.csr_array) -> sparse.coo_array:
    """The positive pointwise mutual information of counts [tokens, contexts], in nats."""
    cells, contexts = counts.tocoo(), counts.sum(axis=0) ** SMOOTHING
    expected = counts.sum(axis=1)[cells.row] * (contexts / contexts.sum())[cells.col]
    values = np.maximum(0.0, np.log(cells.data / expected))
    return sparse.coo_array((values, (cells.row, cells.col)), shape=cells.shape)


def word_vectors(tokens: np.ndarray, n_vocab: int, width: int) -> np.ndarray:
    """A vector for each token, float32 [n_vocab, width], with standard deviation 1 over all values.

    Tokens that never occur have zeros. Raises InputError unless `width` is less than `n_vocab`.
    """
    if width >= n_vocab:
        raise InputError(f"--width: {width} of {n_vocab} tokens; give less, or learn more merges")
    before = [counted(tokens, n_vocab, distance) for distance in range(1, WINDOW + 1)]
    contexts = [positive_information(side) for n in before for side in (n, n.T.tocsr())]
    # Its seed and its sign convention make bytes repeatable; ARPACK draws its own start vectors.
    found, _, _ = randomized_svd(sparse.hstack(contexts, format="csr"), width, random_state=0)
    occurs = before[0].sum(axis=0) + before[0].sum(axis=1) > 0  # before or behind another token
    found[~occurs] = 0.0
    return (found / found.std()).astype(np.float32)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="corpus.json of the books")
    parser.add_argument("--width", required=True, type=int, help="values of a vector")
    parser.add_argument("--code", default="", help="digest of the code, kept in the JSON")
    parser.add_argument("--out", required=True, type=Path, help="the file; its facts: OUT.json")
    a = parser.parse_args()
    facts, tokens = CorpusFacts.read(a.corpus), open_tokens(a.corpus, "train")
    write_tensors(a.out, {"embed": torch.from_numpy(word_vectors(tokens, facts.n_vocab, a.width))})
    digests = {"sha256": sha256_file(a.out), "corpus_sha256": facts.splits["train"].sha256}
    digests |= {"tokenizer": facts.tokenizer, "code": a.code}
    VectorsFacts(n_vocab=facts.n_vocab, width=a.width, **digests).write(sidecar(a.out))
