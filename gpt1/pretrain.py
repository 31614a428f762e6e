"""Pre-train a language model on the corpus: random windows, warm-up, cosine, checkpoints.

    python -m gpt1.pretrain transformer --corpus results/corpus/corpus.json --settings JSON ...

Source: paper 3.1 and 4.1. Which windows update i sees, and which dropout masks it draws, are pure
functions of (seed, i); a run that was stopped goes on from its last saved state and ends with the
same weights, bit for bit on the CPU. The work folder is keyed by all that decides the result.
"""

import argparse
import csv
import math
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from gpt1.model.language_model import LanguageModel
from gpt1.text.tokens import open_tokens
from gpt1.training.optim import Adam, warmup_cosine
from gpt1.training.runtime import Runtime, seed_step
from gpt1.weights.checkpoint import (
    build,
    read_tensors,
    save_checkpoint,
    sidecar,
    versions,
    write_tensors,
)
from tasks.common.errors import InputError, run
from tasks.common.files import json_argument, read_json, sha256_json, write_atomic

PROGRESS_SECONDS = 5.0
STATE_SECONDS = 60.0  # between saved states, or 50 times what the last one took
LOG_ROWS = 500


def windows(tokens: np.ndarray, n_ctx: int, batch: int, seed: int, update: int) -> np.ndarray:
    """The `[batch, n_ctx]` windows of one update, uniform over the corpus: a pure function."""
    starts = np.random.default_rng([seed, update]).integers(0, len(tokens) - n_ctx + 1, batch)
    return np.stack([tokens[s : s + n_ctx] for s in starts]).astype(np.int64)


def heldout_windows(tokens: np.ndarray, n_ctx: int, limit: int) -> np.ndarray:
    """Windows `[n, n_ctx]` of at most `limit` tokens, spread evenly over all held-out books.

    They do not overlap; where everything fits they follow each other. Books shorter than one
    window altogether make one shorter window.
    """
    n_ctx = min(n_ctx, len(tokens))
    n = max(1, min(limit, len(tokens)) // n_ctx)
    starts = np.linspace(0, len(tokens) - n_ctx, n).astype(np.int64)
    if n == len(tokens) // n_ctx:
        starts = np.arange(n) * n_ctx
    return np.stack([tokens[s : s + n_ctx] for s in starts]).astype(np.int64)


@torch.no_grad()
def heldout_loss(model: LanguageModel, rows: np.ndarray, runtime: Runtime) -> float:
    """Mean next-token loss in nats over windows `[n, n_ctx]`."""
    was_training = model.training
    model.eval()
    total = 0.0
    for chunk in torch.from_numpy(rows).split(32):
        ids = chunk.to(runtime.device)
        lengths = torch.full((len(ids),), ids.size(1), device=runtime.device)
        with runtime.autocast():
            we = model.step_embedding()
            total += float(model.lm_loss(model(ids, we), ids, lengths, we)) * len(ids)
    model.train(was_training)
    return total / len(rows)


class Pretraining:
    """One run: the model, its optimizer, the data, and the work folder that survives a kill."""

    def __init__(
        self,
        arch: str,
        corpus: str | Path,
        settings: dict[str, Any],
        runtime: Runtime,
        work: str | Path,
        code: str = "",
    ):
        self.settings, self.runtime, self.code = settings, runtime, code
        self.options = settings["pretrain"]
        self.facts = read_json(corpus)
        self.train, self.heldout = (open_tokens(corpus, split) for split in ("train", "heldout"))
        n_ctx = settings["model"]["n_ctx"]
        for split, least in (("train", n_ctx), ("heldout", 2)):
            found = len(getattr(self, split))
            if found < least:
                raise InputError(
                    f"{corpus}: the {split} part has {found} tokens, fewer than {least}; "
                    "give more books or a smaller n_ctx"
                )
        self.data = {name: part["sha256"] for name, part in self.facts["splits"].items()}
        facts = {"corpus": self.data, "tokenizer": self.facts["tokenizer"], "code": code}
        key = {"arch": arch, "settings": settings, **facts}
        self.work = Path(work) / f"{arch}-{sha256_json(key)[:16]}"
        self.work.mkdir(parents=True, exist_ok=True)
        self.model = build(arch, settings["model"], self.facts["n_vocab"])
        generator = torch.Generator().manual_seed(self.options["seed"])
        self.model.reset(generator, settings["model"]["init_std"])
        self.model.to(runtime.device).train()
        self.model.rates = self.options["dropout"]
        self.forward = runtime.ready(self.model)
        self.optimizer = Adam(
            self.model.parameters(),
            lr=self.options["lr"],
            schedule=warmup_cosine,
            warmup=self.options["warmup"] / self.options["updates"],
            total=self.options["updates"],
            **settings["optimizer"],
        )
        self.seconds = 0.0
        self.rows: list[dict[str, float]] = []  # the log
        self.resume()

    @property
    def tokens_per_update(self) -> int:
        """Tokens that one update sees."""
        return self.options["batch"] * self.settings["model"]["n_ctx"]

    def update(self) -> torch.Tensor:
        """One optimizer update on the windows of its number; returns the loss in nats."""
        i, n_ctx = self.optimizer.updates, self.settings["model"]["n_ctx"]
        seed = self.options["seed"]
        ids = torch.from_numpy(windows(self.train, n_ctx, self.options["batch"], seed, i))
        seed_step(seed, i)
        self.optimizer.zero_grad()
        total = torch.zeros((), device=self.runtime.device)
        for part in ids.split(self.runtime.micro_batch or len(ids)):
            part = part.to(self.runtime.device)
            lengths = torch.full((len(part),), n_ctx, device=part.device)
            with self.runtime.autocast():
                we = self.model.step_embedding()
                loss = self.model.lm_loss(self.forward(part, we), part, lengths, we)
            loss = loss * (len(part) / len(ids))
            loss.backward()
            total += loss.detach()
        self.optimizer.step()
        return total

    def train_to_end(self, bar: bool) -> None:
        """Train from where the work folder stands to the last update."""
        updates, every = self.options["updates"], max(1, self.options["updates"] // LOG_ROWS)
        wanted = set(self.options["checkpoints"])
        if self.optimizer.updates == 0 and 0 in wanted:
            self.checkpoint(math.nan)
        progress = tqdm(total=updates, initial=self.optimizer.updates, disable=not bar)
        loss_sum = torch.zeros((), device=self.runtime.device)
        counted, took = 0, 0.0
        spoke = saved = clock = time.time()
        while self.optimizer.updates < updates:
            lr = self.optimizer.rate()
            loss_sum += self.update()
            counted += 1
            progress.update()
            done = self.optimizer.updates
            if done % every and done not in wanted:
                continue
            now = time.time()
            self.seconds += now - clock
            clock = now
            loss = float(loss_sum) / counted
            if not math.isfinite(loss):
                raise InputError(f"update {done}: the loss is {loss}; lower experiment.pretrain.lr")
            loss_sum.zero_()
            counted = 0
            self.log(done, loss, lr)
            if now - spoke > PROGRESS_SECONDS and not bar:
                spoke = now
                self.say(done, loss)
            if done in wanted:
                self.checkpoint(loss)
                clock = time.time()  # scoring the held-out books is not training time
            if done in wanted or now - saved > max(STATE_SECONDS, 50 * took):
                saved = time.time()
                self.save_state()
                took = time.time() - saved
        progress.close()

    def say(self, done: int, loss: float) -> None:
        """One line of progress: loss, tokens per second, time left."""
        rate = done * self.tokens_per_update / max(self.seconds, 1e-9)
        left = (self.options["updates"] - done) * self.tokens_per_update / rate
        total = self.options["updates"]
        print(
            f"{self.model.arch} update {done}/{total} loss {loss:.3f} {rate:.0f} tokens/s "
            f"{left:.0f} s left",
            flush=True,
        )

    def log(self, done: int, loss: float, lr: float) -> None:
        """Add one row to the log: mean loss since the row before."""
        tokens = done * self.tokens_per_update
        self.rows.append(
            {"update": done, "loss": loss, "lr": lr, "tokens": tokens, "seconds": self.seconds}
        )

    def path(self, update: int) -> Path:
        """The checkpoint of an update in the work folder."""
        return self.work / f"update-{update}.safetensors"

    def checkpoint(self, train_loss: float) -> None:
        """Score the held-out books and write the checkpoint of the present update."""
        done = self.optimizer.updates
        rows = heldout_windows(self.heldout, self.model.n_ctx, self.options["heldout_tokens"])
        loss = heldout_loss(self.model, rows, self.runtime)
        meta = {
            "update": done,
            "tokens": done * self.tokens_per_update,
            "seconds": round(self.seconds, 3),
            "train_loss": None if math.isnan(train_loss) else train_loss,
            "heldout_loss": loss,
            "heldout_perplexity": math.exp(loss),
            "heldout_tokens": rows.shape[0] * (rows.shape[1] - 1),  # predicted ones
            "parameters": sum(p.numel() for p in self.model.parameters()),
            "model": self.settings["model"],
            "settings": self.settings,
            "tokenizer": self.facts["tokenizer"],
            "corpus": self.data,
            "code": self.code,
            "versions": versions(),
            "device": self.runtime.device,
            "precision": self.runtime.precision,
            "peak_mb": self.runtime.peak_mb(),
        }
        save_checkpoint(self.path(done), self.model, meta)

    def save_state(self) -> None:
        """Write what a restart needs, whole or not at all."""
        rows = [[r[k] for k in ("update", "loss", "lr", "tokens", "seconds")] for r in self.rows]
        table = torch.tensor(rows, dtype=torch.float64).reshape(-1, 5)
        write_tensors(self.work / "state.safetensors", {**self.optimizer.state(), "log": table})

    def resume(self) -> None:
        """Go on from the work folder's state, if there is one."""
        path = self.work / "state.safetensors"
        if not path.exists():
            return
        try:
            state = read_tensors(path)
        except InputError as error:
            path.rename(path.with_suffix(".damaged"))
            print(f"warning: {error}; starting anew", flush=True)
            return
        self.optimizer.load_state(state)
        keys = ("update", "loss", "lr", "tokens", "seconds")
        for row in state["log"].tolist():
            values = dict(zip(keys, row, strict=True))
            self.rows.append({**values, "update": int(row[0]), "tokens": int(row[3])})
        self.seconds = self.rows[-1]["seconds"] if self.rows else 0.0
        print(f"going on from update {self.optimizer.updates}", flush=True)

    def publish(self, out: str | Path) -> None:
        """Copy the checkpoints, their JSON files and the log to the declared outputs."""
        out = Path(out)
        out.mkdir(parents=True, exist_ok=True)
        for update in self.options["checkpoints"]:
            for source in (self.path(update), sidecar(self.path(update))):
                with write_atomic(out / source.name, "wb") as file, open(source, "rb") as original:
                    shutil.copyfileobj(original, file)
        with write_atomic(out / "log.csv") as file:
            writer = csv.DictWriter(file, ["update", "loss", "lr", "tokens", "seconds"])
            writer.writeheader()
            writer.writerows(self.rows)


def pretrain(
    arch: str,
    corpus: str | Path,
    settings: dict[str, Any],
    runtime: Runtime,
    work: str | Path,
    out: str | Path,
    code: str = "",
    bar: bool = False,
) -> None:
    """Pre-train `arch` from its first update, or from where it was, and publish its checkpoints."""
    runtime.start()
    training = Pretraining(arch, corpus, settings, runtime, work, code)
    training.train_to_end(bar)
    training.publish(out)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("arch", choices=["transformer", "lstm"])
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--settings", required=True, type=json_argument)
    parser.add_argument("--runtime", default={}, type=json_argument)
    parser.add_argument("--code", default="", help="digest of the code, part of the work key")
    parser.add_argument("--work", required=True)
    parser.add_argument("--out", required=True)
    a = parser.parse_args()
    runtime = Runtime(**a.runtime)
    bar = sys.stderr.isatty()
    pretrain(a.arch, a.corpus, a.settings, runtime, a.work, a.out, a.code, bar)


if __name__ == "__main__":
    sys.exit(run(main))
