"""Fine-tune one model on several tasks at once and write a cell of each.

    cells=results/cells/transformer+together-mnli.rte
    python -m gpt1.multi_task $cells/{mnli,rte}/aux-on/layers-12.json --encoded ...

Encoded tasks and baselines are given in the order of the cells. Finished runs are cached, as those
of `gpt1.cells`.
"""

import argparse
import sys
from dataclasses import asdict
from itertools import cycle
from pathlib import Path

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    from gpt1.cell import Cell
    from gpt1.cells import own_code
    from gpt1.settings import MultiTaskSettings
    from gpt1.training.cell_runner import CellRunner
    from gpt1.training.finetune import RunRecord
    from gpt1.training.multi_task import MultiTask
    from gpt1.training.run_cache import RunCache
    from gpt1.training.runtime import Runtime
    from gpt1.variant import Variant

SHARED = ("lr", "warmup", "method", "model", "optimizer")  # settings of the one body


def check(cells: list[Cell], settings: MultiTaskSettings) -> None:
    """Raise InputError unless the cells are all those of one model, and their settings fit it."""
    groups = {(cell.arch, cell.corpus, cell.variant, cell.aux, cell.n_transfer) for cell in cells}
    if len(groups) > 1:
        raise InputError(f"the cells are of {len(groups)} models; give those of one")
    needed, tasks = Variant.named(cells[0].variant).together, [cell.task for cell in cells]
    if sorted(tasks) != needed:
        raise InputError(
            f"{cells[0].place}: its tasks are {', '.join(needed) or 'its own alone'}, but cells of "
            f"{', '.join(tasks)} are given; give a cell of each"
        )
    if settings.tasks.keys() != set(tasks):
        raise InputError(f"--settings: of {', '.join(settings.tasks)}; give those of the cells")
    for key in SHARED:
        if len({str(getattr(own, key)) for own in settings.tasks.values()}) > 1:
            raise InputError(f"--settings: {key} differs from task to task; give them one")
    method = settings.tasks[needed[0]].method
    if method.layer_decay < 1 or method.gradual_unfreezing:
        raise InputError(f"{cells[0].place}: layers have one rate here; leave out rates by layer")


def records(
    cells: list[Cell], runners: list[CellRunner], seed: int, number: int, cache: RunCache
) -> dict[str, RunRecord]:
    """The record of each task under a seed, from the cache or from training.

    `number` is that of the checkpoint that the seed starts from.
    """
    checkpoint = runners[0].checkpoints[number]
    pairs = list(zip(cells, runners, strict=True))
    key = {"together": [runner.key(cell, seed, checkpoint) for cell, runner in pairs]}
    found = cache.get(key)
    if found is None:
        data = {cell.task: runner.data for cell, runner in pairs}
        settings = {cell.task: runner.settings for cell, runner in pairs}
        transfer, runtime = cells[0].n_transfer, runners[0].runtime
        trained = MultiTask(data, checkpoint, settings, transfer, seed, runtime).train()
        found = {task: asdict(record) for task, record in trained.items()}
        cache.put(key, found)
    return {task: RunRecord(**record) for task, record in found.items()}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="+", type=Path, help="JSON files to write, one for a task")
    parser.add_argument("--encoded", required=True, nargs="+", type=Path)
    parser.add_argument("--baselines", required=True, nargs="+", type=Path)
    parser.add_argument("--checkpoints", required=True, nargs="+", type=Path)
    parser.add_argument("--settings", required=True, type=MultiTaskSettings.parse)
    parser.add_argument("--seeds", required=True, nargs="+", type=int)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", help="digest of the code, part of the cache's key")
    parser.add_argument("--cache", required=True, type=Path, help="folder of finished runs")
    a = parser.parse_args()
    cells, cache = [Cell.parse(path) for path in a.cells], RunCache(a.cache)
    check(cells, a.settings)
    for name in ("encoded", "baselines"):
        if len(getattr(a, name)) != len(cells):
            raise InputError(f"--{name}: {len(getattr(a, name))} for {len(cells)} cells")
    a.runtime.start()
    runners = []
    for cell, encoded, baselines in zip(cells, a.encoded, a.baselines, strict=True):
        inputs = (cell, encoded, baselines, a.checkpoints, a.settings.tasks[cell.task])
        runners.append(CellRunner(*inputs, a.runtime, cache, a.code or own_code()))
        runners[-1].check(cell)
    by_seed = []
    for seed, number in zip(a.seeds, cycle(range(len(a.checkpoints))), strict=False):
        try:
            by_seed.append(records(cells, runners, seed, number, cache))
        except FloatingPointError as error:  # the training diverged
            raise InputError(f"seed {seed}: {error}; lower experiment.finetune.lr") from None
    for path, cell, runner in zip(a.cells, cells, runners, strict=True):
        runner.write(path, cell, [found[cell.task] for found in by_seed])


if __name__ == "__main__":
    sys.exit(run(main))
