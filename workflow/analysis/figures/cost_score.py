"""Cost against score: what each variant scores for the operations that it took to train.

Left every variant of the ablation, its operations those of one seed: pre-training, and fine-tuning
on all tasks. Right the zero-shot score along pre-training, which costs the tokens seen so far.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.analysis.figures import style
from workflow.analysis.paper import FULL, PERMUTED
from workflow.grid import Grid

FURTHER = {"color": style.GREY, "marker": "v"}  # the paper does not have these
CELL = ["arch", "corpus", "aux", "n_transfer"]


def draw(
    costs: pd.DataFrame, ablation: pd.DataFrame, zero_shot: pd.DataFrame, grid: Grid
) -> Figure:
    """Operations on log axes; scores are means over all tasks, as in the ablation's figure."""
    figure = Figure(figsize=(12, 5.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    means = ablation[ablation["task"] == "avg_all"]
    pretraining = costs[costs["stage"] == "pre-training"].groupby(["arch", "corpus"])
    pretraining = pretraining[["flops", "train_tokens"]].mean()
    _variants(left, means, with_flops(means, costs, pretraining["flops"]))
    _along_pretraining(right, zero_shot, pretraining, grid)
    looks = {n: look for n, look in style.VARIANTS.items() if n in set(means["variant"])}
    looks["further variants"] = FURTHER
    handles = [look | style.MARKS | {"label": name} for name, look in looks.items()]
    handles += style.baselines()
    style.legend(figure, handles, ncols=3)
    return figure


def with_flops(means: pd.DataFrame, costs: pd.DataFrame, pretraining: pd.Series) -> pd.DataFrame:
    """The means of variants with `flops`, of one seed on all tasks; those that are known alone.

    A variant that transfers nothing cost no pre-training; permuted embeddings cost that of the
    model which they were taken from.
    """
    cells = costs[costs["stage"] == "fine-tuning"].groupby([*CELL, "task"])[["flops", "runs"]]
    seeds = cells.sum(min_count=1)
    per_seed = (seeds["flops"] / seeds["runs"]).groupby(level=CELL).sum(min_count=1)
    means = means.join(per_seed.rename("tuned"), on=CELL)
    read = means["corpus"].replace(PERMUTED.corpus, FULL.corpus)
    means = means.assign(read=read).join(pretraining.rename("pretrained"), on=["arch", "read"])
    started = means["pretrained"].mask(means["n_transfer"] == "none", 0)
    return means.assign(flops=means["tuned"] + started).dropna(subset=["flops", "mean"])


def _variants(ax: Axes, means: pd.DataFrame, known: pd.DataFrame) -> None:
    for variant, row in known.groupby("variant"):
        look = style.VARIANTS.get(variant, FURTHER)
        style.points(ax, row["flops"], row[style.SCORE], **look, **style.MARKS)
    for column, look in style.BASELINES.items():
        for score in means[column].dropna()[:1]:
            ax.axhline(score, linewidth=1.2, **look)
    style.log_axis(ax.xaxis, margin=1.4)
    style.limit_to_scores(ax)
    ax.set_xlabel("floating-point operations of training, one seed (log)")
    ax.set_ylabel("mean score over all tasks (0 to 100)")


def _along_pretraining(
    ax: Axes, zero_shot: pd.DataFrame, pretraining: pd.DataFrame, grid: Grid
) -> None:
    means = zero_shot[(zero_shot["task"] == "mean") & (zero_shot["update"] > 0)]
    ends = []
    for arch in grid.arch:
        if (arch, "books") in pretraining.index:
            rows, whole = means[means["arch"] == arch], pretraining.loc[(arch, "books")]
            flops = rows["tokens"].astype(float) * whole["flops"] / whole["train_tokens"]
            look = style.MODELS[arch]
            style.curve(ax, flops, rows[style.RELATIVE], **look)
            ends.append((look["label"], flops, rows["relative"], look))
    ax.axhline(0, color=style.GREY, linewidth=1)
    style.log_axis(ax.xaxis, sparse=True)
    ax.set_xlabel("floating-point operations of pre-training (log)")
    ax.set_ylabel("zero-shot, mean relative score")
    style.label_ends(ax, ends)
