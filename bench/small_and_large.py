"""Does a first look tell what a large run finds? The claims of both, on the same worlds.

    python -m bench.small_and_large --small A B C --large A2 B2 C2 --out bench/first_look/large.csv

Each is a folder of results; the first small one has the world of the first large one, and so on.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from scipy import stats

from tasks.common.errors import InputError
from tasks.common.programs import run
from workflow.analysis.claims.finding import EQUAL, UNDECIDED
from workflow.analysis.table import Table, read_csv

LINE = ["statement", "tasks", "contrast"]  # identify a line of claims.csv
SAME, REVERSED, OTHER = "same", "reversed", "a difference in one, none in the other"
NEITHER, SMALL_ONLY, LARGE_ONLY = "undecided in both", "decided in small", "decided in large"
FOUND = [SAME, REVERSED, OTHER, SMALL_ONLY, LARGE_ONLY, NEITHER]


def claims(folder: Path) -> pd.DataFrame:
    """The lines of a run's claims that were run. Raises InputError for a folder without them."""
    if not (path := folder / "claims.csv").is_file():
        raise InputError(f"{folder}: no claims.csv; give the folder of a finished run")
    table = read_csv(path)
    return table[table["verdict"] != "not run"].set_index(LINE)


def found(small: str, large: str) -> str:
    """What two verdicts on one line say of each other."""
    if UNDECIDED in (small, large):
        decided_in = {small: LARGE_ONLY, large: SMALL_ONLY}
        return NEITHER if small == large else decided_in[UNDECIDED]
    if small == large:
        return SAME
    return OTHER if EQUAL in (small, large) else REVERSED


def both(small: Sequence[Path], large: Sequence[Path]) -> pd.DataFrame:
    """Each line that both runs of a world have, with both estimates and verdicts."""
    parts = []
    for world, (one, other) in enumerate(zip(small, large, strict=True)):
        given = ["verdict", "ours", "ci_low", "ci_high"]
        tables = [claims(folder)[given] for folder in (one, other)]
        of = tables[0].merge(tables[1], left_index=True, right_index=True, suffixes=("", "_large"))
        parts.append(of.reset_index().assign(world=world))
    table = pd.concat(parts, ignore_index=True)
    pairs = zip(table["verdict"], table["verdict_large"], strict=True)
    return table.assign(found=[found(*pair) for pair in pairs])


def share(hits: int, n: int) -> str:
    """A share of 100 with Wilson's 95 % interval, as if all lines were independent."""
    ends = stats.binomtest(hits, n).proportion_ci(method="wilson")
    return f"{hits} of {n}: {100 * hits / n:.0f} % [{100 * ends.low:.0f}, {100 * ends.high:.0f}]"


def told(table: pd.DataFrame) -> list[str | pd.DataFrame]:
    """The Markdown: counts by statement, and the shares."""
    counts = pd.crosstab(table["statement"], table["found"]).reindex(columns=FOUND, fill_value=0)
    counts = counts.loc[[*dict.fromkeys(table["statement"])]]
    counts.loc["all"] = counts.sum()
    decided = table[table["found"].isin([SAME, REVERSED, OTHER])]
    of_small = table[table["verdict"] != UNDECIDED]
    real = decided[(decided[["verdict", "verdict_large"]] != EQUAL).all(axis=1)]
    inside = table["ours_large"].between(table["ci_low"], table["ci_high"])
    shares = {
        "Decided in both, with the same verdict": decided["found"] == SAME,
        "Of differences in both, with the same sign": real["found"] == SAME,
        "Decided by the small run, and decided otherwise by the large one": of_small["found"].isin(
            [REVERSED, OTHER]
        ),
        "The large run's estimate lies within the small one's interval": inside,
    }
    parts = [f"{what}: {share(int(of.sum()), len(of))}." for what, of in shares.items() if len(of)]
    parts.append("Lines of one world are not independent, so that true intervals are wider.")
    return ["# What the first look tells of the default run", counts.astype(str), *parts]


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("small", "large"):
        parser.add_argument(f"--{name}", nargs="+", type=Path, required=True, help="folders of it")
    parser.add_argument("--out", type=Path, required=True, help="the CSV to write")
    args = parser.parse_args(argv)
    if len(args.small) != len(args.large):
        raise InputError(f"--large: {len(args.large)} of {len(args.small)} runs; give as many")
    table = both(args.small, args.large)
    Table(table, told(table)).write(args.out)


if __name__ == "__main__":
    sys.exit(run(main))
