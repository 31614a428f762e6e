"""A task's examples as `tasks.prepare` makes them, as objects, for tests of their content."""

from pathlib import Path
from typing import Any

from tasks import task
from tasks.examples import Example, to_examples
from tasks.prepare import prepare
from tasks.settings import PrepareSettings

Splits = dict[str, list[Example]]


def prepared(
    name: str, folder: Path, settings: PrepareSettings | None = None
) -> tuple[Splits, dict[str, Any]]:
    """The examples of each split, and the facts; by default of made data."""
    splits, facts = prepare(task(name), folder, settings or PrepareSettings(published=False))
    return {split: to_examples(rows[:]) for split, rows in splits.items()}, facts
