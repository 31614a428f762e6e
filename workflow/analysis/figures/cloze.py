"""Cloze items: the accuracy on each skill along pre-training, one line per language model."""

import math

import pandas as pd
from matplotlib.figure import Figure

from workflow.analysis.figures import scales, style
from workflow.grid import Grid

COLUMNS = 4


def draw(table: pd.DataFrame, grid: Grid) -> Figure:
    """A panel per skill, those that the full model has learnt best first."""
    skills = _by_final_score(table, grid)
    columns, rows = min(COLUMNS, len(skills)), math.ceil(len(skills) / COLUMNS)
    figure = Figure(figsize=(max(7, 3 * columns), 1.2 + 2.3 * rows), layout="constrained")
    axes = style.panels(figure, rows, columns, len(skills), sharex=True, sharey=True)
    # published weights come without their number of tokens
    position = "tokens" if table["tokens"].notna().any() else "update"
    models = dict.fromkeys((model.arch, corpus) for model, corpus in grid.all_models().items())
    for ax, skill in zip(axes, skills, strict=True):
        panel = table[table["skill"] == skill]
        ax.set_title(skill.replace("_", " "))
        ax.axhline(panel["chance"].max(), color=style.GREY, linewidth=1)
        for arch, corpus in models:
            mine = panel[(panel["arch"] == arch) & (panel["corpus"] == corpus)]
            seeds = mine.groupby(position, as_index=False)["accuracy"].agg(
                ["mean", "min", "max", tuple]
            )
            band = seeds[["mean", "min", "max", "tuple"]]
            style.along_updates(ax, seeds[position], band, **style.model(arch, corpus))
    scales.updates_axis(axes[0], sorted(table[position].dropna().unique()), sparse=True)
    axes[0].set_ylim(0, 103)
    for ax in axes[-columns:]:
        ax.tick_params(labelbottom=True)  # also where the panel below is empty
    zero = "; 0 = untrained" if 0 in grid.updates else ""
    seen = "tokens seen in pre-training" if position == "tokens" else "pre-training updates"
    figure.supxlabel(f"{seen} (log{zero})", fontsize=13)
    figure.supylabel("accuracy", fontsize=13)
    chance = {"color": style.GREY, "linewidth": 1, "label": "chance"}
    style.legend(figure, [*(style.model(*of) for of in models), chance])
    return figure


def _by_final_score(table: pd.DataFrame, grid: Grid) -> list[str]:
    last = table[(table["arch"] == grid.arch[0]) & (table["corpus"] == "books")]
    last = last[last["update"] == grid.updates[-1]]
    scores = last.groupby("skill", sort=False)["accuracy"].mean()
    return list(scores.sort_values(ascending=False, kind="stable").index)
