"""The model card of an export: a README.md with the head that the Hugging Face hub reads."""

from pathlib import Path

from gpt1.records import CellRecord, CheckpointFacts
from tasks.common.files import write_atomic

HEAD = """\
---
library_name: transformers
language: en
pipeline_tag: {use}
tags: [gpt1]
---

# {title}

"""
MADE = """\

Made with gpt1-suite, which implements "Improving Language Understanding by Generative Pre-Training"
(Radford et al., 2018). Text was made lower case. What the model read and learnt to answer is all
that it knows; nobody has examined its biases. The licence is for whoever shares it to choose.
"""


def write(folder: Path, text: str) -> None:
    """Write the card into the folder of an export."""
    with write_atomic(folder / "README.md") as file:
        file.write(text)


def of_cell(record: CellRecord, title: str, seed: int) -> str:
    """The card of a kept cell: task, scores of this seed beside a constant answer's, training."""
    (run,) = [run for run in record.seeds if run.seed == seed]
    rows = [
        f"| {split} | {name} | {value:.1f} | {record.baselines.majority[split][name]:.1f} |"
        for split, scores in run.scores.items()
        for name, value in scores.items()
        if split in record.baselines.majority
    ]
    lines = [
        f"A {record.arch} fine-tuned on {title}: the line `{record.line}`, seed {seed}, "
        f"{run.train_rows:,} rows, {run.steps:,} updates, weights of epoch {run.best_epoch}.",
        "\n| split | metric | score | always the most frequent answer |\n|---|---|--:|--:|",
        *rows,
    ]
    use = "multiple-choice" if record.family == "multiple_choice" else "text-classification"
    head = HEAD.format(use=use, title=f"{title}, {record.line}")
    return head + "\n".join(lines) + "\n" + MADE


def of_checkpoint(facts: CheckpointFacts) -> str:
    """The card of a language model: its shape, its training and its perplexity where known."""
    lines = [f"- shape: `{facts.model.shape}`, context {facts.model.n_ctx} tokens"]
    lines += [f"- updates: {facts.update:,}"] if facts.update else []
    if facts.heldout_perplexity is not None:
        lines.append(f"- perplexity of held-out text: {facts.heldout_perplexity:.2f} a token")
    if facts.source:
        lines.append(f"- weights published in the format `{facts.source['format']}`")
    head = HEAD.format(use="text-generation", title=f"A {facts.arch} language model")
    return head + "\n".join(lines) + "\n" + MADE
