"""The library `datasets`: imported late, offline and quiet, and saving what it holds.

It takes a second to import, and the workflow imports the tasks at every start, so everything here
is imported inside functions.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tasks.common.errors import InputError
from tasks.common.files import FULL, read_json, write_json

if TYPE_CHECKING:
    from datasets import Dataset


def library() -> ModuleType:
    """The module `datasets`, which asks no server for anything and does not litter stderr."""
    import datasets

    datasets.config.HF_HUB_OFFLINE = True  # else it reports every load
    datasets.utils.logging.set_verbosity(datasets.utils.logging.CRITICAL)
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    return datasets


def save(folder: str | Path, splits: dict[str, "Dataset"]) -> None:
    """Save the splits as a `DatasetDict`, whole or not at all. Equal rows give equal bytes.

    Raises InputError if the disk is full.
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
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    new = temporary / "new"
    try:
        datasets.DatasetDict(plain).save_to_disk(new)
        for split in plain:
            state = read_json(new / split / "state.json")
            # The library's own fingerprint is random.
            state["_fingerprint"] = split_digest(new, split)[:16]
            write_json(new / split / "state.json", state)
        if folder.exists():
            os.replace(folder, temporary / "old")
        os.replace(new, folder)
    except OSError as error:
        if error.errno in FULL:
            raise InputError(
                f"{folder}: {error.strerror} while writing; free some space and start again"
            ) from None
        raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
