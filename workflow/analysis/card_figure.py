"""A data card's figure: how long the inputs of each split are, and how often each label occurs."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.card import Card
from workflow.analysis.figures import style

# Colour and stroke tell the same, in the order of the splits: train, select, the reported ones.
LOOKS = (
    {"color": style.BLUE, "linestyle": "-"},
    {"color": style.ORANGE, "linestyle": "--"},
    {"color": style.VERMILLION, "linestyle": "-."},
    {"color": style.GREEN, "linestyle": ":"},
)


def draw(card: Card) -> Figure:
    """Left a histogram of tokens per input, in shares of each split; right the labels' shares."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    edges = bins(np.concatenate([*card.lengths.values()]))
    looks = LOOKS[: len(card.lengths)]  # too few of them would hide a split: an error, by `strict`
    for look, (split, lengths) in zip(looks, card.lengths.items(), strict=True):
        counts, _ = np.histogram(lengths.clip(max=edges[-1]), edges)
        label = f"{split} ({len(lengths):,})"
        left.stairs(100 * counts / len(lengths), edges, label=label, linewidth=2, **look)
    left.set_xlim(0, edges[-1])
    left.set_ylim(bottom=0)
    left.set_xlabel(f"tokens of an input, in bins of {edges[1]} (the last one: and more)")
    left.set_ylabel("% of the split's rows")
    left.set_title(f"{card.task.title}: length of an input")
    if card.n_ctx < edges[-1]:
        left.axvline(card.n_ctx, color=style.BLACK, linewidth=1.2)
        top = left.get_xaxis_transform()
        left.text(card.n_ctx, 0.98, f" window: {card.n_ctx}", transform=top, va="top", fontsize=11)
    shares = 100 * pd.DataFrame({split: card.shares(split) for split in card.lengths})
    colours = [look["color"] for look in looks]
    shares.plot.barh(ax=right, width=0.8, color=colours, edgecolor="white", legend=False)
    right.invert_yaxis()
    right.set_xlabel("% of the split's rows")
    right.set_title("labels")
    right.grid(axis="y", visible=False)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def bins(lengths: np.ndarray) -> np.ndarray:
    """Edges of about forty bins of whole tokens; the last takes the longest hundredth as well."""
    top = int(np.percentile(lengths, 99)) + 1
    width = max(1, -(-top // 40))
    return np.arange(0, top + 2 * width, width)
