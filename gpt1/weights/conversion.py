"""Convert published weights to a checkpoint of the suite, and one to Hugging Face's format.

The published formats have no rows for the start, delimiter and classify tokens: an import draws
them from N(0, init_std) with `SPECIAL_SEED`, as the authors' code does at load, and an export
leaves them out. No transfer copies them, so their values affect no result. All other values are
preserved bit for bit. `gpt1.weights.published` reads and writes the formats.
"""

from pathlib import Path

import torch
from torch import Tensor

from gpt1.model.transformer import Transformer
from gpt1.settings import ModelSettings, TransformerShape
from gpt1.special_tokens import N_SPECIAL
from gpt1.streams import torch_seed
from gpt1.text import hub_tokenizer, vocabulary
from gpt1.text.tokenizer import Tokenizer
from gpt1.weights.checkpoint import load_checkpoint, read_facts, save_checkpoint
from gpt1.weights.files import FILES, Format
from gpt1.weights.published import (
    POSITIONS,
    READERS,
    TOKENS,
    read_settings,
    released_shapes,
    write_huggingface,
)
from tasks.common.errors import InputError
from tasks.common.files import sha256_file, write_atomic

SPECIAL_SEED = 0
GPT1 = ModelSettings()


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


def import_weights(
    kind: Format,
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
        model = read_settings(folder) if kind == "huggingface" else GPT1
    released = READERS[kind](folder, encoder.n_vocab, model)
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


def export_weights(
    checkpoint: str | Path, out: str | Path, tokenizer: str | Path | None = None
) -> None:
    """Write a checkpoint as a `transformers` folder.

    If the tokenizer's folder is given, its files are written beside the weights, in the published
    layout and as `AutoTokenizer` reads them. Raises InputError for an LSTM, for a shape that the
    format cannot hold and for a tokenizer other than the checkpoint's.
    """
    out, facts = Path(out), read_facts(checkpoint)
    if type(facts.model.shape) is not TransformerShape:
        own = f"{facts.arch} of {facts.model.shape}"
        raise InputError(f"{checkpoint}: expected GPT-1's blocks, found {own}; export another")
    tensors = load_checkpoint(checkpoint, "transformer", facts.model, facts.tokenizer).tensors
    if tokenizer is not None and Tokenizer.load(tokenizer).digest != facts.tokenizer:
        raise InputError(f"{tokenizer}: expected the tokenizer of {checkpoint}, found another one")
    n_vocab, embed = facts.n_vocab, tensors["embed"]
    tensors |= {POSITIONS: embed[n_vocab + N_SPECIAL :], TOKENS: embed[:n_vocab]}
    released = {name: tensors[name] for name in released_shapes(n_vocab, facts.model)}
    write_huggingface(out, released, facts.model)
    if tokenizer is not None:
        contents = vocabulary.contents(Path(tokenizer))
        for name, content in zip(vocabulary.HUB_FILES, contents, strict=True):
            with write_atomic(out / name, "wb") as file:
                file.write(content)
        hub_tokenizer.save(out, Tokenizer.load(tokenizer), facts.model.n_ctx, special=False)
