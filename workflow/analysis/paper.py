"""The numbers printed in the paper's Tables 2 to 5, by table, method and column."""

import csv
from pathlib import Path

OURS = "Finetuned Transformer LM (ours)"  # the paper's own row in Tables 2 to 4


def paper_numbers(table: str) -> dict[str, dict[str, float]]:
    """`{method: {column: score}}` of a table such as `Table 5`, methods in the paper's order."""
    numbers: dict[str, dict[str, float]] = {}
    with open(Path(__file__).with_name("paper_numbers.csv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["table"] == table:
                numbers.setdefault(row["method"], {})[row["column"]] = float(row["value"])
    return numbers
