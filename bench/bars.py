"""The bars on a CPU: what is compared with what, and what a row of the table says of it.

Source: the project's issue on speed. Each function measures one bar and yields its rows.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bench import data
from bench.comparison import Bench, race, sides_of
from bench.job import Job, Rows
from bench.report import Row, compared
from bench.rows import corpus_tokens
from bench.sides import Ratio, Side
from gpt1.settings import RuntimeOptions
from workflow.configuration.model import Config


def fine_tuning(bench: Bench) -> Iterator[Row]:
    """Bar 1: fine-tuning at GPT-1's size with the auxiliary loss, against `transformers`."""
    rows_of = data.glue_rows(bench.real, bench.world, bench.out, bench.scale.model.n_ctx)
    job = bench.job(rows_of, steps=bench.scale.steps)
    origin = "published rows" if bench.real else "rows of the embedded world, lengths as published"
    workers = sides_of(
        bench, job, "glue",
        ("bench.ours", "finetune", "JOB"),
        ("bench.huggingface", "JOB", "padded"),
        ("bench.huggingface", "JOB", "same"),
    )  # fmt: skip
    for rows, (ours, padded, same), (precision, _, theirs) in race(job, workers):
        what = f"fine-tuning with aux LM, {rows.task}"
        for other, name, least in ((padded, "Trainer, padded to 128, float32", 4.0),
                                   (same, "Trainer, the same work", 1.5)):  # fmt: skip
            note = f"{origin}; batches of {bench.scale.batch}; ours in the quicker precision, "
            note += f"{precision} by a measurement at the start"
            if other is same:
                note += f", its own too, {theirs}; both losses, both orders of a pair"
            yield compared(1, f"{what}: {name}", "rows/s", Ratio.of(ours, other), least, note)


def choices(bench: Bench, name: str, shape: dict[str, int], batch: int) -> Job:
    """A job on multiple-choice rows of a shape, in float32, in which all sides have one loss."""
    tokens, n_ctx = corpus_tokens(str(bench.corpus())), bench.scale.model.n_ctx
    made = data.made_choices(name, shape, tokens, n_ctx, data.PUBLISHED_VOCABULARY, bench.out)
    job = bench.job([made])
    runtime = job.runtime | {"precision": "float32"}
    return replace(job, training=job.training | {"batch": batch}, runtime=runtime)


def apart(job: Job) -> Job:
    """The same without shared prefixes."""
    return replace(job, runtime=job.runtime | {"shared_prefix": False})


def shorter(job: Job) -> Job:
    """The same with one warm-up instead of an untimed step in each turn, which take too long."""
    return replace(job, warm_up=1, untimed=0)


def told(job: Job) -> str:
    """For a note, that the turns of a job are shorter than those of the others."""
    return "" if job.untimed else f"; {job.rounds} turns without an untimed step"


def _shared_prefix(bench: Bench, bar: int, job: Job, least: float | None) -> Iterator[Row]:
    name, batch = job.rows[0].task, job.training["batch"]
    paths = (bench.write(job, f"{name}-shared"), bench.write(apart(job), f"{name}-apart"))
    sides = [Side("bench.ours", "finetune", path, threads=bench.threads) for path in paths]
    for _, (with_it, without), _ in race(job, sides):
        note = f"float32, batches of {batch}; tests/gpt1/test_layout.py: same loss and gradients"
        note += told(job)
        what = f"{name}-shaped items with a shared prefix: without"
        yield compared(bar, what, "items/s", Ratio.of(with_it, without), least, note)


def race_items(bench: Bench) -> Iterator[Row]:
    """Bar 2: four choices after a document of 300 tokens."""
    job = choices(bench, "race", data.RACE, bench.scale.items)
    yield from _shared_prefix(bench, 2, job, 3.0)


def story_cloze_items(bench: Bench) -> Iterator[Row]:
    """Bar 3: two endings of a story, in the paper's batches of 32; without a bar in those of 8."""
    for batch, least in ((32, 1.5), (8, None)):
        job = shorter(choices(bench, "story_cloze", data.STORY_CLOZE, batch))
        job = replace(job, rounds=min(3, job.rounds))
        yield from _shared_prefix(bench, 3, job, least)


def zero_shot(bench: Bench) -> Iterator[Row]:
    """Bar 4: scoring of the same items, against one sequence per choice."""
    batch = 2 * bench.scale.items
    job = choices(bench, "race", data.RACE, batch)
    job = shorter(replace(job, runtime={"threads": bench.threads, "precision": "float32"}))
    paths = (bench.write(job, "zero-shot"), bench.write(apart(job), "zero-shot-apart"))
    commands = (("ours", paths[0]), ("plain", paths[0]), ("ours", paths[1]))
    sides = [
        Side(f"bench.{name}", "zero_shot", path, threads=bench.threads) for name, path in commands
    ]
    what = "zero-shot scoring of race-shaped items"
    for _, (ours, plain, without), _ in race(job, sides):
        note = f"float32; ours {batch} items a call, the loop one{told(job)}"
        yield compared(4, f"{what}: one sequence per choice", "items/s",
                       Ratio.of(ours, plain), 3.0, note)  # fmt: skip
        note = f"float32; both {batch} items a call{told(job)}"
        yield compared(4, f"{what}: without a shared prefix", "items/s",
                       Ratio.of(ours, without), None, note)  # fmt: skip


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


def memory(bench: Bench) -> Iterator[Row]:
    """Bar 10: peak memory of a step at GPT-1's size, 32 x 128 tokens, with the auxiliary loss."""
    n = bench.scale.memory_rows
    tokens = corpus_tokens(str(bench.corpus()))
    rows = data.full_rows(n, 128, tokens, data.PUBLISHED_VOCABULARY, bench.out)
    micro_batch = max(1, n // 4)
    # After a step, from which on the optimizer's moments are there.
    job = bench.job([rows], rounds=1, warm_up=1, untimed=0)
    runtime = {"threads": bench.threads, "precision": "float32", "skip_pads": True}
    runtime["micro_batch"] = micro_batch
    job = replace(job, runtime=runtime, training=job.training | {"batch": n})
    path = bench.write(job, "memory")
    peaks = []
    # One after the other: all at once may not fit.
    for words in (
        ("bench.ours", "finetune", path),
        ("bench.huggingface", path, "padded"),
        ("bench.huggingface", path, "accumulated"),
    ):
        for _, (turns,), _ in race(job, [Side(*words, threads=bench.threads)]):
            peaks.append(turns[0].peak_mb)
    ours, whole, accumulated = peaks
    what = f"peak memory of a fine-tuning step, {n} x 128 tokens: Trainer, padded"
    note = f"float32; ours in micro-batches of {micro_batch}, the Trainer "
    without = "; the Trainer without the auxiliary loss"
    met = "yes" if ours / whole <= 0.5 else "no"
    yield Row(10, what, "MB", "<= 0.5x", ours, whole, *[ours / whole] * 3, met,
              note=f"{note}with the whole batch{without}")  # fmt: skip
    yield Row(10, f"{what}, gradients accumulated", "MB", "", ours, accumulated,
              *[ours / accumulated] * 3, note=f"{note}as well{without}")  # fmt: skip
