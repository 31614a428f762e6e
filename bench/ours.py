"""Our side of a comparison: the suite's own training and scoring, on the rows of a job.

python -m bench.ours finetune JOB       updates of fine-tuning, in rows
python -m bench.ours pretrain JOB       updates of pre-training, in tokens; rows: corpus.json
python -m bench.ours zero_shot JOB      multiple-choice items scored without training
python -m bench.ours cell JOB           whole fine-tuning runs with their scores, a round a seed
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch

from bench.job import Job, Rows
from bench.rows import Batches
from bench.turns import Turns, quicker
from gpt1.settings import Dropout, FinetuneSettings, ModelSettings, PretrainSettings
from gpt1.training.batching import Sequences
from gpt1.training.encoded import EncodedSplit
from gpt1.training.finetuning import FineTuning
from gpt1.training.pretraining import Pretraining
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.training.task_data import TaskData
from gpt1.weights.checkpoint import Checkpoint, StoredFacts, build
from gpt1.zero_shot import choice_predictions
from tasks.spec import TaskSpec

QUICKER = "quicker"


def runtime_of(job: Job) -> Runtime:
    """The job's runtime, in float32 where the precision is still to be chosen."""
    given = job.runtime.get("precision", "float32")
    return Runtime(**job.runtime | {"precision": "float32" if given == QUICKER else given})


def fine_tuning(job: Job, rows: Rows, seed: int = 0, cut: bool = False) -> FineTuning:
    """A run on a job's rows, from random weights, at update 0.

    With `cut` a tenth of the rows selects and another is scored.
    """
    arrays = np.load(rows.file)
    labels = arrays["labels"]
    train = Sequences(arrays["ids"], arrays["lengths"], labels, [""] * len(labels), 0.0)
    metric = "pearson" if labels.dtype.kind == "f" else "accuracy"
    spec = TaskSpec(rows.task, rows.family, rows.n_labels, metric, (metric,))
    model = ModelSettings(**job.models[rows.arch])
    facts = StoredFacts(arch=rows.arch, model=model, tokenizer="", n_vocab=job.n_vocab, sha256="")
    settings = FinetuneSettings(**job.training, model=model)
    source = Checkpoint({}, facts)
    splits = parts_of(train) if cut else {"train": train}
    return FineTuning(TaskData(spec, splits), source, settings, "none", seed, runtime_of(job))


def parts_of(every: Sequences) -> dict[str, Sequences]:
    """Rows cut into those that train, that select and that are scored."""
    tenth, found = len(every) // 10, {}
    parts = {"train": slice(2 * tenth, None), "train_eval": slice(-tenth, None)}
    parts |= {"select": slice(0, tenth), "dev": slice(tenth, 2 * tenth)}
    for name, part in parts.items():
        arrays = {key: getattr(every, key)[part] for key in ("ids", "lengths", "labels")}
        found[name] = replace(every, **arrays, groups=every.groups[part])
    return found


def quicker_precision(run: FineTuning, rows: np.ndarray) -> str:
    """float32 or bfloat16: whichever takes less for an update."""

    def update(precision: str) -> None:
        run.runtime = run.runtime.model_copy(update={"precision": precision})
        run.update(rows)

    return quicker(update)


def finetune(job: Job, turns: Turns) -> None:
    """Updates of fine-tuning on every file of rows."""
    for rows in turns.each(job.rows):
        run = fine_tuning(job, rows)
        batches = Batches(len(run.data.splits["train"]), run.batch)
        note = run.runtime.precision
        if job.runtime.get("precision") == QUICKER:
            note = quicker_precision(run, batches.first())
            run.runtime = run.runtime.model_copy(update={"precision": note})

        def work(steps: int, run: FineTuning = run, batches: Batches = batches) -> int:
            for _ in range(steps):
                run.update(batches.next())
            synchronize(run.runtime)
            return steps * run.batch

        turns.take(job, work, note)


def cell(job: Job, turns: Turns) -> None:
    """Whole fine-tuning runs, one seed a round; a tenth of the rows selects, another is scored."""
    for rows in turns.each(job.rows):
        seeds = iter(range(job.rounds))

        def work(_steps: int, rows: Rows = rows, seeds: Iterator[int] = seeds) -> int:
            run = fine_tuning(job, rows, next(seeds), cut=True)
            return len(run.train().predictions["dev"])

        turns.take(job, work, job.runtime.get("precision", "float32"))


def pretrain(job: Job, turns: Turns) -> None:
    """Updates of pre-training on a corpus."""
    for rows in turns.each(job.rows):
        model = ModelSettings(**job.models[rows.arch])
        settings = PretrainSettings(**job.training, model=model)
        with tempfile.TemporaryDirectory() as folder:
            run = Pretraining(rows.arch, rows.file, settings, runtime_of(job), folder)

            def work(steps: int, run: Pretraining = run) -> int:
                for _ in range(steps):
                    run.update()
                synchronize(run.runtime)
                return steps * run.tokens_per_update

            turns.take(job, work, run.runtime.precision)


def zero_shot(job: Job, turns: Turns) -> None:
    """Items scored by the suite's own heuristic for RACE."""
    for rows in turns.each(job.rows):
        settings = ModelSettings(**job.models[rows.arch])
        model = build(rows.arch, settings, job.n_vocab, Dropout())
        model.reset(torch.Generator().manual_seed(0))
        scorer = Scorer(model, 0, runtime_of(job))
        items = texts_of(rows.file)
        batches = Batches(len(items), job.training["batch"])

        def work(
            steps: int,
            scorer: Scorer = scorer,
            items: EncodedSplit = items,
            batches: Batches = batches,
        ) -> int:
            for _ in range(steps):
                choice_predictions(scorer, items.take(batches.next()), "race")
            return steps * batches.size

        turns.take(job, work, scorer.runtime.precision)


def texts_of(file: str) -> EncodedSplit:
    """The texts of a file of multiple-choice rows: documents, questions and choices."""
    arrays = np.load(file)
    first, second, choices = (list(arrays[key]) for key in ("first", "second", "choices"))
    n, empty = len(first), [""] * len(first)
    return EncodedSplit(empty, empty, np.zeros(n, np.int64), first, second, [*map(list, choices)])


def synchronize(runtime: Runtime) -> None:
    """Wait for a GPU, whose calls return before they are done."""
    if runtime.device.startswith("cuda"):
        torch.cuda.synchronize()


def main() -> None:
    """The command line."""
    kind, path = sys.argv[1:]
    job, turns = Job.read(path), Turns()
    runtime_of(job).start()
    kinds = {"finetune": finetune, "pretrain": pretrain, "zero_shot": zero_shot, "cell": cell}
    kinds[kind](job, turns)


if __name__ == "__main__":
    main()
