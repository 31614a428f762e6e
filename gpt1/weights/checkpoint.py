"""Checkpoints: a safetensors file and, beside it, a JSON of everything that a reader must know.

The JSON carries the architecture, the shape, the tokenizer's digest and the tensors' sha256; all
are compared at load, so that a checkpoint of another tokenizer or shape is refused in one line.
Nothing here reads a pickle, and nothing is loaded loosely.
"""

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor

from gpt1.model.language_model import LanguageModel
from gpt1.model.lstm import LSTM
from gpt1.model.transformer import Transformer
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, write_atomic, write_json


def build(arch: str, model: dict[str, Any], n_vocab: int) -> LanguageModel:
    """A model of the settings `model` (`n_ctx`, `shape`, ...), its parameters not yet drawn."""
    options = {key: model[key] for key in ("embd_dropout", "lm_softmax")}
    kind = {"transformer": Transformer, "lstm": LSTM}[arch]
    return kind(n_vocab=n_vocab, n_ctx=model["n_ctx"], **model["shape"], **options)


def sidecar(path: str | Path) -> Path:
    """The JSON that belongs to a checkpoint."""
    return Path(path).with_suffix(".json")


def write_tensors(path: str | Path, tensors: dict[str, Tensor]) -> None:
    """Write tensors as safetensors, whole or not at all."""
    with write_atomic(path, "wb") as file:
        file.write(save({k: v.detach().cpu().contiguous() for k, v in tensors.items()}))


def read_tensors(path: str | Path) -> dict[str, Tensor]:
    """Read a safetensors file; a missing or damaged one is an `InputError`."""
    if not Path(path).is_file():
        raise InputError(f"{path}: no such checkpoint; pre-train first")
    try:
        return load_file(path)
    except SafetensorError as error:
        raise InputError(f"{path}: not a whole safetensors file ({error}); make it again") from None


def save_checkpoint(path: str | Path, model: LanguageModel, meta: dict[str, Any]) -> None:
    """Write `path` and its JSON; `meta` is completed with architecture, vocabulary and sha256."""
    write_tensors(path, dict(model.named_parameters()))
    facts = {"arch": model.arch, "n_vocab": model.n_vocab, "sha256": sha256_file(path)}
    write_json(sidecar(path), {**meta, **facts})


def load_checkpoint(
    path: str | Path, arch: str, model: dict[str, Any], tokenizer: str
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the JSON of a checkpoint, compared with what the caller is going to build.

    Raises `InputError` when the file is missing or damaged, or when its architecture, its shape or
    its tokenizer is another one.
    """
    meta = read_json(sidecar(path))
    tensors = read_tensors(path)
    if not {"model", "n_vocab", "arch", "tokenizer", "sha256"} <= meta.keys():
        raise InputError(f"{sidecar(path)}: does not tell of a checkpoint; make {path} again")
    expected = {"arch": arch, "tokenizer": tokenizer, "n_ctx": model["n_ctx"]}
    expected |= {"shape": model["shape"], "sha256": sha256_file(path)}
    found = {"n_ctx": meta["model"]["n_ctx"], "shape": meta["model"]["shape"], **meta}
    for key, value in expected.items():
        if found.get(key) != value:
            raise InputError(
                f"{path}: its {key} is {found.get(key)!r}, but {value!r} is needed; "
                "give the checkpoint that was made with this config"
            )
    blank = build(arch, model, meta["n_vocab"])
    shapes = {name: tuple(p.shape) for name, p in blank.named_parameters()}
    if shapes != {name: tuple(tensor.shape) for name, tensor in tensors.items()}:
        raise InputError(f"{path}: tensors do not fit a {arch} of {model['shape']}; make it again")
    return tensors, meta


def versions() -> dict[str, str]:
    """Versions of what a number depends on."""
    import platform

    import numpy

    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": numpy.__version__,
    }
