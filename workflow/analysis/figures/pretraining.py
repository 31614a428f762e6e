"""Held-out perplexity of both language models along pre-training, by updates and by seconds."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from workflow.analysis.figures import style

LOOK = {
    "transformer": {"color": style.BLUE, "marker": "o", "linestyle": "-", "label": "Transformer"},
    "lstm": {"color": style.VERMILLION, "marker": "s", "linestyle": "--", "label": "LSTM"},
}


def draw(table: pd.DataFrame, settings: dict[str, Any]) -> Figure:
    """Left against updates, with the tokens seen above; right against seconds of training."""
    figure = Figure(figsize=(13, 5.5), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    known = table[table["mean"].notna()]
    place = style.updates_axis(left, settings["updates"])
    for arch in settings["arch"]:
        rows = known[known["arch"] == arch]
        left.plot([place(update) for update in rows["update"]], rows["mean"], **LOOK[arch])
        trained = rows[rows["update"] > 0]
        right.plot(trained["train_seconds"], trained["mean"], **LOOK[arch])
    left.set_xlabel("pre-training updates (log; 0 = untrained)")
    left.set_ylabel("held-out perplexity per token (log)")
    right.set_xlabel("seconds of training (log)")
    right.set_xscale("log")
    if known.empty:
        for ax in (left, right):
            style.say_missing(ax)
        return figure
    _perplexity_axis(left, known["mean"])
    right.xaxis.set_major_formatter(FuncFormatter(lambda x, _: style.short(x)))
    right.xaxis.set_minor_formatter(NullFormatter())
    _tokens_above(left, known)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(handles))
    return figure


def _perplexity_axis(ax: Axes, values: pd.Series) -> None:
    ax.set_yscale("log")
    low, high = values.min(), values.max()
    ticks = [s * 10**p for p in range(6) for s in (1, 2, 5)]
    ax.yaxis.set_major_locator(FixedLocator([t for t in ticks if low / 2 <= t <= high * 2]))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: style.short(y)))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_ylim(low / 1.15, high * 1.15)


def _tokens_above(ax: Axes, known: pd.DataFrame) -> None:
    """A second axis of tokens, where every model sees the same number of tokens per update."""
    trained = known[known["update"] > 0]
    rates = trained["train_tokens"] / trained["update"]
    if trained.empty or not np.allclose(rates, rates.iloc[0], rtol=1e-3):
        return
    rate = rates.iloc[0]
    above = ax.secondary_xaxis("top", functions=(lambda x: x * rate, lambda x: x / rate))
    above.set_xlabel("tokens seen")
    above.xaxis.set_major_formatter(FuncFormatter(lambda x, _: style.short(x)))
    above.xaxis.set_minor_formatter(NullFormatter())
