"""Compare two runs, or other results, or each pair of more and the ranks that each may have.

    python -m workflow.analysis compare results/a results/b --out compare.csv

It writes a CSV, a figure, and Markdown, which it also prints. `gpt1.compare` lists what may take
the place of a results folder; comma-separated folders are the seeds of one model. Pairs of more are
compared as `workflow.analysis.compare` compares two: paired by row and by seed, with the variance
over seeds pooled over the variants of all. Holm's correction is over a family: the pairs of a
variant on one average, or on all of its tasks together. A rank lies between one more than how many
are decided to be better, and the number of all less how many are decided to be worse; so with a
probability of 95 % all ranks of a family are right at once.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from tasks.common.errors import InputError
from tasks.common.files import write_atomic
from workflow.analysis import markdown
from workflow.analysis.compare import Comparison, compare
from workflow.analysis.figures import style
from workflow.analysis.sides import (
    ONE_SEED,
    ROWS,
    SEEDS,
    Scored,
    Source,
    difference,
    in_common,
    members_of,
    pool_of,
    side,
)
from workflow.analysis.stats.estimates import LEVEL, SeedPool, holm
from workflow.analysis.table import DECIMALS

KEY = ["line", "task"]
NUMBERS = DECIMALS | {"a_score": 4, "b_score": 4, "p": 6, "p_holm": 6}
LEGEND = (
    "By variant: scores, ranks, and row minus column with its 95 % interval; `*`: decided. Ranks "
    "reach from one more than how many are decided to be better to the last but as many as are "
    "decided to be worse. Decided is by Holm's correction over the pairs of a variant, on tasks "
    f"over all of their pairs. {markdown.FITS}"
)


class Ranking(Comparison):
    """A `frame` with a row for each variant, average or task and pair of runs; its `markdown`."""

    @property
    def ranks(self) -> pd.DataFrame:
        """The score and the lowest and highest rank of each run, by variant and average or task."""
        return ranks_of(self.frame)

    def figure(self) -> Figure:
        """The ranks of each run by the first variant, on its average or its only task."""
        line, task = self.frame[KEY].iloc[0]
        rows = self.ranks[(self.ranks["line"] == line) & (self.ranks["task"] == task)]
        rows = rows.sort_values("score")
        figure = Figure(figsize=(7, 1.2 + 0.4 * len(rows)), layout="constrained")
        ax, at = figure.subplots(), np.arange(len(rows))
        ax.hlines(
            at, rows["rank_low"] - 0.1, rows["rank_high"] + 0.1, color=style.BLUE, linewidth=6
        )
        ax.set_yticks(
            at,
            [f"{run}  {score:.1f}" for run, score in zip(rows["run"], rows["score"], strict=True)],
        )
        ax.set_xticks(range(1, len(rows) + 1))
        ax.set_xlabel(f"possible ranks ({self.frame['task_title'].iloc[0]})")
        return figure

    def write(self, path: str | Path) -> None:
        """Write the pairs to `path`, and beside it the ranks, Markdown and the figure."""
        super().write(path)
        with write_atomic(Path(path).with_stem(f"{Path(path).stem}_ranks")) as file:
            self.ranks.round({"score": 4}).to_csv(file, index=False, lineterminator="\n")


def rank(sources: Sequence[Source], metric: str) -> Ranking:
    """Compare three or more; `gpt1.compare` describes the arguments."""
    sides = [side(source, metric) for source in sources]
    given = [of.name for of in sides]
    names = [f"{of} ({i})" if given.count(of) > 1 else of for i, of in enumerate(given, 1)]
    found, left_out = in_common(sides)
    pool = pool_of(sides)
    pairs = [_pairs(variant, tasks, names, pool) for variant, tasks in found.items()]
    frame = pd.concat(pairs, ignore_index=True)
    if frame.empty:
        what = f"{' and '.join(names)} share no seed in pairs"
        raise InputError(f"{what}; give results with the same seeds")
    titles = {k: of for one in sides for k, of in one.titles.items()}
    frame["line_title"] = [titles.get(line, line) for line in frame["line"]]
    return Ranking(frame, [*_shown(frame, names), *left_out], NUMBERS)


def ranks_of(frame: pd.DataFrame) -> pd.DataFrame:
    """The score and the ranks of each run, by variant and average or task, from all pairs."""
    rows = []
    for (line, task), pairs in frame.groupby(KEY, sort=False):
        runs = pd.concat(
            [pairs[[of, f"{of}_score"]].set_axis(["run", "score"], axis=1) for of in "ab"]
        )
        scores = runs.groupby("run", sort=False)["score"].mean()
        decided = pairs[pairs["p_holm"] < 1 - LEVEL]
        better = decided["b"].where(decided["diff"] > 0, decided["a"])
        worse = decided["a"].where(decided["diff"] > 0, decided["b"])
        for run, score in scores.items():
            low, high = 1 + (worse == run).sum(), len(scores) - (better == run).sum()
            ends = {"score": score, "rank_low": low, "rank_high": high}
            rows.append({"line": line, "task": task, "run": run} | ends)
    return pd.DataFrame(rows)


def _pairs(
    variant: str, tasks: Mapping[str, Sequence[Scored]], names: Sequence[str], pool: SeedPool
) -> pd.DataFrame:
    """A row for each average and task of a variant and each pair."""
    sides = [{task: scored[i] for task, scored in tasks.items()} for i in range(len(names))]
    rows = []
    for name, of in members_of([*tasks]).items():
        title = tasks[name][0].title if name in tasks else f"mean of {len(of)} tasks"
        for (a, one), (b, other) in combinations(zip(names, sides, strict=True), 2):
            if (found := difference(one, other, of, pool)) is None:
                continue
            low, high = found.interval
            scores = [
                float(np.mean([found.score.of_side(side[task].score) for task in of]))
                for side in (one, other)
            ]
            rows.append(
                {
                    **{"line": variant, "task": name, "task_title": title},
                    **{"n_seeds": len(found.score.seeds), "a": a, "b": b},
                    **{"a_score": scores[0], "b_score": scores[1]},
                    **{"diff": found.value, "diff_low": low, "diff_high": high, "p": found.p},
                    **{"over": SEEDS if found.seeds else ROWS, "alarms": found.alarms},
                }
            )
    frame = pd.DataFrame(rows)
    if rows:
        family = frame["task"].where(~frame["task"].isin([*tasks]), "")  # "": of tasks
        frame["p_holm"] = frame.groupby(family)["p"].transform(holm)
    return frame


def _shown(frame: pd.DataFrame, names: Sequence[str]) -> Iterator[str | pd.DataFrame]:
    """The Markdown: for each variant the matrix of its average or only task, and ranks by task."""
    ranks = ranks_of(frame)
    yield f"# {len(names)} runs compared"
    yield "; ".join(f"{i}: {name}" for i, name in enumerate(names, 1)) + "."
    if (frame["over"] == ROWS).any():
        yield ONE_SEED
    numbers = {name: str(i) for i, name in enumerate(names, 1)}
    shown = ranks.assign(run=ranks["run"].map(numbers))
    shown["text"] = [
        f"{score:.1f} ({low}" + (f"–{high})" if high > low else ")")
        for score, low, high in zip(
            ranks["score"], ranks["rank_low"], ranks["rank_high"], strict=True
        )
    ]
    for line, pairs in frame.groupby("line", sort=False):
        first = pairs[pairs["task"] == pairs["task"].iloc[0]]
        yield f"## {first['line_title'].iloc[0]}: {first['task_title'].iloc[0]}"
        of_first = shown[(shown["line"] == line) & (shown["task"] == first["task"].iloc[0])]
        matrix = pd.DataFrame(
            "", index=pd.Index(numbers.values(), name="run"), columns=[*numbers.values()]
        )
        for pair in first.itertuples():
            mark = "*" * (pair.p_holm < 1 - LEVEL)
            for a, b, sign in ((pair.a, pair.b, -1), (pair.b, pair.a, 1)):
                ends = sorted((sign * pair.diff_low, sign * pair.diff_high))
                text = markdown.interval(sign * pair.diff, *ends)
                matrix.loc[numbers[a], numbers[b]] = text + mark + markdown.mark(pair.alarms)
        matrix.insert(0, "score (ranks)", of_first.set_index("run")["text"])
        yield matrix
        if pairs["task"].nunique() > 1:
            own = shown[(shown["line"] == line) & ~shown["task"].isin(["avg", "mean"])]
            titles = pairs.drop_duplicates("task").set_index("task")["task_title"]
            yield markdown.pivot(own.assign(task=own["task"].map(titles)), "task", "run", "text")
    yield LEGEND


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("a", help="a folder of results, or of a model's logs")
    parser.add_argument("b", nargs="+", help="the other one, from which it is subtracted, or more")
    parser.add_argument(
        "--out", type=Path, default="compare.csv", help="the CSV to write (default: compare.csv)"
    )
    args = parser.parse_args(argv)
    a, b, *more = (one.split(",") for one in (args.a, *args.b))
    made = rank([a, b, *more], "accuracy") if more else compare(a, b, "accuracy")
    made.write(args.out)
    print(made)
