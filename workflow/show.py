"""Show a folder of results in the terminal: progress, verdicts, main tables, what is missing.

    python -m workflow.show results

While Snakemake runs, how far it is comes first; `watch -c -n 5 python -m workflow.show results`
repeats it. Of each table there is an excerpt; the CSV and Markdown files have all of it.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pandas as pd
from rich import box
from rich.console import Console, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from tasks.common.errors import InputError, run
from workflow import progress
from workflow.analysis import figures, job_costs, tables
from workflow.analysis.table import read_csv
from workflow.config_faults import read
from workflow.progress import Progress

HERE = Path(__file__).parent
DEFAULT = "world.yaml"  # the config that Snakemake takes if none is given
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


# --- the screens; each is made of one CSV ---


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


# --- progress and what is missing ---


def duration(seconds: float) -> str:
    """A time in words, in minutes from two minutes on."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def run_lines(last: Progress, results: Path, now: datetime) -> Iterator[str]:
    """The state of the last run of Snakemake, line by line."""
    share = f"{last.done} of {last.total} jobs done"
    if last.over:
        end = f"failed in {', '.join(dict.fromkeys(last.failed))}" if last.failed else "ended"
        yield f"The last run {end}: {share}."
        return
    costs = job_costs.read(results)
    earlier = dict(zip(costs["job"], costs["job_seconds"] / costs["runs"], strict=True))
    seconds, unknown = last.left(earlier)
    stages = Counter[str]()
    for rule, n in last.remaining().items():
        stages[job_costs.stage(rule)] += n
    age = f", its log is {duration((now - last.seen).total_seconds())} old" if last.seen else ""
    yield f"A run is under way{age}: {share}."
    yield "Now: " + ("; ".join(message for _, message in last.running.values()) or "planning") + "."
    yield "To do: " + ", ".join(f"{stage} {n}" for stage, n in stages.items()) + " jobs."
    lacking = f"none of {', '.join(unknown)} has finished yet" if unknown else ""
    if seconds or not unknown:
        lacking = f"about {duration(seconds)}" + (f", but {lacking}" if unknown else "")
    yield f"Time left: {lacking}."
    if last.failed:
        yield f"Failed so far: {', '.join(dict.fromkeys(last.failed))}."


def expected() -> list[str]:
    """The tables, the figures and the page that a run makes, as paths below its results."""
    made = [f"{name}.csv" for name in ("cells", *tables.names())]
    made += [f"figures/{name}.png" for name in figures.names()]
    return [*made, "data_cards.md", "index.html"]


def options(results: Path) -> str | None:
    """Snakemake's options for the shipped config that writes to `results`; None if none does."""
    for path in sorted((HERE / "config").glob("*.yaml")):
        if os.path.abspath(read([path]).get("results", "results")) == os.path.abspath(results):
            return "" if path.name == DEFAULT else f" --configfile {os.path.relpath(path)}"
    return None


def missing_lines(results: Path, last: Progress | None) -> Iterator[str]:
    """What is not there, and the commands that make it."""
    missing = [name for name in expected() if not (results / name).is_file()]
    if not missing:
        yield "Nothing is missing."
        return
    given = options(results)
    yield "Not there (a table that this config does not have is refused by name):"
    for name in missing:
        yield f"  snakemake --cores all {results / name}{given or ''}"
    if given is None:
        yield "with the --configfile and --config of the last run" + (
            f", which was: {last.command}" if last and last.command else ""
        )


def screens(results: Path, now: datetime) -> Iterator[RenderableType]:
    """All that is shown. Raises InputError for a folder that is not there or a damaged table."""
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; run snakemake first, or name another")
    last = progress.last_run(results)
    if last:
        yield Text("\n".join(run_lines(last, results, now)), style="bold")
    for name, screen in SCREENS.items():
        path = results / f"{name}.csv"
        if path.is_file():
            frame = read_csv(path)
            try:
                yield screen(frame)
            except KeyError as error:
                raise InputError(f"{path}: no column {error}; make it again") from None
    yield Text("\n".join(missing_lines(results, last)))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"))
    a = parser.parse_args()
    console = Console(highlight=False)
    for screen in screens(a.results, datetime.now()):
        console.print(screen, soft_wrap=isinstance(screen, Text))  # commands stay whole
        console.print()


if __name__ == "__main__":
    sys.exit(run(main))
