"""The paper's Figure 2 in its layout: layers transferred on the left, zero-shot on the right.

Left: RACE and MultiNLI, or the first tasks of a run without them, solid on the reported rows and
dashed on the training rows.
Right: each task and their mean along pre-training, solid for the transformer, dashed for the LSTM.
"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tasks.prompt import Scoring
from workflow.analysis import markdown
from workflow.analysis.figures import layer_transfer, lines, scales, style, zero_shot
from workflow.grid import Grid

SHOWN: list[style.Look] = [  # RACE, the second, looks as on the right
    {"color": style.PURPLE, "marker": "v"},
    style.TASKS["race"],
]


def draw(layers: pd.DataFrame, zero_shots: pd.DataFrame, grid: Grid) -> Figure:
    """Scores on the left, relative scores on the right, where 1 is the state of the art."""
    figure = Figure(figsize=(12, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _layers(left, layers, grid)
    scoring: Scoring = "heuristic" if grid.zero_shot.of("heuristic") else "prompt"
    names = [*grid.zero_shot.of(scoring), "mean"]
    ends = zero_shot.curves(right, zero_shots, names, grid, scoring)
    style.label_ends(right, ends)
    right.set_ylabel("relative score (0 = random, 1 = best)")
    _head(right, "Zero-shot, along pre-training", zero_shot.models(grid))
    return figure


def _layers(ax: Axes, table: pd.DataFrame, grid: Grid) -> None:
    study = layer_transfer.swept(grid)
    rows = table[table["line"] == study.lines[0]]
    ends, names, splits = [], study.tasks[:2], dict[str, None]()
    for name, look in zip(names, SHOWN[: len(names)], strict=True):
        of_task = rows[rows["task"] == name]
        splits[split := lines.main_split(of_task)] = None
        reported = of_task[of_task["split"] == split]
        lines.sweep(ax, of_task[of_task["split"] == "train"], study, **look | lines.TRAIN)
        lines.sweep(ax, reported, study, **look, linestyle="-")
        at = reported["value"].map(lines.places(study.values, study.axis))
        ends.append((grid.task(name).title, at, reported["mean"], look))
    scales.limit_to_scores(ax)
    lines.values_axis(ax, study, study.values)
    style.label_ends(ax, ends)
    ax.set_xlabel("layers transferred")
    ax.set_ylabel(" and ".join({markdown.METRICS[grid.task(name).metric]: 0 for name in names}))
    solid = {"color": style.BLACK, "label": ", ".join(splits)}
    looks = [solid, solid | lines.TRAIN | {"label": "training rows"}]
    _head(ax, "Fine-tuned, by layers transferred", looks)


def _head(ax: Axes, title: str, looks: list[style.Look]) -> None:
    """The title of a panel and, below it, a legend of its line styles."""
    ax.set_title(title, pad=32)
    handles = [Line2D([], [], **look) for look in looks]
    ax.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(looks))
