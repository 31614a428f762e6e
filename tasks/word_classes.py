"""Word classes, learnt from word neighbourhoods in books without a neural network.

    python -m tasks word_classes --documents corpus/documents --out corpus/word_classes.json

Words with similar neighbours fall into one class: each word's vector is its positive pointwise
mutual information with the words around it, reduced by a singular value decomposition (Levy et al.
2015), and a Gaussian mixture clusters the vectors. A linear model on word classes knows what single
words mean but nothing of their order: what it solves needs no depth.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json

if TYPE_CHECKING:  # takes a second to import
    from scipy.sparse import csr_matrix

WORD = re.compile(r"\w+|[^\w\s]")
# Upper bounds; with few words there is one class and one dimension per three words. Chosen on an
# earlier synthetic world, where 150 to 250 classes in 200 to 300 dimensions were within 1.5 points
# of each other in the mean of twelve tasks, and 100 dimensions lost 5 points.
N_CLASSES = 110
N_DIMENSIONS = 200
WINDOW = 3  # words on either side; left and right are told apart only for adjacent words
# Limits for real books, so that they take no longer than the synthetic world's.
MAX_TOKENS = 2_000_000
MAX_WORDS = 5_000
MIN_COUNT = 5
WordClasses = dict[str, int]


def words(text: str) -> list[str]:
    """The lower-cased words and punctuation marks of a text."""
    return WORD.findall(text.lower())


def word_classes(texts: Iterable[str]) -> WordClasses:
    """The class of each frequent word of some books, from their first 2 million words.

    There are at most `N_CLASSES` classes, and at most a third as many classes as words. Raises
    InputError for too little text.
    """
    from sklearn.mixture import GaussianMixture
    from sklearn.preprocessing import normalize

    tokens: list[str] = []
    for text in texts:
        tokens += words(text)
        if len(tokens) >= MAX_TOKENS:
            break
    counts = Counter(tokens[:MAX_TOKENS]).most_common(MAX_WORDS)
    index = {word: i for i, (word, count) in enumerate(counts) if count >= MIN_COUNT}
    if len(index) < 3:
        raise InputError(
            f"the books have {len(index)} words that occur {MIN_COUNT} times; use more"
        )
    ids = np.array([index.get(word, -1) for word in tokens[:MAX_TOKENS]])
    vectors = normalize(_vectors(ids, len(index)))
    mixture = GaussianMixture(
        min(N_CLASSES, len(index) // 3), covariance_type="diag", reg_covar=1e-4, random_state=0
    )
    return dict(zip(index, mixture.fit_predict(vectors).tolist(), strict=True))


def _vectors(ids: np.ndarray, n_words: int) -> np.ndarray:
    """Word vectors [n_words, dimensions]; `ids` are the books' tokens as word indices, or -1."""
    from scipy.sparse import hstack
    from scipy.sparse.linalg import svds

    next_one = _pairs(ids, n_words, range(1, 2))
    further = _pairs(ids, n_words, range(2, WINDOW + 1))
    information = hstack([_ppmi(m) for m in (next_one, next_one.T, further + further.T)]).tocsr()
    # The left singular vectors only, unscaled: a direction counts even if its singular value is
    # small, as is that of good versus bad.
    n = min(N_DIMENSIONS, n_words // 3)  # one dimension per word would tell all words apart
    return svds(information, k=n, random_state=0, return_singular_vectors="u")[0]


def _pairs(ids: np.ndarray, n_words: int, distances: range) -> "csr_matrix":
    """How often a word (row) precedes another (column) by one of the distances."""
    from scipy.sparse import csr_matrix

    first = np.concatenate([ids[:-distance] for distance in distances])
    second = np.concatenate([ids[distance:] for distance in distances])
    known = (first >= 0) & (second >= 0)
    ones = np.ones(known.sum())
    return csr_matrix((ones, (first[known], second[known])), shape=(n_words, n_words))


def _ppmi(counts: "csr_matrix") -> "csr_matrix":
    """The positive pointwise mutual information of rows and columns."""
    from scipy.sparse import csr_matrix

    found = counts.tocoo()
    rows, columns = (np.asarray(counts.sum(axis)).ravel() for axis in (1, 0))
    expected = rows[found.row] * columns[found.col] / counts.sum()
    values = np.maximum(np.log(found.data / expected), 0.0)
    return csr_matrix((values, (found.row, found.col)), shape=counts.shape)


def read(path: Path) -> WordClasses:
    """Read the classes that the program wrote. Raises InputError for any other or damaged file."""
    content = read_json(path)
    if not isinstance(content, dict) or "classes" not in content:
        raise InputError(f"{path}: no word classes; make them again")
    return content["classes"]


def main() -> None:
    from tasks.common.arrow import read_documents

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", required=True, type=Path, help="the corpus' documents")
    parser.add_argument("--out", required=True, help="JSON: the class of each word")
    args = parser.parse_args()
    texts = (text.to_pybytes().decode() for _, text in read_documents(args.documents, "train"))
    classes = word_classes(texts)
    write_json(args.out, {"classes": classes})
    print(f"{len(set(classes.values()))} classes of {len(classes):,} words")
