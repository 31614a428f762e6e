"""Scores from each checkpoint beside its zero-shot scores: does one foretell the other?

The measure is Spearman's correlation over the checkpoints, taken within each pre-training seed.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import tasks
from gpt1.cell import PretrainedModel
from workflow.analysis import markdown
from workflow.analysis.records import ZeroShotScore
from workflow.analysis.trends import by_seed
from workflow.analysis.uncertainty import Sample, estimate
from workflow.study_plan import StudyPlan

Heads = Mapping[str, Sample | None]


def add(
    table: pd.DataFrame, results: Path, study: StudyPlan, heads: Mapping[tuple[str, str], Heads]
) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The table with a column `zero_shot`, the checkpoint's mean score; and what it foretells."""
    found: dict[tuple[str, str, str], dict[int, tuple[float, float]]] = {}
    for point in study.points:
        for cell in point.cells:
            sample = heads[point.line, point.value][cell.task]
            seeds = dict.fromkeys(sample.pretrain) if sample and point.value else {}
            pairs = {}
            for seed in seeds:
                model = PretrainedModel(cell.arch, seed, cell.corpus)
                path = model.zero_shot(results, cell.task, int(point.value))
                if sample and path.exists():
                    mine = sample.score[np.array(sample.pretrain) == seed]
                    pairs[seed] = ZeroShotScore.read(path).score, float(mine.mean())
            found[point.line, point.value, cell.task] = pairs
    places = table[["line", "value", "task"]].itertuples(index=False, name=None)
    scores = [[zero for zero, _ in found.get(place, {}).values()] for place in places]
    table = table.assign(zero_shot=[np.mean(of) if of else np.nan for of in scores])
    return table, _correlations(study, found)


def _correlations(
    study: StudyPlan, found: Mapping[tuple[str, str, str], Mapping[int, tuple[float, float]]]
) -> list[str | pd.DataFrame]:
    rows = {}
    for line in study.lines:
        for task in study.tasks:
            curves: dict[int, list[tuple[float, float]]] = {}
            for (name, _, of), pairs in found.items():
                for seed, pair in pairs.items() if (name, of) == (line, task) else ():
                    curves.setdefault(seed, []).append(pair)
            ranks = {seed: rank_correlation(curve) for seed, curve in curves.items()}
            sample = by_seed({seed: rank for seed, rank in ranks.items() if not np.isnan(rank)})
            if sample is not None:
                low, high = np.clip(estimate(sample).interval, -1.0, 1.0)
                title = tasks.task(task).title + (f", {line}" if len(study.lines) > 1 else "")
                rows[title] = markdown.interval(sample.value, low, high, decimals=2)
    if not rows:
        return []
    frame = pd.DataFrame({"rank correlation": rows}).rename_axis("task")
    explained = (
        "Spearman's correlation, over the checkpoints, of the heuristic's score (`zero_shot` in "
        "the CSV) with the score of this table; mean and 95 % interval over pre-training seeds."
    )
    return ["## Along pre-training, beside the paper's zero-shot heuristics", frame, explained]


def rank_correlation(pairs: list[tuple[float, float]]) -> float:
    """Spearman's correlation; NaN of fewer than three pairs or where one side is constant."""
    first, second = (np.array(side) for side in zip(*pairs, strict=True))
    if len(pairs) < 3 or not np.ptp(first) or not np.ptp(second):
        return float("nan")
    return float(stats.spearmanr(first, second).statistic)
