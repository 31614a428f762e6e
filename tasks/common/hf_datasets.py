"""The library `datasets`: imported late, offline and quiet; reading, writing and mapping.

It takes a second to import, and the workflow imports the tasks at every start, so everything here
is imported inside functions. What is read is kept in memory and the library's cache is a temporary
folder, so neither a shared nor a read-only one matters.
"""

import contextlib
import errno
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tasks.common.errors import InputError
from tasks.common.files import read_json, scratch_folder, write_json

if TYPE_CHECKING:
    from datasets import Dataset

# What a file system without locks answers (NFS, Lustre).
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS)


def library() -> ModuleType:
    """The module `datasets`, which asks no server for anything and does not litter stderr."""
    import datasets

    datasets.config.HF_HUB_OFFLINE = True  # else it reports every load
    datasets.utils.logging.set_verbosity(datasets.utils.logging.CRITICAL)
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    return datasets


def from_generator(generate: Callable[[], Iterator[dict[str, Any]]], types: dict[str, str]) -> Any:
    """The `Dataset` of what `generate` yields, by the types of its columns.

    An `InputError` or `OSError` of the generator is raised as it is.
    """
    datasets = library()
    features = datasets.Features({name: datasets.Value(kind) for name, kind in types.items()})
    with _cache() as cache:
        try:
            # A fingerprint, since the library would take long to find one of the function.
            options = {"keep_in_memory": True, "fingerprint": "generated"}
            return datasets.Dataset.from_generator(generate, features, cache, **options)
        except datasets.exceptions.DatasetGenerationError as error:
            if isinstance(error.__cause__, InputError | OSError):
                raise error.__cause__ from None
            raise


def load_parquet(paths: list[Path], columns: tuple[str, ...]) -> "Dataset":
    """The columns of parquet files. Raises InputError for a corrupt one."""
    import pyarrow as pa

    datasets = library()
    files = {"train": [str(path) for path in paths]}
    with _cache() as cache:
        try:
            options = {"columns": list(columns), "cache_dir": cache, "keep_in_memory": True}
            rows = datasets.load_dataset("parquet", data_files=files, split="train", **options)
            rows.data.validate(full=True)  # texts are UTF-8
            return rows
        except (datasets.exceptions.DatasetGenerationError, pa.ArrowInvalid) as error:
            cause = " ".join(str(error.__cause__ or error).split())
            raise InputError(
                f"{paths[0].parent}: corrupt parquet file ({cause:.200}); delete it and fetch it "
                "again"
            ) from None


def memory_mapped(folder: Path, split: str) -> "Dataset":
    """The rows of a split that `save` wrote, left on the disk; damage is for the caller to find."""
    from tasks.common.arrow import split_files

    datasets = library()
    files = split_files(folder, split)
    return datasets.concatenate_datasets([datasets.Dataset.from_file(str(path)) for path in files])


def save(folder: str | Path, splits: dict[str, "Dataset"]) -> None:
    """Save the splits as a `DatasetDict`, atomically. Equal rows give equal bytes.

    Raises InputError if the disk is full, and for a folder that holds something else.
    """
    from tasks.common.arrow import split_digest

    datasets = library()
    # Without what the library keeps of the files that the rows came from.
    plain = {
        name: datasets.Dataset(
            rows.with_format("arrow")[:], info=datasets.DatasetInfo(features=rows.features)
        )
        for name, rows in splits.items()
    }
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / "dataset_dict.json").exists():
        raise InputError(f"{folder}: exists and is not a saved data set; use another folder")
    with scratch_folder(folder) as scratch:
        new = scratch / "new"
        datasets.DatasetDict(plain).save_to_disk(new)
        for split in plain:
            state = read_json(new / split / "state.json")
            # The library's own fingerprint is random.
            state["_fingerprint"] = split_digest(new, split)[:16]
            write_json(new / split / "state.json", state, checksum=False)
        if folder.exists():
            os.replace(folder, scratch / "old")
        os.replace(new, folder)


@contextlib.contextmanager
def _cache() -> Iterator[str]:
    """A temporary folder for the library, which locks files in it.

    Raises InputError where the file system has no locks.
    """
    with tempfile.TemporaryDirectory(prefix="datasets.") as cache:
        try:
            yield cache
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            raise InputError(
                f"{cache}: {error.strerror}; set TMPDIR to a folder of this machine's own disk"
            ) from None
