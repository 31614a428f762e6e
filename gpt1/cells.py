"""Fine-tune cells of one (arch, corpus, variant, task, aux), each with its seeds.

    python -m gpt1.cells results/cells/transformer/cola/aux-on/layers-{none,12}.json ...

A cell trains in seconds where a process takes two to start, so one process runs many. Cells are
named by the paths of their JSON files; how they are distributed over jobs leaves no other trace.
Every finished run is cached; failed runs are reported at the end, after all others.
"""

import argparse
import sys
from pathlib import Path

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    from gpt1.cell import Cell
    from gpt1.settings import FinetuneSettings
    from gpt1.training.cell_runner import CellRunner, run_cells
    from gpt1.training.run_cache import RunCache
    from gpt1.training.runtime import Runtime
    from gpt1.variant import Variant
    from tasks.common.files import sha256_file, sha256_json


def own_code() -> str:
    """Digest of this package and of `tasks`, for a call by hand without `--code`."""
    root = Path(__file__).parent.parent
    files = sorted(path for name in ("gpt1", "tasks") for path in (root / name).rglob("*.py"))
    return sha256_json([sha256_file(path) for path in files])


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "cells",
        nargs="+",
        type=Path,
        help="JSON files to write, all of one arch, corpus, variant, task and aux",
    )
    parser.add_argument("--encoded", required=True, type=Path, help="folder of `gpt1.encode`")
    parser.add_argument("--baselines", required=True, type=Path)
    parser.add_argument(
        "--checkpoints",
        required=True,
        nargs="+",
        type=Path,
        help="one for each pre-training seed; the i-th of --seeds starts from the i-th, modulo "
        "their number",
    )
    parser.add_argument("--settings", required=True, type=FinetuneSettings.parse)
    parser.add_argument("--seeds", required=True, nargs="+", type=int)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", help="digest of the code, part of the cache's key")
    parser.add_argument("--cache", required=True, type=Path, help="folder of finished runs")
    parser.add_argument(
        "--keep", default=[], type=str.split, help="cells whose weights the cache keeps as well"
    )
    a = parser.parse_args()
    cells = [Cell.parse(path) for path in a.cells]
    if Variant.named(cells[0].variant).together:
        raise InputError(f"{a.cells[0]}: one of several tasks; give all paths to gpt1.multi_task")
    groups = {(cell.arch, cell.corpus, cell.variant, cell.task, cell.aux) for cell in cells}
    if len(groups) > 1:
        raise InputError(
            f"the cells are of {len(groups)} groups; give one arch, corpus, variant, task and aux"
        )
    a.runtime.start()
    inputs = (cells[0], a.encoded, a.baselines, a.checkpoints, a.settings, a.runtime)
    runner = CellRunner(*inputs, RunCache(a.cache), a.code or own_code(), a.keep)
    failures = run_cells(a.cells, a.seeds, runner)
    if failures:
        raise InputError(f"{len(failures)} runs failed, the others are kept: {'; '.join(failures)}")


if __name__ == "__main__":
    sys.exit(run(main))
