"""What the cells were trained with, as they record it, and what the page itself was made with."""

import os
import platform
from collections import Counter
from importlib import metadata

import pandas as pd
from markupsafe import Markup

from workflow.analysis import markdown
from workflow.analysis.page.markup import from_markdown
from workflow.analysis.page.run import Run
from workflow.analysis.records import Environment

PACKAGES = (
    *("torch", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "datasets", "tokenizers"),
    *("spacy", "ftfy", "safetensors", "pydantic", "matplotlib", "snakemake"),
)


def trained(run: Run) -> Markup:
    """A table of the environments that the grid's cells record; empty where none is there.

    Raises InputError for a damaged cell.
    """
    paths = [path for cell in run.grid.cells() if (path := cell.path(run.results)).is_file()]
    found = Counter(Environment.read(path).description for path in paths)
    rows = [{"cells": str(n), **dict(description)} for description, n in found.items()]
    if not rows:
        return Markup()
    table = pd.DataFrame(rows).fillna(markdown.NONE).set_index("cells")
    return from_markdown(markdown.render(table, words=table.columns), "Trained with")


def packages() -> Markup:
    """The versions here of Python and of the packages that a result may depend on."""
    there = {found.name for found in metadata.distributions()}
    versions = {name: metadata.version(name) for name in PACKAGES if name in there}
    versions = {"python": platform.python_version(), **versions}
    table = pd.DataFrame({"version": versions}).rename_axis("package")
    return from_markdown(markdown.render(table, words=["version"]), "Packages")


def computer() -> str:
    """The system in words, without names of a machine."""
    return f"{platform.system()}, {platform.machine()}, {os.cpu_count()} processors"
