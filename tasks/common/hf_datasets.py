"""The library `datasets`, imported late, offline and quiet, to save and to map rows.

It takes a second to import, and the workflow imports the tasks at every start, so it is imported
inside functions.
"""

import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from tasks.common.files import read_json, refuse_others, scratch_folder, write_json

if TYPE_CHECKING:
    from datasets import Dataset

MARK = "dataset_dict.json"  # the file that every saved data set has
NAMES = r"dataset_dict\.json|[^/]+/[^/]+\.(arrow|json)|\.snakemake_timestamp"


def library() -> ModuleType:
    """The module `datasets`, set to contact no server and not to litter stderr."""
    import datasets

    datasets.config.HF_HUB_OFFLINE = True  # else it reports every load
    datasets.utils.logging.set_verbosity(datasets.utils.logging.CRITICAL)
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    return datasets


def save(folder: str | Path, splits: dict[str, "Dataset"]) -> None:
    """Save the splits as a `DatasetDict`, atomically. Equal rows give equal bytes.

    Raises InputError if the disk is full, and for a folder of anything but a saved data set.
    """
    from tasks.common.arrow import split_digest

    datasets = library()
    # Without the library's metadata about the files that the rows came from.
    plain = {
        name: datasets.Dataset(
            rows.with_format("arrow")[:], info=datasets.DatasetInfo(features=rows.features)
        )
        for name, rows in splits.items()
    }
    folder = Path(folder)
    refuse_others(folder, MARK, NAMES)
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
