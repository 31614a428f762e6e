"""The environment of a run, as the page shows it."""

import os
import platform
from importlib import metadata

PACKAGES = (
    *("torch", "numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "datasets", "tokenizers"),
    *("spacy", "ftfy", "safetensors", "pydantic", "matplotlib", "snakemake"),
)


def packages() -> dict[str, str]:
    """The versions of Python and of the packages that a result may depend on."""
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
