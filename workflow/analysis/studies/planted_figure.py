"""The figure of planted rows: scores by how often a row stood in the books, and who finds it.

The last panel has what planting adds (`gain`): the one number that leaves out how hard rows are.
"""

import math

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import tasks
from workflow.analysis.figures import style
from workflow.analysis.studies.detectors import DETECTORS
from workflow.study_plan import StudyPlan

MODELS = {  # by the column of the table: label, colour and marker
    "mean": ("read the planted books", style.BLUE, "o"),
    "own": ("read the run's own books", style.GREY, "s"),
}
FOUND = {"words": (style.GREEN, "^"), "whole": (style.PURPLE, "X")}
GAIN = [  # of the mean, and of the tasks in their order
    (style.BLACK, "o"),
    *[(style.BLUE, "s"), (style.VERMILLION, "D"), (style.GREEN, "^"), (style.PURPLE, "X")],
]
COLUMNS = 4
SPREAD = 0.08  # distance of what stands at one count


def draw(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """A panel for the mean and for each task, one of the rows that are found, one of the gain."""
    names = [name for name in ("mean", *study.tasks) if (table["task"] == name).any()]
    rows = math.ceil((len(names) + 2) / COLUMNS)
    figure = Figure(figsize=(16, 3.6 * rows + 1), layout="constrained")
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for ax, name in zip(axes, names, strict=False):
        _scores(ax, table[table["task"] == name])
        ax.set_title(_title(name, study))
    _found(axes[len(names)], table[table["rows"].notna()])
    gain, *empty = axes[len(names) + 1 :]
    _gain(gain, table[table["count"] > 0], {name: _title(name, study) for name in names})
    for ax in empty:
        ax.set_axis_off()
    empty[0].legend(*gain.get_legend_handles_labels(), loc="center left")  # at most four tasks
    figure.supxlabel("times that a row stands in the books", fontsize=13)
    figure.supylabel("score on these rows (0 to 100)", fontsize=13)
    handles = [
        Line2D([], [], color=colour, marker=marker, label=label)
        for label, colour, marker in MODELS.values()
    ]
    handles += [
        Line2D([], [], color=colour, marker=marker, linestyle=":", label=DETECTORS[name])
        for name, (colour, marker) in FOUND.items()
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, title=study.title)
    return figure


def _scores(ax: Axes, rows: pd.DataFrame) -> None:
    if rows["mean"].isna().all():
        style.note_missing(ax)
        return
    for i, (column, (_, colour, marker)) in enumerate(MODELS.items()):
        low, high = ("ci_low", "ci_high") if column == "mean" else ("own_low", "own_high")
        x = [place + i * SPREAD for place in range(len(rows))]
        ax.plot(x, rows[column], color=colour, marker=marker)
        ax.vlines(x, rows[low], rows[high], color=colour, linewidth=1.5)
    _counts(ax, rows["count"])
    style.limit_to_scores(ax)


def _found(ax: Axes, rows: pd.DataFrame) -> None:
    """The share of the rows of all tasks that each detector marks, by count."""
    counts = list(dict.fromkeys(rows["count"]))
    for i, (name, (colour, marker)) in enumerate(FOUND.items()):
        marked = (rows["rows"] * rows[f"share_{name}"]).groupby(rows["count"]).sum()
        share = marked / rows.groupby("count")["rows"].sum()
        x = [place + (i - 1) * SPREAD for place in range(len(counts))]
        ax.plot(x, share[counts], color=colour, marker=marker, linestyle=":")
    ax.set_title("rows that are found, all tasks, %")
    ax.set_ylim(-4, 104)
    _counts(ax, counts)


def _gain(ax: Axes, rows: pd.DataFrame, titles: dict[str, str]) -> None:
    """What planting adds, with its interval, by count."""
    for i, (name, title) in enumerate(titles.items()):
        mine = rows[rows["task"] == name]
        colour, marker = GAIN[i]
        x = [place + (i - (len(titles) - 1) / 2) * 2 * SPREAD for place in range(len(mine))]
        ax.plot(x, mine["gain"], color=colour, marker=marker, linestyle="", label=title)
        ax.vlines(x, mine["gain_low"], mine["gain_high"], color=colour, linewidth=1.5)
    ax.axhline(0, color=style.BLACK, linewidth=1)
    ax.set_title("what planting adds, points")
    _counts(ax, list(dict.fromkeys(rows["count"])))


def _title(name: str, study: StudyPlan) -> str:
    return f"mean of {len(study.tasks)} tasks" if name == "mean" else tasks.task(name).title


def _counts(ax: Axes, counts: "pd.Series | list[int]") -> None:
    ax.set_xticks(range(len(counts)), [str(count) for count in counts])
