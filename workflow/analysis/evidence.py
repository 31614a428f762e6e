"""What a run says about each claim: findings, one a line of the claims table."""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

import tasks
from gpt1.cell import Arch, Cell, PretrainedModel
from workflow.analysis import claims
from workflow.analysis.claims import Claim, Contrast, Variant, paper_lead, published
from workflow.analysis.moderation import estimates
from workflow.analysis.records import ExamplesRecord, ZeroShotScore
from workflow.analysis.samples import Samples
from workflow.analysis.trends import (
    RankTrend,
    Rise,
    TaskTrend,
    by_seed,
    rank_trend,
    rise,
    size_trend,
    slope,
    ups_and_downs,
)
from workflow.analysis.uncertainty import (
    MARGIN,
    Estimate,
    Sample,
    average,
    combine,
    difference,
    estimate,
)
from workflow.grid import Grid

PUBLISHED_DATA = "the published data sets"
CELLS = "the cells of this contrast"
SIZES = "tasks whose training sets differ more in size"
CORRELATION = -1.0, 1.0  # the limits of one


@dataclass(frozen=True)
class Count:
    """A number of tasks; its interval counts those of which it is sure, and all but the lost."""

    value: int
    interval: tuple[int, int]
    n_seeds: int
    p: float = np.nan

    @classmethod
    def of(cls, found: Sequence[Estimate]) -> "Count":
        """How many estimates are above 0."""
        low = sum(one.interval[0] > 0 for one in found)
        high = sum(not one.interval[1] <= 0 for one in found)  # not lost where there is no interval
        return cls(sum(one.value > 0 for one in found), (low, high), found[0].n_seeds)

    def needs(self, distance: float, n_tests: int = 1) -> str:
        """What each of the tasks needs."""
        return "what the tasks' own lines need"


@dataclass(frozen=True)
class Finding:
    """An estimate beside the paper's value; None if it was not run for want of what is `lacking`.

    The claim lies on the side `direction` of `border`. A difference within `margin` of it is of no
    consequence. `limits` are those of a correlation.
    """

    tasks: str
    paper: float | None
    estimate: Estimate | Count | TaskTrend | RankTrend | Rise | None
    direction: int
    margin: float = MARGIN
    border: float = 0.0
    lacking: str = CELLS
    limits: tuple[float, float] = (-np.inf, np.inf)


class Evidence:
    """Finds the evidence for claims in the results of a run."""

    def __init__(self, results: Path, grid: Grid, cells: pd.DataFrame) -> None:
        self.results, self.grid = results, grid
        self.samples = Samples(results, grid, cells)
        paths = {name: Path(results, "examples", f"{name}.json") for name in grid.tasks}
        self.examples = {n: ExamplesRecord.read(p) for n, p in paths.items() if p.exists()}

    @functools.singledispatchmethod
    def of(self, claim: Claim) -> list[Finding]:
        """The findings on a claim, those that were not run included."""
        raise TypeError(f"no evidence is known for {type(claim).__name__}")

    @of.register
    def _(self, claim: claims.Average) -> list[Finding]:
        names = claim.of or tuple(self.grid.tasks)
        if claim.paper is None:  # a mean that the paper does not print may be over fewer tasks
            names = tuple(name for name in names if name in self.grid.tasks)
        mean = self.mean(claim.contrast, names)
        found = None if mean is None else estimate(mean)
        return [Finding(f"mean of {len(names)}", claim.paper, found, claim.direction)]

    @of.register
    def _(self, claim: claims.EachTask) -> list[Finding]:
        names = [name for name in claim.of or self.grid.tasks if name in self.grid.tasks]
        # moderated by all tasks, also by those that the claim is not about
        found = estimates({name: self._contrast(claim.contrast, name) for name in self.grid.tasks})
        papers = {name: claim.paper or claim.contrast.printed(name) for name in names}
        return [
            Finding(
                tasks.task(name).title,
                papers[name],
                found.get(name),
                -1 if (papers[name] or 0) < 0 else 1,
            )
            for name in names
        ]

    @of.register
    def _(self, claim: claims.SizeTrend) -> list[Finding]:
        sizes = {name: facts.rows["train"] for name, facts in self.examples.items() if facts.rows}
        samples = {name: self._contrast(claim.contrast, name) for name in sizes}
        known = {name: sample for name, sample in samples.items() if sample is not None}
        title, found, lacking = f"{len(self.grid.tasks)} tasks", None, CELLS
        if len(known) == len(self.grid.tasks):
            found, lacking = size_trend(list(known.values()), [sizes[n] for n in known]), SIZES
        return [Finding(title, claim.paper, found, claim.direction, 0.0, lacking=lacking)]

    @of.register
    def _(self, claim: claims.LayerSlope) -> list[Finding]:
        curve, layers = self._layer_curve()
        found = slope(curve, layers) if curve else None
        title = f"mean of {len(self.grid.tasks)}"
        return [Finding(title, claim.paper, found, claim.direction, 0.0)]

    @of.register
    def _(self, claim: claims.LayerRanks) -> list[Finding]:
        curve, _ = self._layer_curve()
        found = rank_trend(curve) if curve else None
        title = f"mean of {len(self.grid.tasks)}"
        return [Finding(title, claim.paper, found, claim.direction, 0.0, limits=CORRELATION)]

    @of.register
    def _(self, claim: claims.ZeroShotRise) -> list[Finding]:
        curves = [100 * of.mean(axis=0) for of in self._zero_shot("transformer").values()]
        title = f"mean of {len(self.grid.zero_shot.tasks)}"
        return [Finding(title, claim.paper, rise(curves), claim.direction, 0.0)]

    @of.register
    def _(self, claim: claims.ZeroShotVariation) -> list[Finding]:
        archs: tuple[Arch, Arch] = ("lstm", "transformer")
        lstm, transformer = (
            by_seed({seed: 100 * ups_and_downs(of) for seed, of in self._zero_shot(arch).items()})
            for arch in archs
        )
        paired = difference(lstm, transformer)
        found = None if paired is None else estimate(paired)
        title = f"mean of {len(self.grid.zero_shot.tasks)}"
        return [Finding(title, claim.paper, found, claim.direction)]

    @of.register
    def _(self, claim: claims.AgainstPublished) -> list[Finding]:
        found = self._against_published()
        return [
            Finding(
                tasks.task(name).title,
                paper_lead(name),
                found.get(name),
                -1 if paper_lead(name) < 0 else 1,
                lacking=CELLS if self._is_published(name) else PUBLISHED_DATA,
            )
            for name in (task.name for task in tasks.PAPER_TASKS)
            if name in self.grid.tasks
        ]

    @of.register
    def _(self, claim: claims.Wins) -> list[Finding]:
        found = self._against_published()
        title, paper = f"{len(tasks.PAPER_TASKS)} tasks", claim.paper
        if len(found) < len(tasks.PAPER_TASKS):
            real = all(map(self._is_published, self.grid.tasks))
            lacking = "all twelve tasks" if real else PUBLISHED_DATA
            return [Finding(title, paper, None, claim.direction, lacking=lacking)]
        count, border = Count.of(list(found.values())), (paper or 0.0) - 0.5
        return [Finding(title, paper, count, claim.direction, 0.0, border)]

    def mean(self, contrast: Contrast, names: Sequence[str]) -> Sample | None:
        """The mean of a contrast over the tasks `names`; None if one of its cells was not run."""
        found = [self._contrast(contrast, name) for name in names]
        known = [sample for sample in found if sample is not None]
        return average(known) if known and len(known) == len(found) else None

    def _is_published(self, name: str) -> bool:
        return name in self.examples and self.examples[name].settings.published

    def _cell(self, variant: Variant, name: str) -> Cell | None:
        most = self.grid.n_layer.get(variant.arch)
        if most is None:
            return None
        n = most if variant.n_transfer == "all" else variant.n_transfer
        return Cell(variant.arch, name, variant.aux, n, variant.corpus)

    def _contrast(self, contrast: Contrast, name: str) -> Sample | None:
        """The weighted sum of a task's variants; None if one of them was not run."""
        cells = [self._cell(variant, name) for variant in contrast.weights]
        samples = [self.samples.headline(cell) for cell in cells if cell is not None]
        known = [sample for sample in samples if sample is not None]
        return combine(known, list(contrast.weights.values())) if len(known) == len(cells) else None

    def _layer_curve(self) -> tuple[list[Sample], np.ndarray]:
        """The mean over tasks at each number of layers, and these; nothing if one was not run."""
        layers = [n for n in self.grid.layers.get("transformer", []) if n != "none"]
        means = [self.mean(_alone(Variant(n_transfer=n)), self.grid.tasks) for n in layers]
        known = [mean for mean in means if mean is not None]
        whole = len(known) == len(layers) > 2
        return (known if whole else []), np.array(layers, dtype=float)

    def _against_published(self) -> dict[str, Estimate]:
        """By task, the full transformer minus the best published system; real data alone."""
        found = {}
        for name in self.grid.tasks:
            sample = self._contrast(_alone(claims.FULL), name)
            if sample is not None and name in published() and self._is_published(name):
                best = published()[name][1]
                found[name] = replace(sample, score=sample.score - best, boot=sample.boot - best)
        return estimates(found)

    def _zero_shot(self, arch: Arch) -> dict[int, np.ndarray]:
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


def _alone(variant: Variant) -> Contrast:
    return Contrast(claims.NAMES.get(variant, ""), {variant: 1.0})
