#!/usr/bin/env bash
# lm-evaluation-harness 0.4.13: two tasks that are run together can change each other's scores.
#
# Who meets it: anyone who scores the same sentences twice in one call, once as a whole (no context,
# as BLiMP does) and once by their ends (the beginning is the context), with a tokenizer that puts a
# token before each text.
# A good guess: requests are scored one by one, so a task has the same scores alone and beside
# another one; a cache can only save time.
# Seen: the cache of logits (logits_cache, on by default) knows a request by all its tokens but the
# last and not by where the scored part begins, so one of the two tasks gets log-probabilities from
# wrong places: all 40 items of the other have other scores, and 12 another answer. No warning. With
# logits_cache=False they have what they have alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  lm_eval==0.4.13 torch==2.13.0 transformers==5.23.0 accelerate==1.15.0 tokenizers==0.23.3
cd "$folder"
cat > whole.yaml <<'YAML'
task: whole
dataset_path: json
dataset_kwargs: {data_files: {test: items.jsonl}}
test_split: test
output_type: multiple_choice
doc_to_text: ""
doc_to_choice: sentences
doc_to_target: label
target_delimiter: ""
metric_list: [{metric: acc}]
YAML
sed 's/task: whole/task: ends/; s/doc_to_text: ""/doc_to_text: "{{context}}"/; s/sentences/ends/; s/target_delimiter: ""/target_delimiter: " "/' \
  whole.yaml > ends.yaml
HF_HUB_OFFLINE=1 "$folder/venv/bin/python" -W ignore - 2> log.txt <<'PYTHON' || { cat log.txt; exit 1; }
import json
import random
from importlib.metadata import version

import numpy as np
import torch
from lm_eval import simple_evaluate
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks import TaskManager
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

assert version("lm_eval") == "0.4.13"
words = [f"w{i}" for i in range(50)]
bare = Tokenizer(models.WordLevel({"<s>": 0} | {w: i + 1 for i, w in enumerate(words)}, "<s>"))
bare.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
bare.post_processor = processors.TemplateProcessing(
    single="<s> $A", special_tokens=[("<s>", 0)]
)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, bos_token="<s>", pad_token="<s>")
torch.manual_seed(0)
shape = {"n_layer": 2, "n_head": 2, "n_embd": 32, "n_positions": 32, "vocab_size": 51}
model = GPT2LMHeadModel(GPT2Config(**shape, initializer_range=0.5, bos_token_id=0)).eval()

drawn = random.Random(0)
with open("items.jsonl", "w") as file:
    for _ in range(40):
        context = " ".join(drawn.sample(words, 8))
        ends = [" ".join(drawn.sample(words, 3)) for _ in range(2)]
        row = {"context": context, "ends": ends, "sentences": [f"{context} {e}" for e in ends]}
        file.write(json.dumps(row | {"label": 0}) + "\n")


def scores(tasks, **options):
    """The log-probabilities of the ends, [items, choices]."""
    lm = HFLM(pretrained=model, tokenizer=tokenizer, device="cpu", batch_size=4, **options)
    manager = TaskManager(include_path=".", include_defaults=False)
    found = simple_evaluate(model=lm, tasks=tasks, task_manager=manager, log_samples=True)
    return np.array([[one[0] for one in of["filtered_resps"]] for of in found["samples"]["ends"]])


alone, both = scores(["ends"]), scores(["ends", "whole"])
uncached = scores(["ends", "whole"], logits_cache=False)
differ = np.abs(alone - both).max(axis=1) > 0.01
flipped = alone.argmax(axis=1) != both.argmax(axis=1)
print(f"log-probability of an end: {alone.mean():.1f} alone, {both.mean():.1f} beside the other task")
print(f"{differ.sum()} of 40 items have other scores, {flipped.sum()} another answer")
print(f"largest difference without the cache: {np.abs(alone - uncached).max():.5f}")
assert np.abs(alone - uncached).max() < 1e-3
assert differ.sum() > 20, "the cache tells the two tasks apart now"
PYTHON
