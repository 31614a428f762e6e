"""Parity with an independent implementation: `transformers`' OpenAI GPT; and files exchanged.

The same random weights give the same hidden states and logits; what `gpt1.convert` exports is
loaded there whole and continues a text with the same tokens.
"""

import logging

import numpy as np
import pytest
import torch
import transformers
from safetensors import safe_open

from gpt1.convert import export_checkpoint
from gpt1.generate import Sampling, generate
from gpt1.model.language_model import NO_DROPOUT
from gpt1.settings import ModelSettings, TransformerShape
from gpt1.text.tokenizer import Tokenizer
from gpt1.weights.checkpoint import build, load_checkpoint, save_checkpoint
from gpt1.weights.published import import_weights
from tests.gpt1.weights import published_files as files

N_VOCAB, N_CTX = 11, 12
SHAPE = TransformerShape(n_layer=3, n_embd=16, n_head=4, n_ff=64)
MODEL = ModelSettings(n_ctx=N_CTX, shape=SHAPE, init_std=0.3)


@pytest.fixture
def both(tmp_path):
    """Our model with wide random weights, theirs read from our export, and what they report."""
    files.write_tokenizer(tmp_path / "vocabulary")
    ours = build("transformer", MODEL, N_VOCAB)
    ours.reset(torch.Generator().manual_seed(1))
    for name, p in ours.named_parameters():
        if p.ndim == 1:  # biases and gains must not stay 0 and 1
            p.data += torch.randn(p.shape, generator=torch.Generator().manual_seed(len(name))) * 0.3
    digest = Tokenizer.load(tmp_path / "vocabulary").digest
    save_checkpoint(tmp_path / "own.safetensors", ours, tokenizer=digest)
    export_checkpoint(tmp_path / "own.safetensors", tmp_path / "out")
    return ours.eval(), *load_theirs(tmp_path / "out")


def load_theirs(folder, kind="OpenAIGPTLMHeadModel"):
    """Their model, what it found in the folder, and every warning on the way."""
    said = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())
    logger = logging.getLogger("transformers")
    logger.addHandler(handler)
    try:
        theirs, found = getattr(transformers, kind).from_pretrained(
            folder, output_loading_info=True
        )
    finally:
        logger.removeHandler(handler)
    return theirs.eval(), {**found, "warnings": said}


def batch(n=5, time=N_CTX):
    """Random tokens `[n, time]`."""
    return torch.randint(0, N_VOCAB, (n, time), generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("kind", ["OpenAIGPTLMHeadModel", "OpenAIGPTModel"])
def test_an_export_is_loaded_without_a_missing_key_or_a_warning(both, tmp_path, kind):
    _, found = load_theirs(tmp_path / "out", kind)
    assert found.pop("warnings") == []
    assert all(not keys for keys in found.values()), found


@torch.no_grad()
def test_hidden_states_of_every_layer_are_theirs(both):
    ours, theirs, _ = both
    ids = batch()
    wanted = theirs(ids, output_hidden_states=True).hidden_states
    x = ours.embed[ids] + ours.embed[ours.n_rows : ours.n_rows + N_CTX]
    assert float((x - wanted[0]).abs().max()) <= 1e-5
    for block, states in zip(ours.h, wanted[1:], strict=True):
        x = block(
            x.flatten(0, 1),
            ours.lay_out(ids[:, None].numpy(), np.full((len(ids), 1), N_CTX)),
            NO_DROPOUT,
        ).view_as(states)
        assert float((x - states).abs().max()) <= 1e-5
    hidden, _ = ours(ids)
    assert torch.equal(hidden, x)


@torch.no_grad()
def test_both_continue_a_text_with_the_same_tokens(both):
    ours, theirs, _ = both
    own = Sampling(tokens=N_CTX - 1, temperature=0)
    for start in range(N_VOCAB):
        wanted = theirs.generate(torch.tensor([[start]]), do_sample=False, max_new_tokens=N_CTX - 1)
        assert [start, *generate(ours, [start], own)] == wanted[0].tolist()


@torch.no_grad()
@pytest.mark.parametrize("head", ["tied", "stored", "none", "two", "two and special"])
def test_a_folder_that_transformers_saved_is_imported(both, tmp_path, head):
    ours, theirs, _ = both
    folder = tmp_path / "saved"
    if head.startswith("two"):
        theirs, _ = load_theirs(tmp_path / "out", "OpenAIGPTDoubleHeadsModel")
        theirs.resize_token_embeddings(N_VOCAB + 3 * head.endswith("special"))
        theirs.save_pretrained(folder)
    elif head == "none":
        theirs.transformer.save_pretrained(folder)
    elif head == "tied":
        theirs.save_pretrained(folder)
    else:
        theirs.config.tie_word_embeddings = False
        theirs.lm_head.weight = torch.nn.Parameter(theirs.lm_head.weight.detach().clone())
        theirs.save_pretrained(folder)
    with safe_open(folder / "model.safetensors", "pt") as stored:
        names = set(stored.keys())
        assert ("lm_head.weight" in names) == (head not in ("tied", "none"))
        assert ("transformer.tokens_embed.weight" in names) == (head in ("tied", "stored"))
    path = tmp_path / "in.safetensors"
    import_weights(folder, tmp_path / "vocabulary", path, MODEL)
    tensors = load_checkpoint(
        path, "transformer", MODEL, Tokenizer.load(tmp_path / "vocabulary").digest
    ).tensors
    for name, p in ours.named_parameters():
        keep = torch.ones(len(p), dtype=torch.bool)
        if name == "embed":
            keep[N_VOCAB : N_VOCAB + 3] = False
        assert torch.equal(tensors[name][keep], p[keep]), name
