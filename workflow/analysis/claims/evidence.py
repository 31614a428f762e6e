"""The results of a run as the claims read them: contrasts of variants, and curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from gpt1.cell import Arch, PretrainedModel
from workflow.analysis.paper import Variant
from workflow.analysis.records import ExamplesRecord, ZeroShotScore, read_examples
from workflow.analysis.stats.estimate import Sample, combine, mean_of
from workflow.analysis.stats.pooling import SeedPool
from workflow.analysis.stats.samples import Samples
from workflow.grid import Grid


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of variants, and what it is called."""

    name: str
    weights: Mapping[Variant, float]

    def printed(self, task: str) -> float | None:
        """The paper's value on a task, by its Table 5; None if that does not have it."""
        scores = [(weight, variant.printed(task)) for variant, weight in self.weights.items()]
        known = [weight * score for weight, score in scores if score is not None]
        return round(float(sum(known)), 1) if len(known) == len(scores) else None


def minus(a: Variant, b: Variant) -> Contrast:
    """The difference of two variants."""
    return Contrast(f"{a.name} − {b.name}", {a: 1.0, b: -1.0})


@dataclass(frozen=True)
class Evidence:
    """What a run has: samples of its cells, facts of its examples, zero-shot scores."""

    results: Path
    grid: Grid
    samples: Samples

    @cached_property
    def seeds(self) -> SeedPool:
        """What the variants of the run say about the chance of seeds."""
        return self.samples.seed_pool(self.grid)

    @cached_property
    def examples(self) -> dict[str, ExamplesRecord]:
        """The facts of each task's rows."""
        return read_examples(self.results, self.grid.tasks)

    def is_published(self, task: str) -> bool:
        """Whether a task's rows are the published ones, not made ones."""
        return task in self.examples and self.examples[task].settings.published

    def heads(self, variant: Variant) -> dict[str, Sample | None]:
        """By task the score of a variant; None if it was not run."""
        cells = {task: variant.cell(self.grid, task) for task in self.grid.tasks}
        return {task: self.samples.headline(cell) for task, cell in cells.items()}

    def contrasts(self, contrast: Contrast) -> dict[str, Sample | None]:
        """By task the weighted sum of the variants; None if one of them was not run."""
        heads, weights = list(map(self.heads, contrast.weights)), list(contrast.weights.values())
        found: dict[str, Sample | None] = {}
        for task in self.grid.tasks:
            known = [one for of_variant in heads if (one := of_variant[task]) is not None]
            found[task] = combine(known, weights) if len(known) == len(weights) else None
        return found

    def layer_curve(self) -> tuple[list[Sample], np.ndarray]:
        """The mean over tasks at each number of layers, and these; nothing if one was not run."""
        layers = [n for n in self.grid.layers.get("transformer", []) if n != "none"]
        variants = [Variant("", "", n_transfer=n) for n in layers]
        means = [mean_of(self.heads(variant), self.grid.tasks) for variant in variants]
        known = [mean for mean in means if mean is not None]
        whole = len(known) == len(layers) > 2
        return (known if whole else []), np.array(layers, dtype=float)

    def zero_shot(self, arch: Arch) -> dict[int, np.ndarray]:
        """By pre-training seed the relative scores [tasks, checkpoints]; whole seeds alone."""
        models = [model for model in self.grid.models() if model.arch == arch]
        curves = {
            model.seed: np.array([self._curve(model, task) for task in self.grid.zero_shot.tasks])
            for model in models
            if len(self.grid.updates) > 2
        }
        return {seed: curve for seed, curve in curves.items() if not np.isnan(curve).any()}

    def _curve(self, model: PretrainedModel, task: str) -> list[float]:
        limits = self.grid.zero_shot.normalise[task]
        paths = [model.zero_shot(self.results, task, n) for n in self.grid.updates]
        scores = [ZeroShotScore.read(path).score if path.exists() else np.nan for path in paths]
        return [(score - limits.random) / (limits.best - limits.random) for score in scores]
