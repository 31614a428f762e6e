"""OpenAI's ten `params_*.npy`: one vector of float32 in ten pieces, and the order of the pieces.

Pieces have one length, so nothing but their content tells which is which. A piece is known by the
name that Git gives its bytes (`git hash-object params_0.npy`): the authors' repository lists those
of the released pieces, and an export writes its own down in `params_blobs.json`.
"""

import hashlib
from pathlib import Path

import numpy as np

from tasks.common.errors import InputError
from tasks.common.files import read_json, write_atomic, write_json

SHARDS = tuple(f"params_{i}.npy" for i in range(10))
BLOBS_FILE = "params_blobs.json"
# `git ls-tree HEAD model/` of github.com/openai/finetune-transformer-lm, commit a69b5c4.
RELEASED = dict(
    zip(
        SHARDS,
        (
            "84d83ac1f1cc878f56f33b167482c184491875d2",
            "0f19f4d4cda3d8f908e3faffd2cb2a8b9a4039da",
            "25bc19c72fdff69505a828ec6d73b32063532148",
            "5b2e6958d42a930966c9d602a012eb846ca67c83",
            "87ad158987e307e6aa64952610f466d750b73bc7",
            "74f3853316bba327229605dbedfe921996f11448",
            "5ef44e40bc076d0c9686d1273d54cbc16c3f0980",
            "d8d5c8d3bee9b20a677605ac1fe6c7af4df57c94",
            "f980f4b393716f396ae5ae6401708dcf4f270dc9",
            "d389eb2074dd74754444b8062aba78b49f6a9053",
        ),
        strict=True,
    )
)


def read(folder: Path) -> np.ndarray:
    """The whole vector. Raises `InputError` for a piece that is missing, damaged or misplaced."""
    pieces = [_read_shard(folder / name) for name in SHARDS]
    check_places(folder)
    return np.concatenate(pieces)


def write(folder: Path, flat: np.ndarray) -> None:
    """The vector's ten pieces and `params_blobs.json`."""
    for name, piece in zip(SHARDS, np.array_split(flat, len(SHARDS)), strict=True):
        with write_atomic(folder / name, "wb") as file:
            np.save(file, piece, allow_pickle=False)
    write_json(folder / BLOBS_FILE, {name: git_blob(folder / name) for name in SHARDS})


def check_places(folder: Path) -> None:
    """Refuse a piece that is known to belong elsewhere, or not to be what was exported.

    Pieces that neither the authors released nor `params_blobs.json` tells of pass.
    """
    path = folder / BLOBS_FILE
    told = read_json(path) if path.exists() else None
    if told is not None and (not isinstance(told, dict) or told.keys() != RELEASED.keys()):
        raise InputError(
            f"{path}: expected an object with {SHARDS[0]} to {SHARDS[-1]}, "
            f"found {str(told)[:40]}; remove it or export anew"
        )
    for name in SHARDS:
        blob = git_blob(folder / name)
        released = _holder(RELEASED, blob)
        if released not in (None, name):
            raise InputError(
                f"{folder / name}: expected {name} of the authors, found their {released}; "
                "put the 10 files in their order"
            )
        if told is not None and told[name] != blob:
            found = _holder(told, blob) or "other bytes"
            raise InputError(
                f"{folder / name}: expected what {BLOBS_FILE} tells, found {found}; "
                f"put the file in its place, or remove {BLOBS_FILE} if the change is meant"
            )


def _holder(blobs: dict[str, str], blob: str) -> str | None:
    """The piece that has these bytes."""
    return next((name for name, known in blobs.items() if known == blob), None)


def git_blob(path: Path) -> str:
    """The name that Git gives a file's bytes."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _read_shard(path: Path) -> np.ndarray:
    """One of the ten pieces, a vector of float32."""
    try:
        piece = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(
            f"{path}: expected {len(SHARDS)} files, params_0.npy on; found no such file"
        ) from None
    except (ValueError, EOFError) as error:
        raise InputError(f"{path}: expected a whole .npy file, found: {error}") from None
    if not isinstance(piece, np.ndarray) or piece.ndim != 1 or piece.dtype != np.float32:
        kind = (
            f"{piece.dtype} {list(piece.shape)}" if isinstance(piece, np.ndarray) else "an archive"
        )
        raise InputError(f"{path}: expected a vector of float32, found {kind}")
    return piece
