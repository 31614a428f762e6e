"""Make one table: a tidy CSV, and the same in wide form as Markdown beside it.

    python -m workflow.analysis.tables NAME --results R --grid JSON --out R/NAME.csv

NAME is that of a module of this folder.
"""

import argparse
import importlib
import sys
from pathlib import Path

from tasks.common.errors import run
from workflow.analysis import tables
from workflow.grid import Grid


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="one table of the analysis")
    parser.add_argument("name", choices=tables.names())
    parser.add_argument("--results", type=Path, required=True, help="the results folder")
    parser.add_argument("--grid", type=Grid.parse, required=True, help="the grid as JSON")
    parser.add_argument("--out", type=Path, required=True, help="the CSV to write")
    args = parser.parse_args(argv)
    module = importlib.import_module(f"workflow.analysis.tables.{args.name}")
    module.build(args.results, args.grid).write(args.out)


if __name__ == "__main__":
    sys.exit(run(main))
