"""Print the tables of a folder of results, and which of its files are missing.

python -m workflow.show results
"""

import argparse
import csv
import os
import shlex
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tasks.common.errors import InputError, run
from workflow.results_folder import CONFIG, PROJECT

TABLES = (
    "positive_control",
    "claims",
    "main",
    "ablation",
    "layer_transfer",
    "zero_shot",
    "pretraining",
)
MOST = 10  # kinds of missing files that are listed


def tables(results: Path) -> Iterator[str]:
    """The Markdown of the tables that are there, then that of the studies that were made."""
    paths = [results / f"{name}.md" for name in TABLES]
    paths += sorted((results / "studies").glob("*.md"))
    for path in paths:
        if path.is_file():
            yield path.read_text(encoding="utf-8", errors="replace").rstrip()


def outputs(results: Path) -> list[dict[str, str]]:
    """Every file that the run of these results makes, as `snakemake --summary` lists them.

    Raises InputError if Snakemake cannot list them.
    """
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile")]
    command += ["--summary", "--nolock", *config_options(results), "--", "all"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or "it said nothing").splitlines()[-1]
        raise InputError(f"{results}: snakemake cannot list its files: {last}")
    return list(csv.DictReader(done.stdout.splitlines(), delimiter="\t"))


def config_options(results: Path) -> list[str]:
    """Snakemake's options for the config that these results were made with."""
    return ["--configfile", str(results / CONFIG)]


def missing(results: Path) -> Iterator[str]:
    """Which files are missing, by the rule that makes them, and the command that makes one."""
    rows = outputs(results)
    lacking: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row["status"] == "missing":
            lacking[row["rule"]].append(row["output_file"])
    if not lacking:
        yield "Nothing that a run makes is missing."
        return
    yield f"{sum(map(len, lacking.values()))} of {len(rows)} files are missing:"
    for rule, files in list(lacking.items())[:MOST]:
        others = f" and {len(files) - 1} more" if files[1:] else ""
        yield f"  {rule}: {files[0]}{others}"
    if len(lacking) > MOST:
        yield f"  and those of {len(lacking) - MOST} more rules"
    first = next(iter(lacking.values()))[0]
    options = shlex.join([*config_options(results), "--", first])
    yield f"Each is made by its name: snakemake --cores all {options}"


def main() -> None:
    """The command line. Raises InputError for a folder that holds no results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"))
    results = Path(os.path.relpath(parser.parse_args().results))
    if not (results / CONFIG).is_file():
        raise InputError(f"{results}: no results with a {CONFIG}; run snakemake, or name another")
    for text in (*tables(results), "\n".join(missing(results))):
        print(text, end="\n\n")


if __name__ == "__main__":
    sys.exit(run(main))
