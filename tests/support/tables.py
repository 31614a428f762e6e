"""Tables of the analysis as the tests make them: with the Markdown whose last line is a digest."""

from pathlib import Path

import pandas as pd

from tasks.common.files import sha256_file
from workflow.analysis.table import DIGEST


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """The frame as it is, and the Markdown beside it."""
    frame.to_csv(path, index=False)
    sign(path)


def sign(path: Path) -> None:
    """Write the Markdown of a CSV that is there, of its digest alone."""
    digest = DIGEST.format(path.name, sha256_file(path))
    path.with_suffix(".md").write_text(f"{digest}\n", encoding="utf-8")
