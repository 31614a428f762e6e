"""Bar 7: the default run of this commit and of 27027a1, one after the other, from clean checkouts.

    python -m bench.whole_run --cores 2

Takes as long as both: leave the machine alone. `python -m bench --bars 7` shows what it wrote to
results/bench/whole_run.json. What each run's time was spent on is in its results/cost.md.
"""

import argparse
import subprocess
import sys
import time

from bench.commit import COMMIT, checkout
from bench.sides import ROOT
from tasks.common.errors import InputError, run
from tasks.common.files import write_json


def seconds_of(commit: str, cores: int) -> float:
    """Wall-clock seconds of a commit's default run."""
    with checkout(commit) as code:
        started = time.perf_counter()
        command = [sys.executable, "-m", "snakemake", "all", "--cores", str(cores)]
        done = subprocess.run(command, cwd=code, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise InputError(f"the default run of {commit} failed: {said}")
        return time.perf_counter() - started


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cores", type=int, default=2)
    cores = parser.parse_args().cores
    other, ours = (seconds_of(commit, cores) for commit in (COMMIT, "HEAD"))
    print(f"{ours:.0f} s against {other:.0f} s of {COMMIT[:7]}")
    write_json(
        ROOT / "results" / "bench" / "whole_run.json",
        {"cores": cores, "ours": ours, "other": other},
    )


if __name__ == "__main__":
    sys.exit(run(main))
