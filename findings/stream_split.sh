#!/usr/bin/env bash
# datasets 5.2.0: `take(n)` and `skip(n)` of a stream do not hold rows out: after the first epoch, or
# with workers, a model is trained on most of the rows that it is tested on.
#
# Who meets it: anyone who streams books or task rows, holds out `rows.take(n)`, and trains on
# `rows.skip(n)` for more than one epoch or with workers that load data.
# A good guess: both parts are cut from one order, so they never share a row. The documentation says
# to shuffle before splitting because both fix the order; so epochs shuffle within the training part.
# Seen: each part reads the stream anew. Trainer gives a new epoch to the training part, which shuffles
# all rows anew and skips others: of 200 rows held out the model sees all 200 by the fifth epoch, and is
# right on nearly all although labels are flipped coins; with train_test_split it is right on half.
# Each of k workers takes or skips n / k rows of its own shards, so even unshuffled parts share half of
# the held-out rows or more where the numbers of workers differ. No warning.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  datasets==5.2.0 pyarrow==26.0.1 torch==2.13.0 transformers==5.23.0 accelerate==1.15.0 numpy==2.4.6
cd "$folder"
cat > split.py <<'PYTHON'
import datasets
import torch
from datasets import Dataset
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainingArguments

ROWS, HELD, EPOCHS, BATCH = 1000, 200, 5, 20
COINS = torch.randint(0, 2, (ROWS,), generator=torch.Generator().manual_seed(0)).tolist()


class ByHeart(torch.nn.Module):
    """Learns each row's label by heart, nothing else; notes the rows that it reads."""

    def __init__(self):
        super().__init__()
        self.logits = torch.nn.Embedding(ROWS, 2)
        self.read = {True: [], False: []}

    def forward(self, id, labels):
        self.read[self.training] += id.tolist()
        logits = self.logits(id)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}


def parts(kind):
    """The rows held out and the rows to train on."""
    rows = Dataset.from_dict({"id": range(ROWS), "labels": COINS})
    if kind == "table":
        split = rows.train_test_split(test_size=HELD, seed=0)
        return split["test"], split["train"]
    rows = rows.to_iterable_dataset(num_shards=4)
    if kind == "shuffled stream":
        rows = rows.shuffle(seed=0, buffer_size=ROWS)
    return rows.take(HELD), rows.skip(HELD)


def trained(kind):
    """How many tested rows were trained on, by the end of each epoch; accuracy on the tested rows."""
    torch.manual_seed(0)
    model, (test, train) = ByHeart(), parts(kind)
    arguments = TrainingArguments(
        "out", per_device_train_batch_size=BATCH, per_device_eval_batch_size=BATCH, seed=0,
        max_steps=EPOCHS * (ROWS - HELD) // BATCH, learning_rate=0.1, logging_strategy="no",
        save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True,
    )
    trainer = Trainer(
        model, arguments, train_dataset=train, eval_dataset=test,
        compute_metrics=lambda p: {"accuracy": (p.predictions.argmax(-1) == p.label_ids).mean()},
    )
    trainer.remove_callback(PrinterCallback)
    trainer.train()
    accuracy = trainer.evaluate()["eval_accuracy"]
    read, tested = model.read[True], set(model.read[False])
    assert len(tested) == HELD
    return [len(tested & set(read[: i * (ROWS - HELD)])) for i in range(1, EPOCHS + 1)], accuracy


def ids(rows, workers):
    batches = DataLoader(rows, batch_size=BATCH, num_workers=workers)
    return {one for batch in batches for one in batch["id"].tolist()}


if __name__ == "__main__":
    assert datasets.__version__ == "5.2.0"
    datasets.disable_progress_bars()
    found = {}
    for kind in ("table", "stream", "shuffled stream"):
        found[kind] = shared, accuracy = trained(kind)
        print(f"{kind}: of {HELD} rows held out, trained on by epoch: {shared}; right: {accuracy:.0%}")
    test, train = parts("stream")
    shared = [len(ids(test, 0) & ids(train, workers)) for workers in (0, 2, 4)]
    print(f"stream, one pass, training rows read by 0, 2, 4 workers: {shared} held-out rows in them")
    for kind in ("table", "stream"):
        assert found[kind][0] == [0] * EPOCHS and found[kind][1] < 0.6
    assert shared[0] == 0 and found["shuffled stream"][0][0] == 0
    assert found["shuffled stream"][0][-1] > HELD / 2, "epochs keep held-out rows apart now"
    assert found["shuffled stream"][1] > 0.7
    assert min(shared[1:]) >= HELD / 4, "workers keep held-out rows apart now"
PYTHON
HF_HUB_OFFLINE=1 HF_HOME="$folder/home" venv/bin/python -W ignore split.py 2> log.txt || { cat log.txt; exit 1; }
