"""Compare two runs: scores, verdicts on the claims, and what differs in how they were made.

    python -m workflow.compare results other/results

Prints Markdown. The tables of the runs are read, their configs, and what their cells record of the
processor and of versions.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import pandas as pd

    from gpt1.cell import Cell
    from workflow.analysis import markdown
    from workflow.analysis.claims.finding import DOES_NOT_HOLD, EQUAL, HOLDS
    from workflow.analysis.records import Environment
    from workflow.analysis.stats.samples import NOT_REPORTED
    from workflow.analysis.table import read_csv
    from workflow.configuration.read import ConfigError, read
    from workflow.configuration.studies import flat
    from workflow.results_folder import CONFIG

CELL = ["arch", "task", "aux", "n_transfer", "corpus"]
CLAIM = ["statement", "tasks", "contrast"]
ASKED = ("results", "experiment.studies.")  # keys that change no result of the run
DECIDED = {HOLDS, EQUAL, DOES_NOT_HOLD}
MOST = 20  # scores that are listed
Parts = list[str | pd.DataFrame]


@dataclass(frozen=True)
class Finished:
    """A finished run: three of its tables, the keys of its config, and what it was trained with."""

    cells: pd.DataFrame
    ablation: pd.DataFrame
    claims: pd.DataFrame
    config: dict[str, str]
    environment: dict[str, str]

    @classmethod
    def of(cls, results: Path) -> Self:
        """Read a results folder. Raises InputError if it is none, or for a damaged file."""
        names = "cells.csv", "ablation.csv", "claims.csv"
        for name in (CONFIG, *names):
            if not (results / name).is_file():
                raise InputError(f"{results}: no folder of a finished run, for want of {name}")
        try:
            config = flat(read([results / CONFIG]))
        except ConfigError as error:
            raise InputError("; ".join(error.faults)) from None
        values: dict[str, set[str]] = {}
        for path in sorted(results.glob("cells/*/*/*/*.json")):
            for name, value in Environment.read(path).description:
                values.setdefault(name, set()).add(value)
        cells, ablation, claims = (read_csv(results / name) for name in names)
        return cls(
            cells,
            ablation,
            claims,
            {key: str(value) for key, value in config.items() if not key.startswith(ASKED)},
            {name: "; ".join(sorted(found)) for name, found in values.items()},
        )


def scores(a: Finished, b: Finished) -> Parts:
    """How the means of the reported scores differ, and those of Table 5's variants."""
    keys = [*CELL, "split", "metric"]
    means = [
        one.cells[~one.cells["split"].str.startswith(NOT_REPORTED)].groupby(keys)["score"].mean()
        for one in (a, b)
    ]
    both = _beside(*means)
    differing = both[both["B − A"] != 0].sort_values("B − A", key=abs, ascending=False)
    size = differing["B − A"].abs()
    parts: Parts = [
        f"{len(both)} reported scores of cells are in both runs, "
        f"{len(means[0]) + len(means[1]) - 2 * len(both)} in one alone. Of those in both "
        f"{len(differing)} differ in their mean over seeds"
        + (f", by {size.median():.1f} points in the median." if len(size) else ".")
    ]
    if len(differing):
        listed = differing.head(MOST).reset_index()
        listed.insert(0, "cell", [Cell(*row).place for row in listed[CELL].to_numpy()])
        shown = _points(listed.drop(columns=CELL).set_index("cell"))
        parts += [f"The {len(shown)} largest differences:" if len(size) > MOST else "", shown]
    variants = [
        one.ablation[one.ablation["task"] == "avg_all"].set_index("variant")["mean"].dropna()
        for one in (a, b)
    ]
    return [*parts, "The mean over all tasks:", _points(_beside(*variants))]


def _beside(a: pd.Series, b: pd.Series) -> pd.DataFrame:
    """The values that both have, and their difference."""
    both = pd.concat({"A": a, "B": b}, axis=1, join="inner")
    return both.assign(**{"B − A": both["B"] - both["A"]})


def _points(frame: pd.DataFrame) -> pd.DataFrame:
    numbers = {name: markdown.column(frame[name], ".1f") for name in ("A", "B")}
    return frame.assign(**numbers, **{"B − A": markdown.column(frame["B − A"], "+.1f")})


def verdicts(a: Finished, b: Finished) -> Parts:
    """Which claims have the same verdict in both runs, and which another."""
    both = a.claims.merge(b.claims, on=CLAIM, suffixes=("_a", "_b"))
    pairs = list(zip(both["verdict_a"], both["verdict_b"], strict=True))
    decided = [(one, other) for one, other in pairs if {one, other} <= DECIDED]
    changed = [one != other for one, other in pairs]
    same = sum(one == other for one, other in decided)
    contradicting = sum({*pair} == {HOLDS, DOES_NOT_HOLD} for pair in decided)
    share = f" ({same / len(decided):.0%})" if decided else ""
    parts: Parts = [
        f"Same verdicts among decided: {same} of {len(decided)}{share}; contradicting: "
        f"{contradicting}. Of the {len(both)} lines in both runs {sum(changed)} have another "
        f"verdict; {len(a.claims) + len(b.claims) - 2 * len(both)} are in one alone."
    ]
    if any(changed):
        shown = both[changed].set_index("statement")
        for side in "ab":
            limits = (f"ours_{side}", f"ci_low_{side}", f"ci_high_{side}")
            found = markdown.intervals(shown, *limits)
            verdict = shown[f"verdict_{side}"]
            shown[side.upper()] = [": ".join(pair) for pair in zip(verdict, found, strict=True)]
        parts.append(shown[["tasks", "contrast", "A", "B"]])
    return parts


def differences(of: str, a: dict[str, Any], b: dict[str, Any]) -> Parts:
    """The names whose values differ, each with both."""
    names = [name for name in a | b if a.get(name) != b.get(name)]
    if not names:
        return [f"Nothing differs in {of}."]
    rows = {name: [one.get(name, markdown.NONE) for one in (a, b)] for name in names}
    return [pd.DataFrame.from_dict(rows, orient="index", columns=["A", "B"]).rename_axis(of)]


def report(a: Path, b: Path) -> str:
    """The comparison as Markdown. Raises InputError for a folder that is no finished run's."""
    one, other = Finished.of(a), Finished.of(b)
    parts: Parts = [f"# Two runs\n\n- A: {a}\n- B: {b}"]
    parts += ["## Verdicts on the claims", *verdicts(one, other)]
    parts += ["## Scores", *scores(one, other)]
    parts += ["## How they were made", *differences("the config", one.config, other.config)]
    parts += differences("processor and versions", one.environment, other.environment)
    words = ("split", "metric", "tasks", "contrast")
    shown = (p if isinstance(p, str) else markdown.render(p, words) for p in parts)
    return "\n\n".join(text for text in shown if text)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m workflow.compare", description=__doc__.splitlines()[0]
    )
    parser.add_argument("a", type=Path, metavar="A", help="the results folder of a run")
    parser.add_argument("b", type=Path, metavar="B", help="that of another one")
    args = parser.parse_args()
    print(report(args.a, args.b))


if __name__ == "__main__":
    sys.exit(run(main))
