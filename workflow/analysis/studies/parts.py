"""What each line adds to the line it is compared with, by degree of difficulty and by task."""

from functools import partial
from textwrap import fill

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tasks.world.settings import DEGREES
from workflow.analysis import markdown
from workflow.analysis.figures import scales, style
from workflow.analysis.lines import Lines
from workflow.grid import StudyPlan


def add(frame: pd.DataFrame, run: Lines) -> tuple[pd.DataFrame, list[str | pd.DataFrame]]:
    """The frame with `minus` and rows for each degree of difficulty, and a section on both.

    For a degree, section and figure have only the mean over tasks.
    """
    of_degrees = [
        run.frame(partial(run.samples.headline, degree=of)).dropna(subset="mean").assign(degree=of)
        for of in DEGREES
    ]
    minus = {point.line: point.minus for point in run.study.points}
    frame = pd.concat([frame.assign(degree=""), *of_degrees])
    frame = frame.assign(minus=frame["line"].map(minus))
    wide = markdown.pivot(_added(frame, run.study), "head", "part", "text")
    sections = ["## What each adds", wide.rename_axis("")]
    whole = frame[frame["degree"] == ""]
    trained = whole.assign(
        head=whole["task"].map(run.study.shown), text=whole["train"].map(markdown.value)
    )
    known = markdown.pivot(trained, "line", "head", "text")
    return frame, [*sections, "## Scores on the training rows", known.rename_axis("")]


def _added(frame: pd.DataFrame, study: StudyPlan) -> pd.DataFrame:
    """The differences of lines to their `minus`, those of means first."""
    is_task = frame["task"].isin(study.tasks)
    frame = frame.assign(is_task=is_task, head=frame["task"].map(study.shown))
    added = frame[frame["minus"].ne("") & (frame["degree"].eq("") | ~is_task)].dropna(subset="diff")
    heads = added["degree"].where(added["degree"].ne(""), added["head"])
    parts = added["line"] + " minus " + added["minus"]
    text = markdown.intervals(added, *style.DIFFERENCE[:3])
    return added.assign(head=heads, part=parts, text=text).sort_values("is_task", kind="stable")


def draw(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """How the mean changes from line to line; below, a panel for each difference.

    A panel has the mean, the mean of each degree, and the tasks.
    """
    added, figure = _added(table, study), Figure(layout="constrained")
    if added.empty:
        style.note_missing(figure.add_subplot())
        return figure
    looks, heads = style.looks(added["part"].unique()), added["head"].unique()
    at = pd.Series(range(len(heads)), heads)
    heights = [1 + 0.4 * len(study.lines), 2 + 0.4 * len(at)]
    figure.set_size_inches(max(13.0, 2.3 * len(looks)), sum(heights))
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights).ravel()
    whole = table[(table["degree"] == "") & (table["task"] == added["task"].iloc[0])]
    lines = whole.dropna(subset="mean").set_index("line")
    _steps(above.add_subplot(), lines, added.drop_duplicates("line"), looks)
    axes = style.panels(below, 1, len(looks), len(looks), sharex=True, sharey=True)
    for ax, (title, look) in zip(axes, looks.items(), strict=True):
        mine = added[added["part"] == title].set_index("head").reindex(heads)
        style.dots(ax, at, mine[style.DIFFERENCE], at * float("nan"), **look)
        ax.set_title(f"{fill(title, 20)}\n{mine['text'].iloc[0]}", fontsize=11)
    axes[0].set_yticks(at, heads)
    scales.limit_to_differences(axes[0].xaxis)
    below.supxlabel(f"{study.title}: points, with the 95 % interval", fontsize=13)
    return figure


def _steps(
    ax: Axes, lines: pd.DataFrame, added: pd.DataFrame, looks: dict[str, style.Look]
) -> None:
    """A bar for the score of each line, from the score of the line that it is compared with."""
    colors = {
        line: looks[part]["color"] for line, part in zip(added["line"], added["part"], strict=True)
    }
    for i, (line, score) in enumerate(lines["mean"].items()):
        start = lines["mean"][lines["minus"][line]] if line in colors else 0.0
        ax.barh(i, score - start, left=start, color=colors.get(line, style.GREY))
        ahead, side = (1, "left") if score >= start else (-1, "right")
        ax.text(score + ahead, i, f"{score:.1f}", va="center", ha=side)
    ax.set_yticks(range(len(lines)), lines.index)
    ax.invert_yaxis()
    ax.set_xlim(min(0.0, lines["mean"].min()), 100)  # a correlation may be below 0
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"score, {added['head'].iloc[0]}")
