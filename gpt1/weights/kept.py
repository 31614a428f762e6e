"""The kept weights of a fine-tuned cell: a folder with all that is needed to use them.

    kept/full/sst2/
        cell.json                      the cell's own JSON: scores, settings, digests
        encoder.json, merges.bpe       the tokenizer
        seed-0.safetensors, ...        the weights of each seed
        manifest.json                  the digests of these files

The weights are those that scored best on the selection split; they gave the cell's scores.
`gpt1.predict` loads them.
"""

import shutil
from collections.abc import Mapping
from pathlib import Path

from gpt1.records import CellRecord
from gpt1.text import vocabulary
from gpt1.weights.checkpoint import read_tensors, write_tensors
from tasks.common.errors import InputError
from tasks.common.files import MANIFEST, check_files, described, read_manifest, write_json

CELL = "cell.json"


def weights_path(folder: Path, seed: int) -> Path:
    """The path of a seed's weights."""
    return folder / f"seed-{seed}.safetensors"


def save(folder: Path, cell: Path, tokenizer: Path, weights: Mapping[int, Path]) -> None:
    """Copy a cell's JSON, its tokenizer and the weights of each seed, written by `write_tensors`.

    Raises InputError if a file of weights is damaged.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for seed, path in weights.items():
        write_tensors(weights_path(folder, seed), read_tensors(path, of=path.stem))
    shutil.copyfile(cell, folder / CELL)
    for name, content in zip(vocabulary.FILES, vocabulary.contents(tokenizer), strict=True):
        (folder / name).write_bytes(content)
    files = [CELL, *vocabulary.FILES, *(weights_path(folder, seed).name for seed in weights)]
    write_json(folder / MANIFEST, {"files": described(folder, files)})


def read(folder: Path) -> CellRecord:
    """The JSON of the cell. Raises InputError if a file of the folder is missing or has changed."""
    if not (folder / CELL).is_file():
        raise InputError(
            f"{folder}: no kept cell; name the cell in experiment.keep and run snakemake {folder} "
            "--cores 2 with the config of the run"
        )
    remedy = "keep the cell again"
    check_files(folder, read_manifest(folder, remedy)["files"], remedy)
    return CellRecord.read(folder / CELL, remedy)
