"""The claims of the paper's results and analysis, each with the function that judges it.

Such a function takes the evidence of a run and gives findings, one a line of the claims table,
those that were not run included.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import tasks
from gpt1.cell import Arch
from workflow.analysis.claims.evidence import Contrast, Evidence, alone, minus
from workflow.analysis.claims.finding import CELLS, Count, Finding
from workflow.analysis.paper import (
    EIGHT,
    EMBEDDINGS,
    FULL,
    LSTM,
    NO_AUX,
    NO_PRETRAINING,
    SHUFFLED,
    published,
)
from workflow.analysis.stats.estimate import Estimate, Sample, difference, estimate, mean_of
from workflow.analysis.stats.pooling import estimates
from workflow.analysis.stats.trends import (
    RankTrend,
    by_seed,
    rank_trend,
    rise,
    size_trend,
    slope,
    ups_and_downs,
)

PUBLISHED_DATA = "the published data sets"
SIZES = "tasks whose training sets differ more in size"


@dataclass(frozen=True)
class Claim:
    """A statement of a section of the paper, and what finds the evidence for it."""

    statement: str
    findings: Callable[[Evidence], list[Finding]]
    section: str = "5"


def average(
    run: Evidence,
    contrast: Contrast,
    of: Sequence[str] | None = None,
    paper: float | None = None,
) -> list[Finding]:
    """The mean of a contrast over the tasks `of` (None: all of the grid)."""
    names = list(of or run.grid.tasks)
    if paper is None:  # a mean that the paper does not print may be over fewer tasks
        names = [name for name in names if name in run.grid.tasks]
    samples = run.contrasts(contrast)
    found, alarms = estimates(samples, {"mean": names}).get("mean"), _raised(samples, names)
    return [Finding(f"mean of {len(names)}", contrast.name, found, paper, alarms=alarms)]


def each_task(
    run: Evidence,
    contrast: Contrast,
    of: Sequence[str] | None = None,
    paper: float | None = None,
) -> list[Finding]:
    """A contrast on each of the tasks `of` (None: all of the grid), a test for each."""
    # moderated by all tasks, also by those that the claim is not about
    samples = run.contrasts(contrast)
    found = estimates(samples)
    names = [name for name in of or run.grid.tasks if name in run.grid.tasks]
    return [
        _of_task(name, contrast.name, samples[name], found, paper or contrast.printed(name))
        for name in names
    ]


def _of_task(
    task: str,
    contrast: str,
    sample: Sample | None,
    found: dict[str, Estimate],
    paper: float | None,
    lacking: str = CELLS,
) -> Finding:
    return Finding(
        tasks.task(task).title,
        contrast,
        found.get(task),
        paper,
        direction=-1 if (paper or 0) < 0 else 1,
        lacking=lacking,
        alarms=sample.raised if sample else "",
    )


def _raised(samples: Mapping[Any, Sample | None], names: Sequence[Any]) -> str:
    """The alarms of the runs behind some samples together."""
    mean = mean_of(samples, names)
    return mean.raised if mean else ""


def rises_with_size(run: Evidence, contrast: Contrast) -> list[Finding]:
    """A contrast rises by so many points with ten times as many training rows."""
    sizes = {name: facts.rows["train"] for name, facts in run.examples.items() if facts.rows}
    samples = {name: run.contrast(contrast, name) for name in sizes}
    known = {name: sample for name, sample in samples.items() if sample is not None}
    found, lacking = None, CELLS
    if len(known) == len(run.grid.tasks):
        found, lacking = size_trend(list(known.values()), [sizes[n] for n in known]), SIZES
    title, name = (
        f"{len(run.grid.tasks)} tasks",
        f"{contrast.name}, points per tenfold training rows",
    )
    alarms = _raised(samples, run.grid.tasks)
    return [Finding(title, name, found, margin=0.0, lacking=lacking, alarms=alarms)]


def layer_slope(run: Evidence) -> list[Finding]:
    """The mean over tasks rises with the layers, 0 to all, by so many points a layer."""
    curve, layers = run.layer_curve()
    found = slope(curve, layers) if curve else None
    return [_of_curve(run, "mean over tasks, points a layer", found, curve)]


def layer_ranks(run: Evidence) -> list[Finding]:
    """Spearman's correlation of the mean over tasks with the layers, 0 to all."""
    curve, _ = run.layer_curve()
    found = rank_trend(curve) if curve else None
    return [_of_curve(run, "rank correlation of the mean over tasks with the layers", found, curve)]


def _of_curve(
    run: Evidence, contrast: str, found: Estimate | RankTrend | None, curve: list[Sample]
) -> Finding:
    places = dict(enumerate(curve))
    alarms = _raised(places, list(places))
    return Finding(f"mean of {len(run.grid.tasks)}", contrast, found, margin=0.0, alarms=alarms)


def zero_shot_rise(run: Evidence) -> list[Finding]:
    """How much the transformer's mean zero-shot score changes from one checkpoint to the next."""
    curves = [100 * of.mean(axis=0) for of in run.zero_shot("transformer").values()]
    name = "change of the mean relative score from checkpoint to checkpoint, in %"
    return [Finding(f"mean of {len(run.grid.zero_shot.tasks)}", name, rise(curves), margin=0.0)]


def zero_shot_variation(run: Evidence) -> list[Finding]:
    """How much more the LSTM's zero-shot scores go up and down than the transformer's."""
    archs: tuple[Arch, Arch] = ("lstm", "transformer")
    lstm, transformer = (
        by_seed({seed: 100 * ups_and_downs(of) for seed, of in run.zero_shot(arch).items()})
        for arch in archs
    )
    paired = difference(lstm, transformer)
    found = None if paired is None else estimate(paired)
    name = "LSTM − transformer, ups and downs of the relative score in %"
    return [Finding(f"mean of {len(run.grid.zero_shot.tasks)}", name, found)]


def wins(run: Evidence, paper: float) -> list[Finding]:
    """The number of tasks on which the full transformer beats the best published system."""
    samples = _against_published(run)
    title, everything = f"{len(tasks.PAPER_TASKS)} tasks", len(tasks.PAPER_TASKS)
    if len(samples) < everything:
        real = all(map(run.is_published, run.grid.tasks))
        lacking = "all twelve tasks" if real else PUBLISHED_DATA
        return [Finding(title, "tasks won", None, paper, lacking=lacking)]
    count = Count.of(list(estimates(samples).values()))
    alarms = _raised(samples, list(samples))
    border = paper - 0.5
    return [Finding(title, "tasks won", count, paper, 1, 0.0, border, alarms=alarms)]


def against_published(run: Evidence) -> list[Finding]:
    """The full transformer minus the best published system, a test for each task."""
    samples = _against_published(run)
    found = estimates(samples)
    return [
        _of_task(
            name,
            "full − best published",
            samples.get(name),
            found,
            paper_lead(name),
            CELLS if run.is_published(name) else PUBLISHED_DATA,
        )
        for name in (task.name for task in tasks.PAPER_TASKS)
        if name in run.grid.tasks
    ]


def paper_lead(name: str) -> float:
    """How many points the paper's model is ahead of the best published system on a task."""
    ours, best = published()[name]
    return round(ours - best, 1)


def _against_published(run: Evidence) -> dict[str, Sample]:
    """By task, the full transformer minus the best published system; real data alone."""
    found = {}
    for name, sample in run.contrasts(alone(FULL)).items():
        if sample is not None and name in published() and run.is_published(name):
            best = published()[name][1]
            low, high = sample.limits
            found[name] = replace(
                sample,
                score=sample.score - best,
                boot=sample.boot - best,
                limits=(low - best, high - best),
            )
    return found


NLI = tuple(task.name for task in tasks.PAPER_TASKS if task.family == "entailment")
PRETRAINING, AUX = minus(FULL, NO_PRETRAINING), minus(FULL, NO_AUX)
LAYERS = minus(FULL, EMBEDDINGS)
CONTROL = "negative control"
THIRD = Contrast(
    "a third of (full − w/o pre-training) − (shuffled books − w/o pre-training)",
    {FULL: 1 / 3, NO_PRETRAINING: 2 / 3, SHUFFLED: -1.0},
)
CLAIMS = [
    Claim(
        "Pre-training helps on average over the paper's eight tasks",
        partial(average, contrast=PRETRAINING, of=EIGHT, paper=14.8),
    ),
    Claim("Pre-training helps on average", partial(average, contrast=PRETRAINING)),
    Claim("Pre-training helps on every task", partial(each_task, contrast=PRETRAINING)),
    Claim(
        "The LSTM scores less on average over the paper's eight tasks",
        partial(average, contrast=minus(FULL, LSTM), of=EIGHT, paper=5.6),
    ),
    Claim("The LSTM scores less on average", partial(average, contrast=minus(FULL, LSTM))),
    Claim("The LSTM wins on MRPC alone", partial(each_task, contrast=minus(FULL, LSTM))),
    Claim(
        "The auxiliary loss helps natural language inference",
        partial(average, contrast=AUX, of=NLI),
    ),
    Claim(
        "The auxiliary loss helps each inference task and QQP",
        partial(each_task, contrast=AUX, of=(*NLI, "qqp")),
    ),
    Claim(
        "The auxiliary loss helps larger sets more than smaller ones",
        partial(rises_with_size, contrast=AUX),
    ),
    Claim(
        "The embeddings alone help", partial(average, contrast=minus(EMBEDDINGS, NO_PRETRAINING))
    ),
    Claim(
        "The layers above the embeddings help MNLI",
        partial(each_task, contrast=LAYERS, of=("mnli",), paper=9.0),
    ),
    Claim("The layers above the embeddings help", partial(average, contrast=LAYERS)),
    Claim("Each further layer helps", layer_slope),
    Claim("Each further layer helps: monotone trend", layer_ranks),
    Claim("Zero-shot scores rise steadily along pre-training", zero_shot_rise),
    Claim("The LSTM's zero-shot scores vary more", zero_shot_variation),
    Claim(
        "Books of shuffled words help less",
        partial(average, contrast=minus(FULL, SHUFFLED)),
        CONTROL,
    ),
    Claim(
        "Books of shuffled words give at most a third of the gain",
        partial(average, contrast=THIRD),
        CONTROL,
    ),
    Claim("Better than the best published system on 9 of 12 tasks", partial(wins, paper=9.0), "4"),
    Claim(
        "Better than the best published system but for RTE, SST-2 and MRPC", against_published, "4"
    ),
]
