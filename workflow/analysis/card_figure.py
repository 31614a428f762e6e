"""A data card's figure: how long the inputs of each split are, and how often each label occurs."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.figures import style

# Colour and stroke tell the same, in the order of the splits: train, select, the reported ones.
LOOKS = (
    {"color": style.BLUE, "linestyle": "-"},
    {"color": style.ORANGE, "linestyle": "--"},
    {"color": style.VERMILLION, "linestyle": "-."},
    {"color": style.GREEN, "linestyle": ":"},
)


def draw(card: dict[str, Any]) -> Figure:
    """Left a histogram of tokens per input, in shares of each split; right the labels' shares."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    edges, splits = np.array(card["edges"]), card["splits"]
    looks = LOOKS[: len(splits)]  # too few of them would hide a split: an error, by `strict`
    for look, (split, part) in zip(looks, splits.items(), strict=True):
        share = 100 * np.array(part["histogram"]) / part["rows"]
        left.stairs(share, edges, label=f"{split} ({part['rows']:,})", linewidth=2, **look)
    left.set_xlim(0, edges[-1])
    left.set_ylim(bottom=0)
    width = edges[1] - edges[0]
    left.set_xlabel(f"tokens of an input, in bins of {width} (the last one: and more)")
    left.set_ylabel("% of the split's rows")
    left.set_title(f"{card['title']}: length of an input")
    if card["n_ctx"] < edges[-1]:
        left.axvline(card["n_ctx"], color=style.BLACK, linewidth=1.2)
        left.annotate(
            f"window: {card['n_ctx']}",
            (card["n_ctx"], 1),
            **{"xycoords": ("data", "axes fraction"), "xytext": (4, -4)},
            **{"textcoords": "offset points", "va": "top", "fontsize": 11},
        )
    shares = pd.DataFrame({s: pd.Series(p["labels"]) / p["rows"] for s, p in splits.items()})
    colours = [look["color"] for look in looks]
    (100 * shares).plot.barh(ax=right, width=0.8, color=colours, edgecolor="white", legend=False)
    right.invert_yaxis()
    right.set_xlabel("% of the split's rows")
    right.set_title("labels")
    right.grid(axis="y", visible=False)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=len(splits))
    return figure
