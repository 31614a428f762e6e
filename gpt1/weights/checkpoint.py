"""Checkpoints: a safetensors file and, beside it, a JSON file of facts about it.

The JSON states the architecture, the model's settings, the tokenizer's digest and the safetensors
file's SHA-256. All are checked when a checkpoint is loaded, so that one with another tokenizer or
shape is refused with a one-line message. Pickles are never read.
"""

import hashlib
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor

from gpt1.cell import Arch
from gpt1.model.language_model import NO_DROPOUT, LanguageModel
from gpt1.model.lstm import LSTM
from gpt1.model.transformer import Transformer
from gpt1.records import CheckpointFacts, VectorsFacts
from gpt1.settings import Dropout, LSTMShape, ModelSettings, RuntimeSettings
from tasks.common.errors import InputError, make_again
from tasks.common.files import sha256_file, write_atomic


@dataclass(frozen=True)
class Checkpoint:
    """A language model's parameters by name, and the facts stored with them."""

    tensors: dict[str, Tensor]
    facts: CheckpointFacts

    def language_model(self, runtime: RuntimeSettings) -> LanguageModel:
        """The checkpoint's model, on the device, without dropout."""
        facts = self.facts
        model = build(facts.arch, facts.model, facts.n_vocab, skip_pads=runtime.skip_pads)
        model.load_state_dict(self.tensors)
        return model.to(runtime.device).eval()


def build(
    arch: Arch,
    settings: ModelSettings,
    n_vocab: int,
    dropout: Dropout = NO_DROPOUT,
    skip_pads: bool = False,
) -> LanguageModel:
    """A model whose parameters are still to be drawn or loaded.

    Raises InputError if the settings have the shape of the other architecture.
    """
    shape = settings.shape
    if isinstance(shape, LSTMShape) != (arch == "lstm"):
        raise InputError(f"model.shape: found {shape}; give the shape of a {arch}")
    kind = LSTM if arch == "lstm" else Transformer
    return kind(n_vocab, settings, dropout, skip_pads)


def sidecar(path: str | Path) -> Path:
    """The JSON file that belongs to a checkpoint."""
    return Path(path).with_suffix(".json")


def write_tensors(path: str | Path, tensors: dict[str, Tensor], of: str = "") -> None:
    """Write tensors as safetensors, atomically, with a digest of them and of `of`, their run."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with write_atomic(path, "wb") as file:
        file.write(save(tensors, metadata={"sha256": _digest(tensors, of)}))


def read_tensors(path: str | Path, published: bool = False, of: str = "") -> dict[str, Tensor]:
    """Read a safetensors file; a `published` one, written by others, has no digest.

    Raises InputError if it is missing, damaged or, with `of`, of another run.
    """
    if not Path(path).is_file():
        raise InputError(f"{path}: no such checkpoint; pre-train first")
    try:
        with safe_open(path, "pt") as file:
            digest = (file.metadata() or {}).get("sha256")
        tensors = load_file(path)
    except SafetensorError as error:
        raise InputError(
            f"{path}: not a whole safetensors file ({error}); {make_again(path)}"
        ) from None
    if not published and digest != _digest(tensors, of):
        why = f"damaged{of and ' or of another run'}, its tensors do not fit their sha256"
        raise InputError(f"{path}: {why}; {make_again(path)}")
    return tensors


def _digest(tensors: dict[str, Tensor], of: str) -> str:
    """SHA-256 over the run, names, types, shapes and values."""
    total = hashlib.sha256(of.encode())
    for name, tensor in sorted(tensors.items()):
        total.update(f"{name} {tensor.dtype} {list(tensor.shape)}\n".encode())
        total.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()


def save_checkpoint(path: str | Path, model: LanguageModel, **facts: Any) -> None:
    """Write `path` and its JSON: `facts`, and further facts from the model and the file."""
    write_tensors(path, dict(model.named_parameters()))
    facts |= {"arch": model.arch, "n_vocab": model.n_vocab, "model": model.settings}
    facts |= {"sha256": sha256_file(path), "versions": versions()}
    CheckpointFacts(**facts).write(sidecar(path))


def read_facts(path: str | Path) -> CheckpointFacts:
    """The facts of the checkpoint at `path`. Raises InputError if they are missing or damaged."""
    return CheckpointFacts.read(sidecar(path), make_again(path))


def check_checkpoint(path: str | Path) -> None:
    """Raise InputError if a checkpoint or its JSON is missing or damaged, or if they differ."""
    expected = read_facts(path).sha256
    if not Path(path).is_file() or sha256_file(path) != expected:
        raise InputError(
            f"{path}: not the file that {sidecar(path).name} describes; {make_again(path)}"
        )


def load_checkpoint(
    path: str | Path, arch: Arch, settings: ModelSettings, tokenizer: str
) -> Checkpoint:
    """Load a checkpoint and check that it fits the model that the caller is going to build.

    Raises InputError if a file is missing or damaged, or if the architecture, the model's context
    or shape, or the tokenizer (by its digest) is not the one needed.
    """
    facts, tensors = read_facts(path), read_tensors(path)
    shape, stored = settings.shape, facts.model
    for key, value, needed in (
        ("arch", facts.arch, arch),
        ("tokenizer", facts.tokenizer, tokenizer),
        ("n_ctx", stored.n_ctx, settings.n_ctx),
        ("shape", stored.shape.model_dump(), shape.model_dump()),
        ("sha256", facts.sha256, sha256_file(path)),
    ):
        if value != needed:
            raise InputError(
                f"{path}: its {key} is {value!r}, but {needed!r} is needed; "
                "give the checkpoint that was made with this config"
            )
    with torch.device("meta"):
        blank = build(arch, settings, facts.n_vocab)
    shapes = {name: p.shape for name, p in blank.named_parameters()}
    if shapes != {name: tensor.shape for name, tensor in tensors.items()}:
        raise InputError(f"{path}: its tensors do not fit a {arch} of {shape}; {make_again(path)}")
    return Checkpoint(tensors, facts)


def load_vectors(path: str | Path, tokenizer: str) -> tuple[Tensor, str]:
    """The word vectors at `path`, [n_vocab, width] with standard deviation 1, and their digest.

    Raises InputError if a file is missing, damaged or of another tokenizer.
    """
    facts = VectorsFacts.read(sidecar(path), make_again(path))
    values = read_tensors(path)["embed"]
    if facts.tokenizer != tokenizer or values.shape != (facts.n_vocab, facts.width):
        raise InputError(f"{path}: vectors of another tokenizer; give those of its own books")
    return values, facts.sha256


def versions() -> dict[str, str]:
    """Versions of the software that numbers depend on."""
    return {"python": platform.python_version(), **library_versions()}


def library_versions() -> dict[str, str]:
    """Versions of the libraries that do the arithmetic."""
    return {"torch": torch.__version__, "numpy": numpy.__version__}
