"""Import published weights of GPT-1, a `transformers` folder, as a checkpoint.

The format has no rows for the start, delimiter and classify tokens: an import draws them from
N(0, init_std) with `SPECIAL_SEED`, as the authors' code does at load. No transfer copies them, so
their values affect no result. All other values are preserved bit for bit. Pickles are never read.

Source: the file and tensor names of `openai-community/openai-gpt`; the authors' loader.
"""

import re
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gpt1.cell import CONFIG_FILE, TENSORS_FILE, WEIGHT_FILES
from gpt1.settings import ModelSettings
from gpt1.streams import torch_seed
from gpt1.text.tokenizer import Tokenizer
from gpt1.text.tokens import N_SPECIAL
from gpt1.weights.checkpoint import build, read_tensors, save_checkpoint
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
    folder: Path,
    tokenizer: str | Path,
    out: str | Path,
    model: ModelSettings | None = None,
    updates: int = 0,
    code: str = "",
) -> int:
    """Write the published weights of a folder as the checkpoint `out`; returns how many there are.

    Without `model`, the shape is that of config.json. The format does not record how long a model
    was trained: `updates` is the caller's claim, and `tokens` stays None. Raises InputError for
    files that are damaged or do not fit `model`.
    """
    encoder = Tokenizer.load(tokenizer)
    model = model or read_settings(folder)
    released = read_weights(folder, encoder.n_vocab, model)
    for name, tensor in released.items():
        if not bool(torch.isfinite(tensor).all()):
            raise InputError(f"{folder}: {name}: expected finite values, found NaN or inf")
    digests = {name: sha256_file(folder / name) for name in WEIGHT_FILES}
    n_values = sum(tensor.numel() for tensor in released.values())
    seed = torch_seed("special tokens of published weights", SPECIAL_SEED)
    special = torch.empty(N_SPECIAL, model.shape.n_embd)
    special.normal_(std=model.init_std, generator=torch.Generator().manual_seed(seed))
    positions = released.pop(POSITIONS)[: model.n_ctx]
    own = build("transformer", model, encoder.n_vocab)
    embed = torch.cat([released.pop(TOKENS), special, positions])
    own.load_state_dict({**released, "embed": embed})
    save_checkpoint(
        out,
        own,
        tokenizer=encoder.digest,
        update=updates,
        code=code,
        source={"format": "huggingface", "sha256": digests},
        released_values=n_values,
        special_seed=SPECIAL_SEED,
    )
    return n_values


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


def read_weights(folder: Path, n_vocab: int, model: ModelSettings) -> dict[str, Tensor]:
    """The tensors of a `transformers` folder (`config.json`, `model.safetensors`), in float32.

    Accepts a bare model, one with its language-model head, which must equal the embedding, and one
    with two heads. Rows of special tokens, after the vocabulary, are left out. Raises InputError
    for a missing file and for anything that does not fit `model`.
    """
    path, config = folder / CONFIG_FILE, _read_config(folder)
    with torch.device("meta"):
        blank = build("transformer", model, n_vocab)
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
    expected = {name: list(parameter.shape) for name, parameter in blank.named_parameters()}
    _, n_embd = expected.pop("embed")
    n_positions = max([model.n_ctx, *shapes.get(POSITIONS, [])[:1]])  # the file may have more
    expected |= {POSITIONS: [n_positions, n_embd], TOKENS: [n_rows, n_embd]}
    for name in sorted(expected.keys() | shapes.keys()):
        own, other = (of.get(name, "no tensor") for of in (expected, shapes))
        if own != other:
            raise InputError(f"{weights}: {name}: expected {own}, found {other}")
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
