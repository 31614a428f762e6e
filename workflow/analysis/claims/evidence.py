"""Contrasts of variants, and the results of a run by which they are judged."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from gpt1.cell import Arch, Cell, PretrainedModel
from gpt1.records import CellRecord, EncodedFacts, ZeroShotScore
from tasks.examples import ExamplesFacts
from workflow.analysis import shallow
from workflow.analysis.claims.finding import CELLS
from workflow.analysis.paper import PaperModel, published
from workflow.analysis.rows import read_examples
from workflow.analysis.stats.estimates import Estimate, SeedPool, TaskScores
from workflow.analysis.stats.samples import Samples
from workflow.analysis.stats.scores import Component, Score, failed, of_seeds, total
from workflow.grid import Grid


@dataclass(frozen=True)
class Contrast:
    """A weighted sum of variants, and what it is called.

    `papers` are the paper's values on its tasks. With `has_margin`, the contrast is of no
    consequence if it is within the run's margin of 0. `given` finds the score that is subtracted on
    each task and taken as it is; a task without one has no contrast, for want of `lacking`.
    `epochs` are the weights of the scores after some epochs, in place of the final score; only
    cells that are trained for `of_epochs` count (None: all).
    """

    name: str
    weights: Mapping[PaperModel, float]
    papers: Mapping[str, float] = field(default_factory=dict)
    has_margin: bool = True
    given: Callable[["Evidence"], Mapping[str, float]] | None = None
    lacking: str = CELLS
    epochs: Mapping[int, float] = field(default_factory=dict)
    of_epochs: int | None = None

    def printed_mean(self, names: Collection[str]) -> Estimate | None:
        """The mean of the paper's values on at least three tasks, which are the sample.

        None if it has none for one of them.
        """
        if len(names) < 3 or not self.papers.keys() >= {*names}:
            return None
        mean = of_seeds({i: self.papers[name] for i, name in enumerate(names)})
        return Estimate(mean, (mean.over_seeds,))

    def printed_slope(self, x: Mapping[str, float]) -> Estimate | None:
        """How much the paper's values rise with `x` over at least four tasks, as `printed_mean`."""
        if len(x) < 4 or not self.papers.keys() >= x.keys():
            return None
        line = stats.linregress([*x.values()], [self.papers[name] for name in x])
        error = Component(float(line.stderr) ** 2, len(x) - 2)
        return Estimate(of_seeds({0: float(line.slope)}), (error,))


def minus(a: PaperModel, b: PaperModel) -> Contrast:
    """The difference of two variants, by the paper where its Table 5 has both."""
    papers = {name: round(a.printed[name] - x, 1) for name, x in b.printed.items() if a.printed}
    return Contrast(f"{a.name} − {b.name}", {a: 1.0, b: -1.0}, papers)


@dataclass(frozen=True)
class Evidence:
    """What a run has: scores of its cells, facts of its examples, zero-shot scores."""

    results: Path
    grid: Grid
    samples: Samples

    @cached_property
    def seeds(self) -> SeedPool:
        """The run's pool of seeds, by the cells' headline scores."""
        return self.samples.seed_pool(self.grid)

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
        folder = self.results / "encoded"
        facts = {name: EncodedFacts.find(folder / f"{name}.json") for name in self.grid.tasks}
        return {name: of.mean_length for name, of in facts.items() if of}

    def is_published(self, task: str) -> bool:
        """Whether a task's rows are the published ones, not synthetic ones."""
        return task in self.examples and self.examples[task].settings.published

    @property
    def is_all_published(self) -> bool:
        """Whether the rows of all tasks are the published ones."""
        return all(map(self.is_published, self.grid.tasks))

    def estimate(self, contrast: Contrast, tasks: Mapping[str, float]) -> Estimate | None:
        """A contrast, summed over tasks by their weights; None if a score is missing.

        The variance over seeds is that of the run's pool: by final scores, or by those after the
        contrast's epochs.
        """
        pool = self.seeds
        if contrast.epochs:
            pool = self.samples.seed_pool(self.grid, partial(self.score, contrast))
        terms = [(weight, self.heads(of, contrast)) for of, weight in contrast.weights.items()]
        return pool.estimate(terms, tasks)

    def heads(self, variant: PaperModel, contrast: Contrast) -> TaskScores:
        """By task, the score of a variant that a contrast takes; None if it was not run."""
        cells = {task: variant.cell(self.grid, task) for task in self.grid.tasks}
        scores = {task: self.score(contrast, of) if of else None for task, of in cells.items()}
        if contrast.given is None:
            return scores
        given = contrast.given(self)
        return {task: of.minus(given[task]) for task, of in scores.items() if of and task in given}

    def score(self, contrast: Contrast, cell: Cell) -> Score | None:
        """The score of a cell that a contrast takes; None if it was not run, or not for its epochs.

        Scores after an epoch are on the `select` split. Its predictions are not kept, so its rows
        are taken as given, but for what their number allows where nothing varies.
        """
        final, weights = self.samples.headline(cell), contrast.epochs
        if not weights or final is None:
            return final
        record = CellRecord.read(cell.path(self.results), **vars(cell))
        metric, facts = self.grid.task(cell.task).metric, self.examples.get(cell.task)
        curves = {
            run.seed: {point["epoch"]: point[metric] for point in run.select_by_epoch}
            for run in record.seeds
        }
        ran = all(weights.keys() <= curves[seed].keys() for seed in final.seeds)
        if not ran or contrast.of_epochs not in (None, record.settings.epochs):
            return None
        n_rows, after = max(1, facts.rows["select"]) if facts else 1, []
        for epoch in weights:
            values = np.array([curves[seed][epoch] for seed in final.seeds])
            drawn = np.repeat(values[:, None], 2, axis=1)
            after.append(replace(final, values=values, resampled=drawn, n_rows=n_rows, others=None))
        found = total(after, weights.values())
        return found and replace(found, alarms=final.alarms).of_fits(failed(final))

    def zero_shot(self, arch: Arch) -> dict[int, np.ndarray]:
        """By pre-training seed, the relative scores of the paper's heuristics [tasks, checkpoints].

        Seeds that lack a score are left out.
        """
        names = self.grid.zero_shot.of("heuristic")
        curves = {
            model.seed: np.array([self._curve(model, task) for task in names])
            for model in self.grid.models()
            if model.arch == arch and names and len(self.grid.updates) > 2
        }
        return {seed: curve for seed, curve in curves.items() if not np.isnan(curve).any()}

    def _curve(self, model: PretrainedModel, task: str) -> list[float]:
        relative = self.grid.zero_shot.normalise[task].relative
        paths = [model.zero_shot(self.results, task, n) for n in self.grid.updates]
        found = map(ZeroShotScore.find, paths)
        return [relative(one.score) if one else np.nan for one in found]


def best_baselines(run: Evidence) -> dict[str, float]:
    """By task, the score of the best shallow baseline."""
    splits = run.samples.splits(run.grid.tasks)
    facts = [(name, split, run.grid.task(name).metric) for name, split in splits.items()]
    table = pd.DataFrame(facts, columns=["task", "split", "metric"])
    return shallow.scores(run.results, table, run.grid, {})["best"].dropna().to_dict()


def best_published(run: Evidence) -> dict[str, float]:
    """By task, the score of the best published system; only where the rows are published ones."""
    return {name: best for name, (_, best) in published().items() if run.is_published(name)}
