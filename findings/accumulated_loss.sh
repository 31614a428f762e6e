#!/usr/bin/env bash
# transformers 5.23.0: Trainer fine-tunes GPT-1's classifiers by k times the gradient when batches
# are accumulated over k steps.
#
# Who meets it: anyone who fine-tunes OpenAIGPTForSequenceClassification, or the paper's model with
# two heads, and splits a batch of 16 into 4 of 4 because it does not fit on the card, or compares
# such a run with this suite's.
# A good guess: the mean of four batches of four is the mean of one batch of sixteen; since releases
# of late 2024 that holds even where batches have different numbers of tokens.
# Seen: it holds for the language model alone. Both classifiers accept `num_items_in_batch` and ignore
# it, so nobody divides by four: loss and gradient are four times what the batch of sixteen has. With
# clipping at 1 as in the paper, more updates are clipped, so it is another training. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  torch==2.13.0 transformers==5.23.0 accelerate==1.15.0 numpy==2.4.6
cd "$folder"
HF_HUB_OFFLINE=1 "$folder/venv/bin/python" -W ignore - 2> log.txt <<'PYTHON' || { cat log.txt; exit 1; }
import torch
import transformers
from transformers import (
    OpenAIGPTConfig,
    OpenAIGPTDoubleHeadsModel,
    OpenAIGPTForSequenceClassification,
    OpenAIGPTLMHeadModel,
    Trainer,
    TrainingArguments,
    set_seed,
)

assert transformers.__version__ == "5.23.0"
ROWS, TOKENS, WORDS, UPDATES = 64, 12, 50, 8
drawn = torch.Generator().manual_seed(0)
texts = torch.randint(0, WORDS - 1, (ROWS, TOKENS), generator=drawn)
pairs = torch.randint(0, WORDS - 1, (ROWS, 2, TOKENS), generator=drawn)
right = torch.randint(0, 2, (ROWS,), generator=drawn)
ends = torch.full((ROWS, 2), TOKENS - 1)
data = {
    OpenAIGPTLMHeadModel: {"input_ids": texts, "labels": texts},
    OpenAIGPTForSequenceClassification: {"input_ids": texts, "labels": right},
    OpenAIGPTDoubleHeadsModel: {
        "input_ids": pairs, "mc_token_ids": ends, "labels": pairs, "mc_labels": right
    },
}
dropout = dict.fromkeys(["resid_pdrop", "embd_pdrop", "attn_pdrop", "summary_first_dropout"], 0.0)
config = OpenAIGPTConfig(
    vocab_size=WORDS, n_positions=16, n_embd=32, n_layer=2, n_head=2, pad_token_id=WORDS - 1, **dropout
)


def trained(kind, batch, accumulated):
    """Loss and norm of the gradient of each update, before clipping."""
    set_seed(0)
    rows = [{k: v[i] for k, v in data[kind].items()} for i in range(ROWS)]
    arguments = TrainingArguments(
        "out", per_device_train_batch_size=batch, gradient_accumulation_steps=accumulated,
        max_steps=UPDATES, learning_rate=1e-4, max_grad_norm=1.0, logging_steps=1, seed=0,
        save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(kind(config), arguments, train_dataset=rows)
    trainer.train()
    log = [one for one in trainer.state.log_history if "grad_norm" in one]
    return torch.tensor([[one["loss"], one["grad_norm"]] for one in log])


for kind in data:
    whole, parts = trained(kind, 16, 1), trained(kind, 4, 4)
    ratio = (parts[0] / whole[0]).tolist()
    clipped = [int((log[:, 1] > 1).sum()) for log in (whole, parts)]
    print(
        f"{kind.__name__}: loss {whole[0, 0]:.3f} in one batch, {parts[0, 0]:.3f} in four; "
        f"gradient {ratio[1]:.2f} times; {clipped[0]} and {clipped[1]} of {UPDATES} updates clipped"
    )
    wanted = 1 if kind is OpenAIGPTLMHeadModel else 4
    assert all(abs(r - wanted) < 0.01 for r in ratio), f"ratio of loss and gradient is now {ratio}"
PYTHON
