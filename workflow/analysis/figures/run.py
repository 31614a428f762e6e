"""The figures of a run, each a function of its name that takes the tables that it shows.

`figures.TABLES` names these; the figures of studies are in `lines.py`.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tasks.prompt import Scoring
from workflow.analysis import markdown
from workflow.analysis.figures import TABLES, lines, style
from workflow.analysis.paper import EIGHT, FULL
from workflow.analysis.table import read_csv
from workflow.grid import Grid, StudyPlan

LARGE = ["mnli", "race"]  # the tasks of the paper's figure of layers
OF_LAYERS: list[style.Look] = [  # RACE, the second, looks as on the right of Figure 2
    {"color": style.PURPLE, "marker": "v"},
    style.TASKS["race"],
]
FAMILIES = {
    "entailment": "natural language inference and other pairs",
    "multiple_choice": "question answering and stories",
    "similarity": "similarity",
    "classification": "classification",
}
LOWEST = -0.5  # of relative scores: by F1, a model that always says no is far below this
ACROSS = (
    6  # the most differences side by side: in narrower panels titles and ticks would run together
)
SKILLS_ACROSS = 4  # the most skills side by side


def write(results: Path, grid: Grid, path: Path) -> None:
    """Draw the figure of the name of `path` as PNG, SVG and PDF. Raises InputError for a fault."""
    shown = [read_csv(results / f"{table}.csv") for table in TABLES[path.stem]]
    style.save(lambda: globals()[path.stem](*shown, grid), path)


def ablation(table: pd.DataFrame, grid: Grid) -> Figure:
    """Table 5 as a picture: its lines on every task, with 95 % intervals and both baselines.

    Averages left, then the paper's eight tasks, then the others that were run. Hollow marks are the
    scores that the paper prints, where the task's rows are real.
    """
    table = _printed_of_real(table, grid)
    return lines.marks(table, style.looks(table["line"].unique()), _columns(grid), grid)


def differences(table: pd.DataFrame, grid: Grid) -> Figure:
    """The ablation as differences, paired by row and seed, to the full transformer.

    A panel per variant, a line per task; the means over tasks come first. Hollow marks are the
    paper's differences, where its Table 5 prints both scores and the task's rows are real.
    """
    table, at = _printed_of_real(table, grid), pd.Series(_columns(grid))
    looks = style.looks(table["line"].unique())
    del looks[FULL.title]
    n_rows = math.ceil(len(looks) / ACROSS)
    height = 1.2 + n_rows * (0.4 * max(6, len(at)) + 1.2 * (n_rows > 1))
    figure = Figure(figsize=(12, height), layout="constrained")
    axes = style.panels(
        figure, n_rows, math.ceil(len(looks) / n_rows), len(looks), sharey=True, sharex=True
    )
    wide = {n: r.set_index("task").reindex(at.index) for n, r in table.groupby("line")}
    for ax, (variant, look) in zip(axes, looks.items(), strict=True):
        printed = wide[variant]["paper"] - wide[FULL.title]["paper"]
        style.dots(ax, at, wide[variant][style.DIFFERENCE], printed, **look)
        words = variant.replace(", ", ",\n").replace(" w/", "\nw/").splitlines()
        title = "\n".join(fill(part, 16, break_on_hyphens=False) for part in words)
        ax.set_title(title, fontsize=12)
    axes[0].set_yticks(at, [grid.shown(name) for name in at.index])
    style.limit_to_differences(axes[0].xaxis)
    figure.supxlabel("points more or less than the full transformer", fontsize=13)
    n = len(grid.seeds.finetune)
    ours = style.mean_over(n) + ", 95 % interval" * (n > 1)  # one seed has none
    marks: list[style.Look] = [{"marker": "o", "color": style.GREY, "label": ours}]
    if table["paper"].notna().any():
        marks.append(style.PRINTED | {"label": "the paper (GLUE test server)"})
    style.legend(figure, [{"linestyle": ""} | look for look in marks])
    return figure


def _printed_of_real(table: pd.DataFrame, grid: Grid) -> pd.DataFrame:
    """The table with the paper's scores only for real rows; its mean only if all eight are real."""
    made = {*grid.synthetic, *({"avg"} if {*EIGHT} & {*grid.synthetic} else ())}
    table = table.rename(columns={"variant": "line"})
    return table.assign(paper=table["paper"].mask(table["task"].isin(made)))


def _columns(grid: Grid) -> dict[str, float]:
    """Where each column stands: the means, the paper's eight tasks and the others, set apart."""
    eight = [task for task in EIGHT if task in grid.tasks]
    means = ["avg"] * (len(eight) == len(EIGHT)) + ["avg_all"] * (len(grid.tasks) > 1)
    return lines.spaced(means, eight, [task for task in grid.tasks if task not in EIGHT])


def layer_transfer(table: pd.DataFrame, grid: Grid) -> Figure:
    """The score against the number of layers transferred, for every task: Figure 2 left, in full.

    The architecture is the one with the most layers; the table has the LSTM too. A panel for the
    mean and for each task, those of the paper's figure first. Scores are on dev, as in the paper,
    where dev is reported (RACE reports test too); the first line also has those on the training
    rows.
    """
    study = _swept(grid)
    return lines.curves(table[table["line"].isin(study.lines)], study)


def _swept(grid: Grid) -> StudyPlan:
    """The study with only the architecture of most layers; the paper's tasks come first."""
    study = grid.studies["layer_transfer"]
    arch = max(grid.arch, key=lambda name: grid.n_layer[name])
    points = [point for point in study.points if point.variant.arch == arch]
    names = [task for task in LARGE if task in study.tasks]
    tasks = list(dict.fromkeys([*names, *study.tasks]))
    return study.model_copy(update={"points": points, "tasks": tasks})


def figure2(layers: pd.DataFrame, zero_shots: pd.DataFrame, grid: Grid) -> Figure:
    """The paper's Figure 2 in its layout: layers transferred on the left, zero-shot on the right.

    Left: RACE and MultiNLI, or the first tasks of a run without them, solid on the reported rows
    and dashed on the training rows. Right: each task and their mean along pre-training, solid for
    the transformer, dashed for the LSTM, in relative scores, where 1 is the state of the art.
    """
    figure = Figure(figsize=(12, 5.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    _layers(left, layers, grid)
    scoring: Scoring = "heuristic" if grid.zero_shot.of("heuristic") else "prompt"
    names = [*grid.zero_shot.of(scoring), "mean"]
    style.label_ends(right, _along_updates(right, zero_shots, names, grid, scoring))
    right.set_ylabel("relative score (0 = random, 1 = best)")
    _head(right, "Zero-shot, along pre-training", _strokes(grid))
    return figure


def _layers(ax: Axes, table: pd.DataFrame, grid: Grid) -> None:
    study = _swept(grid)
    rows = lines.placed(table[table["line"] == study.lines[0]], study)
    ends, names, splits = [], study.tasks[:2], dict[str, None]()
    for name, look in zip(names, OF_LAYERS[: len(names)], strict=True):
        of_task = rows[rows["task"] == name]
        splits[split := lines.main_split(of_task)] = None
        reported = of_task[of_task["split"] == split]
        lines.sweep(ax, of_task[of_task["split"] == "train"], **look | lines.TRAIN)
        lines.sweep(ax, reported, **look, linestyle="-")
        ends.append((grid.task(name).title, reported["x"], reported["mean"], look))
    style.limit_to_scores(ax)
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


def zero_shot(table: pd.DataFrame, grid: Grid) -> Figure:
    """Figure 2 right, in full: zero-shot scores along pre-training, by heuristics and by prompts.

    The paper's four heuristics and their mean; below, the tasks by their prompts, by family. 0 is a
    random guess and 1 the state of the art, or all rows.
    """
    names, families = grid.zero_shot.of("heuristic"), dict[str, list[str]]()
    for name in grid.zero_shot.of("prompt"):
        families.setdefault(grid.task(name).family, []).append(name)
    columns = 2 if names else min(2, len(families))
    n_rows = bool(names) + math.ceil(len(families) / columns)
    figure = Figure(figsize=(12, 5.5 * n_rows), layout="constrained")
    rows = [*figure.subplots(n_rows, columns, sharey="row", squeeze=False)]
    if names:
        left, right = rows.pop(0)
        left.set_title("the paper's heuristics")
        right.set_title(f"mean of the {len(names)} tasks")
        _along_updates(right, table, ["mean"], grid)
        style.label_ends(left, _along_updates(left, table, names, grid))
    figure.supylabel("relative score (0 = random, 1 = best)")
    axes = [ax for row in rows for ax in row]
    for ax in axes[len(families) :]:
        ax.set_axis_off()
    ends: dict[Axes, list[style.CurveEnd]] = {}
    for ax, (family, of_family) in zip(axes[: len(families)], families.items(), strict=True):
        ax.set_title(f"prompts: {FAMILIES[family]}")
        ends[ax] = _along_updates(ax, table, of_family, grid, "prompt")
    for ax in ends:  # once its row is drawn
        if ax.dataLim.y0 < LOWEST:
            ax.set_ylim(bottom=LOWEST)
            ax.text(0.02, 0.02, f"cut at {LOWEST:g}", transform=ax.transAxes, color=style.GREY)
    for ax, of_panel in ends.items():
        style.label_ends(ax, of_panel)
    style.legend(figure, _strokes(grid))
    return figure


def _strokes(grid: Grid) -> list[style.Look]:
    """The legend entries of the models' line styles."""
    return [style.MODELS[arch] | {"color": style.BLACK, "marker": ""} for arch in grid.arch]


def _along_updates(
    ax: Axes,
    table: pd.DataFrame,
    names: Sequence[str],
    grid: Grid,
    scoring: Scoring = "heuristic",
) -> list[style.CurveEnd]:
    """Draw each task's relative scores, solid for the transformer and dashed for the LSTM.

    Returns the first architecture's curves, for `style.label_ends`.
    """
    ends, table = [], table[table["scoring"] == scoring]
    for task, other in zip(names, style.looks(names).values(), strict=True):
        for arch in grid.arch:
            rows = table[(table["arch"] == arch) & (table["task"] == task)]
            look = style.MODELS[arch] | style.TASKS.get(task, other)
            style.along_updates(ax, rows["update"], rows[style.RELATIVE], **look)
            if arch == grid.arch[0]:
                title = task if task == "mean" else grid.task(task).title
                ends.append((title, rows["update"], rows["relative"], look))
    style.updates_axis(ax, grid.updates)
    ax.axhline(0, color=style.GREY, linewidth=1)
    ax.set_xlabel(f"pre-training updates (log{_untrained(grid)})")
    return ends


def _untrained(grid: Grid) -> str:
    """What the label of an axis of updates says of its 0, if that has a checkpoint."""
    return "; 0 = untrained" if 0 in grid.updates else ""


def pretraining(table: pd.DataFrame, costs: pd.DataFrame, grid: Grid) -> Figure:
    """Held-out perplexity of both language models along pre-training.

    Left against updates, with the tokens seen above; right against seconds of training.
    """
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
    style.updates_axis(left, grid.updates)
    left.set_xlabel("pre-training updates (log; 0 = untrained)")
    left.set_ylabel("held-out perplexity per token (log)")
    right.set_xlabel("seconds of training (log)")
    style.log_axis(left.yaxis)
    style.log_axis(right.xaxis)
    trained = table[table["update"] > 0]
    rates = (trained["train_tokens"] / trained["update"]).dropna()
    if len(rates) and np.allclose(rates, rates.iloc[0], rtol=1e-3):  # the same of every model
        above = left.twiny()
        style.updates_axis(above, [update * rates.iloc[0] for update in grid.updates])
        above.set_xlabel("tokens seen")
        above.grid(visible=False)
        above.spines["top"].set_visible(True)
    style.label_ends(right, ends)
    return figure


def cloze(table: pd.DataFrame, grid: Grid) -> Figure:
    """Cloze items: the accuracy on each skill along pre-training, one line per language model.

    A panel per skill, those that the full model has learnt best first.
    """
    last = table[(table["arch"] == grid.arch[0]) & (table["corpus"] == "books")]
    last = last[last["update"] == grid.updates[-1]]
    scores = last.groupby("skill", sort=False)["accuracy"].mean()
    skills = scores.sort_values(ascending=False, kind="stable").index
    columns, rows = min(SKILLS_ACROSS, len(skills)), math.ceil(len(skills) / SKILLS_ACROSS)
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
    style.updates_axis(axes[0], sorted(table[position].dropna().unique()), sparse=True)
    axes[0].set_ylim(0, 103)
    for ax in axes[-columns:]:
        ax.tick_params(labelbottom=True)  # also where the panel below is empty
    seen = "tokens seen in pre-training" if position == "tokens" else "pre-training updates"
    figure.supxlabel(f"{seen} (log{_untrained(grid)})", fontsize=13)
    figure.supylabel("accuracy", fontsize=13)
    chance = {"color": style.GREY, "linewidth": 1, "label": "chance"}
    style.legend(figure, [*(style.model(*of) for of in models), chance])
    return figure
