"""Import published weights of GPT-1, in OpenAI's format or Hugging Face's, as a checkpoint.

Released arrays are passed as a dictionary from the names of `transformers` to float32 tensors, in
OpenAI's order: positions, tokens, then twelve arrays for each block. A convolution of width one is
stored as `[1, in, out]` by OpenAI and as `[in, out]` by `transformers`. Pickles are never read.

The formats have no rows for the start, delimiter and classify tokens: an import draws them from
N(0, init_std) with `SPECIAL_SEED`, as the authors' code does at load. No transfer copies them, so
their values affect no result. All other values are preserved bit for bit.

Source: the authors' released `model` folder and its loader; the file and tensor names of
`openai-community/openai-gpt`.
"""

import hashlib
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from gpt1.model.transformer import Transformer
from gpt1.settings import ModelSettings
from gpt1.streams import torch_seed
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import N_SPECIAL
from gpt1.weights.checkpoint import build, read_tensors, save_checkpoint
from gpt1.weights.files import CHUNKS, CONFIG_FILE, FILES, RELEASE, SHAPES_FILE, TENSORS_FILE
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file

SPECIAL_SEED = 0
POSITIONS, TOKENS = "positions_embed.weight", "tokens_embed.weight"
HEAD = "lm_head.weight"
PREFIX = "transformer."  # of the model's tensors where a head is stored with them
# Not the language model's: causal masks, and the second head of a model with two.
OTHERS = re.compile(r".*(\.attn\.bias|position_ids)|multiple_choice_head\..*")
# The values that `transformers` assumes for keys missing from its config.json.
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


def import_weights(
    kind: str,
    folder: Path,
    tokenizer: str | Path,
    out: str | Path,
    model: ModelSettings | None = None,
    updates: int = 0,
    code: str = "",
) -> int:
    """Write the published weights of a folder as the checkpoint `out`; returns how many there are.

    Without `model`, the shape is that of config.json, or GPT-1's for OpenAI's files. The formats do
    not record how long a model was trained: `updates` is the caller's claim, and `tokens` stays
    None. Raises InputError for files that are damaged or do not fit `model`.
    """
    encoder = Tokenizer.load(tokenizer)
    if model is None:
        model = read_settings(folder) if kind == "huggingface" else ModelSettings()
    read = read_huggingface if kind == "huggingface" else read_openai
    released = read(folder, encoder.n_vocab, model)
    for name, tensor in released.items():
        if not bool(torch.isfinite(tensor).all()):
            raise InputError(f"{folder}: {name}: expected finite values, found NaN or inf")
    digests = {name: sha256_file(folder / name) for name in FILES[kind]}
    n_values = sum(tensor.numel() for tensor in released.values())
    save_checkpoint(
        out,
        to_model(released, encoder.n_vocab, model),
        tokenizer=encoder.digest,
        update=updates,
        code=code,
        source={"format": kind, "sha256": digests},
        released_values=n_values,
        special_seed=SPECIAL_SEED,
    )
    return n_values


def to_model(released: dict[str, Tensor], n_vocab: int, settings: ModelSettings) -> Transformer:
    """The model of released arrays, with special tokens drawn and positions cut to `n_ctx`."""
    model = Transformer(n_vocab, settings)
    seed = torch_seed("special tokens of published weights", SPECIAL_SEED)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        special = model.embed[n_vocab : model.n_rows]
        special.normal_(std=settings.init_std, generator=generator)
        model.embed[:n_vocab] = released[TOKENS]
        model.embed[model.n_rows :] = released[POSITIONS][: model.n_ctx]
        for name, parameter in model.named_parameters():
            if name != "embed":
                parameter.copy_(released[name])
    return model


def released_shapes(n_vocab: int, model: ModelSettings) -> dict[str, list[int]]:
    """Names and shapes of the released arrays in OpenAI's order: positions, tokens, blocks.

    Raises InputError for the shape of an LSTM, which has no published format.
    """
    with torch.device("meta"):
        parameters = dict(build("transformer", model, n_vocab).named_parameters())
    n_embd = parameters.pop("embed").shape[1]
    shapes = {POSITIONS: [model.n_ctx, n_embd], TOKENS: [n_vocab, n_embd]}
    return shapes | {name: list(parameter.shape) for name, parameter in parameters.items()}


def read_openai(folder: Path, n_vocab: int, model: ModelSettings) -> dict[str, Tensor]:
    """The arrays of OpenAI's `params_0.npy` to `params_9.npy` and `params_shapes.json`.

    The ten files are chunks of one vector, and their boundaries may fall within an array. Raises
    InputError for a file that is missing or truncated, and if the shapes, the number of values or
    the order of the files do not fit `model` and a vocabulary of `n_vocab`.
    """
    path = folder / SHAPES_FILE
    stored, expected = read_json(path), released_shapes(n_vocab, model)
    if not isinstance(stored, list) or len(stored) != len(expected):
        count = f"{len(stored)} shapes" if isinstance(stored, list) else "no list of shapes"
        raise InputError(
            f"{path}: expected {len(expected)} shapes (2 and 12 for each of "
            f"{model.shape.n_layer} layers), found {count}"
        )
    shapes = {
        name: shape[1:] if isinstance(shape, list) and len(shape) == 3 else shape
        for name, shape in zip(expected, stored, strict=True)
    }
    expected = _check_shapes(path, shapes, expected)
    chunks = [read_chunk(folder / name) for name in CHUNKS]
    _check_different(folder, chunks)
    vector = np.concatenate(chunks)
    sizes = [math.prod(shape) for shape in expected.values()]
    if len(vector) != sum(sizes):
        raise InputError(
            f"{folder}/{CHUNKS[0]} to {CHUNKS[-1]}: expected {sum(sizes):,} values in all, "
            f"found {len(vector):,}"
        )
    arrays = torch.from_numpy(vector).split(sizes)
    released = {
        name: array.view(shape)
        for array, (name, shape) in zip(arrays, expected.items(), strict=True)
    }
    _check_order(folder, released)
    return released


def check_release(folder: Path) -> None:
    """Raise InputError unless the folder's files are OpenAI's own, by git's ids."""
    for name, known in RELEASE.items():
        path = folder / name
        own = git_id(path) if path.is_file() else "no such file"
        if own != known:
            raise InputError(
                f"{path}: expected OpenAI's file, git's id {known[:12]}, found {own[:12]}; "
                "download it again, or set experiment.pretrained.release: false for another GPT-1"
            )


def git_id(path: Path) -> str:
    """Git's id of a file, as `git hash-object` prints it."""
    content = path.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def read_chunk(path: Path) -> np.ndarray:
    """One of OpenAI's ten files. Raises InputError unless it is a whole vector of float32."""
    try:
        chunk = np.load(path, allow_pickle=False)
        if chunk.ndim == 1 and chunk.dtype == np.float32:
            return chunk
        content = f"{chunk.dtype} {list(chunk.shape)}"
    except FileNotFoundError:
        content = f"no such file; there are {len(CHUNKS)}, {CHUNKS[0]} to {CHUNKS[-1]}"
    except Exception:  # numpy raises a dozen kinds for a file that is not a whole array
        content = "no whole .npy file; copy it again"
    raise InputError(f"{path}: expected a vector of float32, found {content}")


def read_settings(folder: Path) -> ModelSettings:
    """The model that a `transformers` folder describes.

    Raises InputError for a config.json that is missing or not of a GPT-1.
    """
    path, config = folder / CONFIG_FILE, _read_config(folder)
    shape = {key: config[key] for key in ("n_layer", "n_embd", "n_head")}
    try:
        shape["n_ff"] = 4 * shape["n_embd"]
        return ModelSettings.model_validate({"n_ctx": config["n_positions"], "shape": shape})
    except (TypeError, ValueError):
        raise InputError(
            f"{path}: n_positions {config['n_positions']!r} and {shape} are not the shape of a "
            "GPT-1; fetch it again"
        ) from None


def read_huggingface(folder: Path, n_vocab: int, model: ModelSettings) -> dict[str, Tensor]:
    """The tensors of a `transformers` folder (`config.json`, `model.safetensors`), in float32.

    Accepts a bare model, one with its language-model head, which must equal the embedding, and one
    with two heads. Rows of special tokens, after the vocabulary, are left out. Raises InputError
    for a missing file and for anything that does not fit `model`.
    """
    path, config = folder / CONFIG_FILE, _read_config(folder)
    special = (n_vocab + N_SPECIAL, n_vocab + N_SPECIAL + 1)  # the latter has a pad
    n_rows = config["vocab_size"] if config["vocab_size"] in special else n_vocab
    for key, value in {**config_of(folder, model), "vocab_size": n_rows}.items():
        if key != "n_positions" and config[key] != value:
            raise InputError(f"{path}: {key}: expected {value!r}, found {config[key]!r}")
    weights = folder / TENSORS_FILE
    if not weights.is_file():
        raise InputError(
            f"{weights}: no such file; expected safetensors in one file, never a pickle"
        )
    tensors = {
        name.removeprefix(PREFIX): tensor
        for name, tensor in read_tensors(weights, published=True).items()
        if not OTHERS.fullmatch(name)
    }
    head = tensors.pop(HEAD, None)
    if head is not None and not torch.equal(head, tensors.setdefault(TOKENS, head)):
        raise InputError(f"{weights}: {HEAD}: expected {TOKENS} again (tied), found other values")
    shapes = {name: list(tensor.shape) for name, tensor in tensors.items()}
    _check_shapes(weights, shapes, released_shapes(n_rows, model))
    tensors[TOKENS] = tensors[TOKENS][:n_vocab]
    return {name: tensor.float() for name, tensor in tensors.items()}


def _read_config(folder: Path) -> dict[str, Any]:
    """The contents of config.json, with defaults for the keys that it leaves out."""
    stored = read_json(folder / CONFIG_FILE)
    if not isinstance(stored, dict):
        raise InputError(f"{folder / CONFIG_FILE}: expected a JSON object, found {stored!r:.40}")
    return {**CONFIG_DEFAULTS, **stored}


def config_of(folder: Path, model: ModelSettings) -> dict[str, Any]:
    """The model's keys of config.json, a format that fixes the width of the feed-forward layer."""
    shape = model.shape.model_dump()
    n_ff, expected = shape.pop("n_ff"), 4 * model.shape.n_embd
    if n_ff != expected:
        raise InputError(
            f"{folder}: n_ff: expected {expected} (four times n_embd, as this format has it), "
            f"found {n_ff} in the settings"
        )
    return CONFIG_DEFAULTS | shape


def _check_shapes(
    path: Path, stored: dict[str, Any], expected: dict[str, list[int]]
) -> dict[str, list[int]]:
    """The expected shapes with the stored number of positions, which may exceed n_ctx.

    Raises InputError for any other difference.
    """
    n_ctx, width = expected[POSITIONS]
    match stored.get(POSITIONS):
        case [int(rows), value] if rows > n_ctx and value == width:
            expected = {**expected, POSITIONS: [rows, width]}
    for name in sorted(expected.keys() | stored.keys()):
        own, other = (shapes.get(name, "no tensor") for shapes in (expected, stored))
        if own != other:
            raise InputError(f"{path}: {name}: expected {own}, found {other}")
    return expected


def _check_different(folder: Path, chunks: list[np.ndarray]) -> None:
    """Raise InputError for a chunk that is there under two names."""
    first: dict[str, str] = {}
    for name, chunk in zip(CHUNKS, chunks, strict=True):
        other = first.setdefault(hashlib.sha256(chunk.tobytes()).hexdigest(), name)
        if other != name:
            raise InputError(f"{folder}/{name}: the same values as {other}; copy both again")


def _check_order(folder: Path, released: dict[str, Tensor]) -> None:
    """Raise InputError for chunks in the wrong order.

    They put weights, half of which are negative, where layer-norm gains should be. The first two of
    GPT-1 hold only embeddings, so that only `check_release` can tell whether they are exchanged.
    """
    for name, tensor in released.items():
        if name.endswith(("ln_1.weight", "ln_2.weight")):
            positive = 100 * float((tensor > 0).float().mean())
            if positive < 75:
                raise InputError(
                    f"{folder}/params_*.npy: {name}: expected gains, at least 75 % of them "
                    f"positive, found {positive:.0f} %; are the {len(CHUNKS)} files in order?"
                )
