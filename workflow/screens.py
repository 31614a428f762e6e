"""Excerpts of a run's tables for the terminal; each is made of one CSV."""

from collections import Counter

import pandas as pd
from rich import box
from rich.console import JustifyMethod
from rich.table import Table
from rich.text import Text

STYLES = {
    **{"yes": "green", "no": "bold red"},
    **{"reproduced": "green", "not reproduced": "bold red", "undecided": "yellow"},
}
NONE = "–"


def grid_of(title: str, *columns: str, first: int = 1) -> Table:
    """An empty table whose `first` columns hold text and the others numbers."""
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        justify: JustifyMethod = "left" if i < first else "right"
        table.add_column(column, justify=justify, overflow="fold")
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
    return table


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
    return table


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
    return table


def ablation(frame: pd.DataFrame) -> Table:
    """Table 5: the paper's variants and the negative control, tasks downwards."""
    printed = frame.dropna(subset=["paper"])["variant"].unique()
    shown = frame["variant"].isin(printed) | frame["variant"].str.contains("shuffled")
    variants = list(frame[shown]["variant"].unique())
    table = grid_of("Ablations (Table 5)", "task", *variants, "bag of words")
    names = {"avg": "paper's mean", "avg_all": "mean of all"}
    for task, rows in frame[shown].groupby("task", sort=False):
        means = rows.set_index("variant")["mean"]
        values = [number(means.get(variant, float("nan"))) for variant in variants]
        bag = number(rows["bag_of_words"].iloc[0])
        table.add_row(names.get(str(task), str(task)), *values, bag)
    return table


def layer_transfer(frame: pd.DataFrame) -> Table:
    """Figure 2, left: the mean over the tasks by the number of transferred layers."""
    means = frame[(frame["task"] == "mean") & (frame["split"] == "reported")]
    layers = sorted(means["n_transfer"].unique(), key=lambda n: -1 if n == "none" else int(n))
    table = grid_of("Mean by transferred layers (Figure 2, left)", "model", *layers)
    for (arch, aux), rows in means.groupby(["arch", "aux"], sort=False):
        values = rows.set_index("n_transfer")["mean"]
        shown = (number(values.get(layer, float("nan"))) for layer in layers)
        table.add_row(f"{arch}, aux {aux}", *shown)
    return table


def zero_shot(frame: pd.DataFrame) -> Table:
    """Figure 2, right: zero-shot scores, 0 a random guess and 1 the state of the art."""
    updates = sorted(frame["update"].dropna().astype(int).unique())
    table = grid_of(
        "Zero-shot by update of pre-training (Figure 2, right)",
        *("model", "task", *map(str, updates)),
        first=2,
    )
    for (arch, task), rows in frame.groupby(["arch", "task"], sort=False):
        values = rows.set_index("update")["relative"]
        shown = (number(values.get(update, float("nan")), 2) for update in updates)
        table.add_row(str(arch), str(task), *shown)
    return table


def pretraining(frame: pd.DataFrame) -> Table:
    """Held-out perplexity along pre-training."""
    updates = sorted(frame["update"].dropna().astype(int).unique())
    table = grid_of("Held-out perplexity by update", "model", *map(str, updates))
    for arch, rows in frame.groupby("arch", sort=False):
        values = rows.set_index("update")["mean"]
        table.add_row(str(arch), *(number(values.get(u, float("nan"))) for u in updates))
    return table


SCREENS = {
    **{"positive_control": positive_control, "claims": claims, "main": main_table},
    **{"ablation": ablation, "layer_transfer": layer_transfer, "zero_shot": zero_shot},
    "pretraining": pretraining,
}
