"""Measure the bars of the issue on speed and write a table of ratios.

    python -m bench                  all bars on a CPU, about ten minutes on two cores
    python -m bench --bars 5 6       some of them
    python -m bench --quick          small models and few rounds: does it run?
    python -m bench gpu              the bars on a GPU; without one it says so

`results/bench.csv` has a row for each comparison: both values, the median ratio of alternating
rounds with the smallest and the largest, the bar, and whether it is met.
"""

import argparse
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path

from bench import bars, gpu
from bench.comparison import QUICK, Bench, Scale
from bench.data import make_world
from bench.report import Row, line, table
from bench.sides import ROOT, WorkerError
from tasks.common.errors import InputError, run


def measured(bench: Bench, numbers: list[int]) -> Iterator[Row]:
    """The rows of some bars; a bar that cannot be measured here has one that says why."""
    for number in numbers:
        try:
            for row in bars.CPU[number](bench):
                print(line(row), flush=True)
                yield row
        except WorkerError as error:
            if "transformers" not in str(error) and "accelerate" not in str(error):
                raise InputError(f"bar {number}: {error}") from None
            yield Row(number, bars.CPU[number].__doc__ or "", "", "", note=f"not measured: {error}")


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
    rows = list(measured(bench, a.bars))
    note = (
        f"{machine(a.threads)}. Ratios are medians of alternating rounds, with the smallest and "
        "the largest; warm-up is not timed, the optimizer's step is."
    )
    if a.quick:
        note += " A quick look at small models: no evidence about the bars."
    table(rows, note).write(out)
    missed = sum(row.met == "no" for row in rows)
    print(f"{out}: {sum(row.met == 'yes' for row in rows)} rows meet their bar, {missed} do not")


if __name__ == "__main__":
    sys.exit(run(main))
