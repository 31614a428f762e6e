"""Tables of the analysis as the tests make them."""

from pathlib import Path

import pandas as pd


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """The frame as it is."""
    frame.to_csv(path, index=False)
