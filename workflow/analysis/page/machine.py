"""The environment of a run, and its config, as the page shows them."""

import json
import os
import platform
from importlib import metadata
from typing import Any

import yaml

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


def as_yaml(config: str) -> str:
    """A config that is given as JSON, as YAML; empty text stays empty.

    Keys of a task's entry that are not given are left out, as `workflow.config show` does.
    """
    if not config:
        return ""
    values = json.loads(config)
    experiment = values.get("experiment", {})
    for section in (experiment, experiment.get("zero_shot", {})):
        if "tasks" in section:
            section["tasks"] = {name: _given(entry) for name, entry in section["tasks"].items()}
    return yaml.safe_dump(values, sort_keys=False, width=88, default_flow_style=None)


def _given(entry: dict[str, Any]) -> dict[str, Any]:
    inner = {k: _given(v) if isinstance(v, dict) else v for k, v in entry.items()}
    return {key: value for key, value in inner.items() if value not in (None, {})}
