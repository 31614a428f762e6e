"""Our side of a comparison, by the suite's own code: `python -m bench.ours WORK`."""

import sys
import tempfile

from bench.sides import Turns, quicker
from bench.work import Work, batches, read_rows
from gpt1.pretrain import Pretraining
from gpt1.records import CheckpointFacts
from gpt1.settings import CellSettings, ModelSettings, PretrainSettings
from gpt1.training.finetuning import FineTuning
from gpt1.weights.checkpoint import Checkpoint
from tasks.spec import TaskSpec


def finetune(work: Work, turns: Turns) -> None:
    """Fine-tuning updates from random weights, counted in rows."""
    rows, model = read_rows(work.data), ModelSettings(**work.model)
    spec = TaskSpec("rows", work.family, work.n_labels, "accuracy", ("accuracy",))
    facts = CheckpointFacts(
        arch=work.arch, model=model, tokenizer="", n_vocab=work.n_vocab, sha256=""
    )
    settings = CellSettings(**work.training, model=model, n_transfer="none")
    source = Checkpoint({}, facts)
    run = FineTuning(spec, {"train": rows}, source, settings, 0, turns.runtime)
    order = batches(len(rows), work.batch)

    def update(precision: str) -> int:
        run.runtime = turns.runtime.model_copy(update={"precision": precision})
        run.update(next(order))
        return work.batch

    precision = quicker(update) if work.precision == "quicker" else work.precision
    turns.repeat(lambda: update(precision), precision)


def pretrain(work: Work, turns: Turns) -> None:
    """Pre-training updates, counted in tokens."""
    settings = PretrainSettings(**work.training, model=ModelSettings(**work.model))
    runtime = turns.runtime.model_copy(update={"precision": work.precision})
    with tempfile.TemporaryDirectory() as folder:
        run = Pretraining(work.arch, work.data, settings, runtime, folder)

        def update() -> int:
            run.update()
            return run.tokens_per_update

        turns.repeat(update, work.precision)


if __name__ == "__main__":
    given = Work.read(sys.argv[1])
    {"finetune": finetune, "pretrain": pretrain}[given.kind](given, Turns(given))
