"""A pool of training runs of one recipe, its `base`, and of variants, each on the same rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy import stats

from bench.false_keeps.rules import Runs, estimate, scores
from tasks.common.errors import InputError
from workflow.analysis.stats.estimates import Estimate

Seeds: TypeAlias = Sequence[int] | np.ndarray
BASE = "base"
COLUMNS = ["variant", "seed", "task", "row", "label", "prediction"]
FEWEST = 40  # seeds of the base: pairs of ten a side are drawn from random halves
MEAN = "mean"  # of all tasks, beside each alone


@dataclass(frozen=True)
class Pool:
    """The right answers of each variant's runs by task [seeds, rows], and their seeds in order.

    `constant` is the score of the most frequent label, by task.
    """

    answers: Mapping[str, Runs]
    seeds: Mapping[str, Sequence[int]]
    constant: Mapping[str, float]

    @classmethod
    def read(cls, path: Path) -> "Pool":
        """Read a pool. Raises InputError for a file that is none."""
        try:
            frame = pd.read_parquet(path, columns=COLUMNS)
        except (OSError, ValueError, KeyError) as error:
            reason = " ".join(str(error).split())
            remedy = f"give columns {', '.join(COLUMNS)}"
            raise InputError(f"{path}: no pool ({reason:.90}); {remedy}") from None
        right = frame.assign(right=(frame["label"] == frame["prediction"]) * 1.0)
        answers: dict[str, dict[str, np.ndarray]] = {}
        seeds: dict[str, list[int]] = {}
        for (variant, task), rows in right.groupby(["variant", "task"], sort=False, observed=True):
            if rows.duplicated(["seed", "row"]).any():
                raise InputError(
                    f"{path}: {variant} on {task} has a row twice; give each once a seed"
                )
            table = rows.pivot(index="seed", columns="row", values="right")
            own = [*table.index]
            if table.isna().any(axis=None) or seeds.setdefault(variant, own) != own:
                raise InputError(f"{path}: {variant} on {task} lacks rows of some seeds")
            answers.setdefault(variant, {})[task] = table.to_numpy()
        if lacking := [of for of, runs in answers.items() if {*runs} != {*answers.get(BASE, runs)}]:
            raise InputError(f"{path}: {lacking[0]} has other tasks than {BASE}; give it the same")
        if len(seeds.get(BASE, [])) < FEWEST:
            raise InputError(f"{path}: fewer than {FEWEST} seeds of a variant {BASE}; add them")
        labels = frame.groupby("task", observed=True)["label"]
        most = labels.agg(lambda of: 100 * of.value_counts(normalize=True).iloc[0])
        return cls(answers, seeds, most.to_dict())

    def runs(self, variant: str, seeds: Seeds, tasks: Sequence[str]) -> Runs:
        """The answers of some of a variant's seeds."""
        at = [self.seeds[variant].index(seed) for seed in seeds]
        return {task: self.answers[variant][task][at] for task in tasks}

    def estimate(self, a: Seeds, b: Seeds, tasks: Sequence[str]) -> Estimate:
        """This suite's estimate of the seeds `b` of `base` minus `a`."""
        return estimate(self.runs(BASE, a, tasks), self.runs(BASE, b, tasks), self.constant)

    @cached_property
    def tasks(self) -> list[str]:
        """The tasks, in order."""
        return [*self.answers[BASE]]

    @property
    def scopes(self) -> dict[str, list[str]]:
        """What a verdict can be about: all tasks together, and each alone."""
        return {MEAN: self.tasks} | {task: [task] for task in self.tasks}

    def common(self, variant: str) -> list[int]:
        """The seeds that a variant has as `base` has them."""
        return [seed for seed in self.seeds[variant] if seed in self.seeds[BASE]]

    @cached_property
    def effects(self) -> dict[str, tuple[float, float]]:
        """How many points more `base` has than each variant, and the error; paired if it can be."""
        found = {}
        for variant in (name for name in self.answers if name != BASE):
            seeds = self.common(variant)
            of = {name: seeds or self.seeds[name] for name in (variant, BASE)}
            a, b = (scores(self.runs(name, own, self.tasks)) for name, own in of.items())
            error = stats.sem(b - a) if seeds else np.hypot(stats.sem(a), stats.sem(b))
            found[variant] = float(b.mean() - a.mean()), float(error)
        return found

    @cached_property
    def planted(self) -> dict[str, float]:
        """The effects of the variants with seeds of `base` that are surely worse than it."""
        return {
            variant: effect
            for variant, (effect, error) in self.effects.items()
            if effect > 2 * error and self.common(variant)
        }
