"""A kept cell as a folder for Hugging Face's `transformers`: model and tokenizer.

    python -m gpt1.export results/kept/transformer/rte/aux-on/layers-12 --out FOLDER
    hf upload NAME/MODEL FOLDER

`gpt1.weights.fine_tuned` has the format.
"""

import argparse
import sys
from pathlib import Path

from tasks.common.errors import importing, run

with importing(__name__):
    from gpt1.settings import RuntimeSettings
    from gpt1.text.tokenizer import Tokenizer
    from gpt1.weights import fine_tuned, kept
    from tasks import task


def export(folder: Path, out: Path, seed: int | None = None) -> None:
    """Write the model of one seed of the kept cell in `folder`, by default the first.

    Raises InputError for a damaged cell and for one that the format does not hold; nothing is
    written then.
    """
    cell = kept.read(folder)
    own, seed = task(cell.task), cell.seeds[0] if seed is None else seed
    model = cell.load(seed, own.spec, Tokenizer.load(folder).n_vocab, RuntimeSettings())
    fine_tuned.write(out, cell, model, own)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cell", type=Path, help="the folder of the kept cell, results/kept/...")
    parser.add_argument("--out", required=True, type=Path, help="the folder to write")
    parser.add_argument("--seed", type=int, help="of fine-tuning (default: the first one kept)")
    a = parser.parse_args()
    export(a.cell, a.out, a.seed)
    print(f"{a.out}: to share it, run hf upload NAME/{a.out.name} {a.out}")


if __name__ == "__main__":
    sys.exit(run(main))
