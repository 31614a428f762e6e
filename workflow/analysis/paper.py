"""The numbers printed in the paper's Tables 2 to 5."""

from pathlib import Path

import pandas as pd

OURS = "Finetuned Transformer LM (ours)"  # the paper's own row in Tables 2 to 4
NUMBERS = pd.read_csv(Path(__file__).with_name("paper_numbers.csv"))


def paper_numbers(table: str) -> dict[str, dict[str, float]]:
    """`{method: {column: score}}` of a table such as `Table 5`, methods in the paper's order."""
    rows = NUMBERS[NUMBERS["table"] == table].groupby("method", sort=False)
    return {method: dict(zip(of["column"], of["value"], strict=True)) for method, of in rows}
