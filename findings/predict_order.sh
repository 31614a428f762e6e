#!/usr/bin/env bash
# transformers 5.23.0: a Trainer that groups training batches by length returns its predictions in
# another order than the rows.
#
# Who meets it: anyone who fine-tunes with train_sampling_strategy="group_by_length" to save padding,
# and writes predictions beside rows: for a leaderboard, an ensemble, or a paired test of two runs.
# A good guess: the strategy is that of training, as its name and documentation say; `predict` goes
# through the rows in order, as with every other strategy.
# Seen: evaluation is grouped too, and predictions stay in the order of the groups, which is drawn by
# the seed. Accuracy is computed from labels in that same order, so it is right, 100 %; but beside the
# rows that they were asked for half of the predictions are wrong, as by chance, and two seeds that
# agree on every row seem to agree on half. Test rows have no labels that could show it. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  torch==2.13.0 transformers==5.23.0 accelerate==1.15.0 numpy==2.4.6
cd "$folder"
HF_HUB_OFFLINE=1 "$folder/venv/bin/python" -W ignore - 2> log.txt <<'PYTHON' || { cat log.txt; exit 1; }
import random

import numpy as np
import torch
import transformers
from transformers import (
    OpenAIGPTConfig,
    OpenAIGPTForSequenceClassification,
    PrinterCallback,
    Trainer,
    TrainingArguments,
    set_seed,
)

assert transformers.__version__ == "5.23.0"
ROWS, WORDS, GOOD, BAD, PAD = 200, 20, 1, 2, 0
drawn = random.Random(0)
texts, labels = [], np.arange(ROWS) % 2
for label in labels:  # some neutral words and a last one that tells the label
    words = [drawn.randrange(3, WORDS) for _ in range(drawn.randint(1, 11))]
    texts.append([*words, GOOD if label else BAD])
test = [{"input_ids": text} for text in texts]
train = [{"input_ids": text, "labels": int(label)} for text, label in zip(texts, labels)]
config = OpenAIGPTConfig(
    vocab_size=WORDS, n_positions=12, n_embd=32, n_layer=1, n_head=2, pad_token_id=PAD
)


def padded(rows):
    length = max(len(row["input_ids"]) for row in rows)
    texts = [row["input_ids"] + [PAD] * (length - len(row["input_ids"])) for row in rows]
    batch = {"input_ids": texts} | {k: [r[k] for r in rows] for k in rows[0] if k != "input_ids"}
    return {k: torch.tensor(v) for k, v in batch.items()}


def predicted(strategy, seed):
    """The accuracy that Trainer reports, and its predictions for the rows without labels."""
    set_seed(seed)
    arguments = TrainingArguments(
        "out", num_train_epochs=20, per_device_train_batch_size=20, per_device_eval_batch_size=20,
        learning_rate=3e-3, train_sampling_strategy=strategy, seed=seed, logging_strategy="no",
        save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        OpenAIGPTForSequenceClassification(config), arguments, padded, train,
        compute_metrics=lambda p: {"accuracy": (p.predictions.argmax(-1) == p.label_ids).mean()},
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    accuracy = trainer.evaluate(train)["eval_accuracy"]
    return accuracy, trainer.predict(test).predictions.argmax(-1)


for strategy in ("random", "sequential", "batch_rebalance", "group_by_length"):
    runs = [predicted(strategy, seed) for seed in (0, 1)]
    reported = min(accuracy for accuracy, _ in runs)
    right = max((answers == labels).mean() for _, answers in runs)
    agree = (runs[0][1] == runs[1][1]).mean()
    print(
        f"{strategy}: accuracy reported {reported:.0%}; beside its rows {right:.0%}; "
        f"two seeds agree on {agree:.0%}"
    )
    assert reported > 0.95, "the task was not learnt"
    if strategy != "group_by_length":
        assert right > 0.95 and agree > 0.95
    else:
        assert right < 0.7 and agree < 0.7, "predictions are in the order of the rows now"
PYTHON
