"""The arguments that the programs of the analysis share."""

import argparse
from pathlib import Path

from workflow.grid import Grid


def parser(description: str) -> argparse.ArgumentParser:
    """A command line with `--results`, `--grid` and `--out`."""
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--results", type=Path, required=True, help="the results folder")
    arguments.add_argument("--grid", type=Grid.parse, required=True, help="the grid as JSON")
    arguments.add_argument("--out", type=Path, required=True, help="the file to write")
    return arguments
