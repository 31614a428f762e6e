"""What each line adds to the line it is compared with, by degree of difficulty and by task."""

from functools import partial
from textwrap import fill

import pandas as pd
from matplotlib.figure import Figure

from tasks.world.degrees import DEGREES
from workflow.analysis import markdown
from workflow.analysis.figures import scales, style
from workflow.analysis.lines import Lines
from workflow.study_plan import StudyPlan


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
    return frame, ["## What each adds", wide.rename_axis("")]


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
    """A panel for each difference: the mean, the mean of each degree, and the tasks."""
    added, figure = _added(table, study), Figure(layout="constrained")
    if added.empty:
        style.note_missing(figure.add_subplot())
        return figure
    looks, heads = style.looks(added["part"].unique()), added["head"].unique()
    at = pd.Series(range(len(heads)), heads)
    figure.set_size_inches(max(13.0, 2.3 * len(looks)), 2 + 0.4 * len(at))
    axes = style.panels(figure, 1, len(looks), len(looks), sharex=True, sharey=True)
    for ax, (title, look) in zip(axes, looks.items(), strict=True):
        mine = added[added["part"] == title].set_index("head").reindex(heads)
        style.dots(ax, at, mine[style.DIFFERENCE], at * float("nan"), **look)
        ax.set_title(f"{fill(title, 20)}\n{mine['text'].iloc[0]}", fontsize=11)
    axes[0].set_yticks(at, heads)
    scales.limit_to_differences(axes[0].xaxis)
    figure.supxlabel(f"{study.title}: points, with the 95 % interval", fontsize=13)
    return figure
