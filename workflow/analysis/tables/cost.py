"""What a run cost by stage: tokens, floating-point operations, seconds, memory.

There are three kinds of rows: one per language model and one per fine-tuning run (tokens, FLOPs and
seconds inside the training loop), and one per kind of job (seconds of whole jobs, from the
benchmarks). These columns do not overlap, so each can be summed. The seconds of jobs are wall-clock
time, because the CPU seconds in benchmarks miss up to the last half minute of a job. FLOPs follow
the rule of `workflow.analysis.flops`. Scores are in other tables, because they are the same in
every run.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from gpt1.records import CellRecord, CheckpointFacts, EncodedFacts
from workflow.analysis import flops, job_costs
from workflow.analysis.markdown import CORPORA, NONE, column
from workflow.analysis.table import Table
from workflow.analysis.tables.cells import CELL, SWEEP
from workflow.grid import Grid

SUMS = ["runs", "train_tokens", "flops", "train_seconds", "job_seconds"]
COLUMNS = ["stage", "job", *CELL, "seed", *SUMS, "peak_mb", "cpu"]
MEASURED = ["train_tokens", "train_seconds", "peak_mb", "cpu"]  # of each run


def build(results: Path, grid: Grid) -> Table:
    """One row per language model, fine-tuning run and kind of job; what was not run has none."""
    update = grid.updates[-1]
    models = [
        CheckpointFacts.find(
            model.facts(results, update), arch=model.arch, seed=model.seed, update=update
        )
        for model in grid.all_models()
    ]
    made = [model for model in models if model is not None]
    parts = [_pretraining(made), _fine_tuning(results, grid, made), job_costs.read(results, grid)]
    table = pd.concat([part.reindex(columns=COLUMNS) for part in parts], ignore_index=True)
    table = table.astype(dict.fromkeys([*SUMS, "peak_mb"], float) | {"seed": "Int64"})
    return Table(table, _wide(table), words=SWEEP)


def _pretraining(models: list[CheckpointFacts]) -> pd.DataFrame:
    rows = [
        model.model_dump(include={"arch", "corpus", "seed", "peak_mb", "cpu"})
        | {"train_tokens": model.tokens, "train_seconds": model.seconds}
        | {"flops": _flops(model, model.tokens, np.inf)}
        for model in models
        if model.seconds is not None and model.tokens is not None
    ]
    return pd.DataFrame(rows).assign(stage="pre-training", runs=1)


def _fine_tuning(results: Path, grid: Grid, models: list[CheckpointFacts]) -> pd.DataFrame:
    """One row per fine-tuning run with one of the grid's seeds."""
    by_arch = {model.arch: model for model in models}
    paths = {task: results / "encoded" / f"{task}.json" for task in grid.tasks}
    lengths = {task: EncodedFacts.read(p).mean_length for task, p in paths.items() if p.exists()}
    rows = []
    for cell in grid.cells():
        record = CellRecord.find(cell.path(results), **vars(cell))
        for run in record.seeds if record else []:
            if run.seed in grid.seeds.finetune:
                line, length = grid.line(cell), lengths.get(cell.task)
                model = by_arch.get(line.arch) if line.plain else None
                count = model and _flops(model, run.train_tokens, length, line.aux == "on")
                own = vars(cell) | line.columns | {"flops": count}
                rows.append(own | run.model_dump(include={"seed", *MEASURED}))
    return pd.DataFrame(rows).assign(stage="fine-tuning", runs=1)


def _flops(
    of: CheckpointFacts, tokens: float, length: float | None, lm_loss: bool = True
) -> float | None:
    """FLOPs of training on `tokens` tokens in sequences of `length`, cut to the model's window."""
    if not length:
        return None
    return tokens * flops.per_token(of.model, of.n_vocab, min(length, of.model.n_ctx), lm_loss)


def _wide(table: pd.DataFrame) -> list[str | pd.DataFrame]:
    """The stages, with the share of their jobs' time that was not training."""
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
    text = wide.apply(column, form=",.0f", absent=NONE)
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
    """A line for each task and model, with the auxiliary loss and without."""
    runs = table[table["job"].isna()].groupby(SWEEP, sort=False)
    wide = pd.DataFrame(
        {
            "runs": runs.size().map(str),
            "tokens": column(runs["train_tokens"].mean(), ".0f"),
            "seconds": column(runs["train_seconds"].mean(), ".1f"),
            "peak MB": column(runs["peak_mb"].max(), ".1f"),
        }
    ).reset_index(SWEEP[1:])
    wide = wide.replace({"corpus": CORPORA})
    note = "Tokens and seconds are means over the runs of a line, memory is the highest."
    return ["## Fine-tuning", wide, note]
