"""Write the rows of a cell as CSV: texts, label and prediction of each seed, joined.

python -m workflow.rows results/cells/ARCH/TASK/aux-X/layers-N.json --out rows.csv
"""

import argparse
import sys
from pathlib import Path

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import pandas as pd

    import tasks
    from gpt1.cell import Cell, home
    from tasks.common.arrow import read_split
    from tasks.common.files import write_atomic
    from workflow.analysis.predictions import read_predictions
    from workflow.analysis.records import ExamplesRecord, check_examples


def with_texts(results: Path, cell: Cell) -> pd.DataFrame:
    """The predictions of a cell with the texts: a row for each seed and example.

    Texts are called as in the files of `gpt1.predict`, labels by their names. Raises InputError if
    the cell was not run, and for examples that are missing or are not those that it answered.
    """
    found = read_predictions(results, cell)
    if found is None:
        raise InputError(f"{cell.path(results)}: no such cell, or no predictions; run it first")
    own = home(results, cell.variant) / "examples"
    folder = (own if own.exists() else results / "examples") / cell.task
    facts = folder.with_suffix(".json")
    check_examples(found.path, found.examples, facts, ExamplesRecord.read(facts).sha256)
    splits = found.rows["split"].unique()
    tables = [read_split(folder, split).to_pandas().assign(split=split) for split in splits]
    texts = pd.concat(tables, ignore_index=True).rename(columns={"first": "text"})
    choices = pd.DataFrame(texts.pop("choices").to_list()).rename(
        columns=lambda i: f"choice{i + 1}"
    )
    texts = texts.drop(columns=["label", "group"]).join(choices)
    if not texts["second"].any():
        del texts["second"]
    rows = found.rows[["seed", "split", "guid"]].merge(texts, "left", validate="many_to_one")
    task = tasks.task(cell.task)
    names = {} if task.soft_labels else dict(enumerate(task.labels))
    for column in ("label", "prediction"):
        values = found.rows[column]
        rows[column] = values.map(names) if names else values
    return rows


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m workflow.rows", description=__doc__.splitlines()[0]
    )
    parser.add_argument("cell", type=Path, help="its JSON, results/cells/...")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    args = parser.parse_args(argv)
    cell = Cell.parse(args.cell)
    results = args.cell.parents[len(cell.path("").parts) - 1]
    rows = with_texts(results, cell)
    with write_atomic(args.out) as file:
        rows.to_csv(file, index=False, lineterminator="\n")


if __name__ == "__main__":
    sys.exit(run(main))
