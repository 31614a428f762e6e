"""Held-out perplexity of both language models along pre-training, by updates and by seconds.

Lines are means over the pre-training seeds, bands reach from the lowest seed to the highest.
"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.analysis.figures import style
from workflow.grid import Grid


def draw(table: pd.DataFrame, costs: pd.DataFrame, grid: Grid) -> Figure:
    """Left against updates, with the tokens seen above; right against seconds of training."""
    runs = costs.astype({"train_seconds": float}).groupby(["arch", "update"])
    table = table.join(runs["train_seconds"].mean(), on=["arch", "update"])
    figure = Figure(figsize=(13, 5.5), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    known = table[table["mean"].notna()]
    style.updates_axis(left, grid.updates)
    for arch in grid.arch:
        rows = table[table["arch"] == arch]
        trained, untrained = rows[rows["update"] > 0], rows[rows["update"] == 0]
        look = style.ARCHS[arch]
        left.plot(trained["update"], trained["mean"], **look)
        left.plot(untrained["update"], untrained["mean"], **look)
        right.plot(trained["train_seconds"], trained["mean"], **look)
        low, high, colour = trained["low"], trained["high"], look["color"]
        style.draw_range(left, trained["update"], low, high, colour)
        style.draw_range(right, trained["train_seconds"], low, high, colour)
    left.set_xlabel("pre-training updates (log; 0 = untrained)")
    left.set_ylabel("held-out perplexity per token (log)")
    right.set_xlabel("seconds of training (log)")
    if known.empty:
        for ax in (left, right):
            style.note_missing(ax)
        return figure
    right.set_xscale("log")
    low, high = known["low"].min(), known["high"].max()
    left.set_yscale("log")
    left.set_ylim(low / 1.15, high * 1.15)
    style.log_ticks(left.yaxis, low / 1.15, high * 1.15)
    trained = known[known["update"] > 0]
    if len(trained):
        style.log_ticks(right.xaxis, *trained["train_seconds"].agg(["min", "max"]))
        _tokens_above(left, trained, grid.updates)
    style.legend(figure, [style.ARCHS[arch] for arch in grid.arch])
    return figure


def _tokens_above(ax: Axes, trained: pd.DataFrame, updates: list[int]) -> None:
    """A second axis of tokens, where every model sees the same number of tokens per update."""
    rates = trained["train_tokens"] / trained["update"]
    if np.allclose(rates, rates.iloc[0], rtol=1e-3):
        above = ax.twiny()
        style.updates_axis(above, [update * rates.iloc[0] for update in updates])
        above.set_xlabel("tokens seen")
        above.grid(visible=False)
        above.spines["top"].set_visible(True)
