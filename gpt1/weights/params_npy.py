"""OpenAI's ten `params_*.npy`: one float32 vector in ten chunks, and the order of the chunks.

The chunks may have equal lengths, so only their content tells them apart. A chunk is identified by
its Git blob hash (`git hash-object params_0.npy`): those of the released chunks are in the authors'
repository.
"""

import hashlib
from pathlib import Path

import numpy as np

from gpt1.weights.files import CHUNKS
from tasks.common.errors import InputError

# `git ls-tree HEAD model/` of github.com/openai/finetune-transformer-lm, commit a69b5c4.
_BLOBS = """
84d83ac1f1cc878f56f33b167482c184491875d2
0f19f4d4cda3d8f908e3faffd2cb2a8b9a4039da
25bc19c72fdff69505a828ec6d73b32063532148
5b2e6958d42a930966c9d602a012eb846ca67c83
87ad158987e307e6aa64952610f466d750b73bc7
74f3853316bba327229605dbedfe921996f11448
5ef44e40bc076d0c9686d1273d54cbc16c3f0980
d8d5c8d3bee9b20a677605ac1fe6c7af4df57c94
f980f4b393716f396ae5ae6401708dcf4f270dc9
d389eb2074dd74754444b8062aba78b49f6a9053
"""
RELEASED = dict(zip(CHUNKS, _BLOBS.split(), strict=True))


def read(folder: Path) -> np.ndarray:
    """The whole vector, float32. Raises InputError for a missing, damaged or misplaced chunk."""
    chunks = [_read_chunk(folder / name) for name in CHUNKS]
    check_order(folder)
    return np.concatenate(chunks)


def check_order(folder: Path) -> None:
    """Raise InputError for a released chunk in the place of another one. Other chunks pass."""
    names = {blob: name for name, blob in RELEASED.items()}
    for name in CHUNKS:
        released = names.get(git_blob(folder / name), name)
        if released != name:
            raise InputError(
                f"{folder / name}: expected the authors' {name}, found their {released}; "
                f"put the {len(CHUNKS)} files in their order"
            )


def git_blob(path: Path) -> str:
    """The hash by which Git names a file's bytes."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: digest).hexdigest()


def _read_chunk(path: Path) -> np.ndarray:
    try:
        chunk = np.load(path, allow_pickle=False)
        if chunk.ndim == 1 and chunk.dtype == np.float32:
            return chunk
        found = f"{chunk.dtype} {list(chunk.shape)}"
    except FileNotFoundError:
        found = f"no such file; there are {len(CHUNKS)}, {CHUNKS[0]} to {CHUNKS[-1]}"
    except Exception as error:  # numpy raises a dozen kinds for what is not a whole array file
        found = f"no whole .npy file ({' '.join(str(error).split()):.120})"
    raise InputError(f"{path}: expected a vector of float32, found {found}")
