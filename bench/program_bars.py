"""The bars on whole programs: a cell's start, a plan."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench import data
from bench.comparison import Bench
from bench.report import Row, limited
from bench.sides import ROOT
from bench.turns import peak_mb
from gpt1.cell import Cell
from tasks.common.errors import InputError


def first_step(bench: Bench) -> Iterator[Row]:
    """Bar 8: a cell's process from its start to its first step."""
    config, world = bench.config(), bench.world
    settings = config.finetune("transformer", "rte", "on")
    cell = Cell("transformer", "rte", "on", 12)
    words = [
        str(cell.path(bench.out)),
        *("--predictions", str(cell.predictions(bench.out))),
        *("--encoded", str(world / "encoded/rte")),
        *("--baselines", str(world / "baselines/rte.json")),
        *("--checkpoints", str(world / "pretrain/transformer/seed-0/update-1.safetensors")),
        *("--settings", settings.to_json(), "--seeds", "0"),
        *("--runtime", config.runtime_of("finetune").to_json()),
        *("--code", "bench", "--cache", str(bench.out / "cache")),
    ]
    seconds = []
    for _ in range(bench.scale.rounds):
        started = time.monotonic()
        seconds.append(float(data.run("bench.first_step", *words).split()[-1]) - started)
    note = "one start serves all layers and seeds of a task, which the bar allows as well"
    yield limited(8, "a cell's process: start to first step", "s", seconds, 1, note)


def planning(bench: Bench) -> Iterator[Row]:
    """Bar 9: a plan of the paper's config with five seeds."""
    seeds = list(range(5))
    once = json.dumps({"seeds": {"pretrain": seeds, "finetune": seeds}})
    words = ["--configfile", bench.scale.planned, "--config", f"experiment={once}"]
    bench.out.mkdir(parents=True, exist_ok=True)
    found = [_plan(words, bench.out / "planning.log") for _ in range(bench.scale.plans)]
    what = "planning of the paper's config with five seeds"
    seconds, peaks = zip(*found, strict=True)
    yield limited(9, what, "s", seconds, 10)
    yield limited(9, what, "MB", peaks, 600, "VmHWM of the process, read ten times a second")


def _plan(words: list[str], log: Path) -> tuple[float, float]:
    """Seconds and peak MB of a plan.

    The peak is not of `wait4`: there a process inherits what the one that started it had.
    """
    command = [sys.executable, "-m", "snakemake", "all", "-n", "--quiet", "all", *words]
    started, peak = time.perf_counter(), 0.0
    with open(log, "wb") as said:
        process = subprocess.Popen(command, cwd=ROOT, stdout=said, stderr=said)
        while not os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            peak = max(peak, peak_mb(process.pid))
            time.sleep(0.1)
        code = process.wait()
    seconds = time.perf_counter() - started
    if code:
        last = (log.read_text(encoding="utf-8").strip().splitlines() or ["it said nothing"])[-1]
        raise InputError(f"the plan failed: {last}")
    return seconds, peak
