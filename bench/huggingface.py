"""What users would otherwise run for GLUE: OpenAI GPT of `transformers`, fine-tuned by its Trainer.

    python -m bench.huggingface JOB padded      as its GLUE example: padded to 128, float32
    python -m bench.huggingface JOB generous    dynamic padding, bfloat16 by autocast
    python -m bench.huggingface JOB accumulated     padded, gradients of the job's micro-batches

No auxiliary loss, for it has none. A pair is one sequence of our tokens, also where we compute both
orders of a similarity.
"""

import sys
import tempfile

import numpy as np
import torch
from torch import Tensor
from transformers import (
    OpenAIGPTConfig,
    OpenAIGPTForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from bench.job import Job, Rows
from bench.turns import Turns

LONGEST = 128  # max_seq_length of the GLUE example
SPECIAL = 3


def rows_of(rows: Rows) -> list[dict[str, np.ndarray]]:
    """The first sequence of every row, cut to `LONGEST`, with its label."""
    arrays = np.load(rows.file)
    sequences = zip(arrays["ids"][:, 0], arrays["lengths"][:, 0], arrays["labels"], strict=True)
    return [{"ids": ids[: min(n, LONGEST)], "label": label} for ids, n, label in sequences]


def collate(rows: list[dict[str, np.ndarray]], to: int | None) -> dict[str, Tensor]:
    """A padded batch: to `to` tokens, or to the longest of its rows."""
    time = to or max(len(row["ids"]) for row in rows)
    ids = torch.zeros(len(rows), time, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, row in enumerate(rows):
        n = len(row["ids"])
        ids[i, :n] = torch.from_numpy(row["ids"].astype(np.int64))
        mask[i, :n] = 1
    labels = torch.tensor([int(row["label"]) for row in rows])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


class TakeTurns(TrainerCallback):
    """Stops the Trainer between steps until it is its turn."""

    def __init__(self, job: Job, turns: Turns, batch: int, note: str):
        self.job, self.turns, self.batch, self.note = job, turns, batch, note

    def on_train_begin(self, args, state, control, **_):  # noqa: ANN001  as the base class
        """Without warm-up the first turn begins here."""
        if not self.job.warm_up:
            self._begin()

    def on_step_end(self, args, state, control, **_):  # noqa: ANN001
        """A step is done, optimizer included."""
        job, done = self.job, state.global_step - self.job.warm_up
        of_turn = job.untimed + job.steps
        if done == 0:
            self._begin()
        elif done > 0 and done % of_turn == 0:
            self.turns.done(job.steps * self.batch)
            if done < job.rounds * of_turn:
                self.turns.wait()
        elif done > 0 and done % of_turn == job.untimed:
            self.turns.restart()

    def _begin(self) -> None:
        self.turns.say(ready=self.note)
        self.turns.wait()


def train(job: Job, rows: Rows, turns: Turns, variant: str) -> None:
    """All turns on one file of rows."""
    own = job.models["transformer"]
    shape, batch, generous = own["shape"], job.training["batch"], variant == "generous"
    at_once = job.runtime["micro_batch"] if variant == "accumulated" else batch
    config = OpenAIGPTConfig(
        vocab_size=job.n_vocab + SPECIAL,
        n_positions=own["n_ctx"],
        n_embd=shape["n_embd"],
        n_layer=shape["n_layer"],
        n_head=shape["n_head"],
        num_labels=rows.n_labels,
        pad_token_id=0,
    )
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=at_once,
            gradient_accumulation_steps=batch // at_once,
            max_steps=job.warm_up + job.rounds * (job.untimed + job.steps),
            bf16=generous,
            use_cpu=job.runtime.get("device", "cpu") == "cpu",
            train_sampling_strategy="sequential",
            remove_unused_columns=False,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        Trainer(
            model=OpenAIGPTForSequenceClassification(config),
            args=arguments,
            train_dataset=rows_of(rows),
            data_collator=lambda given: collate(given, None if generous else LONGEST),
            callbacks=[TakeTurns(job, turns, batch, "bfloat16" if generous else "float32")],
        ).train()


def main() -> None:
    """The command line."""
    path, variant = sys.argv[1:]
    job, turns = Job.read(path), Turns()
    torch.set_num_threads(job.runtime.get("threads", 1))
    for rows in turns.each(job.rows):
        train(job, rows, turns, variant)


if __name__ == "__main__":
    main()
