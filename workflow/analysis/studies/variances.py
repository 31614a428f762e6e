"""How much scores vary over language models, and over fine-tuning of the same one."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from workflow.analysis import markdown
from workflow.analysis.lines import Lines, named
from workflow.analysis.stats.estimates import LEVEL

SPREAD = ["sd_pretrain", "sd_finetune"]
RATIO = ["sd_ratio_low", "sd_ratio_high"]
HEADING = "## Standard deviations over language models / over fine-tuning of the same one"
LEGEND = (
    "In brackets the 95 % interval of the first divided by the second, by the F-distribution: "
    "above 1, language models vary more; below 1, fine-tuning does."
)


def deviations(by_seed: Sequence[float], models: int) -> list[float]:
    """Both standard deviations of scores of which the i-th started from model i % `models`.

    After them come the ends of the 95 % interval of the first divided by the second. They are from
    the mean squares of a one-way analysis of variance, with any number of scores per model (Searle,
    Casella and McCulloch 1992, Variance Components, 3.6); a variance below 0 counts as 0. NaN for
    one model, and for fewer than two scores of each.
    """
    if models < 2 or len(by_seed) < 2 * models:
        return [np.nan] * len(SPREAD + RATIO)
    groups = [np.asarray(by_seed[i::models], dtype=float) for i in range(models)]
    sizes, means = np.array([of.size for of in groups]), np.array([of.mean() for of in groups])
    df, rest = models - 1, len(by_seed) - models
    within = sum(of.var() * of.size for of in groups) / rest
    between = float(sizes @ (means - np.mean(by_seed)) ** 2) / df
    size = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / df
    found = [max(0.0, between - within) / size, within]
    if within:
        ends = stats.f.ppf([(1 + LEVEL) / 2, (1 - LEVEL) / 2], df, rest)
        found += list(np.maximum(0.0, between / within / ends - 1) / size)
    else:
        found += [np.nan, np.nan]
    return [float(of**0.5) for of in found]


def add(frame: pd.DataFrame, run: Lines) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The frame with both standard deviations of each score, and a section on them."""
    models = {point.key: len(point.of.pretrain) for point in run.study.points}
    keys = zip(frame["line"], frame["value"], strict=True)
    found = [deviations(of, models[k]) for of, k in zip(frame["by_seed"], keys, strict=True)]
    spread = pd.DataFrame(found, columns=SPREAD + RATIO, index=frame.index)
    texts = spread.map(markdown.value)
    text = texts[SPREAD].agg(" / ".join, axis=1) + " [" + texts[RATIO].agg(", ".join, axis=1) + "]"
    shown = named(frame, run.study).assign(text=text.where(spread[SPREAD[0]].notna(), ""))
    wide = markdown.pivot(shown, "row", "task", "text").rename_axis("").rename_axis("", axis=1)
    return frame.join(spread), [HEADING, wide.rename(columns=run.titles()), LEGEND]
