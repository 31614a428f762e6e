"""Cost against score: what each variant scores for the operations that it took to train.

Left every variant of the ablation, its operations those of one seed: pre-training, and fine-tuning
on all tasks. Right the zero-shot score along pre-training, which costs the tokens seen so far.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.analysis.figures.ablation import LOOKS
from workflow.grid import Grid

FURTHER = {"color": style.SKY, "marker": "v", "linestyle": ""}  # the paper does not have these
CELL = ["arch", "corpus", "aux", "n_transfer"]


def draw(
    costs: pd.DataFrame, ablation: pd.DataFrame, zero_shot: pd.DataFrame, grid: Grid
) -> Figure:
    """Operations on log axes; scores are means over all tasks, as in the ablation's figure."""
    figure = Figure(figsize=(13, 5.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    pretraining = costs[costs["stage"] == "pre-training"].groupby(["arch", "corpus"])
    pretraining = pretraining[["flops", "train_tokens"]].mean()
    _variants(left, variants(costs, ablation, pretraining["flops"]), ablation)
    _along_pretraining(right, zero_shot, pretraining, grid)
    names = [name for name in LOOKS if name in set(ablation["variant"])]
    looks = [LOOKS[name] | {"label": name} for name in names]
    style.legend(figure, [*looks, FURTHER | {"label": "further variants"}], ncols=3)
    return figure


def variants(costs: pd.DataFrame, ablation: pd.DataFrame, pretraining: pd.Series) -> pd.DataFrame:
    """The mean over all tasks of every variant, with `flops` of one seed on all tasks.

    A variant that transfers nothing cost no pre-training.
    """
    cells = costs[costs["stage"] == "fine-tuning"]
    seeds = cells.groupby([*CELL, "task"])[["flops", "runs"]].sum(min_count=1)
    per_seed = (seeds["flops"] / seeds["runs"]).groupby(level=CELL).sum(min_count=1)
    means = ablation[ablation["task"] == "avg_all"].dropna(subset="mean")

    flops = [_flops(row, pretraining, per_seed) for row in means.itertuples()]
    return means.assign(flops=flops).dropna(subset="flops")


def _flops(row: Any, pretraining: pd.Series, fine_tuning: pd.Series) -> float:
    """The operations of a variant; NaN where they are not known."""
    started = pretraining.get((row.arch, row.corpus), float("nan"))
    tuned = fine_tuning.get((row.arch, row.corpus, row.aux, row.n_transfer), float("nan"))
    return tuned if row.n_transfer == "none" else started + tuned


def _variants(ax: Axes, rows: pd.DataFrame, ablation: pd.DataFrame) -> None:
    ax.set_xlabel("floating-point operations of training, one seed (log)")
    ax.set_ylabel("mean score over all tasks (0 to 100)")
    if rows.empty:
        style.note_missing(ax)
        return
    for variant, row in rows.groupby("variant"):
        style.with_intervals(ax, row["flops"], row, markersize=8, **LOOKS.get(variant, FURTHER))
    for column, look in style.BASELINES.items():
        known = ablation.loc[ablation["task"] == "avg_all", column].dropna()
        for score in known[:1]:
            ax.axhline(score, linewidth=1.2, **look)
            left = ax.get_yaxis_transform()
            name = markdown.BASELINES[column]
            ax.text(0.01, score, name, transform=left, va="bottom", fontsize=10.5)
    ax.set_xscale("log")
    low, high = rows["flops"].min(), rows["flops"].max()
    ax.set_xlim(low / 1.4, high * 1.4)
    style.log_ticks(ax.xaxis, low / 1.4, high * 1.4)
    style.limit_to_scores(ax)


def _along_pretraining(
    ax: Axes, zero_shot: pd.DataFrame, pretraining: pd.DataFrame, grid: Grid
) -> None:
    ax.set_xlabel("floating-point operations of pre-training (log)")
    ax.set_ylabel("zero-shot, mean relative score (0 = random)")
    spans = []
    for arch in grid.arch:
        rows = zero_shot[(zero_shot["arch"] == arch) & (zero_shot["task"] == "mean")]
        rows = rows[(rows["update"] > 0) & rows["tokens"].notna() & rows["relative"].notna()]
        if rows.empty or (arch, "books") not in pretraining.dropna(subset="flops").index:
            continue
        whole = pretraining.loc[(arch, "books")]
        x = rows["tokens"].astype(float) * whole["flops"] / whole["train_tokens"]
        ax.plot(x, rows["relative"], **style.ARCHS[arch])
        colour = style.ARCHS[arch]["color"]
        style.draw_range(ax, x, rows["relative_low"], rows["relative_high"], colour)
        spans += [x.min(), x.max()]
    if not spans:
        style.note_missing(ax)
        return
    ax.axhline(0, color=style.GREY, linewidth=1)
    ax.set_xscale("log")
    style.log_ticks(ax.xaxis, min(spans), max(spans), sparse=True)
    ax.legend(loc="upper left")
