"""Measure the bars of the issue on speed and write a table of ratios.

    python -m bench                  all bars on a CPU, a quarter of an hour on two cores
    python -m bench --bars 5 6       some of them
    python -m bench --quick          small models and few rounds: does it run?
    python -m bench gpu              the bars on a GPU; without one it says so

`results/bench.csv` has a row for each comparison: both values, the median ratio of alternating
rounds with the smallest and the largest, the bar, and whether it is met. It is written after each
bar; what could not be measured has a row that says why.
"""

import argparse
import os
import platform
import sys
from pathlib import Path

from bench import bars, gpu
from bench.comparison import QUICK, Bench, Scale
from bench.data import make_world
from bench.measured import measured, summary
from bench.report import table
from bench.sides import ROOT
from tasks.common.errors import run


def machine(threads: int) -> str:
    """This machine in words."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [s for s in info.read_text().splitlines() if s.startswith("model name")]
        name = models[0].split(":", 1)[1].strip() if models else name
    return f"{name}, {os.cpu_count()} cores, {threads} threads at GPT-1's size"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", nargs="?", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--bars", nargs="+", type=int, choices=bars.CPU, default=list(bars.CPU))
    parser.add_argument("--data", type=Path, help="published files: RTE, MRPC, CoLA, openai_bpe")
    parser.add_argument("--quick", action="store_true", help="small models, few rounds")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--out", type=Path, help="default: results/bench.csv or bench_gpu.csv")
    a = parser.parse_args()
    if a.device == "gpu":
        gpu.main(a.out or ROOT / "results" / "bench_gpu.csv", a.quick)
        return
    out = (a.out or ROOT / "results" / "bench.csv").resolve()
    work = ROOT / "results" / "bench"
    print("making the rows", flush=True)
    world = make_world(Path("results/bench/world"))
    scale = QUICK if a.quick else Scale()
    bench = Bench(scale, a.threads, work / "rows", ROOT / world, a.data and a.data.resolve())
    note = (
        f"{machine(a.threads)}. Ratios are medians of alternating rounds, with the smallest and "
        "the largest; warm-up is not timed, the optimizer's step is."
    )
    if a.quick:
        note += " A quick look at small models: no evidence about the bars."
    rows = measured(bars.CPU, a.bars, bench, lambda rows: table(rows, note).write(out))
    print(f"{out}: {summary(rows)}")


if __name__ == "__main__":
    sys.exit(run(main))
