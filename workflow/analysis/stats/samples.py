"""The samples behind the tables: each cell's scores by seed, on all rows and on resampled ones.

All that is shown of fine-tuned models is made from these, in the process that shows it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Self

import numpy as np

import tasks
from gpt1.cell import Cell
from gpt1.records import CellRecord
from tasks import Task
from tasks.common.errors import InputError
from tasks.common.records import REMEDY, Scores
from tasks.metrics import settled
from tasks.settings import OwnTask
from tasks.world import read_degrees
from workflow.analysis.rows import Predictions, answers, read_predictions
from workflow.analysis.stats.bootstrap import N_RESAMPLES, resample
from workflow.analysis.stats.estimates import SeedPool
from workflow.analysis.stats.scores import Score, alarms_of, average, failed
from workflow.grid import Grid

Key = tuple[str, str, str]  # split, metric, and a degree of difficulty or "" for all rows
NOT_REPORTED = ("train", "select")
DEGREES = "world/degrees.csv"  # of the results
GROUPS = ("_middle", "_high")  # RACE's two halves, scored beside the whole
CORRELATIONS = ("matthews", "pearson", "spearman")


@dataclass(frozen=True)
class Samples:
    """The scores of some cells, by cell and Key; `examples` has the digest of each `TASK/SPLIT`.

    `own` describes the tasks that are the user's own.
    """

    cells: dict[Cell, dict[Key, Score]] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)
    own: dict[str, OwnTask] = field(default_factory=dict)

    @classmethod
    def of_cells(
        cls, results: Path, grid: Grid, cells: Iterable[Cell], seeds: Sequence[int] = ()
    ) -> Self:
        """Sample some cells of a grid at its seeds, or at `seeds`, and by degree of difficulty.

        Only the synthetic world has degrees. A process samples a cell once, as long as its files
        stay the same. Raises InputError for a file that is missing or damaged.
        """
        found, seeds = cls(own={**grid.own}), tuple(seeds or grid.seeds.finetune)
        for cell in cells:
            files = cell.path(results), cell.predictions(results), results / DEGREES
            stamps = tuple(file.stat().st_mtime_ns if file.exists() else 0 for file in files)
            one = _of_cell(results, cell, seeds, stamps)
            found.cells.update(one.cells)
            found.check_examples(files[1], one.examples)
        return found

    def task(self, name: str) -> Task:
        """A task by its name. Raises InputError for one that is not known."""
        return tasks.task(name, self.own.get(name))

    def add(
        self,
        cell: Cell,
        results: Path,
        seeds: Sequence[int],
        degrees: Mapping[str, set[str]] | None = None,
        bag_of_words: Scores | None = None,
    ) -> None:
        """Sample a cell that was run, at those of the `seeds` that it has.

        Other seeds, left over from a wider config, would unbalance the averages over cells.
        `degrees` has the rows of each degree of the synthetic world, which are also scored by
        themselves. `bag_of_words` replaces the scores of the one fitted to all training rows.
        Raises InputError for a damaged file, one of another cell, or one whose rows are not those
        of the cells before.
        """
        record = CellRecord.read(cell.path(results), **vars(cell))
        found = self.cells[cell] = scored(record, seeds, bag_of_words)
        if record.own:
            self.own[cell.task] = OwnTask.model_validate(record.own)
        task, predictions = self.task(cell.task), read_predictions(results, cell)
        if predictions is not None:
            named = {f"{cell.task}/{s}": digest for s, digest in predictions.examples.items()}
            self.check_examples(predictions.path, named)
            for (split, metric, _), score in list(found.items()):
                if one := resampled(score, predictions, task, split, metric):
                    found[split, metric, ""] = replace(one, values=score.values)
                of_world = metric == task.metric and "rows" in record.made
                for degree, rows in (degrees or {}).items() if of_world else ():
                    if one := resampled(score, predictions, task, split, metric, rows):
                        found[split, metric, degree] = one
        if headline := self.headline(cell):  # its alarms and failed fits are those of all scores
            more, fits = alarms_of(headline), failed(headline)
            alarms = {seed: (run | more[seed],) for seed, (run,) in headline.alarms.items()}
            for key, score in found.items():
                found[key] = replace(score, alarms=alarms).of_fits(fits)

    def check_examples(self, path: Path, examples: Mapping[str, str]) -> None:
        """Raise InputError if the rows of a split are not those of the cells added before."""
        for split, digest in examples.items():
            if self.examples.setdefault(split, digest) != digest:
                raise InputError(f"{path}: its rows of {split} are not other cells'; {REMEDY}")

    def of(self, cell: Cell | None, split: str, metric: str, degree: str = "") -> Score | None:
        """One metric on one split; None if the cell or the split is missing.

        The split `{split}_{group}` has the rows of one of RACE's groups.
        """
        return self.cells[cell].get((split, metric, degree)) if cell in self.cells else None

    def headline(self, cell: Cell | None, degree: str = "") -> Score | None:
        """A task's headline score: its main metric, as a mean of `headline_splits`."""
        if cell is None:
            return None
        metric = self.task(cell.task).metric
        found = [self.of(cell, s, metric, degree) for s in self.headline_splits(cell.task)]
        mean, first = average(found), found[0]
        if mean is None or first is None:
            return None
        # The scores on all splits come from the same runs.
        of_runs = {name: getattr(first, name) for name in ("train_tokens", "alarms", "failed")}
        return replace(mean, **of_runs)

    def splits(self, names: Iterable[str]) -> dict[str, str]:
        """The headline splits of each task, joined by `+`."""
        return {name: "+".join(self.headline_splits(name)) for name in names}

    def headline_splits(self, task: str) -> list[str]:
        """The splits behind a task's headline score: both of MNLI's (Table 5), else the first."""
        splits = self.reported(task)
        return splits if self.task(task).averages_splits else splits[:1]

    def seed_pool(
        self, grid: Grid, score: Callable[[Cell], Score | None] | None = None
    ) -> SeedPool:
        """The pool of the run's variants (`Grid.is_pooled`), by `score` or the headline score."""
        variants: dict[str, dict[str, Score | None]] = {}
        for cell in filter(grid.is_pooled, self.cells):
            variants.setdefault(cell.variant, {})[cell.task] = (score or self.headline)(cell)
        return SeedPool(variants)

    def reported(self, task: str) -> list[str]:
        """The splits that a task reports, main one first: its cells', or without cells its own."""
        official = list(self.task(task).report)
        order = {split: place for place, split in enumerate(official)}
        found = {s for cell, of in self.cells.items() if cell.task == task for s, _, _ in of}
        splits = [s for s in found if s not in NOT_REPORTED and not s.endswith(GROUPS)]
        return sorted(splits, key=lambda s: (order.get(s, len(order)), s)) or official


def official_sets(split: str) -> str:
    """The official set behind some splits: `dev` for dev_matched+dev_mismatched."""
    return "+".join(sorted({part.split("_")[0] for part in split.split("+")}))


@lru_cache(maxsize=1024)
def _of_cell(results: Path, cell: Cell, seeds: tuple[int, ...], stamps: tuple[int, ...]) -> Samples:
    """The samples of a cell; `stamps` are of its files, the last one of the world's degrees."""
    found = Samples()
    found.add(cell, results, seeds, _degrees(results / DEGREES, stamps[-1]))
    return found


@cache
def _degrees(path: Path, stamp: int) -> dict[str, set[str]] | None:
    return read_degrees(path) if stamp else None


def scored(
    record: CellRecord, chosen: Sequence[int], bag_of_words: Scores | None = None
) -> dict[Key, Score]:
    """The scores of the `chosen` seeds in a cell's JSON, not resampled.

    `bag_of_words`, if given, replaces the scores of the one fitted to all training rows.
    """
    runs = [one for one in record.seeds if one.seed in chosen]
    majority = record.baselines.majority
    bag_of_words = bag_of_words or record.baselines.bag_of_words
    return {
        (split, metric, ""): Score(
            seeds=tuple(one.seed for one in runs),
            pretrain=tuple(one.pretrain_seed for one in runs),
            values=np.array([one.scores[split][metric] for one in runs]),
            resampled=np.broadcast_to(np.nan, (len(runs), N_RESAMPLES)),
            n_rows=0,
            limits=limits_of(metric),
            kind=kind_of(record),
            majority=majority.get(split, {}).get(metric, np.nan),
            bag_of_words=bag_of_words.get(split, {}).get(metric, np.nan),
            train_tokens={one.seed: one.train_tokens for one in runs},
            alarms={one.seed: (frozenset(one.alarms),) for one in runs},
        )
        for split, scores in (runs[0].scores.items() if runs else ())
        for metric in scores
    }


def limits_of(metric: str) -> tuple[float, float]:
    """The lowest and the highest value of a metric."""
    return (-100.0 if metric in CORRELATIONS else 0.0), 100.0


def kind_of(record: CellRecord) -> str:
    """The kind of a cell's variant: those of one kind are taken to vary alike over seeds."""
    return record.arch + (" from scratch" if record.n_transfer == "none" else "")


def resampled(
    score: Score,
    predictions: Predictions,
    task: Task,
    split: str,
    metric: str,
    chosen: set[str] | None = None,
) -> Score | None:
    """The score on the predicted rows of a split, or only on those whose places are `chosen`.

    None if there are no such rows.
    """
    rows = predictions.rows[predictions.rows["seed"].isin(score.seeds)]
    mine = rows[rows["split"] == split]
    if mine.empty:
        base, _, group = split.rpartition("_")
        mine = rows[(rows["split"] == base) & (rows["group"] == group)]
    if chosen is not None:
        mine = mine[mine["guid"].map(lambda guid: task.place(guid) in chosen).astype(bool)]
    if mine.empty:
        return None
    shape = len(score.seeds), len(mine) // len(score.seeds)
    said = answers(task, mine["prediction"]).reshape(shape)
    said = np.array([*map(settled, said)]) if task.soft_labels else said
    labels = answers(task, mine["label"][: shape[1]])
    texts = shared_texts(task, mine["guid"].to_numpy()[: shape[1]])
    values, drawn, n_rows = resample(metric, said, labels, texts, f"{task.name}/{split}")
    return replace(score, values=values, resampled=drawn, n_rows=n_rows)


def shared_texts(task: Task, guids: Sequence[str]) -> np.ndarray:
    """For each row, the number from 0 of the text it shares with others, or of the row itself."""
    if not task.several_rows_a_text:
        return np.arange(len(guids))
    return np.unique([guid.rpartition("/")[0] for guid in guids], return_inverse=True)[1]
