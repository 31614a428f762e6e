"""Keep a finished run as data: its tables and pages, its cells and their rows, and its models.

    python -m bench.keep results bench/default_run

`gpt1.results` reads the folder, `gpt1.compare` takes it as a side, and `gpt1.load` its language
models, of which the last checkpoints are kept.
"""

import argparse
import shutil
import sys
from pathlib import Path

from tasks.common.errors import InputError
from tasks.common.programs import run

KEPT = (
    *("config.yaml", "*.csv", "*.md", "index.html", "studies/*.csv", "studies/*.md"),
    *("cells/*/*.json", "predictions/*/*.parquet", "tokenizer/*", "pretrain/*/*/log.csv"),
)


def keep(results: Path, out: Path) -> int:
    """Copy what is kept of a run; returns the bytes. Raises InputError for an unfinished run."""
    if not (results / "index.html").is_file():
        raise InputError(f"{results}: no finished run, its index.html is missing; give results")
    paths = {path for pattern in KEPT for path in results.glob(pattern)}
    for seed in results.glob("pretrain/*/*"):
        updates = sorted(seed.glob("update-*.json"), key=lambda path: int(path.stem[7:]))
        for last in updates[-1:]:
            paths |= {last, last.with_suffix(".safetensors")}
    for path in sorted(paths):
        to = out / path.relative_to(results)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    return sum(path.stat().st_size for path in paths)


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path, help="the folder of a finished run")
    parser.add_argument("out", type=Path, help="the folder to keep it in")
    args = parser.parse_args(argv)
    print(f"{args.out}: {keep(args.results, args.out) / 1e6:.1f} MB")


if __name__ == "__main__":
    sys.exit(run(main))
