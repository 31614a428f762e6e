"""Make one table: a tidy CSV, and the same in wide form as Markdown beside it.

    python -m workflow.analysis table NAME --results R --grid JSON --out R/NAME.csv

NAME is a module of `workflow.analysis.tables`.
"""

import importlib

from workflow.analysis import tables
from workflow.analysis.program import parser


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    arguments = parser("one table of the analysis")
    arguments.add_argument("name", choices=tables.names())
    args = arguments.parse_args(argv)
    module = importlib.import_module(f"workflow.analysis.tables.{args.name}")
    module.build(args.results, args.grid).write(args.out)
