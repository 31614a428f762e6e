"""The results of a run as the claims read them: contrasts of variants, and zero-shot curves."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from gpt1.cell import Arch, Cell, PretrainedModel
from workflow.analysis.paper import Variant
from workflow.analysis.records import ExamplesRecord, ZeroShotScore
from workflow.analysis.stats.estimate import Sample, combine, mean_of
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


def alone(variant: Variant) -> Contrast:
    """A variant by itself."""
    return Contrast(variant.name, {variant: 1.0})


@dataclass(frozen=True)
class Evidence:
    """What a run has: samples of its cells, facts of its examples, zero-shot scores."""

    results: Path
    grid: Grid
    samples: Samples

    @cached_property
    def examples(self) -> dict[str, ExamplesRecord]:
        """The facts of each task's rows."""
        paths = {name: self.results / "examples" / f"{name}.json" for name in self.grid.tasks}
        return {n: ExamplesRecord.read(path) for n, path in paths.items() if path.exists()}

    def is_published(self, task: str) -> bool:
        """Whether a task's rows are the published ones, not made ones."""
        return task in self.examples and self.examples[task].settings.published

    def contrast(self, contrast: Contrast, task: str) -> Sample | None:
        """The weighted sum of a task's variants; None if one of them was not run."""
        cells = [variant.cell(self.grid, task) for variant in contrast.weights]
        samples = [self.samples.headline(cell) for cell in cells if cell is not None]
        known = [sample for sample in samples if sample is not None]
        return combine(known, list(contrast.weights.values())) if len(known) == len(cells) else None

    def contrasts(self, contrast: Contrast) -> dict[str, Sample | None]:
        """The same of every task."""
        return {task: self.contrast(contrast, task) for task in self.grid.tasks}

    def layer_curve(self) -> tuple[list[Sample], np.ndarray]:
        """The mean over tasks at each number of layers, and these; nothing if one was not run."""
        layers = [n for n in self.grid.layers.get("transformer", []) if n != "none"]
        means = []
        for n in layers:
            cells = {t: Cell("transformer", t, "on", n) for t in self.grid.tasks}
            heads = {task: self.samples.headline(cell) for task, cell in cells.items()}
            means.append(mean_of(heads, self.grid.tasks))
        known = [mean for mean in means if mean is not None]
        whole = len(known) == len(layers) > 2
        return (known if whole else []), np.array(layers, dtype=float)

    def zero_shot(self, arch: Arch) -> dict[int, np.ndarray]:
        """By pre-training seed the relative scores [tasks, checkpoints]; whole seeds alone."""
        models = [model for model in self.grid.models() if model.arch == arch]
        curves = {model.seed: np.array(list(self._curves(model))) for model in models}
        many = len(self.grid.updates) > 2
        return {seed: c for seed, c in curves.items() if many and not np.isnan(c).any()}

    def _curves(self, model: PretrainedModel) -> Iterator[list[float]]:
        for name in self.grid.zero_shot.tasks:
            limits = self.grid.zero_shot.normalise[name]
            paths = [model.zero_shot(self.results, name, n) for n in self.grid.updates]
            scores = [ZeroShotScore.read(p).score if p.exists() else np.nan for p in paths]
            yield [(s - limits.random) / (limits.best - limits.random) for s in scores]
