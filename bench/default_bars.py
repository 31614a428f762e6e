"""The bar on the default config: its pre-training against a plain loop."""

import json
from collections.abc import Iterator
from typing import Any

from bench.comparison import Bench, race, sides_of
from bench.job import Job, Rows
from bench.report import Row, compared
from bench.sides import Ratio
from gpt1.settings import RuntimeOptions
from workflow.configuration.model import Config


def pretraining(bench: Bench) -> Iterator[Row]:
    """Bar 5: pre-training of the default model, against a plain loop."""
    config = bench.config()
    settings = config.pretrain("transformer", 0)
    facts = json.loads(bench.corpus().read_text(encoding="utf-8"))
    job = Job(
        rows=[Rows(str(bench.corpus()), "books", "", 1)],
        models={"transformer": settings.model.model_dump(mode="json")},
        n_vocab=facts["n_vocab"],
        training=settings.model_dump(mode="json", exclude={"model"}),
        runtime=_default_runtime(config),
        rounds=bench.scale.rounds,
        steps=bench.scale.small_steps,
        warm_up=3,
        untimed=1,
    )
    workers = (("bench.ours", "pretrain", "JOB"), ("bench.plain", "pretrain", "JOB"))
    for _, (ours, plain), _ in race(job, sides_of(bench, job, "pretrain", *workers)):
        what = "pre-training of the default transformer: plain PyTorch loop"
        yield compared(5, what, "tokens/s", Ratio.of(ours, plain), 1.5, "one thread, float32")


def _default_runtime(config: Config) -> dict[str, Any]:
    runtime = {key: getattr(config.runtime, key) for key in RuntimeOptions.model_fields}
    return runtime | {"threads": config.runtime.finetune_threads}
