"""The published files: where the real vocabulary is, and random weights in their layouts.

What is written here is written without the package. The two files of OpenAI's vocabulary are not
shipped; they are read from `openai_bpe/` in the folder that `GPT1_REALDATA` names.
"""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import save_file
from safetensors.torch import load_file

from gpt1.settings import ModelSettings, TransformerShape
from gpt1.weights.published import import_weights
from tests.support.realdata import REALDATA

BPE_FOLDER = REALDATA / "openai_bpe"
# A folder that was asked for but is not there is a failure, not a reason to skip.
needs_bpe = pytest.mark.skipif(
    "GPT1_REALDATA" not in os.environ and not BPE_FOLDER.is_dir(),
    reason="OpenAI's vocabulary is not available: set GPT1_REALDATA=FOLDER, with openai_bpe/ that "
    "holds encoder_bpe_40000.json and vocab_40000.bpe from the folder `model` of "
    "github.com/openai/finetune-transformer-lm",
)

FORMATS = ("openai", "huggingface")
SHAPE = TransformerShape(n_layer=3, n_embd=16, n_head=4, n_ff=64)
SMALL = ModelSettings(n_ctx=12, shape=SHAPE)
BLOCK = ["attn/c_attn/w", "attn/c_attn/b", "attn/c_proj/w", "attn/c_proj/b", "ln_1/g", "ln_1/b"]
BLOCK += ["mlp/c_fc/w", "mlp/c_fc/b", "mlp/c_proj/w", "mlp/c_proj/b", "ln_2/g", "ln_2/b"]

# params_shapes.json: positions, tokens, and twelve arrays in the same order for each block.
PUBLISHED_SHAPES = [[512, 768], [40478, 768]] + 12 * [
    *([1, 768, 2304], [2304], [1, 768, 768], [768], [768], [768]),
    *([1, 768, 3072], [3072], [1, 3072, 768], [768], [768], [768]),
]


def openai_arrays(n_vocab, n_ctx, n_layer, d, seed=0):
    """Random arrays in OpenAI's order, by OpenAI's names; gains around 1."""
    rng = np.random.default_rng(seed)
    shapes = {"attn/c_attn": (d, 3 * d), "attn/c_proj": (d, d)}
    shapes |= {"mlp/c_fc": (d, 4 * d), "mlp/c_proj": (4 * d, d)}

    def normal(*shape):
        return rng.standard_normal(shape, dtype=np.float32) * np.float32(0.1)

    arrays = {"positions": normal(n_ctx, d), "tokens": normal(n_vocab, d)}
    for i in range(n_layer):
        for name in BLOCK:
            part, kind = name.rsplit("/", 1)
            if kind == "w":
                values = normal(1, *shapes[part])
            elif kind == "g":
                values = 1 + normal(d)
            else:
                values = normal(shapes[part][1] if part in shapes else d)
            arrays[f"h{i}/{name}"] = values
    return arrays


def write_openai(folder, arrays, boundaries=None):
    """The ten chunks and `params_shapes.json`; `boundaries` are nine places to cut at."""
    folder.mkdir(parents=True, exist_ok=True)
    flat = np.concatenate([a.reshape(-1) for a in arrays.values()])
    ten = np.array_split(flat, 10) if boundaries is None else np.split(flat, boundaries)
    assert len(ten) == 10
    for i, chunk in enumerate(ten):
        np.save(folder / f"params_{i}.npy", chunk)
    shapes = [list(a.shape) for a in arrays.values()]
    (folder / "params_shapes.json").write_text(json.dumps(shapes))


def hub_name(name):
    """OpenAI's name of an array as `transformers` calls it: h0/ln_1/g is h.0.ln_1.weight."""
    if name in ("positions", "tokens"):
        return f"{name}_embed.weight"
    layer, *parts, kind = name.split("/")
    return ".".join(["h", layer[1:], *parts, "bias" if kind == "b" else "weight"])


def hub_tensors(arrays):
    """The same weights by the hub's names, without the leading 1 of a convolution."""
    return {hub_name(k): np.squeeze(a, 0) if a.ndim == 3 else a for k, a in arrays.items()}


def hub_config(arrays, n_head):
    """What the hub's `config.json` says."""
    layers = {name.split("/")[0] for name in arrays} - {"positions", "tokens"}
    n_ctx, d = arrays["positions"].shape
    return {
        **{"afn": "gelu", "architectures": ["OpenAIGPTLMHeadModel"], "model_type": "openai-gpt"},
        **{"attn_pdrop": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1, "initializer_range": 0.02},
        **{"layer_norm_epsilon": 1e-05, "n_ctx": n_ctx, "n_positions": n_ctx, "n_embd": d},
        **{"n_head": n_head, "n_layer": len(layers), "vocab_size": len(arrays["tokens"])},
    }


def write_huggingface(folder, arrays, n_head, prefix="", extra=None, **config):
    """`config.json` and `model.safetensors`."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {prefix + k: v for k, v in hub_tensors(arrays).items()} | (extra or {})
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(hub_config(arrays, n_head) | config))


def write_tokenizer(folder, n_characters=3, n_merges=3):
    """A vocabulary of the published layout and names; returns its number of pieces."""
    folder.mkdir(parents=True, exist_ok=True)
    characters = [chr(ord("a") + i) for i in range(min(26, n_characters))]
    characters += [chr(0x4E00 + i) for i in range(n_characters - len(characters))]
    merges = [(a, b) for a in characters for b in characters][:n_merges]
    pieces = ["<unk>", *characters, *(c + "</w>" for c in characters)]
    pieces += [a + b for a, b in merges] + ["\n</w>"]
    ids = {piece: i for i, piece in enumerate(pieces)}
    (folder / "encoder_bpe_40000.json").write_text(json.dumps(ids))
    lines = ["#version: 0.2", *(f"{a} {b}" for a, b in merges), ""]
    (folder / "vocab_40000.bpe").write_text("\n".join(lines))
    return len(pieces)


def write_small(folder):
    """The same weights of the shape `SMALL` in both formats and a tokenizer of 11 pieces.

    The chunks are cut at odd places, within arrays and with as little as one value.
    """
    assert write_tokenizer(folder / "vocabulary") == 11
    arrays = openai_arrays(11, 12, 3, 16)
    total = sum(a.size for a in arrays.values())
    boundaries = [1, 2, 200, 1001, 4097, 5000, 7777, total - 3, total - 1]
    write_openai(folder / "openai", arrays, boundaries)
    write_huggingface(folder / "huggingface", arrays, n_head=4)
    return folder


def bring_in(folder, kind, model=SMALL, name="in"):
    """Import what `write_small` wrote and return the checkpoint's tensors."""
    out = folder / f"{name}.safetensors"
    import_weights(kind, folder / kind, folder / "vocabulary", out, model)
    return load_file(out)
