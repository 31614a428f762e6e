"""Classes of words, learnt from the neighbours of words in books without any network.

    python -m tasks word_classes --documents corpus/documents --out corpus/word_classes.json

Words whose neighbours are alike fall into one class: each word is a vector of its positive
pointwise mutual information with the words around it, reduced by a singular value decomposition
(Levy et al. 2015), and a mixture of Gaussians groups the vectors. A linear model on the classes of
words knows what single words mean and nothing of their order: what it solves needs no depth.
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
# At most, with three words a class at least. Chosen on an earlier synthetic world, where 150 to 250
# classes of 200 to 300 dimensions were within 1.5 points of each other in the mean of twelve tasks,
# and 100 dimensions lost 5 points.
N_CLASSES = 110
N_DIMENSIONS = 200
WINDOW = 3  # words to either side; the nearest ones are told apart by their side
# Bounds for real books, so that these take no longer than the synthetic world's.
MAX_TOKENS = 2_000_000
MAX_WORDS = 5_000
MIN_COUNT = 5
WordClasses = dict[str, int]


def words(text: str) -> list[str]:
    """The lower-cased words and punctuation marks of a text."""
    return WORD.findall(text.lower())


def word_classes(texts: Iterable[str]) -> WordClasses:
    """The class of each frequent word of some books, of which the first 2 million words count.

    At most `N_CLASSES`, and a third as many as words. Raises InputError for too little text.
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
    """A vector for each word [n_words, dimensions]; `ids` are the words of the books, or -1."""
    from scipy.sparse import hstack
    from scipy.sparse.linalg import svds

    next_one = _pairs(ids, n_words, range(1, 2))
    further = _pairs(ids, n_words, range(2, WINDOW + 1))
    information = hstack([_ppmi(m) for m in (next_one, next_one.T, further + further.T)]).tocsr()
    # The left singular vectors alone: a direction counts however small its singular value is, as
    # that of good against bad is.
    n = min(N_DIMENSIONS, n_words // 3)  # as many as there are words would tell all of them apart
    return svds(information, k=n, random_state=0, return_singular_vectors="u")[0]


def _pairs(ids: np.ndarray, n_words: int, distances: range) -> "csr_matrix":
    """How often a word (row) stands at one of the distances before another (column)."""
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
    """The classes that the program wrote. Raises InputError for another file, or a damaged one."""
    content = read_json(path)
    if not isinstance(content, dict) or "classes" not in content:
        raise InputError(f"{path}: no word classes; make them again")
    return content["classes"]


def main() -> None:
    from tasks.common.documents import read_documents

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", required=True, type=Path, help="the corpus' documents")
    parser.add_argument("--out", required=True, help="JSON: the class of each word")
    args = parser.parse_args()
    texts = (text.to_pybytes().decode() for _, text in read_documents(args.documents, "train"))
    classes = word_classes(texts)
    write_json(args.out, {"classes": classes})
    print(f"{len(set(classes.values()))} classes of {len(classes):,} words")
