"""Where the rows behind a number are not all of the published ones: said beside the number.

`tasks.prepare` notes it for each task, in `examples/TASK.json`. In a Markdown table a dagger marks
the task, and a line below the table tells the numbers; every CSV has a column `note`.
"""

from pathlib import Path

import tasks
from tasks.common.errors import InputError
from tasks.common.files import read_json

DAGGER = "†"


def notes(results: Path, names: list[str]) -> dict[str, str]:
    """The note of each task that was prepared: "dev: 400 of 872 rows", or nothing."""
    found = {}
    for name in names:
        path = Path(results) / "examples" / f"{name}.json"
        found[name] = read_json(path)["note"] if path.exists() else ""
        if not isinstance(found[name], str):
            raise InputError(f"{path}: 'note' is {found[name]!r}, not a text; prepare it again")
    return found


def joined(notes: dict[str, str], names: list[str]) -> str:
    """The notes behind one number that is made of several tasks, for a CSV."""
    mine = {name: notes.get(name, "") for name in names}
    return _shared(mine) or "; ".join(f"{name} ({note})" for name, note in mine.items() if note)


def mark(notes: dict[str, str], name: str) -> str:
    """A task's title, with a dagger if its note is not the same as that of every other task."""
    dagger = DAGGER if notes.get(name) and not _shared(notes) else ""
    return tasks.task(name).title + dagger


def footnote(notes: dict[str, str]) -> list[str]:
    """The paragraph that explains the daggers; none where all rows are the published ones."""
    if _shared(notes):
        return [f"Rows of every task: {_shared(notes)}."]
    told = [f"{tasks.task(name).title}: {note}." for name, note in notes.items() if note]
    return [" ".join([f"{DAGGER} not all of the published rows.", *told])] if told else []


def _shared(notes: dict[str, str]) -> str:
    """The note that several tasks all have."""
    words = set(notes.values())
    return words.pop() if len(notes) > 1 and len(words) == 1 else ""
