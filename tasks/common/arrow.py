"""Read data sets saved with `save_to_disk` of `datasets`, memory-mapped, with pyarrow alone.

`datasets.load_from_disk` reads the same folders, but `datasets` takes seconds to import, which a
program that trains for seconds should not pay for.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from tasks.common.errors import InputError, make_again
from tasks.common.files import named_file, read_json, sha256_file
from tasks.common.records import DocumentsFacts, facts_path


def split_names(folder: str | Path) -> list[str]:
    """The splits of a saved `DatasetDict`, in their order. Raises InputError if there is none."""
    path = Path(folder) / "dataset_dict.json"
    names = _listed(path, "splits", str)
    return [named_file(Path(folder), name, path).name for name in names]


def split_files(folder: str | Path, split: str) -> list[Path]:
    """The Arrow files of one split, in their order. Raises InputError for one that is missing."""
    part = Path(folder) / split
    path = part / "state.json"
    listed = _listed(path, "_data_files", dict)
    files = [named_file(part, file.get("filename"), path) for file in listed]
    if missing := [file for file in files if not file.is_file()]:
        raise InputError(f"{missing[0]}: no such file; {make_again(folder)}")
    return files


def read_split(folder: str | Path, split: str) -> pa.Table:
    """One split as a memory-mapped table.

    Raises InputError, naming the file, if one is missing, truncated or not Arrow, and for a split
    without rows.
    """
    tables = []
    for path in split_files(folder, split):
        try:
            table = pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
            table.validate(full=True)  # else following a wrong offset crashes the process
            tables.append(table)
        except (pa.ArrowInvalid, OSError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"{path}: not a whole Arrow file ({reason:.80}); {make_again(folder)}"
            ) from None
    if not tables:  # `save_to_disk` writes no file for an empty split
        raise InputError(f"{folder}/{split}: no rows; {make_again(folder)}")
    return pa.concat_tables(tables)


def split_digest(folder: str | Path, split: str) -> str:
    """SHA-256 over the Arrow files of one split: equal rows have equal digests."""
    digests = (sha256_file(path) for path in split_files(folder, split))
    return hashlib.sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()


def read_documents(folder: Path, split: str) -> Iterator[tuple[str, pa.Buffer]]:
    """Name and normalised text (UTF-8) of each document of a split, memory-mapped.

    Raises InputError for a document that is not the one described in `<folder>.json`.
    """
    path = facts_path(folder)
    digests = {of.name: of.sha256 for of in DocumentsFacts.read(path, make_again(path)).documents}
    table = read_split(folder, split)
    for name, text in zip(table["name"].to_pylist(), table["text"], strict=True):
        buffer = text.as_buffer()
        if digests.get(name) != hashlib.sha256(buffer).hexdigest():
            raise InputError(
                f"{folder}: {name} is not the document described in {path.name}; "
                f"{make_again(folder)}"
            )
        yield name, buffer


def _listed(path: Path, key: str, kind: type) -> list:
    """The list under `key` of one of the JSON files that `datasets` writes."""
    value = read_json(path)
    items = value.get(key) if isinstance(value, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, kind) for item in items):
        raise InputError(
            f"{path}: not of a saved data set, it has no list of {key!r}; delete {path.parent} "
            "and make it again"
        )
    return items
