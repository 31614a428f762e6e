"""What a run cost by stage: tokens, floating-point operations, seconds, memory.

Three kinds of rows, whose columns do not overlap, so that each column can be summed: one per
language model and one per fine-tuning run (tokens, FLOPs and seconds inside the training loop),
and one per kind of job (seconds of the whole job, from the benchmarks; on the clock, for the CPU
seconds there lack up to the last half minute of a job). FLOPs are by the rule of
`workflow.analysis.flops`. Scores stand in other tables, for they are the same in every run.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from gpt1.cell import Arch, Corpus
from gpt1.settings import ModelSettings
from workflow.analysis import flops, job_costs, markdown
from workflow.analysis.records import CellRecord, EncodedRecord, Record
from workflow.analysis.table import Table
from workflow.analysis.tables.cells import CELL
from workflow.grid import Grid

INPUTS = ("cells", "last checkpoints", "encoded", "zero_shot", "all but costs")
SUMS = ["runs", "train_tokens", "flops", "train_seconds", "job_seconds"]
COLUMNS = ["stage", "job", *CELL, "seed", *SUMS, "peak_mb", "cpu"]
SWEEP = ["task", "arch", "corpus", "aux"]
MEASURED = ["train_tokens", "train_seconds", "peak_mb", "cpu"]  # of each run
DECIMALS = {"flops": 0, "train_seconds": 2, "job_seconds": 2, "peak_mb": 1}


class Trained(Record):
    """Of the JSON beside a checkpoint what its cost takes; published weights have no seconds."""

    arch: Arch
    seed: int
    corpus: Corpus = "books"
    update: int
    tokens: float | None = None
    seconds: float | None = None
    peak_mb: float | None = None
    cpu: str = ""
    n_vocab: int | None = None
    model: ModelSettings | None = None

    def flops(self, tokens: float, length: float | None, lm_loss: bool = True) -> float | None:
        """FLOPs of training on so many tokens, in sequences of `length`, or less in its window."""
        if self.model is None or self.n_vocab is None or not length:
            return None
        time = min(length, self.model.n_ctx)
        return tokens * flops.per_token(self.model, self.n_vocab, time, lm_loss)


def build(results: Path, grid: Grid) -> Table:
    """One row per language model, run and kind of job; what was not run has none."""
    models = [
        Trained.read(path, arch=model.arch, seed=model.seed, update=grid.updates[-1])
        for model in grid.all_models()
        if (path := model.facts(results, grid.updates[-1])).exists()
    ]
    parts = [_pretraining(models), _fine_tuning(results, grid, models), job_costs.read(results)]
    table = pd.concat([part.reindex(columns=COLUMNS) for part in parts], ignore_index=True)
    table = table.astype(dict.fromkeys([*SUMS, "peak_mb"], float) | {"seed": "Int64"})
    return Table(table, _wide(table), DECIMALS, words=SWEEP)


def _pretraining(models: list[Trained]) -> pd.DataFrame:
    rows = [
        model.model_dump(include={"arch", "corpus", "seed", "peak_mb", "cpu"})
        | {"train_tokens": model.tokens, "train_seconds": model.seconds}
        | {"flops": model.flops(model.tokens, np.inf)}
        for model in models
        if model.seconds is not None and model.tokens is not None
    ]
    return pd.DataFrame(rows).assign(stage="pre-training", runs=1)


def _fine_tuning(results: Path, grid: Grid, models: list[Trained]) -> pd.DataFrame:
    """The runs of the grid's seeds."""
    by_arch = {model.arch: model for model in models}
    lengths = {task: mean_length(results, task) for task in grid.tasks}
    rows = []
    for cell in grid.cells():
        path, model = cell.path(results), by_arch.get(cell.arch)
        runs = CellRecord.read(path, **vars(cell)).seeds if path.exists() else []
        for run in runs:
            if run.seed in grid.seeds.finetune:
                length, has_loss = lengths[cell.task], cell.aux == "on"
                count = model and model.flops(run.train_tokens, length, has_loss)
                place = vars(cell) | {"n_transfer": str(cell.n_transfer), "flops": count}
                rows.append(place | run.model_dump(include={"seed", *MEASURED}))
    return pd.DataFrame(rows).assign(stage="fine-tuning", runs=1)


def mean_length(results: Path, task: str) -> float | None:
    """Mean tokens of a task's training inputs, or None where it is not encoded."""
    path = results / "encoded" / f"{task}.json"
    if not path.exists():
        return None
    splits = EncodedRecord.read(path).splits.values()
    lengths = next(split.lengths for split in splits if split.role == "train")
    return sum(int(n) * rows for n, rows in lengths.items()) / sum(lengths.values())


def _wide(table: pd.DataFrame) -> list[str | pd.DataFrame]:
    """The stages, and what of their jobs was not training."""
    stages = table.groupby("stage", sort=False)
    sums = stages[SUMS].sum(min_count=1)
    wide = pd.DataFrame(
        {
            "jobs": table[table["job"].notna()].groupby("stage")["runs"].sum(),
            "tokens": sums["train_tokens"],
            "TFLOP": sums["flops"] / 1e12,
            "s in training loops": sums["train_seconds"],
            "s of jobs": sums["job_seconds"],
            "peak MB": stages["peak_mb"].max(),
        }
    ).reindex(sums.index)
    text = wide.map(lambda x: markdown.NONE if pd.isna(x) else f"{x:,.0f}")
    jobs, inside = sums["job_seconds"].sum(), sums["train_seconds"].sum()
    note = "No benchmarks of jobs were found beside the results."
    if jobs:
        note = (
            f"{jobs:,.0f} s of jobs, {inside:,.0f} s of them in training loops; "
            f"{max(0.0, 1 - inside / jobs):.0%} is outside: starting, reading, scoring, saving and "
            "all that is not training. Seconds are wall-clock time, without Snakemake's own."
        )
    rule = "FLOPs: 6 N + 12 L d T per token (`workflow/analysis/flops.py`)."
    processors = "; ".join(table["cpu"].replace("", np.nan).dropna().unique())
    on = [f"Trained on: {processors}."] if processors else []
    return ["# Costs", note, text, *on, rule, *_sweeps(table[table["stage"] == "fine-tuning"])]


def _sweeps(table: pd.DataFrame) -> list[str | pd.DataFrame]:
    """A line for each task, model and auxiliary setting."""
    runs = table[table["job"].isna()].groupby(SWEEP, sort=False)
    wide = pd.DataFrame(
        {
            "runs": runs.size().map(str),
            "tokens": runs["train_tokens"].mean().map("{:.0f}".format),
            "seconds": runs["train_seconds"].mean().map("{:.1f}".format),
            "peak MB": runs["peak_mb"].max().map("{:.1f}".format),
        }
    )
    shown = wide.replace("nan", markdown.MISSING).reset_index(SWEEP[1:])
    note = "Tokens and seconds are means over the runs of a line, memory is the highest."
    return ["## Fine-tuning", shown, note]
