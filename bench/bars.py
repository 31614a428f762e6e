"""The bars on a CPU: what is compared with what, and what a row of the table says of it.

Source: the project's issue on speed. Each function measures one bar and yields its rows.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bench import data
from bench.commit import COMMIT, checkout
from bench.comparison import Bench, race, sides_of
from bench.job import Job, Rows
from bench.report import Row, compared
from bench.rows import corpus_tokens
from bench.sides import ROOT, Ratio, Side
from gpt1.settings import RuntimeOptions
from workflow.config_model import Config


def fine_tuning(bench: Bench) -> Iterator[Row]:
    """Bar 1: fine-tuning at GPT-1's size with the auxiliary loss, against `transformers`."""
    job = bench.job(data.glue_rows(bench.real, bench.world, bench.out, bench.scale.model.n_ctx))
    origin = "published rows" if bench.real else "rows of the embedded world, lengths as published"
    workers = sides_of(
        bench, job, "glue",
        ("bench.ours", "finetune", "JOB"),
        ("bench.huggingface", "JOB", "padded"),
        ("bench.huggingface", "JOB", "generous"),
    )  # fmt: skip
    for rows, (ours, padded, generous), (precision, *_) in race(job, workers):
        what = f"fine-tuning with aux LM, {rows.task}"
        for other, name, least in ((padded, "Trainer, padded to 128, float32", 4.0),
                                   (generous, "dynamic padding, bfloat16", 1.8)):  # fmt: skip
            note = f"{origin}; batches of {bench.scale.batch}; ours in {precision}"
            yield compared(1, f"{what}: {name}", "rows/s", Ratio.of(ours, other), least, note)


def _shared_prefix(bench: Bench, bar: int, name: str, shape: dict, least: float) -> Iterator[Row]:
    tokens = corpus_tokens(str(bench.corpus()))
    n_ctx = bench.scale.model.n_ctx
    made = (name, shape, tokens, n_ctx, data.PUBLISHED_VOCABULARY, bench.out)
    batch = bench.scale.items if name == "race" else 32
    job = bench.job([data.made_choices(*made)])
    runtime = job.runtime | {"precision": "float32"}  # in which both have the same loss
    job = replace(job, training=job.training | {"batch": batch}, runtime=runtime)
    ours = bench.write(job, f"{name}-shared")
    apart = replace(job, runtime=job.runtime | {"shared_prefix": False})
    sides = [
        Side("bench.ours", "finetune", path, threads=bench.threads)
        for path in (ours, bench.write(apart, f"{name}-apart"))
    ]
    for _, (with_it, without), _ in race(job, sides):
        note = f"float32, batches of {batch}; tests/gpt1/test_layout.py: same loss and gradients"
        what = f"{name}-shaped items with a shared prefix: without"
        yield compared(bar, what, "items/s", Ratio.of(with_it, without), least, note)


def race_items(bench: Bench) -> Iterator[Row]:
    """Bar 2: four choices after a document of 300 tokens."""
    yield from _shared_prefix(bench, 2, "race", data.RACE, 3.0)


def story_cloze_items(bench: Bench) -> Iterator[Row]:
    """Bar 3: two endings of a story."""
    yield from _shared_prefix(bench, 3, "story_cloze", data.STORY_CLOZE, 1.5)


def zero_shot(bench: Bench) -> Iterator[Row]:
    """Bar 4: scoring of the same items, against one sequence per choice."""
    tokens = corpus_tokens(str(bench.corpus()))
    n_ctx = bench.scale.model.n_ctx
    made = ("race", data.RACE, tokens, n_ctx, data.PUBLISHED_VOCABULARY, bench.out)
    job = bench.job([data.made_choices(*made)])
    runtime = {"threads": bench.threads, "precision": "float32"}
    job = replace(job, runtime=runtime, training=job.training | {"batch": 2 * bench.scale.items})
    workers = (("bench.ours", "zero_shot", "JOB"), ("bench.plain", "zero_shot", "JOB"))
    for _, (ours, plain), _ in race(job, sides_of(bench, job, "zero-shot", *workers)):
        what = "zero-shot scoring of race-shaped items: one sequence per choice"
        yield compared(4, what, "items/s", Ratio.of(ours, plain), 3.0, "float32")


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


def cells(bench: Bench) -> Iterator[Row]:
    """Bar 6: fine-tuning of the default config's cells, against commit 27027a1."""
    config = bench.config()
    n_vocab = json.loads(bench.corpus().read_text(encoding="utf-8"))["n_vocab"]
    settings = config.finetune("transformer", "rte", "on")
    rows = data.world_rows(bench.world, bench.out, settings.model.n_ctx, n_vocab)
    training = settings.model_dump(mode="json", exclude={"model"}) | {"epochs": 1000}
    job = Job(
        rows=[*rows, replace(rows[0], arch="lstm")],
        models={a: config.model(a).model_dump(mode="json") for a in ("transformer", "lstm")},
        n_vocab=n_vocab,
        training=training,
        runtime=_default_runtime(config),
        rounds=bench.scale.rounds,
        steps=bench.scale.small_steps,
        warm_up=3,
        untimed=1,
    )
    with checkout(COMMIT) as code:
        path = bench.write(job, "cells")
        sides = [
            Side("bench.ours", "finetune", path),
            Side("bench.commit_27027a1", path, code=code),
        ]
        ratios = {}
        total: list[list] = [[], []]
        for of, (ours, old), _ in race(job, sides):
            ratios[f"{of.arch} {of.task}"] = Ratio.of(ours, old)
            total = [[*all_, side] for all_, side in zip(total, (ours, old), strict=True)]
    # The same number of rows of each: seconds add up.
    summed = [[_sum(turns) for turns in zip(*side, strict=True)] for side in total]
    each = ", ".join(f"{name} {ratio.median:.2f}" for name, ratio in ratios.items())
    what = f"fine-tuning of the default config's cells with aux LM: commit {COMMIT[:7]}"
    yield compared(6, what, "rows/s", Ratio.of(*summed), 2.0, f"one thread; {each}")


def _sum(turns: tuple) -> Any:
    seconds, work = sum(t.seconds for t in turns), sum(t.work for t in turns)
    return replace(turns[0], seconds=seconds, work=work)


def _default_runtime(config: Config) -> dict[str, Any]:
    runtime = {key: getattr(config.runtime, key) for key in RuntimeOptions.model_fields}
    return runtime | {"threads": config.runtime.finetune_threads}


def whole_run(bench: Bench) -> Iterator[Row]:
    """Bar 7: two runs of half an hour and more, which `python -m bench.whole_run` times."""
    path = ROOT / "results" / "bench" / "whole_run.json"
    what = f"the default run on two cores: commit {COMMIT[:7]} (bar: at most 1.4 times its time)"
    if not path.exists():
        note = "not timed here: python -m bench.whole_run takes two default runs"
        yield Row(7, what, "s", "<= 1.4x", note=note)
        return
    found = json.loads(path.read_text(encoding="utf-8"))
    ratio = found["ours"] / found["other"]
    yield Row(7, what, "s", "<= 1.4x", found["ours"], found["other"], ratio, ratio, ratio,
              "yes" if ratio <= 1.4 else "no")  # fmt: skip


def first_step(bench: Bench) -> Iterator[Row]:
    """Bar 8: a cell's process from its start to its first step."""
    config, world = bench.config(), bench.world
    settings = config.finetune("transformer", "rte", "on")
    words = [
        str(bench.out / "cells/transformer/rte/aux-on/layers-12.json"),
        *("--encoded", str(world / "encoded/rte")),
        *("--baselines", str(world / "baselines/rte.json")),
        *("--checkpoints", str(world / "pretrain/transformer/seed-0/update-1.safetensors")),
        *("--settings", settings.to_json(), "--seeds", "0"),
        *("--runtime", config.runtime_of("finetune").to_json()),
        *("--code", "bench", "--cache", str(bench.out / "cache")),
    ]
    seconds = []
    for _ in range(bench.scale.rounds):
        started = time.monotonic()
        command = [sys.executable, "-m", "bench.first_step", *words]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        seconds.append(float(done.stdout.split()[-1]) - started)
    median = statistics.median(seconds)
    note = f"{min(seconds):.2f} to {max(seconds):.2f} s"
    yield Row(8, "a cell's process: start to first step", "s", "<= 1", median,
              met="yes" if median <= 1 else "no", note=note)  # fmt: skip


def planning(bench: Bench) -> Iterator[Row]:
    """Bar 9: a plan of the paper's config with five seeds."""
    seeds = list(range(5))
    once = json.dumps({"seeds": {"pretrain": seeds, "finetune": seeds}})
    command = [sys.executable, "-m", "snakemake", "all", "-n", "--quiet", "all"]
    command += ["--configfile", bench.scale.planned, "--config", f"experiment={once}"]
    started = time.perf_counter()
    errors = bench.out / "planning.log"
    bench.out.mkdir(parents=True, exist_ok=True)
    with open(errors, "wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    if status:
        last = errors.read_text(encoding="utf-8").strip().splitlines()[-1:]
        raise RuntimeError(f"the plan of {bench.scale.planned} failed: {last}")
    peak = usage.ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    what = "planning of the paper's config with five seeds"
    for value, unit, most in ((seconds, "s", 10), (peak, "MB", 600)):
        yield Row(9, what, unit, f"<= {most}", value, met="yes" if value <= most else "no")


def memory(bench: Bench) -> Iterator[Row]:
    """Bar 10: peak memory of a step at GPT-1's size, 32 x 128 tokens, with the auxiliary loss."""
    n = bench.scale.memory_rows
    tokens = corpus_tokens(str(bench.corpus()))
    rows = data.full_rows(n, 128, tokens, data.PUBLISHED_VOCABULARY, bench.out)
    micro_batch = max(1, n // 4)
    job = bench.job([rows], rounds=1, warm_up=0)
    runtime = {"threads": bench.threads, "precision": "float32", "skip_pads": True}
    runtime["micro_batch"] = micro_batch
    job = replace(job, runtime=runtime, training=job.training | {"batch": n})
    path = bench.write(job, "memory")
    peaks = []
    # One after the other: both at once may not fit.
    for words in (("bench.ours", "finetune", path), ("bench.huggingface", path, "padded")):
        side = Side(*words, threads=bench.threads)
        for _, (turns,), _ in race(job, [side]):
            peaks.append(turns[0].peak_mb)
    ratio = peaks[0] / peaks[1]
    note = (
        f"float32; ours in micro-batches of {micro_batch}; the Trainer without the auxiliary loss"
    )
    yield Row(
        10,
        f"peak memory of a fine-tuning step, {n} x 128 tokens: Trainer, padded",
        "MB",
        "<= 0.5x",
        *(*peaks, ratio, ratio, ratio, "yes" if ratio <= 0.5 else "no"),
        note=note,
    )


CPU = {
    1: fine_tuning,
    2: race_items,
    3: story_cloze_items,
    4: zero_shot,
    5: pretraining,
    6: cells,
    7: whole_run,
    8: first_step,
    9: planning,
    10: memory,
}
