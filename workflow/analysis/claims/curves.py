"""Claims about curves: along the layers transferred, and along pre-training."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from workflow.analysis.claims.contrasts import all_of, on_average
from workflow.analysis.claims.evidence import Contrast, Evidence, minus
from workflow.analysis.claims.finding import Finding
from workflow.analysis.paper import Variant
from workflow.analysis.stats.estimates import Estimate
from workflow.analysis.stats.scores import of_seeds, total
from workflow.grid import Aux, Grid

WITHOUT: dict[Aux, str] = {"on": "", "off": ", w/o aux LM"}


def each_layer(run: Evidence, of: str | None, aux: Aux) -> list[Finding]:
    """Whether each step to more layers, from the embeddings alone to all, raises a score.

    The score is that of the task `of`, or the mean of all tasks. As with a claim about every task,
    each step is tested without correction.
    """
    contrasts = _layer_steps(run.grid, aux)
    each = [one for step in contrasts for one in on_average(run, step, [of] if of else None)]
    whole = all_of(each, f"further layers{WITHOUT[aux]}", max(1, len(each)), "steps")
    title = run.grid.task(of).title if of else f"mean of {len(run.grid.tasks)}"
    return [replace(whole, tasks=title)]


def _layer_steps(grid: Grid, aux: Aux) -> list[Contrast]:
    """The contrasts of each number of layers with the next; none if too few for a curve."""
    layers = [n for n in grid.sweep("transformer", aux) if n != "none"]
    variants = [Variant("", f"{n} layers", aux=aux, n_transfer=n) for n in layers]
    if len(layers) < 3:
        return []
    return [minus(b, a) for a, b in pairwise(variants)]


def zero_shot_rise(run: Evidence) -> list[Finding]:
    """How far the transformer's zero-shot scores rise along pre-training, on average and by task.

    It is the rise of a straight line through each seed's relative scores, in % of the way from the
    score of chance to the best; the seeds are the sample.
    """
    curves, names = run.zero_shot("transformer"), run.grid.zero_shot.of("heuristic")
    lines = {f"mean of {len(names)}": {s: of.mean(axis=0) for s, of in curves.items()}}
    for i, name in enumerate(names):
        lines[run.grid.task(name).title] = {seed: of[i] for seed, of in curves.items()}
    contrast = "rise of the relative score from first to last checkpoint, in %"
    found: list[Finding] = []
    for title, by_seed in lines.items():
        score = of_seeds({seed: 100 * rise(curve) for seed, curve in by_seed.items()})
        margin = run.grid.margins.task if found else run.grid.margins.mean  # the mean comes first
        rises = Estimate(score, (score.over_seeds,)) if by_seed else None
        found.append(Finding(title, contrast, rises, margin=margin))
    return found


def zero_shot_variation(run: Evidence) -> list[Finding]:
    """How much more the LSTM's zero-shot scores go up and down than the transformer's."""
    scores = [
        of_seeds({seed: 100 * ups_and_downs(of) for seed, of in run.zero_shot(arch).items()})
        for arch in ("lstm", "transformer")
    ]
    paired = total(scores, [1.0, -1.0])
    found = Estimate(paired, (paired.over_seeds,)) if paired else None
    name = "LSTM − transformer, ups and downs of the relative score in %"
    return [Finding(f"mean of {len(run.grid.zero_shot.of('heuristic'))}", name, found)]


def rise(curve: np.ndarray) -> float:
    """How far the least-squares line through a curve [checkpoints] rises along all of it.

    Checkpoints are taken to be equally far apart, as they nearly are on a scale of logarithms.
    """
    return float(np.polyfit(np.arange(len(curve)), curve, 1)[0] * (len(curve) - 1))


def ups_and_downs(curves: np.ndarray) -> float:
    """How far the curves [tasks, checkpoints] move beyond their net change, averaged over tasks."""
    steps = np.diff(curves, axis=-1)
    return float((np.abs(steps).sum(axis=-1) - np.abs(steps.sum(axis=-1))).mean())
