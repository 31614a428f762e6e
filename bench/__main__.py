"""Measure the bars of the issue on speed and write a table of ratios.

    python -m bench                  all bars on a CPU, a quarter of an hour on two cores
    python -m bench --bars 5 8       some of them
    python -m bench --quick          small models and few rounds: does it run?
    python -m bench gpu              the bars on a GPU; without one it says so

`results/bench.csv` has a row for each comparison: both values, the median ratio of alternating
rounds with the smallest and the largest, the bar, and whether it is met. It is written after each
bar; what could not be measured has a row that says why.
"""

import argparse
import os
import sys
from pathlib import Path

from bench import bars, gpu, program_bars
from bench.comparison import QUICK, Bench, Scale
from bench.data import make_world
from bench.machine import environment
from bench.measured import measured, summary
from bench.report import table
from bench.sides import ROOT
from tasks.common.errors import run

CPU = {
    1: bars.fine_tuning,
    2: bars.race_items,
    3: bars.story_cloze_items,
    4: bars.zero_shot,
    5: bars.pretraining,
    8: program_bars.first_step,
    9: program_bars.planning,
    10: bars.memory,
}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device", nargs="?", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--bars", nargs="+", type=int, choices=CPU, default=list(CPU))
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
        f"{environment()}; {a.threads} threads at GPT-1's size. Ratios are medians of alternating "
        "rounds, with the smallest and the largest; a bar between these is undecided. Warm-up and "
        "a turn's first step are not timed, the optimizer's step is."
    )
    if a.quick:
        note += " A quick look at small models: no evidence about the bars."
    rows = measured(CPU, a.bars, bench, lambda rows: table(rows, note).write(out))
    print(f"{out}: {summary(rows)}")


if __name__ == "__main__":
    sys.exit(run(main))
