"""Claims about curves: along the layers transferred, and along pre-training."""

import numpy as np

import tasks
from workflow.analysis.claims.evidence import Contrast, Evidence
from workflow.analysis.claims.finding import Finding
from workflow.analysis.paper import Variant
from workflow.analysis.stats.estimate import estimate
from workflow.analysis.stats.sample import difference
from workflow.analysis.stats.trends import by_seed, steps, ups_and_downs
from workflow.grid import Aux, Grid

WITHOUT: dict[Aux, str] = {"on": "", "off": ", w/o aux LM"}


def per_layer(grid: Grid, aux: Aux) -> Contrast:
    """The slope of the line through the scores with 0 layers, the embeddings alone, to all."""
    layers = _layers(grid, aux)
    x = np.array([variant.n_transfer for variant in layers], dtype=float)
    centred = x - x.mean() if layers else x
    weights = dict(zip(layers, (centred / (centred @ centred)).tolist(), strict=True))
    return Contrast(f"points a layer{WITHOUT[aux]}", weights, has_margin=False)


def _layers(grid: Grid, aux: Aux) -> list[Variant]:
    """The transformer at each number of layers; nothing where there are too few for a curve."""
    layers = [n for n in grid.sweep("transformer", aux) if n != "none"]
    return [Variant("", "", aux=aux, n_transfer=n) for n in layers] if len(layers) > 2 else []


def zero_shot_steps(run: Evidence) -> list[Finding]:
    """How many of the steps between the transformer's checkpoints raise a zero-shot score, in %.

    More than half of them do, of the mean and of each task.
    """
    curves, names = list(run.zero_shot("transformer").values()), run.grid.zero_shot.tasks
    lines = {f"mean of {len(names)}": steps([of.mean(axis=0) for of in curves])}
    for i, name in enumerate(names):
        lines[tasks.task(name).title] = steps([of[i] for of in curves])
    contrast = "steps from checkpoint to checkpoint that rise, in %"
    return [Finding(title, contrast, found, border=50.0) for title, found in lines.items()]


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
