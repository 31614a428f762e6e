"""How much work a config asks for: runs, updates, rows and tokens of each stage.

Rows and lengths are those of the encoded tasks where these lie in the results folder. Before that
they are the numbers of rows that were published, or that the embedded world makes, and the usual
lengths of a task's inputs.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gpt1.cell import Arch, Aux
from tasks import task as task_named
from tasks.splits import choose_splits
from tasks.world.tasks import WORLD_TASKS
from workflow.analysis.records import EncodedRecord
from workflow.configuration.model import Config
from workflow.grid import jobs

# Mean tokens of an input, the special tokens included: of the embedded world under its own 1,500
# merges, and of the published rows under the published vocabulary. SNLI, RTE, MRPC, STS-B, SST-2,
# CoLA, MNLI and SciTail were counted on up to 1,000 rows; the others are guesses.
LENGTHS = {
    "snli": (16, 27), "mnli": (16, 38), "qnli": (18, 50), "rte": (17, 71), "scitail": (14, 40),
    "race": (31, 380), "story_cloze": (33, 65), "mrpc": (19, 52), "qqp": (20, 32),
    "stsb": (20, 28), "sst2": (12, 13), "cola": (12, 11), "dprd": (17, 40),
}  # fmt: skip
CHOICES = {"race": 4, "story_cloze": 2, "dprd": 2}
SEQUENCES_SCORED = {"race": 4, "dprd": 2, "sst2": 2, "cola": 1}
JOBS_OF_A_TASK, OTHER_JOBS = 3, 25  # examples, baselines, encode; the corpus, tables and figures


@dataclass(frozen=True)
class TaskSize:
    """A task's rows for training, for selecting and for the reported scores, and their mean tokens.

    `counted` says whether they were, or are expected.
    """

    train: int
    select: int
    report: int
    length: float
    counted: bool


@dataclass(frozen=True)
class FineTuningWork:
    """The runs of one architecture on one task with one auxiliary setting."""

    arch: Arch
    task: str
    aux: Aux
    runs: int
    updates: int  # of one run
    scored: int  # rows that one run predicts
    size: TaskSize

    def tokens(self, batch: int) -> float:
        """Tokens that all runs train on; each choice and order is a sequence."""
        return self.runs * self.updates * batch * sequences(self.task) * self.size.length


def sequences(task: str) -> int:
    """Sequences that an example of a task becomes."""
    similarity = task_named(task).family == "similarity"
    return CHOICES.get(task, 2 if similarity else 1)


def task_size(config: Config, name: str) -> TaskSize:
    """The rows of a task, counted or expected."""
    path = Path(config.results, "encoded", f"{name}.json")
    n_ctx = config.experiment.model.n_ctx
    if path.exists():
        splits = EncodedRecord.read(path).splits.values()
        rows: Counter[str] = Counter()
        for split in splits:
            rows[split.role] += split.rows
        lengths = next(split.lengths for split in splits if split.role in ("train", "report"))
        mean = sum(int(n) * count for n, count in lengths.items()) / sum(lengths.values())
        return TaskSize(rows["train"], rows["select"], rows["report"], min(mean, n_ctx), True)
    return _expected(config, name, n_ctx)


def _expected(config: Config, name: str, n_ctx: int) -> TaskSize:
    task, settings = task_named(name), config.prepare(name)
    roles = choose_splits(task, settings)
    in_world = config.data is None and not settings.published
    if in_world:
        world = config.experiment.world
        assert world is not None
        made = WORLD_TASKS[name]  # type: ignore[index]
        n = world.rows.get(name) or max(6, round(made.rows * world.scale))  # type: ignore[call-overload]
        rows = {
            split: world.report if share == "report" else round(n * float(share))
            for split, share in made.splits.items()
            if share != "unlabelled"
        }
    else:
        rows = dict(task.rows)
    train = rows.get(roles.train, 0)
    reported = [rows.get(split, 0) for split in roles.report]
    if roles.carve:
        shares = {role: share / sum(roles.carve.values()) for role, share in roles.carve.items()}
        reported = [round(share * train) for role, share in shares.items() if role != "train"]
        train = round(shares["train"] * train)
    train = min(train, settings.limit_train or train)
    report = sum(min(n, settings.limit_report or n) for n in reported)
    fraction = settings.select_fraction if task.select_fraction is None else task.select_fraction
    select = rows.get(roles.select, 0) if roles.select else round(fraction * train)
    train -= 0 if roles.select else select
    return TaskSize(train, select, report, min(LENGTHS[name][not in_world], n_ctx), False)


def fine_tuning(config: Config) -> Iterator[FineTuningWork]:
    """The fine-tuning runs of a config; those of the shuffled books count with the others."""
    grid = config.grid()
    cells = Counter((cell.arch, cell.task, cell.aux) for cell in grid.cells())
    sizes = {name: task_size(config, name) for name in grid.tasks}
    for (arch, task, aux), n in cells.items():
        settings, size = config.finetune(arch, task, aux), sizes[task]
        batch = max(1, min(settings.batch, size.train))
        scored = size.select * settings.epochs + size.select + size.report
        scored += min(settings.eval_train, size.train)
        yield FineTuningWork(
            *(arch, task, aux, n * len(grid.seeds.finetune)),
            *(size.train // batch * settings.epochs, scored, size),
        )


def zero_shot_tokens(config: Config, arch: Arch) -> float:
    """Tokens that are scored zero-shot at all checkpoints of an architecture's models."""
    grid, limit = config.grid(), config.experiment.zero_shot.limit or 10**12
    total = 0.0
    for name in grid.zero_shot.tasks:
        size = task_size(config, name)
        rows = min(limit, size.report) + (min(limit, size.train) if name == "cola" else 0)
        total += rows * SEQUENCES_SCORED[name] * size.length
    models = sum(model.arch == arch for model in grid.models())
    return total * models * len(grid.updates)


def n_jobs(config: Config) -> int:
    """About how many processes the run starts."""
    grid = config.grid()
    n = JOBS_OF_A_TASK * len(grid.examples) + OTHER_JOBS
    n += 2 * len([*grid.models(), *grid.models("shuffled")])  # pre-training, zero-shot or probes
    for job in jobs(grid, config.runtime.shards):
        settings: dict[str, list[Aux]] = {"intermediate": grid.intermediate_aux, "shuffled": ["on"]}
        n += 0 if job.part == "further" else len(grid.tasks) * len(settings.get(job.part, grid.aux))
    return n
