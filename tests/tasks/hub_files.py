"""Snapshots of hub repositories with given rows, written by `datasets` as the real ones were."""

from pathlib import Path
from typing import Any

from datasets import ClassLabel, Dataset, Features, Sequence, Value

from tasks import task
from tasks.common.files import described, write_json
from tasks.fetch import source_named
from tasks.hub import HubSource

PIN = "0123456789abcdef0123456789abcdef01234567"
Rows = list[dict[str, Any]]


def features(each: HubSource, names: list[str] | None = None) -> Features:
    """The columns of a source; `names` are the label's classes, if not the source's."""
    kinds: dict[str, Any] = {name: Value("string") for name in each.columns}
    kinds |= {"idx": Value("int32")} if "idx" in kinds else {}
    kinds |= {"options": Sequence(Value("string"))} if "options" in kinds else {}
    if "candidates" in kinds:
        kinds["candidates"] = Sequence(Value("string"), length=2)
    if not each.labels:
        kinds[each.label] = Value("float32")
    elif isinstance(min(each.labels), int):
        # DPRD's classes are named by their number.
        own = ["0", "1"] if each.name == "dprd" else list(each.labels.values())
        kinds[each.label] = ClassLabel(names=names or own)
    return Features(kinds)


def put(path: Path, rows: Rows, kinds: Features) -> None:
    """One parquet file; columns that a row leaves out are empty."""
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = {name: [row.get(name) for row in rows] for name in kinds}
    Dataset.from_dict(columns, features=kinds).to_parquet(path)


def snapshot(folder: Path, name: str, splits: dict[str, list[Rows]]) -> Path:
    """A task's repository: for each of our splits the rows of each file, and the manifest."""
    each = task(name).hub
    for split, files in splits.items():
        patterns = each.files[split]
        for number, rows in enumerate(files):
            pattern = patterns[number] if len(patterns) > 1 else patterns[0]
            part = (number, len(files)) if len(patterns) == 1 else (0, 1)
            path = pattern.replace("*", "{:05d}-of-{:05d}".format(*part))
            put(folder / path, rows, features(each))
    manifest(folder, name)
    return folder


def manifest(folder: Path, name: str, **other: Any) -> None:
    """What `tasks.fetch` leaves beside the files."""
    each = source_named(name)
    paths = (path for path in sorted(folder.rglob("*")) if path.suffix in (".parquet", ".txt"))
    files = described(folder, [path.relative_to(folder).as_posix() for path in paths])
    facts = {"repo": each.repo, "revision": each.revision or PIN, "files": files}
    write_json(folder / "manifest.json", facts | other)
