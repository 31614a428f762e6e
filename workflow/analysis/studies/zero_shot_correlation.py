"""Scores from each checkpoint beside its zero-shot scores: does one foretell the other?

Two measures, over the checkpoints of each pre-training seed. Spearman's correlation of the curves
is near 1 of any two that rise with the updates. So there is that of their changes from one
checkpoint to the next as well, which asks whether both rise at the same time.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import tasks
from gpt1.cell import PretrainedModel
from workflow.analysis import markdown
from workflow.analysis.records import ZeroShotScore
from workflow.analysis.stats.estimate import LEVEL, estimate
from workflow.analysis.stats.sample import Scores
from workflow.analysis.stats.trends import by_seed, changes
from workflow.study_plan import StudyPlan

# Where points scatter by themselves, a rise follows a fall, in both curves, and the variance of a
# correlation is that of fewer changes by this factor (Bartlett 1935): 1 + 2 x 0.5 x 0.5.
SCATTER = 1.5
BOTH = ["zero_shot", "score"]
EXPLAINED = (
    "Spearman's correlation of the heuristic's score (`zero_shot` in the CSV) with the score "
    "of this table. Of the curves: over the checkpoints, mean and 95 % interval over "
    "pre-training seeds; near 1 of any two curves that rise with the updates. Of their "
    "changes: over the steps from one checkpoint to the next, of all seeds, with its 95 % "
    "interval; above 0 where both rise at the same time."
)


def add(
    table: pd.DataFrame,
    results: Path,
    study: StudyPlan,
    scores: Scores,
) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The table with a column `zero_shot`, the checkpoint's mean score; and what it foretells."""
    found = pairs(results, study, scores)
    places = [point.place for point in study.points if point.value]
    mean = found.pivot_table(index=["line", "value"], columns="task", values="zero_shot")
    mean = mean.reindex(index=places, columns=study.tasks)
    mean["mean"] = mean.mean(axis=1, skipna=False)  # of all tasks or of none
    long = mean.rename_axis(columns="task").stack().rename("zero_shot").reset_index()
    table = table.merge(long, on=["line", "value", "task"], how="left")
    titles = {task: tasks.task(task).title for task in study.tasks}
    titles |= {"mean": f"mean of {len(study.tasks)}"} if len(study.tasks) > 1 else {}
    wide = mean.loc[study.lines[0]][list(titles)].rename(columns=titles).dropna(axis=1, how="all")
    if wide.empty:
        return table, []
    shown = wide.map(lambda score: markdown.value(score, markdown.MISSING))
    shown.index = [f"{study.axis} {value}" for value in shown.index]
    heading = "## The same checkpoints by the paper's zero-shot heuristics"
    return table, [heading, shown.rename_axis(""), *_correlations(study, found)]


def pairs(
    results: Path,
    study: StudyPlan,
    scores: Scores,
) -> pd.DataFrame:
    """BOTH scores of each line, checkpoint, task and pre-training seed, in the updates' order.

    Of the run's own language models; a variant's have no zero-shot scores.
    """
    rows = []
    own = (point for point in study.points if point.value and not point.model)
    for point in sorted(own, key=lambda p: int(p.value)):
        for cell in point.cells:
            sample = scores[point.place][cell.task]
            for seed in dict.fromkeys(sample.pretrain) if sample else ():
                model = PretrainedModel(cell.arch, seed, cell.corpus)
                path = model.zero_shot(results, cell.task, int(point.value))
                if sample and path.exists():
                    score = sample.score[np.array(sample.pretrain) == seed].mean()
                    zero_shot = ZeroShotScore.read(path).score
                    rows.append((*point.place, cell.task, seed, zero_shot, score))
    return pd.DataFrame(rows, columns=["line", "value", "task", "seed", *BOTH])


def _correlations(study: StudyPlan, found: pd.DataFrame) -> list[str | pd.DataFrame]:
    rows = {}
    for line in study.lines:
        for task in study.tasks:
            mine = found[(found["line"] == line) & (found["task"] == task)]
            curves = {int(seed): of[BOTH].to_numpy() for seed, of in mine.groupby("seed")}
            ranks = {seed: rank_correlation(curve) for seed, curve in curves.items()}
            sample = by_seed({seed: rank for seed, rank in ranks.items() if not np.isnan(rank)})
            if sample is not None:
                low, high = np.clip(estimate(sample).interval, -1.0, 1.0)
                between = correlation_of_changes(list(curves.values()))
                title = tasks.task(task).title + (f", {line}" if len(study.lines) > 1 else "")
                rows[title] = {
                    "of the curves": markdown.interval(sample.value, low, high, decimals=2),
                    "of their changes": markdown.interval(*between, decimals=2),
                }
    if not rows:
        return []
    heading = "## Rank correlation with the paper's zero-shot heuristics, along pre-training"
    return [heading, pd.DataFrame.from_dict(rows, orient="index").rename_axis("task"), EXPLAINED]


def rank_correlation(pairs: Sequence[Sequence[float]] | np.ndarray) -> float:
    """Spearman's correlation; NaN of fewer than three pairs or where one side is constant."""
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    if len(pairs) < 3 or not np.ptp(first) or not np.ptp(second):
        return float("nan")
    return float(stats.spearmanr(first, second).statistic)


def correlation_of_changes(curves: Sequence[np.ndarray]) -> tuple[float, float, float]:
    """Spearman's correlation of the changes of both sides of the seeds' curves, and its interval.

    Each curve is [checkpoints, 2]. The points of a curve that only wanders depend on each other and
    its changes do not, so those of all seeds are the sample. The interval is Fisher's; NaN of fewer
    than five changes.
    """
    first, second = (changes([np.asarray(curve)[:, i] for curve in curves]) for i in (0, 1))
    value = rank_correlation(list(zip(first, second, strict=True))) if len(first) else np.nan
    if np.isnan(value) or len(first) < 5:
        return float(value), float("nan"), float("nan")
    half = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(SCATTER / (len(first) - 3))
    z = np.arctanh(np.clip(value, -0.9999, 0.9999))
    return value, float(np.tanh(z - half)), float(np.tanh(z + half))
