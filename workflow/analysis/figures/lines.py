"""The figure of a study: curves over the values of its axis, or marks where it has none.

With an axis there is a panel for the mean and one for each task. Axis values are evenly spaced;
`none`, which is not a number of layers, is set apart. A reference is a line across the panel, and
the points of a line that lacks values in between are not joined. Dashes are scores on the training
rows, or what else is known of the same checkpoints, such as zero-shot scores. Without an axis, all
tasks are side by side in one panel.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflow.analysis import markdown
from workflow.analysis.figures import style
from workflow.analysis.lines import added
from workflow.analysis.stats.samples import official_sets
from workflow.grid import OfTasks, StudyPlan

Looks = dict[str, style.Look]
REFERENCES: list[style.Look] = [
    {"color": style.BLACK, "linestyle": "--"},
    {"color": style.GREY, "linestyle": ":"},
    {"color": style.PURPLE, "linestyle": "-."},
]
TRAIN: style.Look = {"linestyle": "--", "linewidth": 1.5, "marker": ""}
ZERO_SHOT: style.Look = {
    **{"color": style.GREEN, "marker": "^", "linestyle": "--"},
    "label": "zero-shot",  # by the paper's heuristic or, of tasks without one, by a prompt
}
CHECKPOINTS: Looks = {  # what else is known of each checkpoint, by the table's column
    "zero_shot": ZERO_SHOT,
    "skills": ZERO_SHOT
    | {"color": style.ORANGE, "marker": "v", "label": "cloze items of its skills"},
}
AXES = {
    "train_share": "training rows",
    "checkpoint": "updates of pre-training",
    "n_transfer": "layers transferred",
}
LAYERS = ("n_transfer", "n_layer", "read_layer")  # axes that count layers
NONE = "none"  # a value of n_transfer
MANY = 6  # the most panels that are large; if there are more, all are small
CROWDED = 6  # the most values of an axis that are all labelled
LETTERS = 12  # with more values, the most letters of the labels that stand upright
SPREAD = 0.08  # distance between two lines at the same value
WIDTH = 0.8  # of a group of marks
GAP = 0.5  # between groups of tasks


def draw(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """The figure of a study from the frame of its table."""
    if study.is_compared:
        return steps(table, study)
    if study.axis:
        return curves(table, study)
    looks = style.looks([*study.references, *study.lines])
    return marks(table, looks, spaced(_means(table, study), study.tasks), study)


def _means(table: pd.DataFrame, study: StudyPlan) -> list[str]:
    """The means that are drawn: none for a single task."""
    means = [name for name in table["task"].unique() if name not in study.tasks]
    return means if len(study.tasks) > 1 else []


def curves(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """A panel for the mean and one for each task; on dev if the table has several splits."""
    names = [*_means(table, study), *study.tasks]
    columns = min(3 if len(names) <= MANY else 5, len(names))
    n_rows, large = math.ceil(len(names) / columns), len(names) <= MANY
    size = (max(8.0, 4.0 * columns), 3.6 * n_rows + 1) if large else (13.0, 2.7 * n_rows + 1)
    figure, table = Figure(figsize=size, layout="constrained"), placed(table, study)
    looks: Looks = {}
    for ax, name in zip(style.panels(figure, n_rows, columns, len(names)), names, strict=True):
        looks |= panel(ax, table[table["task"] == name], study)
        shown = title(name, table, study, " " if large else "\n")
        ax.set_title(shown, fontsize=14 if large else 12)
        if "train_rows" in table and name == "mean":  # the tasks have different numbers of rows
            ax.set_xlabel("share of the rows")
        style.limit_to_scores(ax)
    figure.supylabel(_scale(table), fontsize=13)
    axes = dict.fromkeys(point.axis for point in study.points if point.axis)
    figure.supxlabel(" or ".join(AXES.get(axis, axis) for axis in axes), fontsize=13)
    style.legend(figure, list(looks.values()), ncols=min(3, columns + 1), title=study.title)
    return figure


def _scale(table: pd.DataFrame) -> str:
    return f"score (0 to 100), {style.mean_over(int(table['n_seeds'].fillna(0).max()))}"


def main_split(rows: pd.DataFrame) -> str:
    """The split that is drawn: the first of dev, or if there is none the first reported."""
    splits = [split for split in rows["split"].unique() if split != "train"]
    return next((split for split in splits if split.startswith("dev")), splits[0])


def title(name: str, table: pd.DataFrame, run: OfTasks, join: str = " ") -> str:
    """The title of a task with its metric and split, or of a mean with its number of tasks."""
    rows, shown = table[table["task"] == name], run.shown(name)
    metric = rows["metric"].iloc[0]
    if metric == "mean":
        return shown.replace("of ", f"of{join}")
    split = main_split(rows)
    split = official_sets(split) if "+" in split else split.replace("_", " ")
    return f"{shown}{join}({markdown.METRICS[metric]}, {split})"


def panel(ax: Axes, rows: pd.DataFrame, study: StudyPlan) -> Looks:
    """Draw a task's scores, `placed`. Returns the look of everything drawn, by name."""
    if rows["mean"].isna().all():
        style.note_missing(ax)
        return {}
    train, rows = rows[rows["split"] == "train"], rows[rows["split"] == main_split(rows)]
    shown: Looks = {}
    for i, (line, look) in enumerate(style.looks(study.lines).items()):
        mine, shift = rows[rows["line"] == line], (i - (len(study.lines) - 1) / 2) * SPREAD
        if mine["mean"].notna().any():
            at = sorted(study.values.index(value) for value in mine["value"])
            look = look | {"linestyle": "-" if at[-1] - at[0] < len(at) else ""}
            sweep(ax, mine, shift, **look)
            shown[line] = look | {"label": line.removesuffix(" (full)")}
        if i == 0 and len(train):
            sweep(ax, train[train["line"] == line], shift, **look | TRAIN)
            shown["train"] = look | TRAIN | {"label": "the same, training rows"}
    of_line = rows[rows["line"] == study.lines[0]]
    for name in [name for name in CHECKPOINTS if name in rows and rows[name].notna().any()]:
        ax.plot(of_line["x"], of_line[name], **CHECKPOINTS[name])
        shown[name] = CHECKPOINTS[name]
    shown |= _across(ax, rows, study)
    values_axis(ax, study, _values(rows, study))
    return shown


def sweep(ax: Axes, rows: pd.DataFrame, shift: float = 0.0, **look: Any) -> None:
    """Draw a curve over the axis values, with `none` set apart; training rows get a plain line."""
    for is_none, part in rows.sort_values("x").groupby(rows["value"] == NONE):
        x = part["x"] + shift
        if (part["split"] == "train").all():
            lone: style.Look = {"marker": "_", "markersize": 10} if is_none else {}
            ax.plot(x, part["mean"], **look | lone)
        else:
            style.curve(ax, x, part[style.SCORE], **look)


def places(values: Sequence[str], axis: str = "") -> dict[str, float]:
    """The position of each value: layers to scale, others evenly, `none` further to the left."""
    numbers = [value for value in values if value != NONE]
    at = {value: float(i) for i, value in enumerate(numbers)}
    if axis in LAYERS and len(numbers) > 1 and all(map(str.isdecimal, numbers)):
        layers = {value: int(value) for value in numbers}
        gap = min(b - a for a, b in pairwise(sorted(layers.values())))
        at = {value: (n - min(layers.values())) / gap for value, n in layers.items()}
    return {NONE: -max(1.0, len(numbers) / 4)} | at


def placed(table: pd.DataFrame, study: StudyPlan) -> pd.DataFrame:
    """The table with a column `x`: where each value of the study's axis stands."""
    return table.assign(x=table["value"].map(places(study.values, study.axis)))


def _values(rows: pd.DataFrame, study: StudyPlan) -> list[str]:
    """The values of the axis as text: numbers of training rows where the table has them."""
    if "train_rows" not in rows or rows["train_rows"].isna().all():
        return study.values
    known = rows.drop_duplicates("value").set_index("value")["train_rows"]
    return [f"{known[value]:,.0f}" for value in study.values]


def values_axis(ax: Axes, study: StudyPlan, names: Sequence[str]) -> None:
    """Label the values of the axis with `names`, only some of them if many; `none` is set apart."""
    step, placed = math.ceil(len(names) / CROWDED), places(study.values, study.axis)
    at = {name: placed[value] for name, value in zip(names, study.values, strict=True)}
    *_, last = ordered = sorted(at, key=at.__getitem__)
    if step > 1 and not last.replace(",", "").replace(".", "").isdigit():  # words, not numbers
        step = 1
    shown = [n for n in names if n == NONE or n in ordered[::-step]]
    if len(names) > CROWDED and sum(map(len, shown)) > LETTERS:
        ax.tick_params(axis="x", labelrotation=30)
    ax.set_xticks([at[name] for name in shown], shown)
    ax.set_xlim(min(at.values()) - 0.5, at[last] + 0.5)
    if NONE in at:
        ax.axvline(at[NONE] / 2, color=style.GREY, linewidth=0.8, linestyle=":")


def _across(ax: Axes, rows: pd.DataFrame, study: StudyPlan) -> Looks:
    """Draw the references and the baselines. Returns their looks, by name."""
    shown: Looks = {}
    for i, line in enumerate(study.references):
        look = REFERENCES[i % len(REFERENCES)]
        for row in rows[rows["line"] == line].dropna(subset="mean").itertuples():
            ax.axhline(row.mean, **look)
            shown[line] = look | {"label": line}
    for name in [name for name in style.BASELINES if name in rows]:
        look = style.BASELINES[name] | {"linewidth": 1}
        known = rows.dropna(subset=name).drop_duplicates("value")
        if known[name].nunique() > 1:  # fitted to each value's rows
            known = known[known["value"] != ""]
            ax.plot(known["x"], known[name], **look)
        elif len(known):
            ax.axhline(known[name].iloc[0], **look)
        if len(known):
            shown[name] = look | {"label": markdown.BASELINES[name]}
    return shown


def _label(name: str, rows: pd.DataFrame, run: OfTasks) -> str:
    """The label of a column of marks, in short lines: title, metric unless accuracy, and split."""
    metric, shown = rows.at[name, "metric"], run.shown(name)
    if metric == "mean":
        return shown.replace("of ", "of\n")
    of = [] if metric == "accuracy" else [markdown.METRICS[metric]]
    return "\n".join([*shown.split(), *of, official_sets(rows.at[name, "split"])])


def spaced(*groups: Sequence[str]) -> dict[str, float]:
    """The position of each column, with the groups set apart."""
    found: dict[str, float] = {}
    for i, group in enumerate(filter(None, groups)):
        found |= {name: len(found) + j + i * GAP for j, name in enumerate(group)}
    return found


def marks(table: pd.DataFrame, looks: Looks, places: Mapping[str, float], run: OfTasks) -> Figure:
    """The lines side by side at the `places` of the means and tasks, with both baselines.

    Hollow marks are the scores that the paper prints, where the table has any.
    """
    figure, at = Figure(figsize=(12, 6), layout="constrained"), pd.Series(places)
    ax = figure.add_subplot()
    baselines = table.groupby("task").first().reindex(at.index)
    for column, look in style.BASELINES.items():
        ax.hlines(baselines[column].astype(float), at - 0.4, at + 0.4, **look)
    for i, (line, look) in enumerate(looks.items()):
        rows = table[table["line"] == line].set_index("task").reindex(at.index)
        x = at + WIDTH * ((i + 0.5) / len(looks) - 0.5)
        if "paper" in rows:
            ax.plot(x, rows["paper"], **style.PRINTED | look, linestyle="")
        style.points(ax, x, rows[style.SCORE], **look, **style.MARKS)
    if table["mean"].isna().all():
        style.note_missing(ax)
    for before, place in pairwise(at):
        if place - before > 1:
            ax.axvline(place - (1 + GAP) / 2, color=style.GREY, linewidth=0.8)
    style.limit_to_scores(ax)
    ax.grid(visible=False, axis="x")
    ax.set_xticks(at, [_label(name, baselines, run) for name in at.index], fontsize=12)
    ax.set_xlim(-0.6, at.max() + 0.6)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel(_scale(table))
    handles = [look | style.MARKS | {"label": line} for line, look in looks.items()]
    labels = markdown.BASELINES
    handles += [look | {"label": labels[name]} for name, look in style.BASELINES.items()]
    if "paper" in table and table["paper"].notna().any():
        label = "hollow: the paper (GLUE test server)"
        handles.append(style.PRINTED | {"linestyle": "", "label": label})
    style.legend(figure, handles, ncols=3)
    return figure


def steps(table: pd.DataFrame, study: StudyPlan) -> Figure:
    """How the mean changes from line to line; below, a panel for each difference.

    A panel has the mean, the mean of each degree, and the tasks.
    """
    rows, figure = added(table, study), Figure(layout="constrained")
    if rows.empty:
        style.note_missing(figure.add_subplot())
        return figure
    looks, heads = style.looks(rows["part"].unique()), rows["head"].unique()
    at = pd.Series(range(len(heads)), heads)
    heights = [1 + 0.4 * len(study.lines), 2 + 0.4 * len(at)]
    figure.set_size_inches(max(13.0, 2.3 * len(looks)), sum(heights))
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=heights).ravel()
    whole = table[(table["degree"] == "") & (table["task"] == rows["task"].iloc[0])]
    lines = whole.dropna(subset="mean").set_index("line")
    _bars(above.add_subplot(), lines, rows.drop_duplicates("line"), looks)
    axes = style.panels(below, 1, len(looks), len(looks), sharex=True, sharey=True)
    for ax, (title, look) in zip(axes, looks.items(), strict=True):
        mine = rows[rows["part"] == title].set_index("head").reindex(heads)
        style.dots(ax, at, mine[style.DIFFERENCE], at * float("nan"), **look)
        ax.set_title(f"{fill(title, 20)}\n{mine['text'].iloc[0]}", fontsize=11)
    axes[0].set_yticks(at, heads)
    style.limit_to_differences(axes[0].xaxis)
    below.supxlabel(f"{study.title}: points, with the 95 % interval", fontsize=13)
    return figure


def _bars(ax: Axes, lines: pd.DataFrame, rows: pd.DataFrame, looks: Looks) -> None:
    """A bar for the score of each line, from the score of the line that it is compared with."""
    parts = rows.set_index("line")["part"]
    for i, (line, score) in enumerate(lines["mean"].items()):
        start = lines["mean"][lines["minus"][line]] if line in parts else 0.0
        color = looks[parts[line]]["color"] if line in parts else style.GREY
        ax.barh(i, score - start, left=start, color=color)
        ahead, side = (1, "left") if score >= start else (-1, "right")
        ax.text(score + ahead, i, f"{score:.1f}", va="center", ha=side)
    ax.set_yticks(range(len(lines)), lines.index)
    ax.invert_yaxis()
    ax.set_xlim(min(0.0, lines["mean"].min()), 100)  # a correlation may be below 0
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"score, {rows['head'].iloc[0]}")
