"""How much scores vary over language models, and over fine-tuning of the same one."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.lines import Lines, named

SPREAD = ["sd_pretrain", "sd_finetune"]
HEADING = "## Standard deviations over language models / over fine-tuning of the same one"


def deviations(by_seed: Sequence[float], models: int) -> list[float]:
    """Both standard deviations of scores of which the i-th started from model i % `models`.

    They come from the mean squares of a one-way analysis of variance; a variance below 0 counts as
    0. NaN for fewer than two scores per model.
    """
    if len(by_seed) < 2 * models:
        return [np.nan] * len(SPREAD)
    scores = np.reshape(by_seed, (-1, models))
    within = scores.var(axis=0, ddof=1).mean()
    between = scores.mean(axis=0).var(ddof=1) - within / len(scores)
    return [float(max(0.0, of) ** 0.5) for of in (between, within)]


def add(frame: pd.DataFrame, run: Lines) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The frame with both standard deviations of each score, and a section on them."""
    models = len(run.study.points[-1].of.pretrain)
    spread = pd.DataFrame([deviations(of, models) for of in frame["by_seed"]], columns=SPREAD)
    shown = named(frame, run.study).assign(text=spread.map(markdown.value).agg(" / ".join, axis=1))
    wide = markdown.pivot(shown, "row", "task", "text").rename_axis("").rename_axis("", axis=1)
    return frame.join(spread), [HEADING, wide.rename(columns=run.titles())]
