"""The model card of an export: a README.md with the metadata that the Hugging Face hub reads."""

from pathlib import Path

from gpt1.records import CellRecord, CheckpointFacts
from tasks.common.files import write_atomic

CARD = """\
---
library_name: transformers
language: en
pipeline_tag: {use}
tags: [gpt1]
---

# {title}

{lines}

Made with gpt1-suite, which implements "Improving Language Understanding by Generative Pre-Training"
(Radford et al., 2018). Text is made lower case. Nobody has examined the model's biases.
"""


def of_cell(folder: Path, record: CellRecord, title: str, seed: int) -> None:
    """Write the card of a kept cell: its training, its scores and those of a constant answer."""
    (run,) = [run for run in record.seeds if run.seed == seed]
    lines = [
        f"A {record.arch} fine-tuned on {run.train_rows:,} rows of {title}, seed {seed}, "
        f"{run.steps:,} updates.\n",
        "| split | metric | score | one answer for all |\n|---|---|--:|--:|",
    ]
    for split, constant in record.baselines.majority.items():
        for name, value in run.scores.get(split, {}).items():
            lines.append(f"| {split} | {name} | {value:.1f} | {constant[name]:.1f} |")
    use = "multiple-choice" if record.family == "multiple_choice" else "text-classification"
    _write(folder, use=use, title=f"{title}, {record.line}", lines="\n".join(lines))


def of_checkpoint(folder: Path, facts: CheckpointFacts) -> None:
    """Write the card of a language model: its shape, its training and its perplexity if known."""
    lines = f"Shape: `{facts.model.shape}`; context: {facts.model.n_ctx} tokens."
    if facts.heldout_perplexity is not None:
        lines += f" Perplexity of held-out text: {facts.heldout_perplexity:.2f} a token."
    lines += f" Updates: {facts.update or 'unknown'}. Published as: {facts.source or 'not yet'}."
    _write(folder, use="text-generation", title=f"A {facts.arch} language model", lines=lines)


def _write(folder: Path, **parts: str) -> None:
    with write_atomic(folder / "README.md") as file:
        file.write(CARD.format(**parts))
