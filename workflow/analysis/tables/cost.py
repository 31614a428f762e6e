"""What a run cost by stage, `cost`: tokens, floating-point operations, seconds, memory.

There are three kinds of rows: one per language model and one per fine-tuning run (tokens, FLOPs and
seconds inside the training loop), and one per kind of job (seconds of whole jobs, from Snakemake's
benchmarks beside the results). These columns do not overlap, so each can be summed. FLOPs follow
the rule of `workflow.analysis.flops`. Scores are in other tables, because they are the same in
every run.

Benchmarks are not declared outputs, so the table shows those that exist. Only the last attempt of
an interrupted job counts. The seconds of jobs are wall-clock time, as Snakemake samples the CPU
seconds, in a long job every half minute, so they miss the end of a job.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from gpt1.cell import UNCHANGED, home
from gpt1.records import CellRecord, CheckpointFacts, EncodedFacts
from tasks.common.errors import InputError
from tasks.common.programs import PEAK_LINE
from workflow.analysis import flops
from workflow.analysis.markdown import CORPORA, NONE, column
from workflow.analysis.table import Table
from workflow.analysis.tables.cells import CELL, SWEEP
from workflow.analysis.tables.checkpoints import facts_of
from workflow.grid import Grid

SUMS = ["runs", "train_tokens", "flops", "train_seconds", "job_seconds"]
COST_COLUMNS = ["stage", "job", *CELL, "seed", *SUMS, "peak_mb", "cpu"]
MEASURED = ["train_tokens", "train_seconds", "peak_mb", "cpu"]  # of each run
PREPARATION, TABLES = "data", "tables"
STAGES = {  # by the start of a rule's name; all other rules prepare data
    "finetune": "fine-tuning",
    "pretrain": "pre-training",
    "zero_shot": "zero-shot",
    "cloze": "cloze",
    **dict.fromkeys(["table", "figure", "page", "glue"], TABLES),
}
PEAK = re.compile(PEAK_LINE.format(r"(\d+)"))


def cost(results: Path, grid: Grid) -> Table:
    """One row per language model, fine-tuning run and kind of job; what was not run has none."""
    made = facts_of(results, grid.all_models(), grid.updates[-1:])
    parts = [_pretraining(made), _fine_tuning(results, grid, made), jobs(results, grid)]
    table = pd.concat([part.reindex(columns=COST_COLUMNS) for part in parts], ignore_index=True)
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
                variant, length = grid.variant(cell), lengths.get(cell.task)
                model = by_arch.get(variant.arch) if variant.plain else None
                count = model and _flops(model, run.train_tokens, length, variant.aux == "on")
                own = {"line": cell.variant, "task": cell.task, **variant.columns, "flops": count}
                rows.append(own | run.model_dump(include={"seed", *MEASURED}))
    return pd.DataFrame(rows).assign(stage="fine-tuning", runs=1)


def _flops(
    of: CheckpointFacts, tokens: float, length: float | None, lm_loss: bool = True
) -> float | None:
    """FLOPs of training on `tokens` tokens in sequences of `length`, cut to the model's window."""
    if not length:
        return None
    return tokens * flops.per_token(of.model, of.n_vocab, min(length, of.model.n_ctx), lm_loss)


def jobs(results: Path, grid: Grid) -> pd.DataFrame:
    """One row per rule: its number of jobs, their total seconds, and the highest memory in MB.

    Studies that the run does not make are left out. Raises InputError for a truncated file, which a
    kill may leave because Snakemake does not write it atomically.
    """
    rows = []
    own = tuple(f"finetune_{name}_" for name in (*grid.studies, "kept"))
    variants = dict.fromkeys([UNCHANGED, *(variant.model for variant in grid.variants.values())])
    folders = [home(results, variant) / "benchmarks" for variant in variants]
    for folder, path in ((of, path) for of in folders for path in sorted(of.rglob("*.tsv"))):
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        if rule != "study" and (not rule.startswith("finetune_") or f"{rule}_".startswith(own)):
            of = (stage for start, stage in STAGES.items() if rule.startswith(start))
            log = folder.with_name("logs") / path.relative_to(folder).with_suffix(".log")
            rows.append([next(of, PREPARATION), rule, 1, *_last_attempt(path, log)])
    table = pd.DataFrame(rows, columns=["stage", "job", "runs", "job_seconds", "peak_mb"])
    total = {"runs": "sum", "job_seconds": "sum", "peak_mb": "max"}
    return table.groupby(["stage", "job"], as_index=False, sort=False).agg(total)


def _last_attempt(path: Path, log: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of a job. Raises InputError if the file is damaged.

    Snakemake's own peak is a sample, which misses most of a short program; the log has the exact.
    """
    try:
        if not path.read_bytes().endswith(b"\n"):
            raise ValueError("its last line is cut off")
        found = pd.read_csv(path, sep="\t", na_values=["-", "NA"]).iloc[-1]
        seconds = float(found["s"])
        if not seconds >= 0:
            raise ValueError("no seconds")
        logged = PEAK.findall(log.read_text("utf-8", "replace")) if log.is_file() else []
        peaks = [float(found.get("max_rss", np.nan)), *map(float, logged)]  # NaN of a short program
        return seconds, float(np.fmax.reduce(peaks))
    except (ValueError, IndexError, KeyError) as error:
        raise InputError(
            f"{path}: not what Snakemake measures of a job ({error}); delete it, and the job's "
            "costs are left out"
        ) from None


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
    note = "Tokens and seconds are means over the runs of a variant, memory is the highest."
    return ["## Fine-tuning", wide, note]
