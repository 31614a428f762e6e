"""Held-out perplexity of both language models along pre-training, by updates and by seconds."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.analysis.figures import scales, style
from workflow.grid import Grid


def draw(table: pd.DataFrame, costs: pd.DataFrame, grid: Grid) -> Figure:
    """Left against updates, with the tokens seen above; right against seconds of training."""
    seconds = costs.groupby(["arch", "update"])["train_seconds"].mean()
    table = table.join(seconds, on=["arch", "update"])
    figure = Figure(figsize=(12, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    ends = []
    for arch in grid.arch:
        rows, look = table[table["arch"] == arch], style.MODELS[arch]
        trained = rows[rows["update"] > 0]
        style.along_updates(left, rows["update"], rows[style.PERPLEXITY], **look)
        style.curve(right, trained["train_seconds"], trained[style.PERPLEXITY], **look)
        ends.append((look["label"], trained["train_seconds"], trained["mean"], look))
    scales.updates_axis(left, grid.updates)
    left.set_xlabel("pre-training updates (log; 0 = untrained)")
    left.set_ylabel("held-out perplexity per token (log)")
    right.set_xlabel("seconds of training (log)")
    scales.log_axis(left.yaxis)
    scales.log_axis(right.xaxis)
    _tokens_above(left, table[table["update"] > 0], grid.updates)
    style.label_ends(right, ends)
    return figure


def _tokens_above(ax: Axes, trained: pd.DataFrame, updates: list[int]) -> None:
    """A second axis of tokens, if every model sees the same number of tokens per update."""
    rates = (trained["train_tokens"] / trained["update"]).dropna()
    if len(rates) and np.allclose(rates, rates.iloc[0], rtol=1e-3):
        above = ax.twiny()
        scales.updates_axis(above, [update * rates.iloc[0] for update in updates])
        above.set_xlabel("tokens seen")
        above.grid(visible=False)
        above.spines["top"].set_visible(True)
