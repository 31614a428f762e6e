"""Fine-tune cells, each with all its seeds.

    python -m gpt1 finetune results/cells/{full,n_transfer-none}/cola.json \\
        --predictions results/predictions/{full,n_transfer-none}/cola.parquet ...

A cell trains in seconds but a process takes two seconds to start, so one process runs many: cells
of one task that start from one language model, or from none. The distribution of cells over jobs
does not affect results. Every finished run is cached; failed runs are reported at the end, after
all others.

With --weights, the weights of all seeds of the one cell are written for `gpt1.predict` as well.
"""

import argparse
import traceback
from collections.abc import Sequence
from pathlib import Path

from gpt1.cell import Cell
from gpt1.settings import JobSettings
from gpt1.training import cell_files
from gpt1.training.cell_job import CellJob, RunCache
from gpt1.training.runtime import Runtime
from gpt1.weights import kept
from tasks.common.errors import InputError


def finetune(
    job: CellJob,
    paths: dict[Cell, tuple[Path, Path]],
    seeds: Sequence[int],
    kept_in: Path | None = None,
    tokenizer: Path = Path(),
) -> list[str]:
    """Run every cell and write its JSON and predictions; returns a line for each failed run.

    A job that keeps weights, of one cell, writes them to `kept_in`, with the files of `tokenizer`.
    A failed run costs only its own cell. Raises InputError or OSError for a file that cannot be
    read or written and for a lack of memory, which stop all cells.
    """
    failures = []
    for cell in job.cells:
        runs = []
        for seed, checkpoint in job.starts(cell, seeds):
            fault = f"{paths[cell][0]}, seed {seed}"
            try:
                events = paths[cell][0].with_suffix("") / f"seed-{seed}"
                runs.append((checkpoint, job.run(cell, seed, checkpoint, events)))
            except (InputError, OSError):  # a full disk or memory, or a damaged file: stops all
                raise
            except FloatingPointError as error:  # the training diverged
                failures.append(f"{fault}: {error}; lower experiment.finetune.lr")
            except Exception as error:  # a bug: reported in full, but the other cells still run
                traceback.print_exc()
                failures.append(f"{fault}: {type(error).__name__}: {error}")
        if len(runs) == len(seeds):
            cell_files.write(cell, *paths[cell], runs, job)
            if kept_in:
                weights = {record.seed: job.cache.weights(record.key) for _, record in runs}
                kept.save(kept_in, paths[cell][0], tokenizer, weights)
                print(f"{kept_in}: kept the weights of {len(weights)} seeds", flush=True)
    if job.found:
        print(
            f"taken from an earlier run: {job.found} of {len(job.cells) * len(seeds)}", flush=True
        )
    return failures


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="+", type=Path, help="JSON files to write")
    parser.add_argument(
        "--predictions", default=[], nargs="+", type=Path, help="Parquet files, one for each"
    )
    parser.add_argument("--encoded", required=True, type=Path, help="the encoded task")
    parser.add_argument("--baselines", required=True, type=Path, help="JSON of its baselines")
    parser.add_argument(
        "--checkpoints",
        default=[],
        nargs="*",
        type=Path,
        help="one for each pre-training seed; none if no cell is transferred anything",
    )
    parser.add_argument(
        "--pretrain-seeds",
        default=[0],
        nargs="+",
        type=int,
        help="without a checkpoint the i-th of --seeds is paired with the i-th of these, modulo "
        "their number",
    )
    parser.add_argument(
        "--vectors", default=[], nargs="*", type=Path, help="word vectors, of each width one"
    )
    parser.add_argument("--settings", required=True, type=JobSettings.parse, help="by line")
    parser.add_argument("--seeds", required=True, nargs="+", type=int)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument(
        "--code",
        required=True,
        help="digest of the code, part of the cache's key: give another after an edit",
    )
    parser.add_argument("--cache", required=True, type=Path, help="folder of finished runs")
    parser.add_argument("--tokenizer", type=Path, help="folder of its files, for --weights")
    parser.add_argument(
        "--weights", nargs="?", type=Path, help="folder to write the one cell's weights to"
    )
    a = parser.parse_args()
    cells = [Cell.parse(path) for path in a.cells]
    if a.weights and (len(cells) > 1 or not a.tokenizer):
        raise InputError("--weights: needs one cell and --tokenizer")
    if len(a.predictions) != len(cells):
        raise InputError(f"--predictions: give {len(cells)} paths, one for each cell")
    if unknown := {cell.line for cell in cells} - a.settings.lines.keys():
        raise InputError(f"--settings: of {min(unknown)} there are none; give those of each line")
    a.runtime.start()
    job = CellJob(
        {cell: a.settings.lines[cell.line] for cell in cells},
        *(a.encoded, a.baselines, a.checkpoints, a.runtime, RunCache(a.cache), a.code),
        *(a.pretrain_seeds, a.vectors, bool(a.weights)),
    )
    paths = dict(zip(cells, zip(a.cells, a.predictions, strict=True), strict=True))
    if failures := finetune(job, paths, a.seeds, a.weights, a.tokenizer):
        raise InputError(f"{len(failures)} runs failed, the others are kept: {'; '.join(failures)}")
