"""The bars on a GPU: GPT-1's pre-training and its MFU, the LSTM, fine-tuning, small cells.

Without a GPU `make bench-gpu` says so and ends well; a test runs the same path on the CPU.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench import data
from bench.job import Job, Rows
from bench.measured import measured, summary
from bench.report import Row, compared, limited, table, verdict
from bench.rows import corpus_tokens
from bench.sides import ROOT, Ratio, Side, Turn, alternate
from gpt1.settings import FinetuneSettings, LSTMShape, ModelSettings, PretrainSettings
from workflow.analysis import flops
from workflow.analysis.peaks import peak

GPT1, LSTM = ModelSettings(), ModelSettings(shape=LSTMShape())
RATE, CARDS = 525_000, ("H100", "H200")  # tokens a second of pre-training, and on what
BUDGET_MB = 80_000  # of the cells on one card: an H100's


@dataclass(frozen=True)
class GPU:
    """A device and how much is done on it; the defaults are what the bars are about."""

    name: str  # of the card, for its peak
    out: Path
    device: str = "cuda"
    transformer: ModelSettings = GPT1
    lstm: ModelSettings = LSTM
    batch: int = 64  # windows of an update
    compile: bool = True
    rounds: int = 5
    steps: int = 20
    rows: int = 2490  # of RTE
    race: dict[str, int] | None = None
    corpus_tokens: int = 2_000_000

    def corpus(self) -> Path:
        """A corpus of drawn tokens."""
        return data.made_corpus(self.out / "corpus", data.PUBLISHED_VOCABULARY, self.corpus_tokens)

    def runtime(self, **changes: Any) -> dict[str, Any]:
        """bfloat16 over float32 weights."""
        return {"device": self.device, "precision": "bfloat16", "threads": 4} | changes

    def pretraining(self, arch: str, model: ModelSettings, compiled: bool) -> Path:
        """A job of pre-training."""
        settings = PretrainSettings(lr=2.5e-4, batch=self.batch, checkpoints=[10_000],
                                    updates=10_000, model=model, optimizer={})  # fmt: skip
        return self._write(Job(
            rows=[Rows(str(self.corpus()), "books", "", 1, arch)],
            models={arch: model.model_dump(mode="json")},
            n_vocab=data.PUBLISHED_VOCABULARY,
            training=settings.model_dump(mode="json", exclude={"model"}),
            runtime=self.runtime(compile=compiled),
            rounds=self.rounds, steps=self.steps, warm_up=min(5, self.steps),
        ), arch)  # fmt: skip

    def fine_tuning(self, rows: Rows, epochs: int = 1000, **changes: Any) -> Job:
        """A job of fine-tuning with the paper's settings."""
        settings = FinetuneSettings(lr=6.25e-5, epochs=epochs, model=GPT1, optimizer={})
        job = Job(
            rows=[rows],
            models={"transformer": self.transformer.model_dump(mode="json")},
            n_vocab=data.PUBLISHED_VOCABULARY,
            training=settings.model_dump(mode="json", exclude={"model"}),
            runtime=self.runtime(),
            rounds=self.rounds, steps=self.steps, warm_up=min(5, self.steps),
        )  # fmt: skip
        return replace(job, **changes)

    def _write(self, job: Job, name: str) -> Path:
        self.out.mkdir(parents=True, exist_ok=True)
        return job.write(self.out / f"{name}.json")


def turns_of(gpu: GPU, kind: str, path: Path, *modules: str) -> list[list[Turn]]:
    """The turns of each side of a comparison."""
    with ExitStack() as stack:
        sides = [stack.enter_context(Side(module, kind, path)) for module in modules]
        return alternate(sides, gpu.rounds)[0]


def pretraining(gpu: GPU) -> Iterator[Row]:
    """Bar 11: tokens per second of GPT-1's pre-training, and the share of the card's peak."""
    path = gpu.pretraining("transformer", gpu.transformer, gpu.compile)
    (turns,) = turns_of(gpu, "pretrain", path, "bench.ours")
    rates = sorted(turn.rate for turn in turns)
    rate = rates[len(rates) // 2]
    model = gpu.transformer
    per_token = flops.per_token(model, data.PUBLISHED_VOCABULARY, model.n_ctx)
    fastest, note = peak(gpu.name), f"{gpu.name}; {rates[0]:.0f} to {rates[-1]:.0f} tokens/s"
    if fastest:
        note += f"; MFU {rate * per_token / fastest:.1%} of {fastest / 1e12:.0f} TFLOP/s"
    met = ""
    if any(card in gpu.name for card in CARDS):
        met = verdict(rate >= RATE, rates[0], RATE, rates[-1])
    else:
        note += f"; no verdict, the bar is for one {' or '.join(CARDS)}"
    yield Row(11, "pre-training GPT-1", "tokens/s", f">= {RATE}", rate, met=met, note=note)


def lstm(gpu: GPU) -> Iterator[Row]:
    """Bar 12: pre-training of the LSTM against a plain loop over `nn.LSTM`."""
    path = gpu.pretraining("lstm", gpu.lstm, False)
    a, b = turns_of(gpu, "pretrain", path, "bench.ours", "bench.plain")
    yield compared(12, "pre-training the LSTM: plain nn.LSTM loop", "tokens/s", Ratio.of(a, b), 2.0)


def fine_tuning(gpu: GPU) -> Iterator[Row]:
    """Bar 13: RACE- and MNLI-shaped rows against a loop that pads to a fixed length."""
    tokens, n_ctx = corpus_tokens(str(gpu.corpus())), gpu.transformer.n_ctx
    made = (tokens, n_ctx, data.PUBLISHED_VOCABULARY, gpu.out)
    shapes = [
        (data.made_choices("race", gpu.race or data.RACE, *made), n_ctx, 8),
        (data.made_pairs("mnli", tokens, n_ctx, gpu.out), min(128, n_ctx), 32),
    ]
    for rows, pad_to, batch in shapes:
        job = gpu.fine_tuning(rows, pad_to=pad_to)
        job = replace(job, training=job.training | {"batch": batch})
        path = gpu._write(job, rows.task)
        a, b = turns_of(gpu, "finetune", path, "bench.ours", "bench.plain")
        what = f"fine-tuning on {rows.task}-shaped rows: padded to {pad_to}"
        yield compared(13, what, "rows/s", Ratio.of(a, b), 5.0, f"batches of {batch}")


def small_cells(gpu: GPU) -> Iterator[Row]:
    """Bars 14 and 15: a cell of three seeds on RTE's shape; four such cells at once."""
    tokens = corpus_tokens(str(gpu.corpus()))
    rows = data.made_pairs("rte", tokens, gpu.transformer.n_ctx, gpu.out, gpu.rows)
    path = gpu._write(gpu.fine_tuning(rows, epochs=3, rounds=3, warm_up=0), "rte")
    started = time.perf_counter()
    with Side("bench.ours", "cell", path) as side:
        (turns,), _ = alternate([side], 3)
    seconds = time.perf_counter() - started
    met = "yes" if seconds <= 30 else "no"
    what = "a cell of three seeds on RTE's shape, process and all"
    yield Row(14, what, "s", "<= 30", seconds, met=met)
    several = 4
    path = gpu._write(gpu.fine_tuning(rows, epochs=3, rounds=1, warm_up=0), "rte-once")
    cells = []
    with ExitStack() as stack:
        sides = [stack.enter_context(Side("bench.ours", "cell", path)) for _ in range(several)]
        for side in sides:
            side.ready()
        started = time.perf_counter()
        for side in sides:
            side.begin()
        for side in sides:
            cells.append(side.finish())
        together = time.perf_counter() - started
    alone = sorted(turn.seconds for turn in turns)[1]
    ratio = several * alone / together
    what, met = f"{several} such cells at once: one after the other", "yes" if ratio > 1 else "no"
    numbers = (together, several * alone, ratio, ratio, ratio)
    yield Row(15, what, "s", "> 1x", *numbers, met)
    peak = sum(turn.peak_mb for turn in cells)
    note = "PyTorch's memory; the CUDA context of each process comes on top"
    what = f"memory of {several} such cells at once"
    yield limited(15, what, "MB", [peak], BUDGET_MB, note)


ALL = {11: pretraining, 12: lstm, 13: fine_tuning, 14: small_cells}


def card() -> str | None:
    """The name of the GPU, or None."""
    import torch  # not before it is needed

    return torch.cuda.get_device_name() if torch.cuda.is_available() else None


def main(out: Path, quick: bool) -> None:
    """Measure all bars of a GPU and write their table; without a GPU say so."""
    name = card()
    if name is None:
        print("no GPU here: the bars 11 to 15 are not measured")
        return
    gpu = GPU(name, ROOT / "results" / "bench" / "gpu", steps=5 if quick else 20)
    note = f"{name}. Drawn tokens in the shapes of the tasks."
    rows = measured(ALL, [*ALL], gpu, lambda rows: table(rows, note).write(out))
    print(f"{out}: {summary(rows)}")
