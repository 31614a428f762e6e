"""What users would otherwise run for GLUE: OpenAI GPT of `transformers`, fine-tuned by its Trainer.

    python -m bench.huggingface WORK padded     as its GLUE example: padded to 128, float32
    python -m bench.huggingface WORK same       our work: both losses, dynamic padding, the quicker
                                                precision, both orders of a similarity pair

The first has no auxiliary loss, as its model has none, and one order of a similarity pair.
"""

import sys
import tempfile
from functools import partial

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

from bench.sides import Turns, quicker
from bench.work import Work, read_rows
from gpt1.data import Sequences
from gpt1.text.tokens import N_SPECIAL

LONGEST = 128  # max_seq_length of the GLUE example


class BothLosses(nn.Module):
    """The loss of the paper's eq. 5 with the model of `transformers`.

    `input_ids` and `attention_mask` are `[n S, time]`: the S orders of a row follow each other, and
    their states are added; `labels` are `[n]`.
    """

    def __init__(self, config: OpenAIGPTConfig, lm_coef: float):
        super().__init__()
        self.model, self.lm_coef = OpenAIGPTModel(config), lm_coef
        self.dropout, self.score = nn.Dropout(0.1), nn.Linear(config.n_embd, config.num_labels)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, labels: Tensor) -> dict:
        """The loss by its name, as the Trainer expects it."""
        hidden = self.model(input_ids, attention_mask=attention_mask).last_hidden_state
        logits = hidden[:, :-1] @ self.model.tokens_embed.weight.T
        targets = input_ids[:, 1:].masked_fill(attention_mask[:, 1:] == 0, -100)
        lm = F.cross_entropy(logits.flatten(0, 1).float(), targets.flatten())
        ends = hidden[torch.arange(len(hidden)), attention_mask.sum(1) - 1]
        states = ends.view(len(labels), -1, ends.shape[1]).sum(1)
        clf = F.cross_entropy(self.score(self.dropout(states)).float(), labels)
        return {"loss": clf + self.lm_coef * lm}


def collate(rows: Sequences, whole: bool, which: list[int]) -> dict[str, Tensor]:
    """A batch of the rows `which`; if not `whole`, only their first sequences, cut and padded."""
    ids, lengths = rows.take(np.array(which))
    if not whole:
        ids, lengths = ids[:, :1, :LONGEST], lengths[:, :1].clip(max=LONGEST)
        ids = np.pad(ids, [(0, 0), (0, 0), (0, LONGEST - ids.shape[2])])
    ids = ids.reshape(-1, ids.shape[2])
    mask = np.arange(ids.shape[1]) < lengths.reshape(-1, 1)
    arrays = {"input_ids": ids, "attention_mask": mask, "labels": rows.labels[which]}
    return {key: torch.from_numpy(array.astype(np.int64)) for key, array in arrays.items()}


def gradients(model: nn.Module, batch: dict[str, Tensor], precision: str) -> None:
    """Forward and backward pass, to see which precision is quicker."""
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16"):
        loss = model(**batch)["loss"]
    loss.backward()
    model.zero_grad()


class TakeTurns(TrainerCallback):
    """Holds the Trainer between steps until it is its turn."""

    def __init__(self, turns: Turns, batch: int, precision: str):
        self.turns, self.batch, self.precision = turns, batch, precision

    def on_train_begin(self, args, state, control, **_):  # noqa: ANN001  as the base class
        """Report ready, now that the model is on its device."""
        self.turns.begin(self.precision)

    def on_step_end(self, args, state, control, **_):  # noqa: ANN001
        """Count the finished step, optimizer included."""
        control.should_training_stop = not self.turns.done(self.batch)


def train(work: Work, same: bool) -> None:
    """Run all turns."""
    turns, rows, shape = Turns(work), read_rows(work.data), work.model["shape"]
    config = OpenAIGPTConfig(
        vocab_size=work.n_vocab + N_SPECIAL,
        n_positions=work.model["n_ctx"],
        n_embd=shape["n_embd"],
        n_layer=shape["n_layer"],
        n_head=shape["n_head"],
        num_labels=work.n_labels,
        pad_token_id=0,
    )
    precision, batch = "float32", partial(collate, rows, same)
    model: nn.Module = OpenAIGPTForSequenceClassification(config)
    if same:
        model = BothLosses(config, work.training["lm_coef"])
        precision = quicker(partial(gradients, model, batch([*range(work.batch)])))
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            output_dir=folder,
            per_device_train_batch_size=work.batch,
            max_steps=work.rounds * (1 + work.steps),
            bf16=precision == "bfloat16",
            use_cpu=True,
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
            train_dataset=range(len(rows)),
            data_collator=batch,
            callbacks=[TakeTurns(turns, work.batch, precision)],
        ).train()


if __name__ == "__main__":
    train(Work.read(sys.argv[1]), sys.argv[2] == "same")
