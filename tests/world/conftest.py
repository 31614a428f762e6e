"""One world in a reduced size for all tests of this folder."""

from pathlib import Path

import pytest

from tasks.world.__main__ import make_world

SETTINGS = {"seed": 3, "words": 150_000, "books": 20}


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world with all its labelled rows and a quarter of its books."""
    folder = tmp_path_factory.mktemp("world")
    make_world(SETTINGS, folder)
    return folder
