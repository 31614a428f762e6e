"""Benchmark against transformers and plain PyTorch.

    python -m bench                     on a CPU, a quarter of an hour on two cores
    python -m bench --only rte race     the comparisons with one of these words in their names
    python -m bench --quick             small models, few rounds: does it run?
    python -m bench gpu                 on a GPU; without one it says so

`results/bench.csv` (`bench_gpu.csv`) has both rates of each comparison, and the median ratio of
alternating rounds. It is written after each comparison; one that failed has a row that says why.
"""

import argparse
import os
import sys
from dataclasses import replace

import torch

from bench import table
from bench.comparisons import Scale, on_cpu, on_gpu
from bench.sides import ROOT
from gpt1.settings import ModelSettings, TransformerShape
from tasks.common.programs import run

SMALL = ModelSettings(shape=TransformerShape(n_layer=2, n_embd=128, n_head=2, n_ff=512))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", nargs="?", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="words of comparisons' names")
    parser.add_argument("--quick", action="store_true", help="small models, few rounds")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    a = parser.parse_args()
    if a.device == "gpu" and not torch.cuda.is_available():
        print("no GPU here: nothing is measured")
        return
    folder = ROOT / "results" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    scale, comparisons, name, card = Scale(folder, a.threads), on_cpu, "bench.csv", ""
    if a.device == "gpu":
        scale = replace(scale, device="cuda", steps=20)
        comparisons, name, card = on_gpu, "bench_gpu.csv", torch.cuda.get_device_name()
    note = f"{card} {table.environment()}; {a.threads} threads at GPT-1's size.".lstrip()
    note += " Drawn tokens in the lengths of published rows. Ratios are medians of alternating"
    note += " rounds, with the smallest and the largest; a turn's first update is not timed."
    if a.quick:
        scale = replace(scale, transformer=SMALL, n_vocab=2000, rounds=2, steps=1)
        note += " A quick look at small models: no evidence about speed."
    wanted = (c for c in comparisons(scale) if not a.only or {*a.only} & {*c.name.split()})
    table.measure_all(wanted, card, note, folder.parent / name)


if __name__ == "__main__":
    sys.exit(run(main))
