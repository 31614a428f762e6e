"""Do skills, or the fine-tuning gains that need them, get half-way first along pre-training?

A curve goes from the untrained model, or from the constant answer if that scores higher, to the
last checkpoint. The point at which it is half-way up is interpolated linearly between two
checkpoints, and counted in checkpoints after the untrained model.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gpt1.records import ClozeScores, ZeroShotScore
from workflow.analysis import markdown
from workflow.analysis.lines import Lines
from workflow.analysis.stats.estimates import Estimate
from workflow.analysis.stats.scores import of_seeds

HALVES = ["half_skills", "half_zero_shot", "half_score"]
LEAST = 5.0  # points; a curve that rises less has no half-way point
LEGEND = (
    "In checkpoints after the untrained model, the mean over language models. A score rises from "
    "that of the untrained model or, if this is higher, of the best constant answer. `lag`: how "
    "many checkpoints the fine-tuned score is later than the cloze items that teach it, with the "
    "95 % interval of Student's t over language models, without that of rows. A dash: a curve "
    f"rises by less than {LEAST:g} points, or was not run."
)


def half_way(scores: Sequence[float], floor: float = -math.inf) -> float:
    """The interpolated index at which `scores` are first half-way to the last; NaN without one.

    Scores below `floor` count as `floor`, so that coming up to it is no rise.
    """
    values = np.maximum(np.asarray(scores, dtype=float), floor)
    if np.isnan(values).any() or values[-1] - values[0] < LEAST:
        return float("nan")
    half = (values[0] + values[-1]) / 2
    i = int((values >= half).argmax())
    return float(i - (values[i] - half) / (values[i] - values[i - 1]))


def add(
    frame: pd.DataFrame, results: Path, run: Lines
) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The frame with the accuracy of `skills`, and half-way points and lag in a task's last row."""
    lags: dict[Any, dict[str, float]] = {}
    learnt: dict[Any, float] = {}
    for task, taught in run.study.skills.items():
        rows = frame[(frame["task"] == task) & (frame["value"] != "")]  # no references
        models, updates = run.study.points[-1].of.models(), [int(at) for at in rows["value"]]
        known = [[_accuracy(m.cloze(results, at), taught) for at in updates] for m in models]
        learnt |= dict(zip(rows.index, np.mean(known, axis=0), strict=True))
        constant = rows["majority"].fillna(-math.inf).max()
        untuned = [[_zero_shot(m.zero_shot(results, task, at)) for at in updates] for m in models]
        is_whole = rows["by_seed"].map(len).nunique() == 1  # else some cell or seed was not run
        curves = [*zip(*rows["by_seed"], strict=True)] if is_whole else []  # by seed
        tuned = [half_way(curve, constant) for curve in curves]
        ways = pd.DataFrame(
            {
                "half_skills": [half_way(curve) for curve in known],
                "half_zero_shot": [half_way(curve, constant) for curve in untuned],
                "half_score": [
                    pd.Series(tuned[i :: len(models)], dtype=float).mean(skipna=False)
                    for i in range(len(models))  # seed i is tuned from model i modulo their number
                ],
            }
        )
        lag = ways["half_score"] - ways["half_skills"]
        over_models = of_seeds(dict(enumerate(lag)))
        low, high = Estimate(over_models, (over_models.over_seeds,)).interval
        row = {"lag": over_models.value, "lag_low": low, "lag_high": high}
        lags[rows.index[-1]] = ways.mean(skipna=False).to_dict() | row
    frame = frame.assign(skills=pd.Series(learnt)).join(pd.DataFrame.from_dict(lags, "index"))
    shown = frame.loc[[*lags]]
    text = shown[HALVES].map(markdown.value)
    found = markdown.intervals(shown, "lag", "lag_low", "lag_high")
    text["lag"] = [of.replace(markdown.MISSING, markdown.NONE) for of in found]
    text.index = shown["task"].map(run.study.shown)
    return frame, ["## Half of the way", text.rename_axis(""), LEGEND]


def _accuracy(path: Path, skills: Sequence[str]) -> float:
    """The mean accuracy of a checkpoint on some skills."""
    found = ClozeScores.read(path).skills
    return float(np.mean([found[skill].accuracy for skill in skills]))


def _zero_shot(path: Path) -> float:
    """The zero-shot score of a checkpoint, or NaN where the task has none."""
    return ZeroShotScore.read(path).score if path.exists() else float("nan")
