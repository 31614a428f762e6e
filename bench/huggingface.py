"""What users would otherwise run for GLUE: OpenAI GPT of `transformers`, fine-tuned by its Trainer.

    python -m bench.huggingface JOB padded      as its GLUE example: padded to 128, float32
    python -m bench.huggingface JOB accumulated     padded, gradients of the job's micro-batches
    python -m bench.huggingface JOB same        our work: both losses, dynamic padding, the quicker
                                                precision, both orders of a similarity

The first two have no auxiliary loss, for it has none, and one order of a similarity.
"""

import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import (
    OpenAIGPTConfig,
    OpenAIGPTForSequenceClassification,
    OpenAIGPTModel,
    Trainer,
    TrainerCallback,
    TrainingArguments,
)

from bench.job import Job, Rows
from bench.turns import Turns, quicker

LONGEST = 128  # max_seq_length of the GLUE example
SPECIAL = 3


class BothLosses(nn.Module):
    """The loss of the paper's eq. 5 with the model of `transformers`.

    `input_ids` and `attention_mask` `[n S, time]`, the S orders of a row after each other, whose
    states are added; `labels` `[n]`.
    """

    def __init__(self, config: OpenAIGPTConfig, lm_coef: float):
        super().__init__()
        self.model, self.lm_coef = OpenAIGPTModel(config), lm_coef
        self.dropout, self.score = nn.Dropout(0.1), nn.Linear(config.n_embd, config.num_labels)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor) -> dict:
        """As the Trainer wants it: the loss by its name."""
        hidden = self.model(input_ids, attention_mask=attention_mask).last_hidden_state
        logits = hidden[:, :-1] @ self.model.tokens_embed.weight.T
        targets = input_ids[:, 1:].masked_fill(attention_mask[:, 1:] == 0, -100)
        lm = F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
        ends = hidden[torch.arange(len(hidden)), attention_mask.sum(1) - 1]
        states = ends.view(len(labels), -1, ends.shape[1]).sum(1)
        clf = F.cross_entropy(self.score(self.dropout(states)).float(), labels)
        return {"loss": clf + self.lm_coef * lm}


def rows_of(rows: Rows, whole: bool) -> list[dict]:
    """Every row's sequences with its label; not `whole`, the first alone, cut to `LONGEST`."""
    arrays = np.load(rows.file)
    examples = []
    for ids, lengths, label in zip(arrays["ids"], arrays["lengths"], arrays["labels"], strict=True):
        sequences = [one[:n] for one, n in zip(ids, lengths, strict=True)]
        examples.append({"ids": sequences if whole else [sequences[0][:LONGEST]], "label": label})
    return examples


def collate(rows: list[dict], to: int | None) -> dict[str, Tensor]:
    """A padded batch: to `to` tokens, or to the longest of its sequences."""
    sequences = [ids for row in rows for ids in row["ids"]]
    ids = torch.zeros(len(sequences), to or max(map(len, sequences)), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, sequence in enumerate(sequences):
        ids[i, : len(sequence)] = torch.from_numpy(sequence.astype(np.int64))
        mask[i, : len(sequence)] = 1
    labels = torch.tensor([int(row["label"]) for row in rows])
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def quicker_precision(model: nn.Module, batch: dict[str, Tensor]) -> str:
    """float32 or bfloat16: whichever takes less for the gradients of a batch."""

    def gradients(precision: str) -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
            loss = model(**batch)["loss"]
        loss.backward()
        model.zero_grad()

    return quicker(gradients)


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
    shape, batch, same = own["shape"], job.training["batch"], variant == "same"
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
    examples, time, precision = rows_of(rows, same), None if same else LONGEST, "float32"
    if same:
        model: nn.Module = BothLosses(config, job.training["lm_coef"])
        precision = quicker_precision(model, collate(examples[:batch], time))
    else:
        model = OpenAIGPTForSequenceClassification(config)
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=at_once,
            gradient_accumulation_steps=batch // at_once,
            max_steps=job.warm_up + job.rounds * (job.untimed + job.steps),
            bf16=precision == "bfloat16",
            use_cpu=job.runtime.get("device", "cpu") == "cpu",
            train_sampling_strategy="sequential",
            remove_unused_columns=False,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        Trainer(
            model=model,
            args=arguments,
            train_dataset=examples,
            data_collator=lambda given: collate(given, time),
            callbacks=[TakeTurns(job, turns, batch, precision)],
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
