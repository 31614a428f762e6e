"""Settings and records cannot be changed once they are made: what was checked stays as it is."""

import dataclasses
import importlib

import pytest
from pydantic import BaseModel

from tests.workflow.test_programs import modules


@pytest.mark.parametrize("module", sorted(modules("frozen=")))
def test_settings_and_records_are_frozen(module):
    every = vars(importlib.import_module(module)).values()
    own = [kind for kind in every if isinstance(kind, type) and kind.__module__ == module]
    for kind in own:
        if dataclasses.is_dataclass(kind):
            assert kind.__dataclass_params__.frozen, kind
        elif issubclass(kind, BaseModel):
            assert kind.model_config["frozen"], kind
