"""One world of the default size for all tests of this folder; it takes about two seconds."""

from pathlib import Path

import pytest

from tasks.world.__main__ import make_world

SETTINGS = {"seed": 3}


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world of the default size."""
    folder = tmp_path_factory.mktemp("world")
    make_world(SETTINGS, folder)
    return folder
