"""A fine-tuned model's predictions: the forward pass of scoring, in a run or from kept weights."""

import numpy as np
import torch

from gpt1.data import batching
from gpt1.data.batching import Sequences
from gpt1.model.classifier import TaskModel
from gpt1.model.layout import computed
from gpt1.training.runtime import Runtime
from tasks.metrics import expected_score
from tasks.spec import TaskSpec


@torch.no_grad()
def predict(
    model: TaskModel, spec: TaskSpec, split: Sequences, runtime: Runtime
) -> tuple[np.ndarray, np.ndarray]:
    """Predictions `[n]` of a split and the probabilities `[n, classes]` behind them.

    A prediction is the number of a class or a choice, or the expected score (STS-B). Raises
    InputError if memory runs out.
    """
    model.eval()
    tokens = split.lengths.max(1) * split.lengths.shape[1]
    if model.shared_prefix:
        tokens = computed(split.ids, split.lengths)
    batches = list(batching.by_length(tokens, runtime.scoring_tokens))
    predictions, probabilities = [], []
    for rows in batches:
        with runtime.scoring(), runtime.autocast():
            logits, _ = model(*split.take(rows))
        logits = logits.float()
        shares = logits.softmax(-1).cpu().numpy()
        probabilities.append(shares)
        classes = logits.argmax(-1).cpu().numpy()
        predictions.append(expected_score(shares) if spec.soft_labels else classes)
    order = np.argsort(np.concatenate(batches))
    return np.concatenate(predictions)[order], np.concatenate(probabilities)[order]
