"""The two published formats of GPT-1's weights: reading and writing their files.

A folder's arrays are told here as a dict from the names of `transformers` to float32 tensors, in
OpenAI's order: positions, tokens, then twelve arrays for each block. A convolution of size one is
stored `[1, in, out]` by OpenAI and `[in, out]` by `transformers`. Nothing here reads a pickle.
Source: the authors' released `model` folder and its loader; the file and tensor names of
`openai-community/openai-gpt`.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from gpt1.text.vocabulary import HUB_FILES, PUBLISHED_FILES
from gpt1.weights import params_npy as shards
from gpt1.weights.checkpoint import read_tensors
from gpt1.weights.params_npy import SHARDS
from tasks.common.errors import InputError
from tasks.common.files import read_json, write_atomic, write_json

POSITIONS, TOKENS = "positions_embed.weight", "tokens_embed.weight"
HEAD = "lm_head.weight"
SHAPES_FILE = "params_shapes.json"
FILES = {  # the files of each format, the tokenizer's apart
    "openai": (SHAPES_FILE, *SHARDS),
    "huggingface": ("config.json", "model.safetensors"),
}
TOKENIZER_FILES = {"openai": PUBLISHED_FILES, "huggingface": HUB_FILES}
# What `transformers` takes for a key that its config.json leaves out.
CONFIG_DEFAULTS = {
    "model_type": "openai-gpt",
    "afn": "gelu",  # its name for the tanh form
    "layer_norm_epsilon": 1e-5,
    "n_layer": 12,
    "n_embd": 768,
    "n_head": 12,
    "n_positions": 512,
    "vocab_size": 40478,
}


def released_shapes(n_vocab: int, model: dict[str, Any]) -> dict[str, list[int]]:
    """Names and shapes of the released arrays in OpenAI's order: positions, tokens, blocks."""
    shape = model["shape"]
    d, ff = shape["n_embd"], shape["n_ff"]
    block = {"attn.c_attn": [d, 3 * d], "attn.c_proj": [d, d], "ln_1": [d]}
    block |= {"mlp.c_fc": [d, ff], "mlp.c_proj": [ff, d], "ln_2": [d]}
    shapes = {POSITIONS: [model["n_ctx"], d], TOKENS: [n_vocab, d]}
    for i in range(shape["n_layer"]):
        for name, size in block.items():
            shapes[f"h.{i}.{name}.weight"] = size
            shapes[f"h.{i}.{name}.bias"] = size[-1:]
    return shapes


def read_openai(folder: Path, n_vocab: int, model: dict[str, Any]) -> dict[str, Tensor]:
    """The arrays of OpenAI's `params_0.npy` to `params_9.npy` and `params_shapes.json`.

    The ten files are pieces of one vector; their edges fall anywhere within the arrays. Raises
    `InputError` for a file that is missing or cut off, and for shapes, a total or an order that
    does not fit `model` and a vocabulary of `n_vocab`.
    """
    path = folder / SHAPES_FILE
    stored, expected = read_json(path), released_shapes(n_vocab, model)
    if not isinstance(stored, list) or len(stored) != len(expected):
        found = f"{len(stored)} shapes" if isinstance(stored, list) else "no list of shapes"
        raise InputError(
            f"{path}: expected {len(expected)} shapes (2 and 12 for each of "
            f"{model['shape']['n_layer']} layers), found {found}"
        )
    for i, (name, shape) in enumerate(expected.items()):
        as_stored = [1, *shape] if len(shape) == 2 and i > 1 else shape  # a convolution of size 1
        if name == POSITIONS:
            expected[name] = _check_positions(f"{path}: shape {i}", stored[i], shape)
        elif stored[i] != as_stored:
            raise InputError(f"{path}: shape {i} ({name}): expected {as_stored}, found {stored[i]}")
    flat = shards.read(folder)
    sizes = [math.prod(shape) for shape in expected.values()]
    if len(flat) != sum(sizes):
        raise InputError(
            f"{folder}/{SHARDS[0]} to {SHARDS[-1]}: expected {sum(sizes):,} values in all, "
            f"found {len(flat):,}"
        )
    parts = torch.from_numpy(flat).split(sizes)
    released = {
        name: part.view(shape) for part, (name, shape) in zip(parts, expected.items(), strict=True)
    }
    _check_gains(folder, released)
    return released


def write_openai(folder: Path, released: dict[str, Tensor], model: dict[str, Any]) -> None:
    """`params_shapes.json` and the ten pieces of one float32 vector."""
    matrices = {n for n, t in released.items() if t.ndim == 2 and n not in (POSITIONS, TOKENS)}
    shapes = [[1] * (name in matrices) + list(t.shape) for name, t in released.items()]
    flat = np.concatenate([tensor.numpy().reshape(-1) for tensor in released.values()])
    shards.write(folder, flat)
    with write_atomic(folder / SHAPES_FILE) as file:
        json.dump(shapes, file)


def read_huggingface(folder: Path, n_vocab: int, model: dict[str, Any]) -> dict[str, Tensor]:
    """The tensors of a `transformers` folder (`config.json`, `model.safetensors`), in float32.

    Accepted are a bare model and one with its language-model head, which must be the embedding.
    Raises `InputError` for a missing file and for anything that does not fit `model`.
    """
    path = folder / "config.json"
    shape = model["shape"]
    _check_n_ff(folder, shape)
    stored = read_json(path)
    if not isinstance(stored, dict):
        raise InputError(f"{path}: expected a JSON object, found a {type(stored).__name__}")
    config = {**CONFIG_DEFAULTS, **stored}
    sizes = {key: shape[key] for key in ("n_layer", "n_embd", "n_head")}
    for key, value in {**CONFIG_DEFAULTS, **sizes, "vocab_size": n_vocab}.items():
        if key != "n_positions" and config[key] != value:
            raise InputError(f"{path}: {key}: expected {value!r}, found {config[key]!r}")
    weights = folder / "model.safetensors"
    if not weights.is_file():
        raise InputError(f"{weights}: no such file; expected safetensors, a pickle is never read")
    tensors = {
        name.removeprefix("transformer."): tensor
        for name, tensor in read_tensors(weights).items()
        if not name.endswith((".attn.bias", "position_ids"))  # the causal mask, not a parameter
    }
    head = tensors.pop(HEAD, None)
    if head is not None and not torch.equal(head, tensors.get(TOKENS, torch.empty(0))):
        raise InputError(f"{weights}: {HEAD}: expected {TOKENS} again (tied), found other values")
    if head is None and not config.get("tie_word_embeddings", True):
        raise InputError(f"{weights}: {HEAD}: expected by config.json (not tied), found no tensor")
    expected = released_shapes(n_vocab, model)
    expected[POSITIONS][0] = config["n_positions"]
    _check_positions(f"{path}: n_positions", expected[POSITIONS], [model["n_ctx"], shape["n_embd"]])
    for name in sorted(expected.keys() | tensors.keys()):
        found = list(tensors[name].shape) if name in tensors else "no tensor"
        wanted = expected.get(name, "no tensor")
        if found != wanted:
            raise InputError(f"{weights}: {name}: expected {wanted}, found {found}")
        if not tensors[name].is_floating_point():
            raise InputError(f"{weights}: {name}: expected floats, found {tensors[name].dtype}")
    return {name: tensor.float() for name, tensor in tensors.items()}


def write_huggingface(folder: Path, released: dict[str, Tensor], model: dict[str, Any]) -> None:
    """`config.json` and `model.safetensors`; the head is tied, hence not stored."""
    shape, tokens = model["shape"], released[TOKENS]
    _check_n_ff(folder, shape)
    rates = {key: 0.1 for key in ("embd_pdrop", "attn_pdrop", "resid_pdrop")}
    sizes = {key: shape[key] for key in ("n_layer", "n_embd", "n_head")}
    sizes |= {"n_positions": model["n_ctx"], "vocab_size": len(tokens)}
    others = {"architectures": ["OpenAIGPTLMHeadModel"], "initializer_range": model["init_std"]}
    config = {**CONFIG_DEFAULTS, **sizes, **rates, **others, "tie_word_embeddings": True}
    with write_atomic(folder / "model.safetensors", "wb") as file:
        whole = {name: tensor.contiguous() for name, tensor in released.items()}
        file.write(save(whole, metadata={"format": "pt"}))
    write_json(folder / "config.json", config)


def _check_n_ff(folder: Path, shape: dict[str, int]) -> None:
    """`transformers` knows one width of the feed-forward part only."""
    expected = 4 * shape["n_embd"]
    if shape["n_ff"] != expected:
        raise InputError(
            f"{folder}: n_ff: expected {expected} (four times n_embd, as this format has it), "
            f"found {shape['n_ff']} in the settings"
        )


def _check_positions(where: str, found: Any, expected: list[int]) -> list[int]:
    """The stored shape of the positions, which may have more rows than the model's n_ctx."""
    rows = found[0] if isinstance(found, list) and found else None
    if not isinstance(rows, int) or rows < expected[0] or found[1:] != expected[1:]:
        raise InputError(
            f"{where} ({POSITIONS}): expected {expected} (or more rows), found {found}"
        )
    return found


def _check_gains(folder: Path, released: dict[str, Tensor]) -> None:
    """Refuse pieces in the wrong order, which no length betrays: where gains should be, they put
    weights, half of which are negative. Embeddings alone are known by `gpt1.weights.params_npy`
    at best."""
    for name, tensor in released.items():
        if name.endswith(("ln_1.weight", "ln_2.weight")):
            positive = 100 * float((tensor > 0).float().mean())
            if positive < 75:
                raise InputError(
                    f"{folder}/params_*.npy: {name}: expected gains, at least 75 % of them "
                    f"positive, found {positive:.0f} %; are the {len(SHARDS)} files in their order?"
                )


READERS = {"openai": read_openai, "huggingface": read_huggingface}
WRITERS = {"openai": write_openai, "huggingface": write_huggingface}
