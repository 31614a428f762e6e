"""How a run judges a claim: by its contrast on average, on each task, or along the tasks or layers.

A judge returns findings, one per line of the claims table, including those that were not run.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

import tasks
from workflow.analysis.claims.evidence import Contrast, Evidence, minus
from workflow.analysis.claims.finding import CELLS, Count, Finding, all_of
from workflow.analysis.paper import EIGHT, TRAIN_ROWS
from workflow.analysis.stats.estimates import LEVEL, Estimate, holm
from workflow.analysis.stats.scores import equally, of_seeds, total


@dataclass(frozen=True)
class Claim:
    """A statement from a section of the paper, and the contrast and judge that it is judged by.

    It is about the tasks `over`, or all of the grid if that is empty, and `paper` is the value in
    the paper's text, if it states one. The claim is that the contrast is above 0, or with `at_most`
    that it is at most the margin; if the paper's value is negative, so is the contrast.
    """

    section: str
    statement: str
    contrast: Contrast
    judge: Callable[[Evidence, "Claim"], list[Finding]]
    over: Sequence[str] = ()
    paper: float | None = None
    at_most: bool = False


@dataclass(frozen=True)
class Axis:
    """A number for each task, such as the size of its training set, by the run and by the paper.

    `least` is how far apart the numbers must be at their ends, and `lacking` what is not there
    otherwise.
    """

    unit: str
    of_run: Callable[[Evidence], Mapping[str, float]]
    least: float
    lacking: str
    of_paper: Mapping[str, float] | None = None


def _decades(rows: Mapping[str, int]) -> dict[str, float]:
    return {name: float(np.log10(n)) for name, n in rows.items()}


SIZES = Axis(
    "tenfold training rows",
    lambda run: _decades(run.train_rows),
    0.5,
    "tasks whose training sets differ more in size",
    _decades({name: TRAIN_ROWS[name] for name in EIGHT}),
)
LENGTHS = Axis(
    "doubling of the mean input",
    lambda run: {name: float(np.log2(tokens)) for name, tokens in run.lengths.items()},
    1.0,
    "tasks whose inputs differ more in length",
)


def mean(run: Evidence, claim: Claim) -> list[Finding]:
    """The mean of the contrast over the tasks."""
    names, contrast = list(claim.over or run.grid.tasks), claim.contrast
    margin = _margin(run, contrast, is_mean=len(names) != 1)
    return [
        Finding(
            f"mean of {len(names)}",
            contrast.name,
            run.estimate(contrast, equally(names)),
            claim.paper,
            margin=0.0 if claim.at_most else margin,
            border=margin if claim.at_most else 0.0,
            at_most=claim.at_most,
            printed=contrast.printed_mean(names),
        )
    ]


def mean_of_trained(run: Evidence, claim: Claim) -> list[Finding]:
    """The mean over the tasks whose cells are trained for as many epochs as the contrast says."""
    (variant,) = claim.contrast.weights
    trained = [name for name, of in run.heads(variant, claim.contrast).items() if of]
    return mean(run, replace(claim, over=trained))


def mean_of_smaller(run: Evidence, claim: Claim) -> list[Finding]:
    """The mean over the half of the paper's eight tasks that has fewer training rows."""
    half = len(EIGHT) // 2
    of_paper = sorted(EIGHT, key=TRAIN_ROWS.__getitem__)[:half]
    rows = {name: n for name, n in run.train_rows.items() if name in EIGHT}
    smaller = sorted(rows, key=rows.__getitem__)[:half]
    lacking = CELLS if len(rows) < len(EIGHT) else ""
    if not lacking and np.ptp([*_decades(rows).values()]) < SIZES.least:
        lacking = SIZES.lacking
    (found,) = mean(run, replace(claim, over=of_paper if lacking else smaller))
    found = replace(found, printed=claim.contrast.printed_mean(of_paper))
    return [replace(found, found=None, lacking=lacking) if lacking else found]


def each(run: Evidence, claim: Claim) -> list[Finding]:
    """A count of the tasks on which the contrast holds, and a test for each.

    Tasks that the grid lacks have no test, and there is then no count. A claim over all tasks has
    no tests where none of them has what the contrast subtracts.
    """
    contrast, own = claim.contrast, run.grid.tasks
    names = claim.over or [task.name for task in tasks.PAPER_TASKS if task.name in own]
    given = names if contrast.given is None else contrast.given(run)
    lines = [
        Finding(
            run.grid.task(name).title,
            contrast.name,
            run.estimate(contrast, {name: 1.0}),
            claim.paper or contrast.papers.get(name),
            _margin(run, contrast, is_mean=False),
            lacking=CELLS if name in given else contrast.lacking,
        )
        for name in names
        if name in own
    ]
    if len(claim.over) == 1:
        return lines
    whole = all_of(lines, contrast.name, len(names))
    return [whole, *lines] if given else [replace(whole, lacking=contrast.lacking)]


def slope(run: Evidence, claim: Claim, along: Axis) -> list[Finding]:
    """How many points the contrast rises along an axis of the tasks."""
    names, contrast, of_run = list(claim.over or run.grid.tasks), claim.contrast, along.of_run(run)
    finding = Finding(
        f"{len(names)} tasks",
        f"{contrast.name}, points per {along.unit}",
        None,
        margin=run.grid.margins.mean,
        printed=contrast.printed_slope(along.of_paper) if along.of_paper else None,
    )
    if {*names} - of_run.keys() or run.estimate(contrast, equally(names)) is None:
        return [finding]
    x = {name: of_run[name] for name in names}
    if np.ptp([*x.values()]) < along.least:
        return [replace(finding, lacking=along.lacking)]
    return [replace(finding, found=run.estimate(contrast, slope_weights(x)))]


def steps(run: Evidence, claim: Claim) -> list[Finding]:
    """Whether each step to more layers, from the embeddings alone to all, raises the mean score.

    The model is that of the claim's contrast. As with a claim about every task, each step is tested
    without correction. Fewer than three numbers of layers are no curve.
    """
    (model,) = claim.contrast.weights
    layers = [n for n in run.grid.sweep(model.arch, model.aux) if n != "none"]
    variants = [replace(model, title="", name=f"{n} layers", n_transfer=n) for n in layers]
    pairs = pairwise(variants) if len(variants) > 2 else ()
    found = [one for a, b in pairs for one in mean(run, replace(claim, contrast=minus(b, a)))]
    whole = all_of(found, claim.contrast.name, max(1, len(found)), "steps")
    titles = [run.grid.task(name).title for name in claim.over]
    return [replace(whole, tasks=titles[0] if titles else f"mean of {len(run.grid.tasks)}")]


def curves(
    run: Evidence,
    claim: Claim,
    measure: Callable[[np.ndarray], float],
    by_task: bool = False,
) -> list[Finding]:
    """A measure of the zero-shot curves of the contrast's architectures, on average and by task.

    It is of the relative scores, in % of the way from the score of chance to the best; the seeds of
    pre-training are the sample.
    """
    names, contrast = run.grid.zero_shot.of("heuristic"), claim.contrast
    rows = {f"mean of {len(names)}": slice(None)}
    if by_task:
        rows |= {run.grid.task(name).title: slice(i, i + 1) for i, name in enumerate(names)}
    by_arch = [run.zero_shot(variant.arch) for variant in contrast.weights]
    found: list[Finding] = []
    for title, of in rows.items():
        by_seed = [{s: 100 * measure(one[of]) for s, one in own.items()} for own in by_arch]
        scores = [of_seeds(values) if values else None for values in by_seed]
        score = total(scores, contrast.weights.values())
        estimate = Estimate(score, (score.over_seeds,)) if score else None
        margin = _margin(run, contrast, is_mean=not found)
        found.append(Finding(title, contrast.name, estimate, margin=margin))
    return found


def wins(run: Evidence, claim: Claim) -> list[Finding]:
    """The number of the paper's tasks on which the contrast is above 0."""
    names, paper = [task.name for task in tasks.PAPER_TASKS], claim.paper or 0.0
    finding = Finding(f"{len(names)} tasks", "tasks won", None, paper, border=paper - 0.5)
    found = [one for name in names if (one := run.estimate(claim.contrast, {name: 1.0}))]
    if len(found) < len(names):
        scores = f"the full transformer's scores on all {len(names)} tasks"
        lacking = scores if run.is_all_published else claim.contrast.lacking
        return [replace(finding, lacking=lacking)]
    sure = holm([one.p for one in found]) < 1 - LEVEL  # no task was picked beforehand
    above = np.array([one.value > 0 for one in found])
    ends = int((sure & above).sum()), len(names) - int((sure & ~above).sum())
    whole = run.estimate(claim.contrast, equally(names))
    alarms = whole.alarms if whole else ""
    count = Count(int(above.sum()), ends, min(one.n_seeds for one in found), alarms=alarms)
    return [replace(finding, found=count)]


def _margin(run: Evidence, contrast: Contrast, is_mean: bool) -> float:
    """Within how many points of 0 the contrast is of no consequence."""
    margins = run.grid.margins
    return (margins.mean if is_mean else margins.task) * contrast.has_margin


def slope_weights(x: Mapping[str, float]) -> dict[str, float]:
    """The weight of each task's value in the least-squares slope along `x`, which differs.

    So the slope has the chance of seeds and rows like any contrast, and speaks of these tasks
    alone.
    """
    from_mean = np.array([*x.values()]) - np.mean([*x.values()])
    return dict(zip(x, from_mean / (from_mean @ from_mean), strict=True))


def rise(curves: np.ndarray) -> float:
    """How far the least-squares line through the mean of curves [tasks, checkpoints] rises.

    Checkpoints are taken to be equally far apart, as they nearly are on a scale of logarithms.
    """
    curve = curves.mean(axis=0)
    return float(np.polyfit(np.arange(len(curve)), curve, 1)[0] * (len(curve) - 1))


def ups_and_downs(curves: np.ndarray) -> float:
    """How far the curves [tasks, checkpoints] move beyond their net change, averaged over tasks."""
    moves = np.diff(curves, axis=-1)
    return float((np.abs(moves).sum(axis=-1) - np.abs(moves.sum(axis=-1))).mean())


along_sizes, along_lengths = partial(slope, along=SIZES), partial(slope, along=LENGTHS)
rises, varies = partial(curves, measure=rise, by_task=True), partial(curves, measure=ups_and_downs)
