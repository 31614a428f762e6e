"""The tables along pre-training: `pretraining`, `cost_pretraining` and `zero_shot`.

Each has a row for every checkpoint that a run has; what was not made or scored is empty.
"""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd

from gpt1.cell import Arch, PretrainedModel
from gpt1.records import CheckpointFacts, ZeroShotScore
from tasks.common.errors import InputError
from tasks.metrics import settled
from tasks.prompt import Scoring
from tasks.task import Task
from workflow.analysis import markdown
from workflow.analysis.rows import REMEDY, Notes, answers, read_examples
from workflow.analysis.stats.bootstrap import resample
from workflow.analysis.stats.estimates import SeedPool
from workflow.analysis.stats.samples import limits_of, shared_texts
from workflow.analysis.stats.scores import Score
from workflow.analysis.table import Table
from workflow.grid import Grid

PRETRAINING = [
    *("arch", "task", "metric", "split", "n_seeds", "mean", "sd", "low", "high", "by_seed"),
    *("train_tokens", "update", "heldout_loss", "train_loss", "bits_per_byte"),
]
OVER_SEEDS = {
    "n_seeds": ("heldout_perplexity", "count"),
    "mean": ("heldout_perplexity", "mean"),
    "sd": ("heldout_perplexity", "std"),
    "low": ("heldout_perplexity", "min"),
    "high": ("heldout_perplexity", "max"),
    "by_seed": ("heldout_perplexity", tuple),
    "train_tokens": ("tokens", "mean"),
    "heldout_loss": ("heldout_loss", "mean"),
    "train_loss": ("train_loss", "mean"),
    "bits_per_byte": ("heldout_bits_per_byte", "mean"),
}
COSTS = {"train_tokens": ("tokens", ".0f"), "train_seconds": ("seconds", ".0f")}
COSTS |= {"peak_mb": ("peak MB", ".1f")}
ZERO_SHOT = [
    *("arch", "task", "scoring", "metric", "split", "n_seeds", "mean", "sd", "update", "tokens"),
    *("relative", "relative_low", "relative_high", "relative_by_seed", "random", "best", "n"),
    *("margin", "threshold", "note"),
]
ROWS = ["update", "scoring", "guid", "label", "prediction", "margin"]
Place = tuple[Arch, int, Scoring, str]  # update and task
Scored = tuple[Score, dict[str, Any]]  # with what else is known of it, by column
SCORINGS = {
    "heuristic": "the paper's heuristics",
    "prompt": "prompts",
    "calibrated": "prompts, calibrated by the choice alone",
}


def facts_of(
    results: Path, models: Iterable[PretrainedModel], updates: Iterable[int]
) -> list[CheckpointFacts]:
    """The facts of each checkpoint that was made. Raises InputError for a damaged file."""
    found = [
        CheckpointFacts.find(m.facts(results, update), arch=m.arch, seed=m.seed, update=update)
        for m in models
        for update in updates
    ]
    return [one for one in found if one is not None]


def _checkpoints(results: Path, grid: Grid) -> pd.DataFrame:
    """The facts of each checkpoint of the run's own models, by model and update."""
    found = [one.model_dump() for one in facts_of(results, grid.models(), grid.updates)]
    return pd.DataFrame(found, columns=list(CheckpointFacts.model_fields)).drop(columns="model")


def pretraining(results: Path, grid: Grid) -> Table:
    """Held-out token-level perplexity at each checkpoint of both language models.

    The perplexity is per BPE token on whole held-out books, so it only compares runs with the same
    tokenizer; `bits_per_byte` compares others, too: the loss per byte of the held-out books as
    they were given, whose tokens are all taken to be as long as those that are scored. One row per
    (arch, update), over the pre-training seeds; n_seeds is 0 if none was made. `low` and `high` are
    the lowest and the highest perplexity; losses are in nats per token.
    """
    points = pd.MultiIndex.from_product([grid.arch, grid.updates], names=["arch", "update"])
    groups = _checkpoints(results, grid).groupby(["arch", "update"])
    table = groups.agg(**OVER_SEEDS).reindex(points).fillna({"n_seeds": 0}).reset_index()
    table = table.assign(task="lm", metric="perplexity", split="heldout")[PRETRAINING]
    wide = pd.DataFrame(index=pd.Index(table["update"].unique(), name="update"))
    for arch, mine in table.set_index("update").groupby("arch", sort=False):
        wide[f"{arch}: tokens"] = markdown.column(mine["train_tokens"], ".0f")
        wide[f"{arch}: perplexity"] = mine.apply(markdown.score, axis=1, decimals=2)
        wide[f"{arch}: bits per byte"] = markdown.column(mine["bits_per_byte"], ".3f")
    seeds = markdown.seeds(table["n_seeds"])
    note = (
        "Perplexity per BPE token on the held-out books: mean and standard deviation over "
        f"pre-training seeds ({seeds}; no `±`: one). The paper prints 18.4 for its own corpus and "
        "tokenizer; perplexities under another tokenizer or on other text do not compare. Bits per "
        "byte of the held-out books as they were given do, about, where no tokenizer loses text."
    )
    by_update = table.dropna(subset="mean").groupby("update")["mean"].apply(list)
    if 1 in by_update and by_update[1] == by_update.get(0):
        note += " Update 1 changes nothing: its learning rate is 0, from which the rate warms up."
    return Table(table, ["# Pre-training", wide, note])


def cost_pretraining(results: Path, grid: Grid) -> Table:
    """What pre-training cost up to each checkpoint: tokens, seconds, memory, on what processor.

    One row per language model and checkpoint; what was not made has none. The Markdown has only the
    totals of each model's training.
    """
    names = {"tokens": "train_tokens", "seconds": "train_seconds"}
    table = _checkpoints(results, grid).rename(columns=names)
    table = table[["arch", "seed", *COSTS, "cpu", "update"]].astype(dict.fromkeys(COSTS, float))
    last = table.groupby(["arch", "seed"], sort=False).last()
    columns = {head: markdown.column(last[name], form) for name, (head, form) in COSTS.items()}
    return Table(table, ["# Costs of pre-training", pd.DataFrame(columns).reset_index("seed")])


def zero_shot(results: Path, grid: Grid) -> Table:
    """Figure 2 right: zero-shot scores along pre-training, by heuristics and by prompts.

    One row per (arch, task, update, scoring); a missing score is empty, with n_seeds 0. `scoring`
    is `heuristic` (paper 5), `prompt` or `calibrated` (`tasks.prompt`). `relative` is (score -
    random) / (best - random), with the config's two values for each task: 0 is a random guess, 1
    the state of the art. Task `mean` is the unweighted mean of the relative scores of all tasks
    with that scoring, taken within each seed first; a seed that lacks a task has none.

    `mean`, `sd`, `relative`, `margin` and `threshold` are over the pre-training seeds.
    `relative_low` and `relative_high` end its 95 % interval over rows and models, of one model over
    the rows alone; `relative_by_seed` has the score of each. `margin`: how much more likely the
    right choice is than the best wrong one, on average over rows, in nats as the scoring counts.
    """
    found: dict[Place, Scored] = {}
    for arch, name in product(grid.arch, grid.zero_shot.tasks):
        found |= _scores(results, grid, arch, name)
    scored = {s: names for s in get_args(Scoring) if (names := grid.zero_shot.of(s))}
    rows: list[dict[str, Any]] = []
    for arch, update, (scoring, names) in product(grid.arch, grid.updates, scored.items()):
        place = {"arch": arch, "update": update, "scoring": scoring}
        line: dict[str, Score | None] = {}
        mean = place | {"task": "mean", "metric": "mean"}
        for name in names:
            line[name], facts = found.get((arch, update, scoring, name), (None, {}))
            row = place | {"task": name, "metric": grid.task(name).metric, **facts}
            row |= grid.zero_shot.normalise[name].model_dump()
            rows.append(row | _over_seeds({name: line[name]}, grid))
            mean |= {"tokens": facts["tokens"]} if facts else {}
        rows.append(mean | _over_seeds(line, grid))
    table = pd.DataFrame(rows, columns=ZERO_SHOT)
    notes = _notes(results, grid, table)
    table["note"] = [
        notes.joined(scored[scoring]) if name == "mean" else notes.of(name)
        for scoring, name in zip(table["scoring"], table["task"], strict=True)
    ]
    return Table(table, _relative(table, grid, notes))


def _scores(results: Path, grid: Grid, arch: Arch, name: str) -> Iterator[tuple[Place, Scored]]:
    """The scores of an architecture on a task. Raises InputError for rows that do not give them."""
    read, task = functools.cache(_read_rows), grid.task(name)
    for update in grid.updates:
        place, records = {"arch": arch, "update": update, "task": name}, {}
        for model in (model for model in grid.models() if model.arch == arch):
            path = model.zero_shot(results, name, update)
            if record := ZeroShotScore.find(path, seed=model.seed, **place):
                records[model] = record
        paths = [model.zero_shot_rows(results, name) for model in records]
        for scoring in grid.zero_shot.scorings(name) if records else ():
            every = (read(path) for path in paths)
            parts = [r[(r["update"] == update) & (r["scoring"] == scoring)] for r in every]
            wrong = np.array([p.empty or [*p["guid"]] != [*parts[0]["guid"]] for p in parts])
            if not wrong.any():
                score = _score(parts, [model.seed for model in records], task)
                stored = [record.by_scoring[scoring] for record in records.values()]
                wrong = ~np.isclose(score.values, stored)
            if wrong.any():
                path = paths[wrong.argmax()]
                raise InputError(f"{path}: not the rows of update {update}'s score; {REMEDY}")
            known = pd.DataFrame([record.model_dump() for record in records.values()])
            facts = known[["split", "tokens", "n"]].iloc[0].to_dict()
            facts |= {"mean": score.value, "sd": score.sd}
            facts |= {"threshold": known["threshold"].astype(float).mean()}
            facts |= {"margin": np.mean([part["margin"].mean() for part in parts])}
            yield (arch, update, scoring, name), (score, facts)


def _read_rows(path: Path) -> pd.DataFrame:
    """What is behind the scores of a language model on a task. Raises InputError if it cannot."""
    try:
        return pd.read_parquet(path, columns=ROWS, page_checksum_verification=True)
    except (OSError, ValueError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: no rows of scores ({reason:.80}); {REMEDY}") from None


def _score(parts: Sequence[pd.DataFrame], seeds: Sequence[int], task: Task) -> Score:
    """The score of language models on a task from the rows of each."""
    labels, texts = answers(task, parts[0]["label"]), shared_texts(task, [*parts[0]["guid"]])
    said = np.stack([answers(task, rows["prediction"]) for rows in parts])
    said = np.array([*map(settled, said)]) if task.soft_labels else said
    drawn = resample(task.metric, said, labels, texts, f"{task.name}/{task.report[0]}")
    return Score(tuple(seeds), tuple(seeds), *drawn, limits_of(task.metric))


def _over_seeds(line: Mapping[str, Score | None], grid: Grid) -> dict[str, Any]:
    """The relative score on a task, or the mean of those on several, over the seeds.

    Without any number where a task has no score, or no model has been scored on all of them.
    """
    scales = {name: grid.zero_shot.normalise[name] for name in line}
    above = {name: score and score.minus(scales[name].random) for name, score in line.items()}
    weights = {name: 1 / (of.best - of.random) / len(line) for name, of in scales.items()}
    of = SeedPool().estimate([(1.0, above)], weights)
    if of is None:
        return {"n_seeds": 0, "relative_by_seed": ()}
    low, high = (of if of.n_seeds > 1 else of.of_rows).interval
    ends = {"relative_low": low, "relative_high": high}
    by_seed = {"n_seeds": len(of.score.seeds), "relative_by_seed": tuple(of.score.values)}
    return {"relative": of.value, **ends, **by_seed}


def _notes(results: Path, grid: Grid, table: pd.DataFrame) -> Notes:
    """The tasks' notes, with the number of rows scored where that is not all of them.

    All are the published ones or, of the user's own tasks, those that were prepared.
    """
    found = Notes.read(results, grid.zero_shot.tasks)
    prepared = read_examples(results, grid.own)
    notes = dict(found.by_task)
    for row in table.dropna(subset="n").drop_duplicates("task").itertuples():
        own = prepared.get(row.task)
        if row.n < (own or grid.task(row.task)).rows.get(row.split, 0):
            more = f"scored on {int(row.n):,} rows"
            notes[row.task] = "; ".join(filter(None, (notes[row.task], more)))
    return replace(found, by_task=notes)


def _relative(table: pd.DataFrame, grid: Grid, notes: Notes) -> list[str | pd.DataFrame]:
    """The Markdown of `zero_shot`: updates down, tasks across."""

    def shown(row: pd.Series) -> str:
        if not row["n_seeds"]:
            return markdown.MISSING
        relative = f"{row['relative']:.3f}"
        if row["task"] == "mean":
            return f"{relative} [{row['relative_low']:.3f}, {row['relative_high']:.3f}]"
        return f"{markdown.score(row)} ({relative})"

    heads = {"mean": "mean (relative)"} | {
        name: f"{notes.mark(name)} ({markdown.METRICS[grid.task(name).metric]})"
        for name in grid.zero_shot.tasks
    }
    table = table.assign(head=table["task"].map(heads), shown=table.apply(shown, axis=1))
    parts: list[str | pd.DataFrame] = ["# Zero-shot scores along pre-training (Figure 2, right)"]
    for (arch, scoring), mine in table.groupby(["arch", "scoring"], sort=False):
        columns = [heads[name] for name in ("mean", *grid.zero_shot.of(scoring))]
        wide = markdown.pivot(mine, "update", "head", "shown")[columns]
        tokens = mine.groupby("update")["tokens"].first()
        # published weights have no number of tokens
        unknown = mine.groupby("update")["n_seeds"].any().map({True: markdown.NONE})
        text = tokens.map("{:.0f}".format, na_action="ignore")
        wide.insert(0, "tokens", text.astype(object).fillna(unknown).fillna(markdown.MISSING))
        parts += [f"## {arch}, {SCORINGS[scoring]}", wide]
    scale = "; ".join(
        f"{grid.task(name).title} {limits.random:g} to {limits.best:g}"
        for name, limits in grid.zero_shot.normalise.items()
    )
    return [
        *parts,
        *notes.footnote(),
        "`a ± b`: mean and standard deviation over pre-training seeds (no `±`: one). "
        "In brackets the relative score: 0 is a random guess (by F1 always yes), 1 the state of "
        f"the art or all rows ({scale}); of the mean with its 95 % interval over rows and models. "
        "`missing`: not run. The CSV has each task's interval and margin."
        + (" Update 0 is the untrained model." if 0 in grid.updates else ""),
    ]
