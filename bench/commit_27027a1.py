"""Fine-tuning by the code of commit 27027a1, which stands first on this process's path.

python -m bench.commit_27027a1 JOB
"""

import sys

import numpy as np
from gpt1.batching import Sequences
from gpt1.runtime import Runtime
from tasks.kind import Kind

from bench.job import Job, Rows
from bench.rows import Batches
from bench.turns import Turns
from gpt1.finetune import FineTuning, TaskData

RUNTIME = ("device", "precision", "threads", "micro_batch", "skip_pads", "compile")


def fine_tuning(job: Job, rows: Rows, runtime: Runtime) -> FineTuning:
    """A run on a job's rows, from random weights, at update 0."""
    arrays = np.load(rows.file)
    train = Sequences(arrays["ids"], arrays["lengths"], arrays["labels"], 0.0)
    family = "choice" if rows.family == "multiple_choice" else rows.family
    kind = Kind(rows.task, family, rows.n_labels, "accuracy", ("accuracy",))
    names = ("n_ctx", "shape", "embd_dropout", "lm_softmax", "init_std")
    given = job.training
    settings = {
        "model": {name: job.models[rows.arch][name] for name in names},
        "optimizer": given["optimizer"],
        "finetune": {key: given[key] for key in ("epochs", "batch", "lr", "warmup", "dropout")},
    }
    data = TaskData(kind, {"train": train}, {"train": [""] * len(train)})
    return FineTuning(
        *(data, rows.arch, job.n_vocab, settings, None, -1, given["lm_coef"], 0, runtime)
    )


def main() -> None:
    """The command line."""
    job, turns = Job.read(sys.argv[1]), Turns()
    runtime = Runtime(**{key: job.runtime[key] for key in RUNTIME if key in job.runtime})
    runtime.start()
    for rows in turns.each(job.rows):
        run = fine_tuning(job, rows, runtime)
        batches = Batches(len(run.data.splits["train"]), run.batch)

        def work(steps: int, run=run, batches=batches) -> int:
            for _ in range(steps):
                run.update(batches.next())
            return steps * run.batch

        turns.take(job, work)


if __name__ == "__main__":
    main()
