#!/usr/bin/env bash
# How a book becomes a score, one program after another, on a handful of rows and in a minute:
#
#     workflow/pipeline.sh FOLDER
#
# Snakemake runs these programs for every task, model and line of a config, each again when what it
# reads has changed; `snakemake -n -p --configfile workflow/config/smoke.yaml all` prints its
# commands. Settings are JSON, and what they leave out is as in the paper (gpt1/settings.py). Two
# layers and forty updates learn nothing, so the scores mean nothing.
set -euo pipefail
out=${1:?give a folder to write to}
model='{"n_ctx": 64, "shape": {"n_layer": 2, "n_embd": 16, "n_head": 2, "n_ff": 64}}'
common='"model": '$model', "optimizer": {}'
step() { printf '\n%s\n' "$*"; }

step "1. The synthetic world: books, and rows of each task in the layout of the published files."
python -m tasks world --out "$out/world" \
  --settings '{"seed": 7, "words": 30000, "books": 6, "scale": 0.1, "report": 20}'

step "2. Books become documents without odd characters; two are held out."
python -m gpt1 corpus documents --folder "$out/world/books" --settings '{"heldout": 2}' \
  --out "$out/corpus/documents"

step "3. The tokenizer merges the most frequent pairs of the documents' words."
python -m gpt1 tokenizer --documents "$out/corpus/documents" --merges 1200 --out "$out/tokenizer"

step "4. The documents become token ids, to train on and to measure perplexity on."
python -m gpt1 corpus tokens --documents "$out/corpus/documents" --tokenizer "$out/tokenizer" \
  --out "$out/corpus"

step "5. A task's files become checked examples, to train on, to select by and to report."
python -m tasks prepare rte --folder "$out/world/RTE" --settings '{"published": false}' \
  --out "$out/examples/rte" --facts "$out/examples/rte.json"

step "6. Which reported rows stand in the books that the language model was trained on?"
python -m gpt1 contamination rte --documents "$out/corpus/documents" --examples "$out/examples" \
  --out "$out/contamination"

step "7. Baselines, which are no networks; some read classes of words, made from the books."
python -m tasks word_classes --documents "$out/corpus/documents" \
  --out "$out/corpus/word_classes.json"
python -m tasks baselines rte --examples "$out/examples/rte" \
  --word-classes "$out/corpus/word_classes.json" --out "$out/baselines/rte.json"

step "8. The texts become token ids; start, delimiter and classify tokens come at training."
python -m gpt1 encode rte --examples "$out/examples/rte" --tokenizer "$out/tokenizer" \
  --out "$out/encoded/rte"

step "9. Pre-training: the next token of random windows, with checkpoints along the way."
python -m gpt1 pretrain transformer --corpus "$out/corpus/corpus.json" \
  --settings '{"updates": 40, "warmup": 4, "batch": 8, "lr": 1e-3, "checkpoints": [0, 40],
               "heldout_tokens": 2000, '"$common}" \
  --work "$out/.work/pretrain" --out "$out/pretrain/transformer/seed-0"
checkpoint=$out/pretrain/transformer/seed-0/update-40.safetensors

step "10. What the language model has learnt, by its choice between two continuations."
python -m gpt1 cloze transformer --items "$out/world/Cloze/items.jsonl" \
  --tokenizer "$out/tokenizer" --checkpoints "$checkpoint" --settings "$model" \
  --out "$out/cloze/transformer/seed-0"

step "11. Zero-shot: the task as a prompt, without a training row."
python -m gpt1 zero_shot transformer --encoded "$out/encoded/rte" --tokenizer "$out/tokenizer" \
  --checkpoints "$checkpoint" --results "$out" \
  --settings '{"normalise": {"rte": {"random": 50, "best": 100}},
               "prompts": {"rte": {"before": "{first} Claim: {second}",
                                   "choices": ["True.", "False."]}}, "model": '"$model}"

step "12. Fine-tuning of two variants, with all layers transferred and with none."
finetune='"epochs": 1, "batch": 8, "lr": 5e-4, '$common
python -m gpt1 finetune "$out/cells/full/rte.json" "$out/cells/scratch/rte.json" \
  --encoded "$out/encoded/rte" --baselines "$out/baselines/rte.json" --checkpoints "$checkpoint" \
  --settings '{"variants": {"full": {"n_transfer": 2, '"$finetune"'},
                         "scratch": {"n_transfer": "none", '"$finetune"'}}}' \
  --seeds 0 --pretrain-seeds 0 --code "" --cache "$out/.work/runs"

step "13. From predictions, row by row, to scores; all tables, figures and verdicts begin here."
python - "$out" <<'PYTHON'
import sys

import pandas as pd

for line in ("full", "scratch"):
    rows = pd.read_parquet(f"{sys.argv[1]}/predictions/{line}/rte.parquet")
    right = (rows.prediction == rows.label).mean()
    print(f"{line}: {100 * right:.1f} % of {len(rows)} rows right")
PYTHON
