"""Published weights in and out: OpenAI's array files and a `transformers` folder.

    python -m gpt1.convert import --format openai --from model --tokenizer model --out C.safetensors
    python -m gpt1.convert export --format huggingface --checkpoint C.safetensors --out folder

Between the two stands the suite's own checkpoint. Neither format has rows for the start, delimiter
and classify tokens: an import draws them N(0, init_std) from `SPECIAL_SEED`, as the authors' code
does at load, and an export leaves them out. No layer transfer copies them, so their values matter
to no result. All other values go through bit for bit. The formats themselves:
`gpt1.weights.published`.
"""

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gpt1.model.language_model import N_SPECIAL
from gpt1.model.transformer import Transformer
from gpt1.text import vocabulary
from gpt1.text.tokenizer import Tokenizer
from gpt1.weights.checkpoint import build, load_checkpoint, save_checkpoint, sidecar, versions
from gpt1.weights.published import (
    FILES,
    POSITIONS,
    READERS,
    TOKENIZER_FILES,
    TOKENS,
    WRITERS,
    released_shapes,
)
from tasks.common.errors import InputError, run
from tasks.common.files import json_argument, read_json, sha256_file, write_atomic

SPECIAL_SEED = 0
GPT1 = {
    "n_ctx": 512,
    "init_std": 0.02,
    "embd_dropout": "matrix",
    "lm_softmax": "all_rows",
    "shape": {"n_layer": 12, "n_embd": 768, "n_head": 12, "n_ff": 3072},
}


def to_model(released: dict[str, Tensor], n_vocab: int, settings: dict[str, Any]) -> Transformer:
    """The model of released arrays; special rows drawn, positions beyond `n_ctx` left out."""
    model = build("transformer", settings, n_vocab)
    generator = torch.Generator().manual_seed(SPECIAL_SEED)
    with torch.no_grad():
        special = model.embed[n_vocab : model.n_rows]
        special.normal_(std=settings["init_std"], generator=generator)
        model.embed[:n_vocab] = released[TOKENS]
        model.embed[model.n_rows :] = released[POSITIONS][: model.n_ctx]
        for name, parameter in model.named_parameters():
            if name != "embed":
                parameter.copy_(released[name])
    return model


def import_weights(
    kind: str,
    folder: str | Path,
    tokenizer: str | Path,
    out: str | Path,
    model: dict[str, Any] = GPT1,
    code: str = "",
    updates: int = 0,
) -> dict[str, Any]:
    """Write published weights of the format `kind` as the checkpoint `out`; returns its facts.

    `model` is the model part of the settings, GPT-1's own by default. The formats do not tell how
    long a model was trained: `updates` is the caller's word for it, and `tokens` stays None.
    """
    folder, pieces = Path(folder), Tokenizer.load(tokenizer)
    released = READERS[kind](folder, pieces.n_vocab, model)
    for name, tensor in released.items():
        if not bool(torch.isfinite(tensor).all()):
            raise InputError(f"{folder}: {name}: expected finite values, found NaN or infinity")
    digests = {name: sha256_file(folder / name) for name in FILES[kind]}
    facts = {
        "update": updates,
        "tokens": None,
        "model": model,
        "tokenizer": pieces.digest,
        "source": {"format": kind, "sha256": digests},
        "released_values": sum(tensor.numel() for tensor in released.values()),
        "special_seed": SPECIAL_SEED,
        "code": code,
        "versions": versions(),
    }
    save_checkpoint(out, to_model(released, pieces.n_vocab, model), facts)
    return facts


def export_weights(
    kind: str, checkpoint: str | Path, out: str | Path, tokenizer: str | Path | None = None
) -> None:
    """Write a checkpoint of the suite in the format `kind`, with the tokenizer's files if given."""
    out, facts = Path(out), read_json(sidecar(checkpoint))
    if facts.get("arch") != "transformer":
        found = facts.get("arch")
        raise InputError(f"{checkpoint}: expected a transformer, found {found!r}; no format for it")
    model, digest = facts["model"], facts["tokenizer"]
    tensors, _ = load_checkpoint(checkpoint, "transformer", model, digest)
    if tokenizer is not None and Tokenizer.load(tokenizer).digest != digest:
        raise InputError(f"{tokenizer}: expected the tokenizer of {checkpoint}, found another one")
    n_vocab, embed = facts["n_vocab"], tensors.pop("embed")
    tensors |= {POSITIONS: embed[n_vocab + N_SPECIAL :], TOKENS: embed[:n_vocab]}
    released = {name: tensors[name] for name in released_shapes(n_vocab, model)}
    WRITERS[kind](out, released, model)
    if tokenizer is not None:
        found = vocabulary.find(Path(tokenizer))
        for source, target in zip(found, TOKENIZER_FILES[kind], strict=True):
            with open(source, "rb") as file, write_atomic(out / target, "wb") as copy:
                shutil.copyfileobj(file, copy)


def merged(settings: Any) -> dict[str, Any]:
    """The model that `--settings` asks for; what it leaves out is GPT-1's own."""
    given = settings.get("model", {}) if isinstance(settings, dict) else None
    shape = given.get("shape", {}) if isinstance(given, dict) else None
    if not isinstance(shape, dict) or not (given.keys() <= GPT1.keys()):
        known = ", ".join(GPT1)
        raise InputError(
            f"--settings {str(settings)[:60]!r}: not {{'model': {{...}}}} with keys of {known}"
        )
    return {**GPT1, **given, "shape": {**GPT1["shape"], **shape}}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    into = commands.add_parser("import", help="published weights to a checkpoint of the suite")
    into.add_argument("--format", required=True, choices=READERS)
    into.add_argument("--from", required=True, dest="folder")
    into.add_argument("--tokenizer", required=True, help="folder of the vocabulary's two files")
    into.add_argument("--out", required=True, help="the checkpoint, a .safetensors file")
    into.add_argument("--settings", type=json_argument, default={}, help='JSON, {"model": {...}}')
    into.add_argument("--updates", type=int, default=0, help="of its training; 0: not known")
    into.add_argument("--code", default="", help="digest of the code, kept with the checkpoint")
    out = commands.add_parser("export", help="a checkpoint of the suite to published files")
    out.add_argument("--format", required=True, choices=READERS)
    out.add_argument("--checkpoint", required=True)
    out.add_argument("--out", required=True, help="the folder")
    out.add_argument("--tokenizer", help="folder of the vocabulary, to be written beside")
    a = parser.parse_args()
    if a.command == "export":
        export_weights(a.format, a.checkpoint, a.out, a.tokenizer)
        return
    model = merged(a.settings)
    facts = import_weights(a.format, a.folder, a.tokenizer, a.out, model, a.code, a.updates)
    print(f"{a.out}: {facts['released_values']:,} released values from {a.folder}", flush=True)


if __name__ == "__main__":
    sys.exit(run(main))
