"""STS-B as six soft classes: how a score becomes a target and a prediction becomes a score.

The authors' code has a label encoding for it, after Tai et al. 2015: a score between two whole
numbers is split between their classes. The prediction is the expected score.
"""

import numpy as np

CLASSES = 6


def soft_labels(scores: np.ndarray) -> np.ndarray:
    """Targets [n, 6] of scores [n] from 0 to 5; each row sums to 1 and has its score as mean."""
    scores = np.asarray(scores, dtype=np.float64)
    return np.maximum(0.0, 1.0 - np.abs(scores[:, None] - np.arange(CLASSES)))


def expected_score(probabilities: np.ndarray) -> np.ndarray:
    """Predicted scores [n] from class probabilities [n, 6]: sum over j of j p_j."""
    return np.asarray(probabilities, dtype=np.float64) @ np.arange(CLASSES)
