"""What the cells were trained with, as they record it, and what the page itself was made with."""

import os
import platform
from collections import Counter
from importlib import metadata

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.page import blocks
from workflow.analysis.page.blocks import Block
from workflow.analysis.page.made import Run
from workflow.analysis.records import Environment

PACKAGES = (
    *("torch", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "datasets", "tokenizers"),
    *("spacy", "ftfy", "safetensors", "pydantic", "matplotlib", "snakemake"),
)


def trained(run: Run) -> list[Block]:
    """A table of the environments that the grid's cells record; empty where none is there.

    Raises InputError for a damaged cell.
    """
    paths = (cell.path(run.results) for cell in run.grid.cells())
    found = Counter(
        (record.runtime.device, tuple(sorted(record.versions.items())))
        for record in map(Environment.read, filter(lambda path: path.is_file(), paths))
    )
    rows = [
        {"cells": str(n), "device": device or markdown.NONE, **dict(versions)}
        for (device, versions), n in found.items()
    ]
    if not rows:
        return []
    table = pd.DataFrame(rows).fillna(markdown.NONE).set_index("cells")
    return [*blocks.parse(markdown.render(table), "What the cells were trained with")]


def packages() -> dict[str, str]:
    """The versions here of Python and of the packages that a result may depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def computer() -> str:
    """The system in words, without names of a machine."""
    return f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors"
