"""The model card of an export: a README.md with the metadata that the Hugging Face hub reads."""

from collections.abc import Sequence
from pathlib import Path

from gpt1.records import CellRecord, CheckpointFacts
from gpt1.weights.fine_tuned import CHOICE_MODEL, CLASS_MODEL
from tasks.common.files import write_atomic

CARD = """\
---
library_name: transformers
language: en
pipeline_tag: {use}
tags: [gpt1]
---

# {title}

{made}{lines}

Made with gpt1-suite, which implements "Improving Language Understanding by Generative Pre-Training"
(Radford et al., 2018). Text is made lower case. Nobody has examined the model's biases. Checked
with `transformers` {versions}. `AutoTokenizer` reads the tokenizer; `OpenAIGPTTokenizer` would give
other tokens.
"""
VERSIONS = "4.48, 4.57 and 5.23"
MADE = """\
**Made data.** Its {texts} are of a synthetic world: an example, which says nothing about English.

"""
SINGLE = """
`pipeline("text-classification", "NAME/{name}", top_k=None)("a text", truncation=True)` answers;
without `truncation`, a text of more than {n_ctx} tokens is an error."""
PAIRS = """
`ids` cuts texts as in training; above {side} tokens a side, no `truncation` of a pipeline does so.

```python
import torch
from transformers import {model}, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("NAME/{name}")
model = {model}.from_pretrained("NAME/{name}").eval()

def ids(*texts):  # of a first and a second text; a question may stand between them
    first, *question, second = (tokenizer.encode(t, add_special_tokens=False) for t in texts)
    question, second = sum(question, [])[:{side}], second[:{side}]
    room = {n_ctx} - 3 - len(question) - len(second) if question else {side}
    first = [tokenizer.bos_token_id, *first[:room], *question]
    return [*first, tokenizer.sep_token_id, *second, tokenizer.cls_token_id]

{ask}
probabilities = logits.softmax(0)
```"""
ASK = {
    "entailment": 'logits = model(torch.tensor([ids("a text", "another")])).logits[0]',
    "similarity": """\
both = [ids("a text", "another"), ids("another", "a text")]  # the logits of both orders are added
logits = model(torch.tensor(both)).logits.sum(0)""",
    "multiple_choice": """\
rows = [ids("a text", choice) for choice in ("one end", "another")]
ends = [torch.tensor([[len(row) - 1]]) for row in rows]  # the position to read
asked = [model(torch.tensor([[row]]), mc_token_ids=end) for row, end in zip(rows, ends)]
logits = torch.cat([answer.mc_logits[0] for answer in asked])""",
}


def of_cell(folder: Path, record: CellRecord, title: str, seed: int) -> bool:
    """Write the card of a kept cell, with code that asks it; return whether its data are made."""
    (run,) = [run for run in record.seeds if run.seed == seed]
    title = f"the synthetic world's {title}" if "rows" in record.made else title
    lines = [
        f"A {record.arch} fine-tuned on {run.train_rows:,} rows of {title}, seed {seed}, "
        f"{run.steps:,} updates.\n",
        "| split | metric | score | one answer for all |\n|---|---|--:|--:|",
    ]
    for split, constant in record.baselines.majority.items():
        for name, value in run.scores.get(split, {}).items():
            lines.append(f"| {split} | {name} | {value:.1f} | {constant[name]:.1f} |")
    uses = ("text-classification", CLASS_MODEL), ("multiple-choice", CHOICE_MODEL)
    use, model = uses[record.family == "multiple_choice"]
    ask, n_ctx = ASK.get(record.family), record.settings.model.n_ctx
    example, side = PAIRS if ask else SINGLE, n_ctx // 2 - 2
    lines.append(example.format(ask=ask, model=model, name=folder.name, n_ctx=n_ctx, side=side))
    title = f"{record.line} on {title}"
    return _write(folder, record.made, use=use, title=title, lines="\n".join(lines))


def of_checkpoint(folder: Path, facts: CheckpointFacts) -> bool:
    """Write the card of a language model; return whether its books are made."""
    lines = f"Shape: `{facts.model.shape}`; context: {facts.model.n_ctx} tokens."
    if facts.heldout_perplexity is not None:
        lines += f" Perplexity of held-out text: {facts.heldout_perplexity:.2f} a token."
    lines += f" Updates: {facts.update or 'unknown'}. Published as: {facts.source or 'not yet'}."
    title, made = f"A {facts.arch} language model", ["books"] * facts.made
    return _write(folder, made, use="text-generation", title=title, lines=lines)


def _write(folder: Path, made: Sequence[str], **parts: str) -> bool:
    note = MADE.format(texts=" and ".join(made)) if made else ""
    with write_atomic(folder / "README.md") as file:
        file.write(CARD.format(made=note, versions=VERSIONS, **parts))
    return bool(made)
