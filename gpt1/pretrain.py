"""Pre-train a language model on the corpus: random windows, warm-up, cosine, checkpoints.

    python -m gpt1 pretrain transformer --corpus results/corpus/corpus.json --settings JSON ...

Several processes train one model if torchrun starts them:

    torchrun --standalone --nproc-per-node=2 -m gpt1 pretrain transformer ...

Source: paper 3.1 and 4.1. The windows of update i are a pure function of (seed, i), the dropout
masks of a micro-batch one of (seed, i, its first window). An interrupted run resumes from its last
saved state and ends with the same weights, bit for bit on the CPU. The work folder is keyed by
everything that determines the result, precision and versions included. With several processes, only
the first one reads and writes it.
"""

import argparse
import contextlib
import math
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from gpt1.cell import ARCHS, Arch
from gpt1.records import CorpusFacts
from gpt1.settings import PretrainSettings
from gpt1.streams import torch_seed
from gpt1.text.tokens import open_tokens
from gpt1.training.distributed import Processes, join
from gpt1.training.optim import Adam, Schedule, warmup_cosine
from gpt1.training.run_files import LogRow, TrainingLog, WorkFolder, event_writer
from gpt1.training.runtime import Runtime, cpu
from gpt1.training.windows import accumulate, heldout_loss, heldout_windows, windows
from gpt1.weights.checkpoint import (
    build,
    library_versions,
    read_facts,
    read_tensors,
    save_checkpoint,
    sidecar,
)
from tasks.common.errors import InputError
from tasks.common.programs import Interrupted, answer_signals

PROGRESS_SECONDS = 5.0
STATE_SECONDS = 60.0  # between saved states
SAVING_SHARE = 50  # or this many times as long as the last save took, if that is longer
LOG_ROWS = 500
MAX_LOSS = 700.0  # nats; above it the perplexity overflows


@contextlib.contextmanager
def noted_signals(names: list[str]) -> Iterator[None]:
    """A context in which the names of stop signals are noted, and end no process.

    Enter it in the main thread.
    """
    handlers = answer_signals(lambda number, _: names.append(signal.Signals(number).name))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


class Pretraining:
    """A language model in pre-training, at the last saved state of its work folder.

    Raises InputError for a corpus that is too short.
    """

    def __init__(
        self,
        arch: Arch,
        corpus: str | Path,
        settings: PretrainSettings,
        runtime: Runtime,
        work: str | Path,
        code: str = "",
        processes: Processes = Processes(),  # noqa: B008  (immutable)
    ):
        self.settings, self.runtime, self.code = settings, runtime, code
        self.processes = processes
        facts = CorpusFacts.read(Path(corpus))
        self.train_tokens = open_tokens(corpus, "train")
        heldout = open_tokens(corpus, "heldout")
        if len(self.train_tokens) < settings.model.n_ctx:
            raise InputError(
                f"{corpus}: {len(self.train_tokens)} training tokens are fewer than n_ctx "
                f"{settings.model.n_ctx}; give more books or a smaller n_ctx"
            )
        if len(heldout) < 2:
            raise InputError(f"{corpus}: the held-out books have no token to predict; give more")
        self.heldout = heldout_windows(heldout, settings.model.n_ctx, settings.heldout_tokens)
        self.tokenizer, self.corpus, self.made = facts.tokenizer, facts.corpus, facts.made
        self.bytes_per_token = facts.splits["heldout"].source_bytes / facts.splits["heldout"].tokens
        self.digests = {name: split.sha256 for name, split in facts.splits.items()}
        run = {
            "arch": arch,
            "settings": settings.model_dump(mode="json", exclude={"heldout_tokens"}),
            "corpus": self.digests,
            "tokenizer": self.tokenizer,
        }
        made = {"code": code, "precision": runtime.precision, "versions": library_versions()}
        self.work = WorkFolder(Path(work), run, made)
        self.model = build(arch, settings.model, facts.n_vocab, settings.dropout)
        seed = torch_seed("first values of pre-training", settings.seed)
        self.model.reset(torch.Generator().manual_seed(seed))
        self.model.to(runtime.device).train()
        if runtime.compile:
            self.model.compile_trunk()
        warmup = settings.warmup / settings.updates
        schedule = Schedule(settings.lr, warmup_cosine, warmup, settings.updates)
        self.optimizer = Adam(self.model.parameters(), schedule, settings.optimizer)
        self.signals: list[str] = []  # stop signals received so far
        self.log = TrainingLog(self.tokens_per_update, runtime.device)
        state = self.work.load(settings.checkpoints) if processes.leads else None
        if state is not None:
            self.optimizer.load_state(state)
            self.log.load_state(state)
            print(f"resuming from update {self.optimizer.updates}", flush=True)
        self._share_state()

    @property
    def tokens_per_update(self) -> int:
        """Tokens that one update sees."""
        return self.settings.batch * self.settings.model.n_ctx

    def update(self) -> torch.Tensor:
        """One optimizer update on the windows of its number; returns the loss in nats.

        Raises Interrupted between two micro-batches, with the weights of the previous update.
        """
        i, own = self.optimizer.updates, self.settings
        ids = windows(self.train_tokens, own.model.n_ctx, own.batch, own.seed, i)
        share = self.processes.share(own.batch)
        self.optimizer.zero_grad()
        loss = accumulate(self.model, ids, share, self.runtime, own.seed, i, self._check_signals)
        self.processes.sum(self.optimizer.grad)
        self.processes.sum(loss)
        self.optimizer.step()
        return loss

    def _check_signals(self) -> None:
        """Raise Interrupted if a stop signal has been received."""
        if self.signals:
            raise Interrupted(f"stopped by {self.signals[-1]}")

    def train(self) -> None:
        """Train from the current state to the last update, saving checkpoints on the way.

        Raises InputError if the loss is not finite, and Interrupted, with the state saved, after a
        stop signal.
        """
        with noted_signals(self.signals):
            try:
                self._train()
            except Interrupted as request:
                self._save_state()
                raise Interrupted(
                    f"{request} at update {self.optimizer.updates} of {self.settings.updates}; "
                    "the state is saved, start again to resume"
                ) from None

    def _train(self) -> None:
        updates, every = self.settings.updates, max(1, self.settings.updates // LOG_ROWS)
        checkpoints = set(self.settings.checkpoints)
        done, pause = self.optimizer.updates, STATE_SECONDS
        if done in checkpoints:
            self.checkpoint()
        self.log.start_clock()
        printed = saved = time.perf_counter()
        while self.optimizer.updates < updates:
            lr = self.optimizer.rate()
            self.log.add(self.update())
            done = self.optimizer.updates
            if done % every == 0 or done in checkpoints:
                row = self._log_row(lr)
                now = time.perf_counter()
                if now - printed > PROGRESS_SECONDS and self.processes.leads:
                    printed = now
                    self._print_progress(row)
            if done in checkpoints:
                self.checkpoint()
                self.log.start_clock()  # scoring held-out documents is not training time
            now = time.perf_counter()
            if done in checkpoints or now - saved > pause:
                self._save_state()
                saved = time.perf_counter()
                pause = max(STATE_SECONDS, SAVING_SHARE * (saved - now))

    def _log_row(self, lr: float) -> LogRow:
        """The mean loss since the last row of the log; raises InputError if it is not finite."""
        row = self.log.end_row(self.optimizer.updates, lr)
        if not math.isfinite(row.loss) and self.processes.leads:
            raise InputError(
                f"update {row.update}: the loss is {row.loss}; lower experiment.pretrain.lr"
            )
        return row

    def _print_progress(self, row: LogRow) -> None:
        rate = row.tokens / max(row.seconds, 1e-9)
        left = (self.settings.updates - row.update) * self.tokens_per_update / rate
        print(
            f"{self.model.arch} seed {self.settings.seed} update {row.update}/"
            f"{self.settings.updates} loss {row.loss:.3f} {rate:.0f} tokens/s {left:.0f} s left",
            flush=True,
        )

    def checkpoint(self) -> None:
        """Score the held-out documents, each process its share, and save the checkpoint.

        Raises InputError for a loss that is not finite or too large for a perplexity.
        """
        done, settings = self.optimizer.updates, self.settings
        share = self.processes.share(len(self.heldout))
        own = heldout_loss(self.model, self.heldout, self.runtime, self._check_signals, share)
        total = torch.tensor(own, dtype=torch.float64)
        self.processes.sum(total)
        if not self.processes.leads:
            return
        if not (loss := float(total)) < MAX_LOSS:
            raise InputError(
                f"update {done}: the held-out loss is {loss:g}; lower experiment.pretrain.lr"
            )
        self.log.show(done, heldout_loss=loss)
        save_checkpoint(
            self.work.checkpoint(done),
            self.model,
            tokenizer=self.tokenizer,
            update=done,
            tokens=done * self.tokens_per_update,
            code=self.code,
            corpus=self.corpus,
            seed=settings.seed,
            seconds=round(self.log.seconds, 3),
            train_loss=self.log.rows[-1].loss if self.log.rows else None,
            **self._heldout_facts(loss),
            parameters=sum(p.numel() for p in self.model.parameters()),
            corpus_sha256=self.digests,
            made=self.made,
            runtime={**self.runtime.numeric(), "processes": self.processes.count},
            peak_mb=self.runtime.peak_mb(),
            cpu=cpu(),
        )

    def _heldout_facts(self, loss: float) -> dict[str, Any]:
        """A checkpoint's score on the held-out documents, with the settings that it depends on."""
        n, n_ctx = self.heldout.shape
        return {
            "heldout_loss": loss,
            "heldout_perplexity": math.exp(loss),
            "heldout_bits_per_byte": loss / math.log(2) / self.bytes_per_token,
            "heldout_tokens": n * (n_ctx - 1),  # the predicted ones
            "settings": self.settings,
        }

    def _score_again(self, update: int) -> None:
        """Score a checkpoint again if its stored score is on other held-out tokens."""
        path = self.work.checkpoint(update)
        stored = read_facts(path)
        if stored.settings != self.settings:
            self.model.load_state_dict(read_tensors(path))
            facts = self._heldout_facts(heldout_loss(self.model, self.heldout, self.runtime))
            stored.model_copy(update=facts).write(sidecar(path))

    def _save_state(self) -> None:
        """Write what a restart needs, atomically."""
        if not self.processes.leads:
            return
        self.log.take_time()
        self.work.save({**self.optimizer.state(), **self.log.state()})

    def _share_state(self) -> None:
        """Start every process from the first one's state."""
        own, n_summed = self.optimizer.state(), torch.tensor(self.log.n_summed)
        for tensor in (*own.values(), self.log.loss_sum, n_summed):
            self.processes.broadcast(tensor)
        self.optimizer.updates, self.log.n_summed = int(own["updates"]), int(n_summed)

    def publish(self, out: str | Path) -> None:
        """Copy the checkpoints, their JSON files and the log to the declared outputs."""
        if not self.processes.leads:
            return
        for update in self.settings.checkpoints:
            self._score_again(update)
        self.work.publish(self.settings.checkpoints, Path(out))
        self.log.write(Path(out, "log.csv"))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("arch", choices=ARCHS)
    parser.add_argument("--corpus", required=True, type=Path)
    parser.add_argument("--settings", required=True, type=PretrainSettings.parse)
    parser.add_argument("--runtime", default=Runtime(), type=Runtime.parse)
    parser.add_argument("--code", default="", help="digest of the code, part of the work key")
    parser.add_argument("--work", required=True, type=Path, help="folder of resumable runs")
    parser.add_argument("--out", required=True, type=Path)
    a = parser.parse_args()
    processes, runtime = join(a.runtime)
    runtime.start()
    training = Pretraining(a.arch, a.corpus, a.settings, runtime, a.work, a.code, processes)
    if runtime.tensorboard and processes.leads:
        training.log.events = event_writer(a.out, training.optimizer.updates)
    training.train()
    training.publish(a.out)
    processes.close()
