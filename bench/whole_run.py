"""Bar 7: the default run of this commit and of 27027a1, one after the other, from clean checkouts.

    python -m bench.whole_run

Takes as long as both: leave the machine alone. `python -m bench --bars 7` shows what it wrote to
results/bench/whole_run.json, as long as the programs and the machine are the same. The tables of
our run are in results/bench/whole_run.
"""

import argparse
import json
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from bench import machine
from bench.commit import COMMIT, checkout
from bench.sides import ROOT
from tasks.common.errors import InputError, run
from tasks.common.files import write_json

CORES = 2  # that the bar is about
PROGRAMS = (  # of a default run
    *("gpt1", "tasks", "workflow", "Snakefile"),
    *("requirements.lock", "requirements-torch.lock"),
)


@dataclass(frozen=True)
class Timed:
    """Two default runs: seconds, and the share of our jobs' seconds outside training loops."""

    commit: str
    date: str
    machine: str
    cores: int
    ours: float
    other: float
    outside: float


def file() -> Path:
    """Where two timed runs are kept."""
    return ROOT / "results" / "bench" / "whole_run.json"


def stored(path: Path) -> Timed:
    """The two runs that were timed. Raises InputError where they say nothing about this code."""
    again = "time it by python -m bench.whole_run, which takes two default runs"
    if not path.exists():
        raise InputError(f"not timed here; {again}")
    values = json.loads(path.read_text(encoding="utf-8"))
    names = [field.name for field in fields(Timed)]
    if not {*names} <= {*values}:
        raise InputError(f"{path.name} does not say of what it is; {again}")
    timed = Timed(**{name: values[name] for name in names})
    if timed.cores != CORES:
        raise InputError(f"it was timed on {timed.cores} cores, the bar is for {CORES}; {again}")
    if timed.machine != machine.machine():
        raise InputError(f"it was timed on another machine ({timed.machine}); {again}")
    if not machine.has_programs_of(timed.commit, PROGRAMS):
        raise InputError(f"the programs are no longer those of {timed.commit[:7]}; {again}")
    return timed


def outside(costs: Path) -> float:
    """The share of the jobs' seconds that was spent outside training loops, by a `cost.csv`."""
    table = pd.read_csv(costs)
    return 1 - float(table["train_seconds"].sum() / table["job_seconds"].sum())


def default_run(commit: str, cores: int, tables: Path | None = None) -> float:
    """Wall-clock seconds of a commit's default run, whose tables are copied to a folder."""
    with checkout(commit) as code:
        started = time.perf_counter()
        command = [sys.executable, "-m", "snakemake", "all", "--cores", str(cores)]
        done = subprocess.run(command, cwd=code, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise InputError(f"the default run of {commit} failed: {said}")
        if tables is not None:
            tables.mkdir(parents=True, exist_ok=True)
            for table in [*(code / "results").glob("*.csv"), *(code / "results").glob("*.md")]:
                shutil.copy(table, tables)
        return seconds


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=CORES)
    cores, commit = parser.parse_args().cores, machine.head()
    tables = file().with_suffix("")
    other, ours = default_run(COMMIT, cores), default_run(commit, cores, tables)
    share = outside(tables / "cost.csv")
    print(f"{ours:.0f} s against {other:.0f} s of {COMMIT[:7]}; {share:.0%} outside training loops")
    today = datetime.now(UTC).date().isoformat()
    timed = Timed(commit, today, machine.machine(), cores, ours, other, share)
    write_json(file(), asdict(timed))


if __name__ == "__main__":
    sys.exit(run(main))
