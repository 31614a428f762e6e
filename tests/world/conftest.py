"""Two worlds for all tests of this folder: a large one, which takes seconds, and a small one."""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks import PAPER_TASKS, Example, task
from tasks.world.make import make_world
from tasks.world.settings import WorldSettings
from tasks.world.tasks import WORLD_TASKS

NAMES = [t.name for t in PAPER_TASKS] + ["dprd"]
Splits = dict[str, list[Example]]
LARGE = WorldSettings(seed=3, report=1000, rows=dict.fromkeys(WORLD_TASKS, 1000), cloze=400)
SMALL = WorldSettings(seed=11, words=2_000, books=1, rows=dict.fromkeys(WORLD_TASKS, 500), cloze=10)


def read_books(world: Path) -> list[str]:
    """Every block of every book: titles, headings and paragraphs."""
    books = sorted(world.glob("books/*.txt"))
    return [p for book in books for p in book.read_text(encoding="utf-8").strip().split("\n\n")]


def _reader(world: Path) -> Callable[[str], Splits]:
    @functools.cache
    def read(name: str) -> Splits:
        found = task(name)
        return {split: found.read(world / found.folder, split) for split in found.rows}

    return read


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A world with the default books, and 1,000 rows in each training and reported split."""
    folder = tmp_path_factory.mktemp("world")
    make_world(LARGE, folder)
    return folder


@pytest.fixture(scope="session")
def splits(world: Path) -> Callable[[str], Splits]:
    """Every labelled split of a task of `world`, through the reader of real data."""
    return _reader(world)


@pytest.fixture(scope="session")
def other_splits(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Splits]:
    """The same of a world of another seed."""
    folder = tmp_path_factory.mktemp("other")
    make_world(SMALL, folder)
    return _reader(folder)


@pytest.fixture(params=NAMES[:-1])
def name(request: pytest.FixtureRequest) -> str:
    """Each of the twelve tasks."""
    return request.param


@pytest.fixture(scope="session")
def paragraphs(world: Path) -> list[str]:
    """The blocks of all books of `world`."""
    return read_books(world)
