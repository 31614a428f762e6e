"""The results of a run as the claims read them: contrasts of variants, and curves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from gpt1.cell import Arch, Cell, PretrainedModel
from gpt1.records import CellRecord, EncodedFacts, ZeroShotScore
from tasks.examples import ExamplesFacts
from workflow.analysis import shallow
from workflow.analysis.examples import read_examples
from workflow.analysis.paper import Variant
from workflow.analysis.stats.estimates import Estimate, Line, SeedPool
from workflow.analysis.stats.samples import Samples, kind_of
from workflow.analysis.stats.scores import Component, Score, of_seeds
from workflow.grid import Grid


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of variants, and what it is called.

    `table_5` has the weights of the rows of the paper's Table 5 that it is compared with, if these
    are not the same variants. With `has_margin`, the contrast is of no consequence if it is within
    the run's margin of 0.
    """

    name: str
    weights: Mapping[Variant, float]
    table_5: Mapping[Variant, float] | None = None
    has_margin: bool = True

    def printed(self, task: str) -> float | None:
        """The paper's value on a task, from its Table 5; None if that does not have it."""
        weights = self.weights if self.table_5 is None else self.table_5
        scores = [(weight, variant.printed(task)) for variant, weight in weights.items()]
        known = [weight * score for weight, score in scores if score is not None]
        return round(float(sum(known)), 1) if known and len(known) == len(scores) else None

    def printed_mean(self, names: Sequence[str]) -> Estimate | None:
        """The mean of the paper's values on at least three tasks, which are the sample.

        None if its Table 5 lacks one of them.
        """
        values = [value for name in names if (value := self.printed(name)) is not None]
        if len(values) < max(3, len(names)):
            return None
        mean = of_seeds(dict(enumerate(values)))
        return Estimate(mean, (mean.over_seeds,))

    def printed_slope(self, x: Mapping[str, float]) -> Estimate | None:
        """How much the paper's values rise with `x` over at least four tasks, as `printed_mean`."""
        values = [value for name in x if (value := self.printed(name)) is not None]
        if len(values) < max(4, len(x)):
            return None
        line = stats.linregress([*x.values()], values)
        error = Component(float(line.stderr) ** 2, len(values) - 2)
        return Estimate(of_seeds({0: float(line.slope)}), (error,))


def minus(a: Variant, b: Variant) -> Contrast:
    """The difference of two variants."""
    return Contrast(f"{a.name} − {b.name}", {a: 1.0, b: -1.0})


@dataclass(frozen=True)
class Evidence:
    """What a run has: scores of its cells, facts of its examples, zero-shot scores."""

    results: Path
    grid: Grid
    samples: Samples

    @cached_property
    def seeds(self) -> SeedPool:
        """The run's pool of seeds, by the score that these claims use."""
        return self.samples.seed_pool(self.grid, self.score)

    @cached_property
    def examples(self) -> dict[str, ExamplesFacts]:
        """The facts of each task's rows."""
        return read_examples(self.results, self.grid.tasks)

    @property
    def train_rows(self) -> dict[str, int]:
        """The number of each task's training rows."""
        rows = {name: facts.rows.get("train", 0) for name, facts in self.examples.items()}
        return {name: n for name, n in rows.items() if n}

    @cached_property
    def lengths(self) -> dict[str, float]:
        """The mean number of tokens of each task's training rows."""
        paths = {name: self.results / "encoded" / f"{name}.json" for name in self.grid.tasks}
        return {
            n: EncodedFacts.read(path).mean_length for n, path in paths.items() if path.exists()
        }

    def is_published(self, task: str) -> bool:
        """Whether a task's rows are the published ones, not synthetic ones."""
        return task in self.examples and self.examples[task].settings.published

    @property
    def is_all_published(self) -> bool:
        """Whether the rows of all tasks are the published ones."""
        return all(map(self.is_published, self.grid.tasks))

    def heads(self, variant: Variant) -> Line:
        """By task, the score of a variant; None if it was not run."""
        return {task: self.score(variant.cell(self.grid, task)) for task in self.grid.tasks}

    def score(self, cell: Cell | None) -> Score | None:
        """The score by which the claims judge a cell; None if it was not run."""
        return self.samples.headline(cell)

    def lines(self, contrast: Contrast) -> list[tuple[float, Line]]:
        """The lines of a contrast, each with its weight."""
        return [(weight, self.heads(variant)) for variant, weight in contrast.weights.items()]

    def zero_shot(self, arch: Arch) -> dict[int, np.ndarray]:
        """By pre-training seed, the relative scores of the paper's heuristics [tasks, checkpoints].

        Seeds that lack a score are left out.
        """
        models = [model for model in self.grid.models() if model.arch == arch]
        names = self.grid.zero_shot.of("heuristic")
        curves = {
            model.seed: np.array([self._curve(model, task) for task in names])
            for model in models
            if names and len(self.grid.updates) > 2
        }
        return {seed: curve for seed, curve in curves.items() if not np.isnan(curve).any()}

    def _curve(self, model: PretrainedModel, task: str) -> list[float]:
        limits = self.grid.zero_shot.normalise[task]
        paths = [model.zero_shot(self.results, task, n) for n in self.grid.updates]
        scores = [ZeroShotScore.read(path).score if path.exists() else np.nan for path in paths]
        return [(score - limits.random) / (limits.best - limits.random) for score in scores]


@dataclass(frozen=True)
class OverBaselines(Evidence):
    """The same run, with each score minus its task's best baseline, which is taken as given."""

    @cached_property
    def best(self) -> pd.Series:
        """By task, the score of the best baseline."""
        splits = self.samples.splits(self.grid.tasks)
        facts = [(name, split, self.grid.task(name).metric) for name, split in splits.items()]
        table = pd.DataFrame(facts, columns=["task", "split", "metric"])
        return shallow.scores(self.results, table, self.grid, {})["best"]

    def score(self, cell: Cell | None) -> Score | None:
        """The score of a cell minus that of its task's best baseline."""
        score = super().score(cell)
        if score is None or cell is None or np.isnan(best := self.best.get(cell.task, np.nan)):
            return None
        return score.minus(best)


@dataclass(frozen=True)
class EpochEvidence(Evidence):
    """The same run by its scores along fine-tuning: their sum over epochs, weighted by `weights`.

    The scores are on the `select` split. Its predictions are not kept, so its rows are taken as
    given.
    """

    weights: Mapping[int, float]
    epochs: int | None = None
    """Only cells that are trained for so many epochs count (None: all)."""

    def score(self, cell: Cell | None) -> Score | None:
        """The weighted sum; None if the cell was not run, or not for enough epochs."""
        if cell is None or not cell.path(self.results).exists():
            return None
        record = CellRecord.read(cell.path(self.results), **vars(cell))
        if self.epochs not in (None, record.settings.epochs):
            return None
        runs = [one for one in record.seeds if one.seed in self.grid.seeds.finetune]
        metric = self.grid.task(cell.task).metric
        curves = [{point["epoch"]: point[metric] for point in of.select_by_epoch} for of in runs]
        if not curves or any(not self.weights.keys() <= curve.keys() for curve in curves):
            return None
        sums = [sum(w * curve[at] for at, w in self.weights.items()) for curve in curves]
        return replace(
            of_seeds(dict(zip([one.seed for one in runs], sums, strict=True))),
            pretrain=tuple(one.pretrain_seed for one in runs),
            kind=kind_of(record),
            alarms=whole.alarms if (whole := super().score(cell)) else {},
        )
