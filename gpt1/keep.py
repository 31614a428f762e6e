"""Keep the fine-tuned weights of a cell, those of every seed, for `gpt1.predict`.

    python -m gpt1.keep results/cells/transformer/sst2/aux-on/layers-12.json --out results/kept/...

A cell that `experiment.keep` names leaves its weights in the run cache when it is trained. One that
was trained before it was named is trained again here, to the same scores.
"""

import argparse
import sys
from itertools import cycle
from pathlib import Path

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import tasks
    from gpt1.cell import Cell
    from gpt1.settings import FinetuneSettings
    from gpt1.training.cell_runner import CellRunner
    from gpt1.training.run_cache import RunCache
    from gpt1.training.runtime import Runtime
    from gpt1.weights.checkpoint import versions
    from gpt1.weights.kept import KeptFacts, save, save_tokenizer
    from tasks.common.files import read_json


def keep(path: Path, runner: CellRunner, seeds: list[int], tokenizer: Path, out: Path) -> None:
    """Write the weights of the cell whose JSON is at `path`, and what belongs to them, to `out`.

    Raises InputError if the weights do not score as the cell did: training is repeatable on a CPU,
    not always on a GPU.
    """
    cell = Cell.parse(path)
    scores = {one["seed"]: one["scores"] for one in read_json(path)["seeds"]}
    save_tokenizer(out, tokenizer)
    for seed, checkpoint in zip(seeds, cycle(runner.checkpoints), strict=False):
        record = runner.run(cell, seed, checkpoint)
        if record.scores != scores.get(seed):
            raise InputError(
                f"{path}: seed {seed}, trained again for its weights, has other scores; delete "
                "that file and run again, which makes cell and weights of one training"
            )
        facts = KeptFacts(
            cell=cell,
            seed=seed,
            pretrain_seed=checkpoint.facts.seed,
            checkpoint=checkpoint.facts.sha256,
            spec=runner.data.spec,
            labels=class_names(cell.task),
            n_vocab=checkpoint.facts.n_vocab,
            settings=runner.settings,
            runtime=Runtime(**runner.runtime.numeric()),
            scores=record.scores,
            digests=runner.digests,
            versions=versions(),
        )
        save(out, runner.cache.weights(runner.key(cell, seed, checkpoint)), facts)
        print(f"{out}: kept seed {seed}", flush=True)


def class_names(task: str) -> tuple[str, ...] | None:
    """The names of a task's classes; None for scores and for choices."""
    own = tasks.task(task)
    return None if own.family == "multiple_choice" else own.label_names


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cell", type=Path, help="the cell's JSON, of `gpt1.cells`")
    parser.add_argument("--encoded", required=True, type=Path, help="folder of `gpt1.encode`")
    parser.add_argument("--baselines", required=True, type=Path)
    parser.add_argument("--checkpoints", required=True, nargs="+", type=Path)
    parser.add_argument("--tokenizer", required=True, type=Path, help="folder of its two files")
    parser.add_argument("--settings", required=True, type=FinetuneSettings.parse)
    parser.add_argument("--seeds", required=True, nargs="+", type=int)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", required=True, help="the --code that `gpt1.cells` was given")
    parser.add_argument("--cache", required=True, type=Path, help="folder of finished runs")
    parser.add_argument("--out", required=True, type=Path, help="the folder to write")
    a = parser.parse_args()
    a.runtime.start()
    cell = Cell.parse(a.cell)
    inputs = (cell, a.encoded, a.baselines, a.checkpoints, a.settings, a.runtime)
    runner = CellRunner(*inputs, RunCache(a.cache), a.code, [cell.place])
    runner.check(cell)
    keep(a.cell, runner, a.seeds, a.tokenizer, a.out)


if __name__ == "__main__":
    sys.exit(run(main))
