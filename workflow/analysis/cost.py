"""Forecast what a config costs: the FLOPs of its grid divided by the speed of training.

    python -m workflow.analysis cost --configfile workflow/config/novels.yaml --config data=FOLDER
    python -m workflow.analysis cost --configfile workflow/config/paper.yaml --config data=FOLDER \
        --card H100 --mfu 0.4
    python -m workflow.analysis cost --configfile workflow/config/world.yaml --spread results/quick

The speed is that of updates on random tokens, timed for each stage and architecture, or a given
share of the peak of a card that need not be present. Costs are core-hours, or hours of one GPU.
They leave out preparing the data, starting programs, scoring along pre-training, tables and
waiting. With the spread of a finished run it also says which differences more seeds, at what cost,
would decide. Numbers of rows and their lengths are those of the published sets or of the synthetic
world, within the config's limits; the user's own rows are counted and their words averaged.
"""

import argparse
import math
import statistics
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import torch

from gpt1.cell import UNCHANGED, Arch
from gpt1.training.optim import Adam, Schedule, warmup_cosine
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build
from tasks.common.errors import InputError
from tasks.hub import Snapshot
from tasks.splits import choose_splits
from tasks.task import Source, Task
from tasks.world.tasks import train_rows
from workflow.analysis import flops
from workflow.analysis.sides import of_run
from workflow.analysis.stats.estimates import kinds
from workflow.analysis.stats.scores import equally
from workflow.configuration.model import Config
from workflow.configuration.paths import data_sets
from workflow.configuration.read import ConfigError, parse, read, refuse
from workflow.plan import Plan
from workflow.studies import run_faults

# Mean tokens of a published input, special tokens included; the synthetic world's are about half.
LENGTHS = {
    "snli": 27, "mnli": 38, "qnli": 50, "rte": 71, "scitail": 40, "race": 380, "story_cloze": 65,
    "mrpc": 52, "qqp": 32, "stsb": 28, "sst2": 13, "cola": 11, "dprd": 40,
}  # fmt: skip
MOST_FLOPS = 1e12  # of a timed update on a CPU, which takes only a part of a larger batch
SEEDS = 2, 3, 5, 10, 20  # for which it is said what they would decide
UPDATES = 5  # to time, after one to warm up; fewer if they take long
LONG = 20.0  # seconds
STATE = 3  # a state has the weights and Adam's two moments


def n_vocab(config: Config) -> int:
    """An upper bound on the size of the vocabulary."""
    merges = config.experiment.tokenizer.merges
    return merges + 200 if merges else 40_478  # each character twice; the published vocabulary


def sequences(task: Task) -> int:
    """How many sequences a row gives: one for each choice, or a pair's two orders."""
    return {"multiple_choice": len(task.labels), "similarity": 2}.get(task.family, 1)


def task_size(config: Config, name: str) -> tuple[int, int, float]:
    """A task's number of training rows, number of reported rows, and mean tokens per row."""
    settings, world = config.prepare(name), config.experiment.world
    if not settings.own and name not in LENGTHS:
        raise InputError(f"{name}: not in LENGTHS of workflow/analysis/cost.py; add its tokens")
    if world and settings.is_made:
        train = train_rows(world, name)  # type: ignore[arg-type]
        report = world.report * len(config.experiment.task(name).report)
        length = LENGTHS[name] / 2
    else:
        task, length = config.experiment.task(name), LENGTHS.get(name, 0)
        roles = choose_splits(task, settings)
        rows = dict(task.rows)
        if settings.own:
            folder = data_sets(config)[name].folder
            from_hub = Snapshot(task.hub, folder, settings.revision)
            source: Source = from_hub if settings.source else folder
            read = {split: task.read(source, split) for split in {*roles.files.values()}}
            rows |= {split: len(of) for split, of in read.items()}
            words = [
                len(f"{row.first} {row.second}".split())
                + len(" ".join(row.choices).split()) / max(1, len(row.choices))
                for row in read[roles.train]
            ]
            length = 4 + round(1.2 * statistics.mean(words))  # special tokens; tokens per word
        whole = rows[roles.train]
        carved = {split: round(share * whole) for split, share in roles.carve.items()}
        sizes = carved or rows | {"train": whole}
        train, report = sizes["train"], sum(sizes[split] for split in roles.report)
    train = min(train, settings.limit_train or train)
    report = min(report, settings.limit_report or report)
    length = min(length, config.experiment.model.n_ctx)
    return train, report, sequences(config.experiment.task(name)) * length


def fine_tuning_flops(config: Config, arch: Arch, vocabulary: int) -> float:
    """FLOPs of all fine-tuning of an architecture; scoring a row costs a third of training it."""
    plan, total = Plan(config), 0.0
    grid = plan.grid()
    for cell in grid.cells():
        if grid.variant(cell).arch == arch:
            settings = plan.config(cell.variant).finetune(cell.task)
            train, report, tokens = task_size(config, cell.task)
            length = tokens / sequences(config.experiment.task(cell.task))
            token = flops.per_token(settings.model, vocabulary, length, settings.lm_coef > 0)
            rows = settings.epochs * train + report / 3
            total += len(grid.seeds.finetune) * rows * tokens * token
    return total


def pace(config: Config, arch: Arch, stage: str, batch: int, length: int, vocabulary: int) -> float:
    """FLOP/s, per core on a CPU, of an update on `batch` sequences of `length` random tokens."""
    runtime = Runtime(**config.runtime_of(stage).model_dump())  # type: ignore[arg-type]
    runtime.start()
    on_gpu, settings = runtime.device.startswith("cuda"), config.model(arch)
    model = build(arch, settings, vocabulary)
    model.reset(torch.Generator().manual_seed(0))
    model.to(runtime.device).train()
    rate = Schedule(1e-4, warmup_cosine, 0.0, 10**9)
    optimizer = Adam(model.parameters(), rate, config.experiment.optimizer)
    sequence = length * flops.per_token(settings, vocabulary, length)
    rows = batch if on_gpu else max(1, min(batch, int(MOST_FLOPS / sequence)))
    ids = torch.randint(vocabulary, (rows, length), device=runtime.device)
    seconds: list[float] = []
    while len(seconds) < 2 or len(seconds) < 1 + UPDATES and sum(seconds) < LONG:
        started = time.perf_counter()
        optimizer.zero_grad()
        for micro_batch in ids.split(runtime.micro_batch or rows):
            with runtime.autocast():
                _, loss = model(micro_batch, with_lm_loss=True)
            loss.backward()
        optimizer.step()
        if on_gpu:
            torch.cuda.synchronize()
        seconds.append((time.perf_counter() - started) * (1 if on_gpu else runtime.threads))
    return rows * sequence / statistics.median(seconds[1:])


def forecast(
    config: Config, given: float | None = None
) -> Iterator[tuple[str, Arch, float, float]]:
    """Stage, architecture, PFLOP and hours, at the `given` FLOP/s or else at the timed speed."""
    grid, vocabulary = Plan(config).grid(), n_vocab(config)
    for arch in grid.arch:
        if grid.has_corpus:
            own, n_ctx = config.pretrain(arch, 0), config.experiment.model.n_ctx
            n_models = sum(model.arch == arch for model in grid.all_models())
            tokens = own.updates * own.batch * n_ctx * n_models
            count = tokens * flops.per_token(own.model, vocabulary, n_ctx)
            speed = given or pace(config, arch, "pretrain", own.batch, n_ctx, vocabulary)
            yield "pre-training", arch, count / 1e15, count / speed / 3600
        lengths = [task_size(config, name)[2] / sequences(grid.task(name)) for name in grid.tasks]
        batch, length = config.experiment.finetune.batch, round(statistics.mean(lengths))
        count = fine_tuning_flops(config, arch, vocabulary)
        speed = given or pace(config, arch, "finetune", batch, length, vocabulary)
        yield "fine-tuning", arch, count / 1e15, count / speed / 3600


def disk(config: Config) -> float:
    """GB of the language models: each checkpoint twice (also in `.work`), and two states."""
    grid, total = Plan(config).grid(), 0
    for model in grid.all_models() if grid.has_corpus else ():
        network = build(model.arch, config.model(model.arch), n_vocab(config))
        size = 4 * sum(parameter.numel() for parameter in network.parameters())
        total += size * (2 * len(grid.updates) + 2 * STATE)
    return total / 1e9


def decided(run: Path, tasks: Iterable[str]) -> tuple[pd.DataFrame, float]:
    """The differences, in points, that numbers of seeds decide with a power of 80 %, by the seeds.

    A column for the mean and one for each of the `tasks` that the run has. They are of two variants
    that vary over seeds and rows as the full one of the finished `run` and the first other one that
    is pooled with it. Also returns how many fine-tunings each seed has if seeds are of
    pre-training, 0 if of fine-tuning.
    Raises InputError if the run has no two such variants of several seeds, or none of the tasks.
    """
    if not run.is_dir():
        raise InputError(f"{run}: no such folder; give that of a finished run")
    found, names = of_run(run), [*tasks]
    of_variants = {
        variant: {task: own[task] for task in names if task in own}
        for variant, own in found.pool.variants.items()
    }
    full = of_variants.pop(UNCHANGED, {})
    others = of_variants.values()
    alike = [full, *(of for of in others if kinds(of) == kinds(full) and of.keys() == full.keys())]
    fits = [of for of in alike if of and all(one and one.n_units > 1 for one in of.values())]
    if len(fits) < 2:
        why = " ".join(found.notes) or "no two variants have several seeds on all of the tasks"
        remedy = "give a finished run with the full model and the one without the auxiliary loss"
        raise InputError(f"{run}: {why}; {remedy}")
    titles = {task: of.title for (_, task), of in found.cells.items()}
    of_tasks = {f"mean of {len(full)}": [*full]} if len(full) > 1 else {}
    of_tasks |= {titles[task]: [task] for task in full}
    table = pd.DataFrame(index=pd.Index(SEEDS, name="seeds"))
    for title, names in of_tasks.items():
        difference = found.pool.estimate([(1.0, fits[0]), (-1.0, fits[1])], equally(names))
        assert difference is not None
        table[title] = [difference.decides(n) for n in SEEDS]
    first = next(iter(fits[0].values()))
    assert first is not None
    return table, len(first.seeds) / first.n_units if first.is_of_models else 0


def of_n_seeds(hours: pd.Series, config: Config, n: int, per_model: float) -> float:
    """The cost of n seeds from that of the config's, by stage; `per_model` is of `decided`."""
    seeds = config.experiment.seeds
    fits = hours["fine-tuning"] * n * (per_model or 1) / len(seeds.finetune)
    models = n / len(seeds.pretrain) if per_model else 1
    return float(fits + hours.get("pre-training", 0.0) * models)


def _peak(card: str) -> float:
    try:
        peak = flops.PEAKS[card] if card in flops.PEAKS else float(card)
        if not 0 < peak < math.inf:
            raise ValueError
        return peak
    except ValueError:
        known = ", ".join(flops.PEAKS)
        raise argparse.ArgumentTypeError(f"give {known}, or a peak in FLOP/s, 2.2e15") from None


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configfile", type=Path, nargs="+", required=True)
    parser.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--card", type=_peak, help="a GPU that need not be here, or its FLOP/s")
    parser.add_argument("--mfu", type=float, help="the share of its dense bfloat16 peak, as 0.4")
    parser.add_argument("--spread", type=Path, help="a finished run: what would seeds decide?")
    a = parser.parse_args()
    if (a.card is None) != (a.mfu is None) or a.mfu is not None and not 0 < a.mfu <= 1:
        parser.error("give both or neither, such as --card H100 --mfu 0.4; at most 1")
    try:
        config = parse(read(a.configfile, a.config))
        refuse(run_faults(Plan(config)))
    except ConfigError as error:
        sys.exit(str(error))
    on_gpu = a.card or config.runtime.device.startswith("cuda")
    if on_gpu and not a.card and not torch.cuda.is_available():
        sys.exit("error: runtime.device is cuda, but no GPU is here; give --card H100 --mfu 0.4")
    hours, given = "GPU-hours" if on_gpu else "core-hours", a.card and a.card * a.mfu
    told = decided(a.spread, config.experiment.tasks) if a.spread else None
    table = pd.DataFrame(forecast(config, given), columns=["stage", "model", "PFLOP", hours])
    total = f"all: {table[hours].sum():.3g} {hours}; checkpoints: {disk(config):.3g} GB"
    print(table.to_string(index=False), total, sep="\n")
    if told:
        of_seeds, per_model = told
        whole = table.groupby("stage")[hours].sum()
        of_seeds.insert(0, hours, [of_n_seeds(whole, config, n, per_model) for n in SEEDS])
        print(
            "\nDifferences, in points, that seeds would decide with a power of 80 %, if all varies "
            f"as in {a.spread}, on as many rows:"
        )
        print(of_seeds.to_string(float_format="{:.3g}".format))
