"""Do skills, or the fine-tuning gains that need them, get half-way first along pre-training?

A curve goes from the untrained model to the last checkpoint. The point at which it is half-way up
is interpolated linearly between two checkpoints, and counted in checkpoints after the untrained
model.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gpt1.records import ClozeScores
from workflow.analysis import markdown
from workflow.analysis.lines import Lines
from workflow.analysis.stats.estimate import LEVEL, Component, half_width

HALVES = ["half_skills", "half_zero_shot", "half_score"]
LEAST = 5.0  # points; a curve that rises less has no half-way point
LEGEND = (
    "In checkpoints after the untrained model. `lag`: how many the fine-tuned score is later than "
    "the cloze items that teach it, with the 95 % interval of Student's t over seeds. A dash: a "
    f"curve rises by less than {LEAST:g} points, or was not run."
)


def half_way(scores: Sequence[float]) -> float:
    """The interpolated index at which `scores` are first half-way to the last; NaN without one."""
    values = np.asarray(scores, dtype=float)
    if not values[-1] - values[0] >= LEAST:
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
        models = run.study.points[-1].of.models()
        paths = [[model.cloze(results, int(at)) for model in models] for at in rows["value"]]
        known = np.array([[_accuracy(path, taught) for path in of_all] for of_all in paths])
        learnt |= dict(zip(rows.index, known.mean(axis=1), strict=True))
        is_whole = rows["by_seed"].map(len).nunique() == 1  # else some cell or seed was not run
        curves = [*zip(*rows["by_seed"], strict=True)] if is_whole else []  # by seed
        ways = pd.DataFrame(
            {
                "half_skills": [
                    half_way(known[:, i % len(models)].tolist()) for i in range(len(curves))
                ],
                "half_score": [half_way(curve) for curve in curves],
            },
            dtype=float,
        )
        lag = ways["half_score"] - ways["half_skills"]
        error = Component(lag.var(skipna=False) / max(1, len(lag)), len(lag) - 1)
        mean, half = lag.mean(skipna=False), half_width([error], LEVEL)
        row = {**ways.mean(skipna=False), "half_zero_shot": half_way(rows["zero_shot"])}
        lags[rows.index[-1]] = row | {"lag": mean, "lag_low": mean - half, "lag_high": mean + half}
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
