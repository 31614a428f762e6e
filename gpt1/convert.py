"""Convert published weights to a checkpoint, and the suite's weights to Hugging Face's format.

    python -m gpt1 convert import --format openai --from model --tokenizer model --out C.safetensors
    python -m gpt1 convert export C.safetensors --out FOLDER --tokenizer tokenizer
    python -m gpt1 convert export results/kept/full/rte --out FOLDER

`gpt1.weights.published` imports, `gpt1.weights.export` exports.
"""

import argparse
from pathlib import Path

from gpt1.settings import ModelSettings
from gpt1.weights.export import export_cell, export_checkpoint
from gpt1.weights.files import FILES
from gpt1.weights.published import check_release, import_weights
from tasks.common.errors import InputError


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    importing = commands.add_parser("import", help="published weights to a checkpoint of the suite")
    importing.add_argument("--format", required=True, choices=FILES)
    importing.add_argument("--from", required=True, dest="folder", type=Path)
    importing.add_argument("--tokenizer", required=True, help="folder of the vocabulary's files")
    importing.add_argument("--out", required=True, help="the checkpoint, a .safetensors file")
    importing.add_argument(
        "--settings",
        type=ModelSettings.parse,
        help="JSON of the model; by default what config.json says, or GPT-1",
    )
    importing.add_argument("--updates", type=int, default=0, help="it was trained for; 0: unknown")
    importing.add_argument(
        "--release", action="store_true", help="refuse files that are not OpenAI's own"
    )
    importing.add_argument("--code", default="", help="digest of the code, kept with the weights")
    exporting = commands.add_parser("export", help="weights of the suite to Hugging Face's format")
    exporting.add_argument("weights", type=Path, help="a checkpoint, or the folder of a kept cell")
    exporting.add_argument("--out", required=True, type=Path, help="the folder")
    exporting.add_argument("--tokenizer", help="of a checkpoint: folder of its vocabulary's files")
    exporting.add_argument("--seed", type=int, help="of a cell (default: the first one kept)")
    exporting.add_argument("--overwrite", action="store_true", help="a folder that has files")
    a = parser.parse_args()
    if a.command == "export":
        is_cell = a.weights.is_dir()
        if (a.tokenizer if is_cell else a.seed) is not None:
            option, kind = ("tokenizer", "checkpoint") if is_cell else ("seed", "kept cell")
            raise InputError(f"--{option}: {a.weights} is no {kind}; leave the option out")
        if not a.overwrite and a.out.exists() and any(a.out.iterdir()):
            raise InputError(f"--out {a.out}: has files; give another folder, or --overwrite")
        if is_cell:
            made = export_cell(a.weights, a.out, a.seed)
        else:
            made = export_checkpoint(a.weights, a.out, a.tokenizer)
        share = f"to share it, run hf upload NAME/{a.out.name} {a.out}"
        print(f"{a.out}: {'of made data, an example' if made else share}", flush=True)
        return
    if a.release:
        check_release(a.folder)
    n_values = import_weights(a.format, a.folder, a.tokenizer, a.out, a.settings, a.updates, a.code)
    print(f"{a.out}: {n_values:,} released values from {a.folder}", flush=True)
    if a.format == "openai" and not a.release:
        print("only --release can tell whether each file is OpenAI's, in its place", flush=True)
