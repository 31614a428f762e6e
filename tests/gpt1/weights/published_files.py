"""The published files: where the real vocabulary is, and random weights in their layout.

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

SHAPE = TransformerShape(n_layer=3, n_embd=16, n_head=4, n_ff=64)
SMALL = ModelSettings(n_ctx=12, shape=SHAPE)


def arrays_of(n_vocab, n_ctx, n_layer, d):
    """Random arrays by the hub's names; gains around 1."""
    rng = np.random.default_rng(0)
    maps = {"attn.c_attn": (d, 3 * d), "attn.c_proj": (d, d)}
    maps |= {"mlp.c_fc": (d, 4 * d), "mlp.c_proj": (4 * d, d)}

    def normal(*shape):
        return rng.standard_normal(shape, dtype=np.float32) * np.float32(0.1)

    arrays = {"positions_embed.weight": normal(n_ctx, d), "tokens_embed.weight": normal(n_vocab, d)}
    for i in range(n_layer):
        for name, shape in maps.items():
            arrays[f"h.{i}.{name}.weight"] = normal(*shape)
            arrays[f"h.{i}.{name}.bias"] = normal(shape[1])
        for name in ("ln_1", "ln_2"):
            arrays[f"h.{i}.{name}.weight"] = 1 + normal(d)
            arrays[f"h.{i}.{name}.bias"] = normal(d)
    return arrays


def write_weights(folder, arrays, n_head, prefix="", extra=None, **config):
    """`config.json` and `model.safetensors`."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {prefix + name: values for name, values in arrays.items()} | (extra or {})
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    n_ctx, d = arrays["positions_embed.weight"].shape
    said = {
        **{"afn": "gelu", "architectures": ["OpenAIGPTLMHeadModel"], "model_type": "openai-gpt"},
        **{"attn_pdrop": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1, "initializer_range": 0.02},
        **{"layer_norm_epsilon": 1e-05, "n_ctx": n_ctx, "n_positions": n_ctx, "n_embd": d},
        **{"n_head": n_head, "n_layer": (len(arrays) - 2) // 12},
        **{"vocab_size": len(arrays["tokens_embed.weight"])},
    }
    (folder / "config.json").write_text(json.dumps(said | config))


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
    """Random weights of the shape `SMALL` in `weights`, and a tokenizer of 11 pieces."""
    assert write_tokenizer(folder / "vocabulary") == 11
    write_weights(folder / "weights", arrays_of(11, 12, 3, 16), n_head=4)
    return folder


def bring_in(folder, model=SMALL, name="in"):
    """Import what `write_small` wrote and return the checkpoint's tensors."""
    out = folder / f"{name}.safetensors"
    import_weights(folder / "weights", folder / "vocabulary", out, model)
    return load_file(out)
