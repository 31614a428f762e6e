"""Make tables, figures, studies, the page and the submission, all in one process.

    python -m workflow.analysis report ablation.csv figures/ablation.png --results R --grid FILE

Each is named by a file below the results folder R and made in the order given, so that a table
comes before what reads it. Beside a table's CSV is the same as Markdown, beside a figure's PNG are
SVG and PDF; a study has all five. FILE holds the grid as JSON. Equal inputs give equal bytes. The
log says how long each took, and a fault names what was being made.
"""

import argparse
import importlib
import time
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from tasks.common.errors import InputError, within_memory
from tasks.common.settings import Settings
from workflow.grid import Grid, PagePlan, StudyPlan

if TYPE_CHECKING:
    from workflow.analysis.table import Table

# The module of each table, which is made by the function of its name there; in an order in which
# each finds those that it reads.
TABLES = {
    "data": "data",
    "pretraining": "checkpoints",
    "cost_pretraining": "checkpoints",
    "zero_shot": "checkpoints",
    "cloze": "cloze",
    "ablation": "lines",
    "degrees": "lines",
    "layer_transfer": "lines",
    "contamination": "published",
    "main": "published",
    "cells": "cells",
    "confusion": "cells",
    "claims": "claims",
    "positive_control": "positive_control",
    "cost": "cost",
}
OTHERS = {  # the module of other products, by the file or its folder
    "index.html": "page.write",
    "glue_submission.zip": "submission",
    "figures": "figures.run",
    "studies": "study",
}


def module_of(product: str) -> str:
    """The module that makes a file of the results folder."""
    path = PurePath(product)
    found = OTHERS.get(product) or OTHERS.get(path.parent.name) or f"tables.{TABLES[path.stem]}"
    return f"workflow.analysis.{found}"


def build(name: str, results: Path, grid: Grid) -> "Table":
    """The table of that name. Raises InputError for a damaged file."""
    module = importlib.import_module(module_of(f"{name}.csv"))
    table: Table = getattr(module, name)(results, grid)
    return table


def make(
    product: str,
    results: Path,
    grid: Grid,
    study: StudyPlan | None = None,
    page: PagePlan | None = None,
) -> None:
    """Make a file of the results folder, and its other forms. Raises InputError for a fault.

    `study` is the plan of a study, `page` that of the page.
    """
    module, out = importlib.import_module(module_of(product)), results / product
    match PurePath(product).parent.name:
        case "figures":
            module.write(results, grid, out)
        case "studies":
            module.write(results, grid, study, out)
        case _ if product in OTHERS:
            module.write(results, grid, *filter(None, [page]))
        case _:
            build(out.stem, results, grid).write(out)


def main(argv: list[str] | None = None) -> None:
    """The command line."""

    def in_file(kind: type[Settings]) -> dict[str, Any]:
        return {"type": lambda path: kind.parse(Path(path).read_text("utf-8")), "metavar": "FILE"}

    parser = argparse.ArgumentParser(description="tables, figures and the page of a run")
    parser.add_argument("products", nargs="+", help="files to make, below the results folder")
    parser.add_argument("--results", type=Path, required=True, help="the results folder")
    parser.add_argument("--grid", required=True, help="the grid, as JSON", **in_file(Grid))
    parser.add_argument("--study", help="the plan of the study", **in_file(StudyPlan))
    parser.add_argument("--page", help="what the page shows", **in_file(PagePlan))
    args = parser.parse_args(argv)
    for product in args.products:
        started = time.perf_counter()
        with within_memory(product):
            try:
                make(product, args.results, args.grid, args.study, args.page)
            except InputError as error:
                raise InputError(f"{product}: {error}") from error
        print(f"{product}: {time.perf_counter() - started:.1f} s", flush=True)
