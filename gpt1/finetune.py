"""Fine-tune cells, each with all its seeds.

    python -m gpt1 finetune results/cells/{full,n_transfer-none}/cola.json \\
        --predictions results/predictions/{full,n_transfer-none}/cola.parquet ...

A cell trains in seconds but a process takes two seconds to start, so one process runs many: cells
of one task that start from one language model, or from none. The distribution of cells over jobs
does not affect results. Every finished run is cached; failed runs are reported at the end, after
all others.

With --weights, the weights of all seeds of one cell are written for `gpt1.predict`, instead of its
JSON. A cell that --keep names stores its weights in the cache when it is trained; one that was
trained before it was named is trained again, to the same scores.
"""

import argparse
import traceback
from collections.abc import Sequence
from pathlib import Path

from gpt1.cell import Cell
from gpt1.records import CellRecord
from gpt1.settings import JobSettings
from gpt1.training import cell_files
from gpt1.training.cell_job import CellJob
from gpt1.training.run_cache import RunCache
from gpt1.training.runtime import Runtime
from gpt1.weights import kept
from tasks.common.errors import InputError


def finetune(job: CellJob, paths: dict[Cell, tuple[Path, Path]], seeds: Sequence[int]) -> list[str]:
    """Run every cell and write its JSON and predictions; returns a line for each failed run.

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
    if job.found:
        print(
            f"taken from an earlier run: {job.found} of {len(job.cells) * len(seeds)}", flush=True
        )
    return failures


def keep(job: CellJob, path: Path, seeds: Sequence[int], tokenizer: Path, out: Path) -> None:
    """Write the weights of the cell whose JSON is at `path`, and the files they need, to `out`.

    Raises InputError if the weights do not score as the cell did: training is repeatable on a CPU,
    but not always on a GPU.
    """
    scores = {one.seed: one.scores for one in CellRecord.read(path).seeds}
    weights = {}
    (cell,) = job.cells
    for seed, checkpoint in job.starts(cell, seeds):
        record = job.run(cell, seed, checkpoint)
        if record.scores != scores.get(seed):
            raise InputError(
                f"{path}: seed {seed}, trained again for its weights, has other scores; delete "
                "that file and run again, which makes cell and weights of one training"
            )
        weights[seed] = job.cache.weights(job.key(cell, seed, checkpoint))
    kept.save(out, path, tokenizer, weights)
    print(f"{out}: kept the weights of {len(weights)} seeds", flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="+", type=Path, help="JSON files to write")
    parser.add_argument("--predictions", nargs="+", type=Path, help="Parquet files, one for each")
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
        "--keep", default=[], type=str.split, help="cells whose weights the cache keeps as well"
    )
    parser.add_argument("--weights", type=Path, help="folder to write the one cell's weights to")
    a = parser.parse_args()
    cells = [Cell.parse(path) for path in a.cells]
    if a.weights and (len(cells) > 1 or not a.tokenizer):
        raise InputError("--weights: needs one cell and --tokenizer")
    if not a.weights and len(a.predictions or ()) != len(cells):
        raise InputError(f"--predictions: give {len(cells)} paths, one for each cell")
    if unknown := {cell.line for cell in cells} - a.settings.lines.keys():
        raise InputError(f"--settings: of {min(unknown)} there are none; give those of each line")
    a.runtime.start()
    names = [cells[0].name] if a.weights else a.keep
    job = CellJob(
        {cell: a.settings.lines[cell.line] for cell in cells},
        *(a.encoded, a.baselines, a.checkpoints, a.runtime, RunCache(a.cache), a.code, names),
        *(a.pretrain_seeds, a.vectors),
    )
    if a.weights:
        return keep(job, a.cells[0], a.seeds, a.tokenizer, a.weights)
    paths = dict(zip(cells, zip(a.cells, a.predictions, strict=True), strict=True))
    if failures := finetune(job, paths, a.seeds):
        raise InputError(f"{len(failures)} runs failed, the others are kept: {'; '.join(failures)}")
