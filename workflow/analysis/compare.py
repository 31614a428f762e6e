"""Two runs, or other results, compared: each score that both have, paired by row and by seed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import ndtr

from workflow.analysis import markdown
from workflow.analysis.claims.finding import EQUAL, UNDECIDED
from workflow.analysis.figures import style
from workflow.analysis.sides import (
    ONE_SEED,
    ROWS,
    SEEDS,
    Scored,
    Side,
    Source,
    difference,
    in_common,
    members_of,
    pool_of,
    side,
)
from workflow.analysis.stats.estimates import LEVEL, MOST_SEEDS, Estimate, SeedPool, holm, least
from workflow.analysis.stats.scores import Component
from workflow.analysis.table import DECIMALS, Table
from workflow.configuration.sections import Margins

HIGHER, LOWER, SAME = "b higher", "b lower", "same in every row"
MOST_LINES, ACROSS = 12, 4  # of the figure: most panels, and panels in a row
NUMBERS = DECIMALS | {"a": 4, "b": 4, "p": 6, "p_holm": 6, "seeds_alone": 1}
ALONE = "by seeds alone"
WORDS = ("verdict", "needs", ALONE)
LEGEND = (
    "`[b, c]`: the 95 % interval. p: by Holm's correction over the tasks of a variant, by which "
    "tasks are judged. Equal: within {0.task:g} points on a task, {0.mean:g} on a mean. `needs`: "
    "what would decide a difference of this size with a power of 80 %. `!`: a run behind it raised "
    f"an alarm, named in the CSV. {markdown.FITS}"
)
BY_SEEDS = (
    "`by seeds alone`: so many of 100 pairs of small models that differ by the seed alone differ "
    "by as many points of accuracy, on a task or on a mean of four; so many unpaired seeds would "
    "decide the difference, if they vary as those do (docs/false-keeps.md)."
)


@dataclass(frozen=True)
class Comparison(Table):
    """`b` minus `a`: a `frame` with a row per variant and average or task, and its `markdown`."""

    def figure(self) -> Figure:
        """The differences with their intervals: a panel for each of the first that differ."""
        differ = self.frame[self.frame["verdict"] != SAME]
        frame = self.frame if differ.empty else differ
        titles = frame.groupby("line", sort=False)["line_title"].first()[:MOST_LINES]
        by_task = self.frame.groupby("task", sort=False)["task_title"]
        tasks = by_task.first().where(by_task.nunique() == 1, "mean")  # of other tasks in each
        at = pd.Series(np.arange(len(tasks)) * 1.0, tasks.index)
        across, down = min(ACROSS, len(titles)), -(-len(titles) // ACROSS)
        size = (2 + 2.6 * across, 1.4 + down * (0.6 + 0.3 * len(at)))
        figure = Figure(figsize=size, layout="constrained")
        axes = style.panels(figure, down, across, len(titles), sharex=True, sharey=True)
        for ax, (line, title) in zip(axes, titles.items(), strict=True):
            rows = self.frame[self.frame["line"] == line].set_index("task").reindex(at.index)
            style.dots(ax, at, rows[style.DIFFERENCE], at * np.nan, color=style.BLUE, marker="o")
            ax.tick_params(labelbottom=True)
            ax.set_title(fill(title.replace("+", " + "), 26, break_on_hyphens=False), fontsize=10)
        axes[0].set_yticks(at, tasks)
        style.limit_to_differences(axes[0].xaxis)
        figure.supxlabel("b minus a, points, with 95 % intervals", fontsize=13)
        return figure

    def write(self, path: str | Path) -> None:
        """Write the CSV to `path`, and Markdown and the figure (PNG, SVG, PDF) beside it."""
        super().write(path)
        style.save(self.figure, Path(path).with_suffix(".png"))

    def __str__(self) -> str:
        return self.markdown

    _repr_markdown_ = __str__


def compare(a: Source, b: Source, metric: str) -> Comparison:
    """`b` minus `a`; `gpt1.compare` describes the arguments."""
    one, other = side(a, metric), side(b, metric)
    paired, left_out = in_common([one, other])
    pool = pool_of([one, other])
    rows = [_rows(variant, pairs, pool, one.margins) for variant, pairs in paired.items()]
    titles = other.titles | one.titles
    frame = pd.DataFrame(chain(*rows))
    frame["line_title"] = [titles.get(line, line) for line in frame["line"]]
    parts = [*_scores(frame, one, other)]
    parts += _changed("lines of claims", one.claims, other.claims)
    parts += _changed("keys of the configs", one.config, other.config)
    parts += _trained([pair for pairs in paired.values() for pair in pairs.values()])
    return Comparison(frame, [*parts, *left_out], NUMBERS, WORDS)


def _rows(
    variant: str, pairs: Mapping[str, Sequence[Scored]], pool: SeedPool, margins: Margins
) -> Iterator[dict[str, Any]]:
    """The rows of a variant: its averages, then its tasks; one seed is judged by the rows alone."""
    a, b = ({task: pair[i] for task, pair in pairs.items()} for i in (0, 1))
    members = members_of([*pairs])
    found = {name: difference(a, b, of, pool) for name, of in members.items()}
    judged = {name: of for name, of in found.items() if of}
    p = {name: of.p for name, of in judged.items()}
    p |= dict(zip(pairs, holm([p[task] for task in pairs]), strict=True))
    for name, of in judged.items():
        whole = of.score
        its = np.mean([whole.of_side(b[t].score.at(whole.seeds)) for t in members[name]])
        margin = margins.task if name in pairs else margins.mean
        metric, title = "mean", f"mean of {len(members[name])} tasks"
        if name in pairs:
            metric, title = b[name].metric, b[name].title
        verdict = EQUAL if of.within(margin) else UNDECIDED
        if p[name] < 1 - LEVEL:
            verdict = HIGHER if of.value > 0 else LOWER
        elif not (whole.values.any() or np.nan_to_num(whole.resampled).any()):
            verdict = SAME
        distance = max(abs(of.value), margin - abs(of.value))
        low, high = of.interval
        yield {
            **{"line": variant, "task": name, "metric": metric, "task_title": title},
            **{"n_seeds": len(whole.seeds), "rows": whole.n_rows, "alarms": of.alarms},
            **{"a": its - of.value, "b": its, "diff": of.value, "diff_low": low, "diff_high": high},
            **{"diff_by_seed": tuple(whole.values), "over": SEEDS if of.seeds else ROWS},
            **{"p": of.p, "p_holm": p[name], "verdict": verdict},
            "needs": of.needs(distance) if verdict == UNDECIDED else "",
            "seeds_alone": np.nan if of.seeds else seeds_alone(of, name not in pairs),
            "needs_seeds": "" if of.seeds else needs_seeds(of, name not in pairs),
        }


@cache
def _pool(is_mean: bool) -> pd.DataFrame:
    """How pairs of models that differ by the seed alone differed; made by `bench.false_keeps`."""
    found = pd.read_csv(Path(__file__).parent / "stats" / "seeds_alone.csv")
    return found[found["scope"] == ("mean" if is_mean else "task")]


def seeds_alone(of: Estimate, is_mean: bool) -> float:
    """How many of 100 pairs that differ by the seed alone differ by as many points, or more.

    Where the standard error over rows is larger than in the pool, normal noise makes up for it.
    """
    pool = _pool(is_mean)
    more = max(0.0, of.score.over_rows.variance - float(pool["error"].iloc[0]) ** 2)
    error, least = np.sqrt(more) or 1e-9, max(0.0, abs(of.value) - 1e-6)  # as many count, too
    ends = ((sign * pool["points"] - least) / error for sign in (1, -1))
    return 100 * float(sum(ndtr(end).mean() for end in ends))


def needs_seeds(of: Estimate, is_mean: bool) -> str:
    """How many seeds would decide a difference with a power of 80 % if they vary as that pool's."""
    variance, rows = 2 * float(_pool(is_mean)["sd"].iloc[0]) ** 2, of.score.over_rows
    for n in range(2, MOST_SEEDS + 1):
        if least([Component(variance / n, n - 1), rows]) <= abs(of.value):
            return f"{n} seeds"
    return f"more than {MOST_SEEDS} seeds"


def _scores(frame: pd.DataFrame, one: Side, other: Side) -> Iterator[str | pd.DataFrame]:
    """The heading, a table for each variant with any difference, or of all, and the legend."""
    differ = frame[frame["verdict"] != SAME]
    yield "# b minus a"
    yield f"a: {one.name}; b: {other.name}. Of {len(frame)} scores {len(differ)} differ."
    differ = frame if differ.empty else differ
    is_of_one = bool((differ["over"] == ROWS).any())
    if is_of_one:
        yield f"{ONE_SEED} {BY_SEEDS}"
    intervals = markdown.intervals(differ, "diff", "diff_low", "diff_high")
    pairs = zip(intervals, differ["alarms"], strict=True)
    texts = differ.assign(
        a=markdown.column(differ["a"], ".1f"),
        b=markdown.column(differ["b"], ".1f"),
        difference=[text + markdown.mark(alarms) for text, alarms in pairs],
        p=differ["p_holm"].map(markdown.p_value),
        alone=[
            f"{share:.0f} of 100; {needs}" if share == share else ""
            for share, needs in zip(differ["seeds_alone"], differ["needs_seeds"], strict=True)
        ],
    ).set_index("task_title")
    for _, rows in texts.rename_axis("task").groupby("line", sort=False):
        yield f"## {rows['line_title'].iloc[0]}"
        shown = rows[["a", "b", "difference", "p", "verdict", "needs", *["alone"] * is_of_one]]
        yield shown.rename(columns={"alone": ALONE})
    yield LEGEND.format(one.margins)


def _changed(what: str, a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str | pd.DataFrame]:
    """A section on the entries that differ between `a` and `b`; empty if either has none."""
    both = pd.DataFrame({"a": a, "b": b}, dtype=object).map(str)
    differ = both[both["a"] != both["b"]].rename_axis("")
    return [f"## {len(differ)} of {len(both)} {what} differ", differ] if a and b else []


def _trained(pairs: Sequence[Sequence[Scored]]) -> list[str | pd.DataFrame]:
    """A section on what cells record of their training and has differed; empty if nothing has."""
    differ: dict[str, list[tuple[Any, Any]]] = {}
    for one, other in pairs:
        for key in one.recorded.keys() & other.recorded.keys():
            if one.recorded[key] != other.recorded[key]:
                differ.setdefault(key, []).append((one.recorded[key], other.recorded[key]))
    rows = [[f"{key} ({len(of)})", *of[0]] for key, of in sorted(differ.items())]
    table = pd.DataFrame(rows, columns=["", "a", "b"], dtype=object).map(str).set_index("")
    told = f"In how many of {len(pairs)} cells, and its value in the first of them."
    return ["## What cells were trained with", told, table] if rows else []
