"""Draw one figure from its table, as PNG, SVG and PDF whose bytes depend on the table alone.

    python -m workflow.analysis figure NAME --tables NAME.csv --grid JSON --out NAME.png

NAME is a module of `workflow.analysis.figures`, whose `draw` takes the tables in the order given.
"""

import argparse
import importlib
from pathlib import Path

from workflow.analysis import figures
from workflow.analysis.figures import style
from workflow.analysis.table import read_csv
from workflow.grid import Grid


def main(argv: list[str] | None = None) -> None:
    """Read the tables, draw their figure, write `--out` (PNG), and SVG and PDF beside it."""
    parser = argparse.ArgumentParser(description="one figure of the analysis")
    parser.add_argument("name", choices=figures.names())
    parser.add_argument(
        "--tables", type=Path, nargs="+", required=True, help="the CSV files that it shows"
    )
    parser.add_argument("--grid", type=Grid.parse, required=True, help="the grid as JSON")
    parser.add_argument("--out", type=Path, required=True, help="the PNG to write")
    args = parser.parse_args(argv)
    module = importlib.import_module(f"workflow.analysis.figures.{args.name}")
    found = [read_csv(path) for path in args.tables]
    style.save(lambda: module.draw(*found, args.grid), args.out)
