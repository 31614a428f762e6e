"""What is compared: the same work done by this suite and by what a user would otherwise run."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bench.sides import ROOT
from bench.work import Work, draw_corpus, draw_rows
from gpt1.settings import FinetuneSettings, LSTMShape, ModelSettings, PretrainSettings
from workflow.analysis.flops import per_token
from workflow.configuration.read import parse, read

PLAIN = {"plain PyTorch loop": ["bench.plain"]}
TRAINER = {
    "Trainer, padded to 128, float32": ["bench.huggingface", "padded"],
    "Trainer, the same work": ["bench.huggingface", "same"],
}
Settings = FinetuneSettings | PretrainSettings
WORLD_VOCABULARY = 950  # of the default run


@dataclass(frozen=True)
class Comparison:
    """A work item and the other processes that do it, by name; `flops` is the number per token."""

    name: str
    work: Work
    others: dict[str, list[str]]
    flops: float = 0.0


@dataclass(frozen=True)
class Scale:
    """How large the models are, on what device, and how often they update; by default GPT-1's."""

    folder: Path  # for the rows
    threads: int = 2
    device: str = "cpu"
    transformer: ModelSettings = ModelSettings()
    lstm: ModelSettings = ModelSettings(shape=LSTMShape())
    n_vocab: int = 40_478
    compile: bool = True
    rounds: int = 5
    steps: int = 4  # fine-tuning updates in a turn; for pre-training five times as many

    def finetune(self, task: str, batch: int, precision: str, pad_to: int = 0) -> Work:
        """Fine-tuning on randomly drawn rows, as in the paper except for the batch size."""
        model = self.transformer
        rows = draw_rows(task, model.n_ctx, self.n_vocab, self.folder)
        settings = FinetuneSettings(lr=6.25e-5, batch=batch, epochs=1000, model=model, optimizer={})
        runtime = {"threads": self.threads, "skip_pads": self.device == "cpu"}
        work = self._work("finetune", settings, precision, runtime, self.n_vocab, rows)
        return replace(work, pad_to=pad_to)

    def pretrain(self, settings: Settings, n_vocab: int, precision: str, **runtime: Any) -> Work:
        """Pre-training on randomly drawn tokens."""
        data = {"data": draw_corpus(self.folder / f"corpus-{n_vocab}", n_vocab)}
        work = self._work("pretrain", settings, precision, runtime, n_vocab, data)
        return replace(work, steps=5 * self.steps)

    def _work(
        self, kind: str, settings: Settings, precision: str, runtime: dict, n_vocab: int, data: dict
    ) -> Work:
        return Work(
            kind=kind,
            **data,
            arch="lstm" if isinstance(settings.model.shape, LSTMShape) else "transformer",
            model=settings.model.model_dump(mode="json"),
            n_vocab=n_vocab,
            training=settings.model_dump(mode="json", exclude={"model"}),
            batch=settings.batch,
            runtime={"device": self.device, **runtime},
            precision=precision,
            rounds=self.rounds,
            steps=self.steps,
        )


def on_cpu(scale: Scale) -> Iterator[Comparison]:
    """Fine-tuning at GPT-1's size; pre-training of the default run."""
    for task in ("rte", "mrpc", "cola"):
        yield Comparison(f"fine-tuning, {task}", scale.finetune(task, 8, "quicker"), TRAINER)
    for task, batch in (("race", 2), ("story_cloze", 8)):
        yield Comparison(f"fine-tuning, {task}", scale.finetune(task, batch, "float32"), PLAIN)
    config = parse(read([ROOT / "workflow/config/world.yaml"]))
    settings, threads = config.pretrain("transformer", 0), config.runtime.finetune_threads
    default = scale.pretrain(settings, WORLD_VOCABULARY, "float32", threads=threads)
    yield Comparison("pre-training, the default run's transformer", default, PLAIN)


def on_gpu(scale: Scale) -> Iterator[Comparison]:
    """GPT-1's pre-training and the LSTM's; fine-tuning on long and on short rows."""
    for model, compiled in ((scale.transformer, scale.compile), (scale.lstm, False)):
        settings = PretrainSettings(lr=2.5e-4, batch=64, checkpoints=[10_000],
                                    updates=10_000, model=model, optimizer={})  # fmt: skip
        runtime = {"threads": scale.threads, "compile": compiled}
        work = scale.pretrain(settings, scale.n_vocab, "bfloat16", **runtime)
        flops = per_token(model, scale.n_vocab, model.n_ctx)
        yield Comparison(f"pre-training, GPT-1's {work.arch}", work, PLAIN, flops)
    for task, pad_to, batch in (("race", 512, 8), ("mnli", 128, 32)):
        work = scale.finetune(task, batch, "bfloat16", pad_to)
        yield Comparison(f"fine-tuning, {task}, padded to {pad_to}", work, PLAIN)
