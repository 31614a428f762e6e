"""Excerpts of a run's tables for the terminal; each is made of one CSV."""

import textwrap
from collections import Counter
from collections.abc import Callable

import pandas as pd
from rich import box
from rich.cells import cell_len
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

STYLES = {
    **{"yes": "green", "no": "bold red"},
    **{"reproduced": "green", "not reproduced": "bold red", "undecided": "yellow"},
}
NONE = "–"
MANY = 12  # columns, from which on they stand closer
HEAD = 9  # characters of a line of a number's head, at least


def grid_of(title: str, *columns: str, first: int = 1) -> Table:
    """An empty table whose `first` columns hold text and the others numbers."""
    table = Table(
        title=title or None,
        title_justify="left",
        title_style="bold italic",
        box=box.SIMPLE_HEAD,
        padding=(0, 0 if len(columns) > MANY else 1, 0, 0),
        pad_edge=False,
    )
    for i, column in enumerate(columns):
        justify: JustifyMethod = "left" if i < first else "right"
        table.add_column(column, justify=justify, overflow="fold")
    return table


def headline(text: str) -> Text:
    """The title of several tables, which may be longer than one of them is wide."""
    return Text(text, style="bold italic")


def whole(table: Table, first: int = 1) -> Table:
    """The table with no number broken over two lines, and no word, as far as the terminal allows.

    Its `first` columns hold text, of which a line may break between words.
    """
    for i, column in enumerate(table.columns):
        told = [str(cell) for cell in column.cells]
        parts = [*str(column.header).split(), *(told if i >= first else " ".join(told).split())]
        column.min_width = max(map(cell_len, "\n".join(parts).split("\n")))
        if i >= first:
            width = max(column.min_width, HEAD)
            column.header = textwrap.fill(str(column.header), width, break_on_hyphens=False)
    return table


def number(value: float, digits: int = 1) -> str:
    """A number with so many digits; a dash for none."""
    return NONE if pd.isna(value) else f"{round(value, digits) + 0.0:.{digits}f}"  # no -0.0


def interval(row: pd.Series, digits: int = 1) -> str:
    """A row's value with its 95 % interval, if it has one."""
    value = number(row["ours"], digits)
    if pd.isna(row["ci_low"]):
        return value
    return f"{value} [{number(row['ci_low'], digits)}, {number(row['ci_high'], digits)}]"


def positive_control(frame: pd.DataFrame) -> Table:
    """What a working suite must see in the embedded world, and whether this run does."""
    table = grid_of("Positive control", "check", "wanted", "ours", "met", first=2)
    for _, row in frame.iterrows():
        met = "" if pd.isna(row["met"]) else row["met"]
        shown = Text(met, style=STYLES.get(met, ""))
        table.add_row(row["check"], row["wanted"], interval(row, 2), shown)
    return whole(table, first=2)


def claims(frame: pd.DataFrame) -> Table:
    """The verdict on each claim; one that is about several tasks is counted over them."""
    table = grid_of("The paper's claims", "claim", "about", "ours", "verdict", first=2)
    for statement, rows in frame.groupby("statement", sort=False):
        one = rows.iloc[0]
        about = one["tasks"] if len(rows) == 1 else f"{len(rows)} tasks"
        verdicts = Counter(rows["verdict"])
        parts = [
            (verdict if len(rows) == 1 else f"{verdict} {n}", STYLES.get(verdict, "dim"))
            for verdict, n in verdicts.items()
        ]
        ours = interval(one) if len(rows) == 1 else ""
        table.add_row(str(statement), about, ours, Text("\n").join(Text(*part) for part in parts))
    return whole(table, first=2)


def main_table(frame: pd.DataFrame) -> Table:
    """Tables 2 to 4: the full transformer beside the paper's and the simplest answers."""
    columns = ("task", "metric, split", "ours", "paper", "constant", "bag of words")
    table = grid_of("The full transformer (Tables 2 to 4)", *columns, first=2)
    rows = frame[(frame["source"] == "this run") & (frame["aux"] == "on")].dropna(subset=["mean"])
    for _, row in rows.iterrows():
        spread = "" if pd.isna(row["sd"]) else f" ± {row['sd']:.1f}"
        alarm = "" if pd.isna(row["alarms"]) else " !"
        others = (number(row[key]) for key in ("paper", "majority", "bag_of_words"))
        split = f"{row['metric']}, {row['split']}"
        table.add_row(row["task"], split, f"{row['mean']:.1f}{spread}{alarm}", *others)
    return whole(table, first=2)


def ablation(frame: pd.DataFrame) -> Table:
    """Table 5: the paper's variants and the negative control, tasks downwards."""
    printed = frame.dropna(subset=["paper"])["variant"].unique()
    shown = frame["variant"].isin(printed) | frame["variant"].str.contains("shuffled")
    variants = list(frame[shown]["variant"].unique())
    table = grid_of("Ablations (Table 5)", "task", *map(_short, variants), "bag of words")
    names = {"avg": "paper's mean", "avg_all": "mean of all"}
    for task, rows in frame[shown].groupby("task", sort=False):
        means = rows.set_index("variant")["mean"]
        values = [number(means.get(variant, float("nan"))) for variant in variants]
        bag = number(rows["bag_of_words"].iloc[0])
        table.add_row(names.get(str(task), str(task)), *values, bag)
    return whole(table)


def _short(variant: str) -> str:
    """The name of a variant as the head of a column; all but the LSTM are transformers."""
    name = variant.removeprefix("Transformer ").removeprefix("w/ aux LM, ")
    return "full" if name.endswith("(full)") else name


def layer_transfer(frame: pd.DataFrame) -> Group:
    """Figure 2, left: the mean over the tasks by the number of transferred layers."""
    means = frame[(frame["task"] == "mean") & (frame["split"] == "reported")]
    found: list[RenderableType] = [headline("Mean by transferred layers (Figure 2, left)")]
    for arch, rows in means.groupby("arch", sort=False):
        layers = sorted(rows["n_transfer"].unique(), key=lambda n: -1 if n == "none" else int(n))
        table = grid_of(str(arch), "aux LM", *layers)
        for aux, line in rows.groupby("aux", sort=False):
            values = line.set_index("n_transfer")["mean"]
            shown = (number(values.get(layer, float("nan"))) for layer in layers)
            table.add_row(str(aux), *shown)
        found.append(whole(table))
    return Group(*found)


def zero_shot(frame: pd.DataFrame) -> Group:
    """Figure 2, right: zero-shot scores, 0 a random guess and 1 the state of the art."""
    updates = sorted(frame["update"].dropna().astype(int).unique())
    found: list[RenderableType] = [
        headline("Zero-shot by update of pre-training (Figure 2, right)")
    ]
    for arch, rows in frame.groupby("arch", sort=False):
        table = grid_of(str(arch), "task", *map(str, updates))
        for task, line in rows.groupby("task", sort=False):
            values = line.set_index("update")["relative"]
            shown = (number(values.get(update, float("nan")), 2) for update in updates)
            table.add_row(str(task), *shown)
        found.append(whole(table))
    return Group(*found)


def pretraining(frame: pd.DataFrame) -> Table:
    """Held-out perplexity along pre-training."""
    updates = sorted(frame["update"].dropna().astype(int).unique())
    table = grid_of("Held-out perplexity by update", "model", *map(str, updates))
    for arch, rows in frame.groupby("arch", sort=False):
        values = rows.set_index("update")["mean"]
        table.add_row(str(arch), *(number(values.get(u, float("nan"))) for u in updates))
    return whole(table)


def _axis_value(value: object) -> str:
    """The value of a study's axis as its config has it; empty for a line that has none."""
    if isinstance(value, float):
        return "" if pd.isna(value) else f"{value:g}"
    return str(value)


def study(frame: pd.DataFrame) -> Table | None:
    """The mean over the tasks of a study's lines, by the values of its axis if it has one.

    None for the study of planted rows, whose table is of another kind.
    """
    if not {"line", "value", "task", "mean"} <= {*frame.columns}:
        return None
    rows = frame[frame["task"] == "mean"] if "mean" in set(frame["task"]) else frame
    rows = rows.drop_duplicates(["line", "value"])
    rows = rows.assign(value=[_axis_value(value) for value in rows["value"]])
    means = rows.set_index(["line", "value"])["mean"]
    lines, values = list(dict.fromkeys(rows["line"])), list(dict.fromkeys(rows["value"]))
    if values == [""]:
        table = grid_of("", "", "mean of its tasks")
        for line in lines:
            table.add_row(line, number(means[line, ""]))
        return whole(table)
    table = grid_of("", "mean of its tasks", *lines)
    for value in values:
        shown = (number(means.get((line, value), float("nan"))) for line in lines)
        table.add_row(value or "beside", *shown)
    return whole(table)


SCREENS: dict[str, Callable[[pd.DataFrame], RenderableType]] = {
    **{"positive_control": positive_control, "claims": claims, "main": main_table},
    **{"ablation": ablation, "layer_transfer": layer_transfer, "zero_shot": zero_shot},
    "pretraining": pretraining,
}
