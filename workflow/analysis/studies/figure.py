"""The figure of a study: curves over the values of its axis, or dots where it has none.

A panel for the mean and for each task. The values stand at even distances, for they are chosen by
the study. A reference is a line across the panel. Along
pre-training the zero-shot scores of the same checkpoints are a second curve.
"""

import math
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tasks
from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.study_plan import StudyPlan

Looks = dict[str, dict[str, Any]]
LINES: list[dict[str, Any]] = [  # in their order
    {"color": style.BLUE, "marker": "o"},
    {"color": style.VERMILLION, "marker": "s"},
    {"color": style.ORANGE, "marker": "D"},
    {"color": style.GREEN, "marker": "^"},
    {"color": style.PURPLE, "marker": "X"},
    {"color": style.SKY, "marker": "v"},
    {"color": style.BLACK, "marker": "P"},
    {"color": style.GREY, "marker": "<"},
]
REFERENCES: list[dict[str, Any]] = [
    {"color": style.BLACK, "linestyle": "--"},
    {"color": style.GREY, "linestyle": ":"},
    {"color": style.PURPLE, "linestyle": "-."},
]
ZERO_SHOT: dict[str, Any] = {
    **{"color": style.GREEN, "marker": "^", "linestyle": "--"},
    "label": "zero-shot, by the paper's heuristic",
}
AXES = {"train_share": "training rows", "checkpoint": "updates of pre-training"}
COLUMNS = 3
CROWDED = 7  # values of an axis whose names stand beside each other
SPREAD = 0.08  # distance of two lines at a value


def draw(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """The panels of a study, from the frame of its table."""
    names = [*(["mean"] if len(study.tasks) > 1 else []), *study.tasks]
    columns = min(COLUMNS, len(names))
    n_rows = math.ceil(len(names) / columns)
    figure = Figure(figsize=(max(8.0, 4.0 * columns), 3.6 * n_rows + 1), layout="constrained")
    looks: Looks = {}
    for ax, name in zip(style.panels(figure, n_rows, columns, len(names)), names, strict=True):
        looks |= _panel(ax, table[table["task"] == name], study)
        ax.set_title(_title(name, study))
        if "train_rows" in table and name == "mean":  # the tasks have different numbers of rows
            ax.set_xlabel("share of the rows")
        style.limit_to_scores(ax)
    figure.supylabel("score (0 to 100)", fontsize=13)
    if study.axis:
        title = AXES.get(study.axis, study.axis)
        figure.supxlabel(title, fontsize=13)
    style.legend(figure, list(looks.values()), ncols=min(3, columns + 1), title=study.title)
    return figure


def _title(name: str, study: StudyPlan) -> str:
    if name == "mean":
        return f"mean of {len(study.tasks)} tasks"
    return f"{tasks.task(name).title} ({markdown.METRICS[tasks.task(name).metric]})"


def _panel(ax: Axes, rows: pd.DataFrame, study: StudyPlan) -> Looks:
    """Draw a task's scores. Returns how all that is there looks, by its name."""
    if rows["mean"].isna().all():
        style.note_missing(ax)
        return {}
    shown = _curves(ax, rows, study) | _across(ax, rows, study)
    ticks = _values(rows, study) if study.axis else study.lines
    ax.set_xticks(range(len(ticks)), ticks)
    if not study.axis or len(ticks) > CROWDED:
        ax.tick_params(axis="x", labelrotation=30)
    ax.set_xlim(-0.5, len(ticks) - 0.5)
    return shown


def _values(rows: pd.DataFrame, study: StudyPlan) -> list[str]:
    """The values of the axis as text: numbers of training rows where the table has them."""
    if "train_rows" not in rows or rows["train_rows"].isna().all():
        return study.values
    known = rows.drop_duplicates("value").set_index("value")["train_rows"]
    return [f"{known[value]:,.0f}" for value in study.values]


def _curves(ax: Axes, rows: pd.DataFrame, study: StudyPlan) -> Looks:
    """The lines of a study, and the zero-shot scores of its checkpoints."""
    shown: Looks = {}
    for i, line in enumerate(study.lines):
        of_line = rows[rows["line"] == line]
        if of_line["mean"].isna().all():
            continue
        look = LINES[i % len(LINES)] | {"linestyle": "-" if study.axis else ""}
        x = [float(i)]
        if study.axis:
            shift = (i - (len(study.lines) - 1) / 2) * SPREAD
            x = [study.values.index(value) + shift for value in of_line["value"]]
            shown[line] = look | {"label": line}  # without an axis the ticks name it
        style.points(ax, x, of_line[style.SCORE], False, **look)
    if (
        "zero_shot" in rows and rows["zero_shot"].notna().any()
    ):  # of the checkpoint, so of all lines
        of_line = rows[rows["line"] == study.lines[0]]
        places = [study.values.index(value) for value in of_line["value"]]
        ax.plot(places, of_line["zero_shot"], **ZERO_SHOT)
        shown["zero_shot"] = ZERO_SHOT
    return shown


def _across(ax: Axes, rows: pd.DataFrame, study: StudyPlan) -> Looks:
    """What has no value on the axis: the references and the baselines."""
    shown: Looks = {}
    for i, line in enumerate(study.references):
        look = REFERENCES[i % len(REFERENCES)]
        for row in rows[rows["line"] == line].dropna(subset="mean").itertuples():
            ax.axhline(row.mean, **look)
            shown[line] = look | {"label": line}
    for name in [name for name in style.BASELINES if name in rows]:
        look = style.BASELINES[name] | {"linewidth": 1}
        known = rows.dropna(subset=name).drop_duplicates("value")
        if known[name].nunique() > 1:  # fitted to the rows of each value
            known = known[known["value"] != ""]
            ax.plot([study.values.index(value) for value in known["value"]], known[name], **look)
        elif len(known):
            ax.axhline(known[name].iloc[0], **look)
        if len(known):
            shown[name] = look | {"label": markdown.BASELINES[name]}
    return shown
