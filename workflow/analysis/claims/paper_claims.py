"""The claims of the paper's results and analysis, each with the function that judges it.

Such a function takes the evidence of a run and gives findings, one a line of the claims table,
those that were not run included.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

import tasks
from workflow.analysis.claims.evidence import Contrast, Evidence, minus
from workflow.analysis.claims.finding import (
    CELLS,
    NOT_REPRODUCED,
    REPRODUCED,
    Count,
    Finding,
    Found,
)
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
from workflow.analysis.stats.estimate import (
    LEVEL,
    Sample,
    average,
    difference,
    estimate,
    holm,
)
from workflow.analysis.stats.pooling import estimates
from workflow.analysis.stats.trends import (
    by_seed,
    rank_trend,
    rise,
    size_trend,
    slope,
    ups_and_downs,
)

PUBLISHED_DATA = "the published data sets"
SIZES = "tasks whose training sets differ more in size"
Tasks = Sequence[str] | None  # None: all of the grid


@dataclass(frozen=True)
class Claim:
    """A statement of a section of the paper, and what finds the evidence for it."""

    statement: str
    findings: Callable[[Evidence], list[Finding]]
    section: str = "5"


def on_average(
    run: Evidence,
    contrast: Contrast,
    of: Tasks = None,
    paper: float | None = None,
    has_margin: bool = True,
) -> list[Finding]:
    """The mean of a contrast over the tasks `of`; without a margin no contrast is `equal`."""
    names = list(of or run.grid.tasks)
    if paper is None:  # a mean that the paper does not print may be over fewer tasks
        names = [name for name in names if name in run.grid.tasks]
    samples = run.contrasts(contrast)
    found = estimates(samples, {"mean": names}, run.seeds).get("mean")
    alarms = _raised(samples.get(name) for name in names)
    margins = run.grid.margins
    margin = (margins.task if len(names) == 1 else margins.mean) if has_margin else 0.0
    title = f"mean of {len(names)}"
    return [Finding(title, contrast.name, found, paper, margin, alarms=alarms)]


def each_task(
    run: Evidence, contrast: Contrast, of: Tasks = None, paper: float | None = None
) -> list[Finding]:
    """A contrast on each of the tasks `of`: how many have it, and a test for each."""
    names = [name for name in of or run.grid.tasks if name in run.grid.tasks]
    printed = {name: paper or contrast.printed(name) for name in names}
    found = _by_task(run, run.contrasts(contrast), contrast.name, printed)
    return [_all_of(found), *found] if len(found) > 1 else found


def _by_task(
    run: Evidence,
    samples: Mapping[str, Sample | None],
    contrast: str,
    papers: Mapping[str, float | None],
) -> list[Finding]:
    """A finding for each task of `papers`, moderated by all that have a sample."""
    found, findings = estimates(samples, seeds=run.seeds), []
    for name, paper in papers.items():
        title, sample = tasks.task(name).title, samples.get(name)
        alarms, margin = sample.raised if sample else "", run.grid.margins.task
        findings.append(Finding(title, contrast, found.get(name), paper, margin, alarms=alarms))
    return findings


def _all_of(findings: Sequence[Finding]) -> Finding:
    """The claim that all of the findings hold: how many do.

    That each holds needs no correction for their number; that one of them does not hold does.
    """
    n, known = len(findings), [one for one in findings if one.found]
    one = Finding(f"{n} tasks", f"{findings[0].contrast}, tasks", None, border=n - 0.5)
    if len(known) < n:
        return replace(one, lacking=next(of.lacking for of in findings if not of.found))
    sure = holm([of.p for of in known]) < 1 - LEVEL
    count = Count.of(
        [of.found for of in known if of.found],
        [of.verdict == REPRODUCED for of in known],
        [of.verdict == NOT_REPRODUCED and is_sure for of, is_sure in zip(known, sure, strict=True)],
    )
    on_its_side = sum((of.found.value > 0) == ((of.paper or 1) > 0) for of in known if of.found)
    return replace(one, found=replace(count, value=on_its_side), alarms=_joined(known))


def _joined(findings: Sequence[Finding]) -> str:
    """The alarms of several findings, each kind once."""
    kinds = {text.partition(":")[0] for of in findings for text in of.alarms.split(";") if text}
    return ";".join(sorted(kinds))


def _raised(samples: Iterable[Sample | None]) -> str:
    """The alarms of the runs behind some samples together; none if one was not run."""
    mean = average(samples)
    return mean.raised if mean else ""


def rises_with_size(run: Evidence, contrast: Contrast) -> list[Finding]:
    """A contrast rises by so many points with ten times as many training rows."""
    sizes = {name: facts.rows["train"] for name, facts in run.examples.items() if facts.rows}
    samples = run.contrasts(contrast)
    known = {name: one for name in sizes if (one := samples[name]) is not None}
    found, lacking = None, CELLS
    if len(known) == len(run.grid.tasks):
        found, lacking = size_trend(list(known.values()), [sizes[n] for n in known]), SIZES
    return [
        Finding(
            f"{len(run.grid.tasks)} tasks",
            f"{contrast.name}, points per tenfold training rows",
            found,
            lacking=lacking,
            alarms=_raised(known.get(name) for name in run.grid.tasks) if found else "",
        )
    ]


def layer_slope(run: Evidence) -> list[Finding]:
    """The mean over tasks rises with the layers, 0 to all, by so many points a layer."""
    curve, layers = run.layer_curve()
    found = slope(curve, layers, run.seeds, run.grid.tasks) if curve else None
    return [_of_curve(run, "mean over tasks, points a layer", found, curve)]


def layer_ranks(run: Evidence) -> list[Finding]:
    """Spearman's correlation of the mean over tasks with the layers, 0 to all."""
    curve, _ = run.layer_curve()
    found = rank_trend(curve) if curve else None
    return [_of_curve(run, "rank correlation of the mean over tasks with the layers", found, curve)]


def _of_curve(
    run: Evidence, contrast: str, found: Found | None, curve: Sequence[Sample]
) -> Finding:
    title = f"mean of {len(run.grid.tasks)}"
    return Finding(title, contrast, found, alarms=_raised(curve))


def zero_shot_rise(run: Evidence) -> list[Finding]:
    """How much the transformer's mean zero-shot score changes from one checkpoint to the next."""
    curves = [100 * of.mean(axis=0) for of in run.zero_shot("transformer").values()]
    name = "change of the mean relative score from checkpoint to checkpoint, in %"
    return [Finding(f"mean of {len(run.grid.zero_shot.tasks)}", name, rise(curves))]


def zero_shot_variation(run: Evidence) -> list[Finding]:
    """How much more the LSTM's zero-shot scores go up and down than the transformer's."""
    lstm, transformer = (
        by_seed({seed: 100 * ups_and_downs(of) for seed, of in curves.items()})
        for curves in (run.zero_shot("lstm"), run.zero_shot("transformer"))
    )
    paired = difference(lstm, transformer)
    found = None if paired is None else estimate(paired)
    name = "LSTM − transformer, ups and downs of the relative score in %"
    return [Finding(f"mean of {len(run.grid.zero_shot.tasks)}", name, found)]


def wins(run: Evidence, paper: float) -> list[Finding]:
    """The number of tasks on which the full transformer beats the best published system."""
    samples, everything = _against_published(run), len(tasks.PAPER_TASKS)
    finding = Finding(f"{everything} tasks", "tasks won", None, paper, border=paper - 0.5)
    if len(samples) < everything:
        real = all(map(run.is_published, run.grid.tasks))
        return [replace(finding, lacking="all twelve tasks" if real else PUBLISHED_DATA)]
    found = list(estimates(samples, seeds=run.seeds).values())
    sure = holm([one.p for one in found]) < 1 - LEVEL  # which tasks win is seen afterwards
    above = np.array([one.value > 0 for one in found])
    count = Count.of(found, sure & above, sure & ~above)
    return [replace(finding, found=count, alarms=_raised(samples.values()))]


def against_published(run: Evidence) -> list[Finding]:
    """The full transformer minus the best published system, a test for each task."""
    names = [task.name for task in tasks.PAPER_TASKS if task.name in run.grid.tasks]
    leads = {name: paper_lead(name) for name in names}
    found = _by_task(run, _against_published(run), "full − best published", leads)
    lines = [
        one if run.is_published(name) else replace(one, lacking=PUBLISHED_DATA)
        for name, one in zip(names, found, strict=True)
    ]
    return [_all_of(lines), *lines]


def paper_lead(name: str) -> float:
    """How many points the paper's model is ahead of the best published system on a task."""
    ours, best = published()[name]
    return round(ours - best, 1)


def _against_published(run: Evidence) -> dict[str, Sample]:
    """By task, the full transformer minus the best published system; real data alone."""
    found = {}
    for name, sample in run.heads(FULL).items():
        if sample is not None and name in published() and run.is_published(name):
            best = published()[name][1]
            limits = sample.limits[0] - best, sample.limits[1] - best
            score, boot = sample.score - best, sample.boot - best
            found[name] = replace(sample, score=score, boot=boot, limits=limits)
    return found


NLI = tuple(task.name for task in tasks.PAPER_TASKS if task.family == "entailment")
PRETRAINING, AUX = minus(FULL, NO_PRETRAINING), minus(FULL, NO_AUX)
LAYERS = minus(FULL, EMBEDDINGS)
CONTROL = "negative control"
THIRD = Contrast(
    "a third of (full − w/o pre-training) − (shuffled words − w/o pre-training)",
    {FULL: 1 / 3, NO_PRETRAINING: 2 / 3, SHUFFLED: -1.0},
)
CLAIMS = [
    Claim(
        "Pre-training helps on average over the paper's eight tasks",
        partial(on_average, contrast=PRETRAINING, of=EIGHT, paper=14.8),
    ),
    Claim("Pre-training helps on average", partial(on_average, contrast=PRETRAINING)),
    Claim("Pre-training helps on every task", partial(each_task, contrast=PRETRAINING)),
    Claim(
        "The LSTM scores less on average over the paper's eight tasks",
        partial(on_average, contrast=minus(FULL, LSTM), of=EIGHT, paper=5.6),
    ),
    Claim("The LSTM scores less on average", partial(on_average, contrast=minus(FULL, LSTM))),
    Claim("The LSTM wins on MRPC alone", partial(each_task, contrast=minus(FULL, LSTM))),
    Claim(
        "The auxiliary loss helps natural language inference",
        partial(on_average, contrast=AUX, of=NLI),
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
        "The embeddings alone help", partial(on_average, contrast=minus(EMBEDDINGS, NO_PRETRAINING))
    ),
    Claim(
        "The layers above the embeddings help MNLI",
        partial(each_task, contrast=LAYERS, of=("mnli",), paper=9.0),
    ),
    Claim("The layers above the embeddings help", partial(on_average, contrast=LAYERS)),
    Claim("Each further layer helps", layer_slope),
    Claim("Each further layer helps: monotone trend", layer_ranks),
    Claim("Zero-shot scores rise steadily along pre-training", zero_shot_rise),
    Claim("The LSTM's zero-shot scores vary more", zero_shot_variation),
    Claim(
        "Books of shuffled words help less",
        partial(on_average, contrast=minus(FULL, SHUFFLED)),
        CONTROL,
    ),
    Claim(
        "Books of shuffled words give at most a third of the gain",
        partial(on_average, contrast=THIRD, has_margin=False),  # holds at a third, too
        CONTROL,
    ),
    Claim("Better than the best published system on 9 of 12 tasks", partial(wins, paper=9.0), "4"),
    Claim(
        "Better than the best published system but for RTE, SST-2 and MRPC", against_published, "4"
    ),
]
