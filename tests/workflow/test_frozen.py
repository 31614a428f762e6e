"""Settings and records cannot be changed once they are made: what was checked stays as it is."""

import dataclasses
import importlib
import re

import pytest
from pydantic import BaseModel

from tests.workflow.configs import ROOT

RECORDS = re.compile(r"^@dataclass|^class \w+\((BaseModel|Settings|\w*Record)\b", re.MULTILINE)
COUNTED_UP = {"Tally"}  # while rows are read


def modules() -> list[str]:
    """The modules of the project that define settings or records."""
    files = [path for name in ("gpt1", "tasks", "workflow") for path in (ROOT / name).rglob("*.py")]
    found = [path for path in files if RECORDS.search(path.read_text(encoding="utf-8"))]
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts) for path in found)
    return sorted(name.removesuffix(".__init__") for name in names)


@pytest.mark.parametrize("module", modules())
def test_settings_and_records_are_frozen(module):
    every = vars(importlib.import_module(module)).values()
    own = [kind for kind in every if isinstance(kind, type) and kind.__module__ == module]
    for kind in own:
        if dataclasses.is_dataclass(kind) and kind.__name__ not in COUNTED_UP:
            assert kind.__dataclass_params__.frozen, kind
        elif issubclass(kind, BaseModel):
            assert kind.model_config["frozen"], kind
