"""Draw one figure from its table, as PNG and SVG whose bytes depend on the table alone.

    python -m workflow.analysis.figures NAME --table NAME.csv --settings JSON --out NAME.png

NAME is one of `ablation`, `layer_transfer`, `zero_shot` and `pretraining`.
"""

import argparse
import sys
from pathlib import Path

import pandas as pd

from tasks.common.errors import InputError, run
from workflow.analysis.figures import ablation, layer_transfer, pretraining, style, zero_shot
from workflow.analysis.output import read_settings

DRAW = {
    "ablation": ablation.draw,
    "layer_transfer": layer_transfer.draw,
    "zero_shot": zero_shot.draw,
    "pretraining": pretraining.draw,
}


def main(argv: list[str] | None = None) -> None:
    """Read a table, draw its figure, write `--out` (PNG) and the SVG beside it."""
    parser = argparse.ArgumentParser(description="one figure of the analysis")
    parser.add_argument("name", choices=sorted(DRAW))
    parser.add_argument("--table", type=Path, required=True, help="the CSV of the same name")
    parser.add_argument("--settings", required=True, help="the analysis settings as JSON text")
    parser.add_argument("--out", type=Path, required=True, help="the PNG to write")
    args = parser.parse_args(argv)
    settings = read_settings(args.settings)
    table = read_table(args.table)
    style.save(lambda: DRAW[args.name](table, settings), args.out)


def read_table(path: Path) -> pd.DataFrame:
    """A tidy table as its program wrote it; `n_transfer` stays text because of `none`."""
    try:
        text = {"n_transfer": str, "aux": str, "split": str, "alarms": str}
        return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=[""])
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a table ({error}); delete it and make it again") from None


if __name__ == "__main__":
    sys.exit(run(main))
