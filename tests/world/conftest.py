"""One world of the default size for all tests of this folder; it takes about two seconds."""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks import Example, task
from tasks.world.__main__ import make_world
from tasks.world.settings import WorldSettings

Splits = dict[str, list[Example]]


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world of the default size."""
    folder = tmp_path_factory.mktemp("world")
    make_world(WorldSettings(seed=3), folder)
    return folder


@pytest.fixture(scope="session")
def splits(world: Path) -> Callable[[str], Splits]:
    """Every labelled split of a task, through the reader of real data."""

    @functools.cache
    def read(name: str) -> Splits:
        found = task(name)
        return {split: found.read(world / found.folder, split) for split in found.rows}

    return read
