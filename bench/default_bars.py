"""The bars on the default config: its pre-training, and its cells against an earlier commit."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from bench import data
from bench.commit import COMMIT, checkout
from bench.comparison import Bench, race, sides_of
from bench.job import Job, Rows
from bench.report import Row, compared
from bench.sides import Ratio, Side, Turn
from gpt1.settings import RuntimeOptions
from workflow.configuration.model import Config
from workflow.grid import Grid


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
        rows=[*rows, *(replace(own, arch="lstm") for own in rows if own.task == "rte")],
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
        timed = [(of, ours, old) for of, (ours, old), _ in race(job, sides)]
    weights = cells_of(config.grid(), [of for of, *_ in timed])
    each = ", ".join(
        f"{of.arch} {of.task} {Ratio.of(ours, old).median:.2f} ({n} cells)"
        for n, (of, ours, old) in zip(weights, timed, strict=True)
    )
    ratio = Ratio.of(
        weighted([ours for _, ours, _ in timed], weights),
        weighted([old for *_, old in timed], weights),
    )
    what = f"fine-tuning of the default config's cells with aux LM: commit {COMMIT[:7]}"
    yield compared(
        6, what, "rows/s", ratio, 2.0, f"one thread; seconds by the grid's cells: {each}"
    )


def cells_of(grid: Grid, rows: Sequence[Rows]) -> list[int]:
    """How many cells of the grid each file of rows stands for, the LSTM's for all of its own."""
    cells = [(cell.arch, cell.task) for cell in grid.cells()]
    return [
        sum(
            arch == of.arch and (arch == "lstm" or task in data.STANDS_FOR[of.task])
            for arch, task in cells
        )
        for of in rows
    ]


def weighted(sides: Sequence[Sequence[Turn]], weights: Sequence[int]) -> list[Turn]:
    """Turns on several files of rows, of as many rows each, as one turn of the weighted mix."""
    return [
        Turn(
            seconds=sum(n * turn.seconds for n, turn in zip(weights, turns, strict=True)),
            work=sum(n * turn.work for n, turn in zip(weights, turns, strict=True)),
            peak_mb=max(turn.peak_mb for turn in turns),
        )
        for turns in zip(*sides, strict=True)
    ]


def _default_runtime(config: Config) -> dict[str, Any]:
    runtime = {key: getattr(config.runtime, key) for key in RuntimeOptions.model_fields}
    return runtime | {"threads": config.runtime.finetune_threads}
