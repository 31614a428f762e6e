"""What can be compared: the scores of a run, of a data frame, or of logs.

The rows of each are resampled here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from gpt1.cell import UNCHANGED, Cell
from gpt1.records import CellRecord
from tasks.common.errors import InputError
from tasks.common.files import sha256_json
from workflow import studies
from workflow.analysis.logs import of_logs
from workflow.analysis.paper import EIGHT
from workflow.analysis.stats.bootstrap import MEAN, SUMMED, resample
from workflow.analysis.stats.estimates import Estimate, SeedPool
from workflow.analysis.stats.samples import Samples, limits_of
from workflow.analysis.stats.scores import Score, equally
from workflow.analysis.table import read_csv
from workflow.configuration.checks import FORMULA
from workflow.configuration.read import ConfigError, parse, read
from workflow.configuration.sections import Margins
from workflow.configuration.studies import flat
from workflow.plan import Plan
from workflow.results_folder import CONFIG, LIST

Source: TypeAlias = str | Path | Sequence[str | Path] | pd.DataFrame
SEEDS, ROWS = "rows and seeds", "rows"  # what an interval covers
ONE_SEED = (
    "**Of one seed** intervals and verdicts are over the rows alone: they tell two models apart, "
    "not two ways of training, which takes 2 seeds."
)


@dataclass(frozen=True)
class Scored:
    """A variant's score on a task; `rows` has each row's label, or each split's digest for a run.

    `recorded` are the settings and digests with which a run's cell was trained, by dotted key.
    """

    score: Score
    metric: str
    rows: Mapping[str, str]
    title: str  # of the task
    recorded: Mapping[str, Any] = field(default_factory=dict)

    def unlike(self, other: "Scored") -> str:
        """Why another cannot be paired with it; empty if it can be."""
        if self.metric != other.metric:
            return f"another metric, {self.metric} and {other.metric}"
        if alone := sorted(self.rows.keys() ^ other.rows.keys()):
            return f"other rows, {len(alone)} in one alone, such as {alone[0]}"
        if changed := [row for row, of in self.rows.items() if other.rows[row] != of]:
            return f"another version of the data, {len(changed)} differ, such as {changed[0]}"
        return "" if {*self.score.seeds} & {*other.score.seeds} else "no seed in common"


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its scores by variant and task, and its config by dotted key.

    A run also has the `titles` of its variants, its pool of seeds, and its `claims` in words.
    `notes` tell, in sentences, what was found and not compared.
    """

    name: str
    cells: dict[tuple[str, str], Scored]
    config: dict[str, Any] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    pool: SeedPool = SeedPool()
    margins: Margins = Margins()
    claims: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def side(source: Source, metric: str) -> Side:
    """The scores of an argument of `gpt1.compare`. Raises InputError if it has none."""
    if isinstance(source, pd.DataFrame):
        return Side(str(source.attrs.get("name", "a data frame")), of_rows(source, metric))
    try:
        paths = [Path(source)] if isinstance(source, str | Path) else [*map(Path, source)]
    except TypeError:
        what = "no folder, folders or data frame; seeds of a data frame go into a column seed"
        raise InputError(f"{type(source).__name__}: {what}") from None
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError(f"{', '.join(map(str, paths))}: a folder twice; give each seed's own")
    if len(paths) == 1 and any(paths[0].glob("cells/*/*.json")):
        return of_run(paths[0])
    if len(paths) == 1 and (paths[0] / LIST).is_file():
        raise InputError(f"{paths[0]}: a run without cells; make some of them first")
    logs = [of_logs(path) for path in paths]
    rows = pd.concat(found.assign(seed=seed) for seed, (found, _) in enumerate(logs))
    notes = [note for _, told in logs for note in told]
    return Side(", ".join(map(str, paths)), of_rows(rows, metric), notes=notes)


def in_common(sides: Sequence[Side]) -> tuple[dict[str, dict[str, list[Scored]]], list[str]]:
    """The scores that all sides have, by variant and task, the full one first.

    Also returns, in sentences, what is left out. Raises InputError if they have none in common.
    """
    first, found, left_out = sides[0], dict[str, dict[str, list[Scored]]](), dict[str, None]()
    for variant, task in sorted(first.cells, key=lambda of: of[0] != UNCHANGED):
        scores = [of.cells.get((variant, task)) for of in sides]
        known = [score for score in scores if score]
        if len(known) < len(sides):
            continue
        if why := next(filter(None, map(known[0].unlike, known[1:])), ""):
            left_out[f"{task} ({why})"] = None
        else:
            found.setdefault(variant, {})[task] = known
    if not found:
        has = [", ".join(" on ".join(key) for key in of.cells) for of in sides]
        called = "ab" if len(sides) == 2 else [*map(str, range(1, len(sides) + 1))]
        why = ", ".join(f"{of} has {what:.99}" for of, what in zip(called, has, strict=True))
        if left_out:
            why = f"{'; '.join(left_out)}; give results on the same rows with the same seeds"
        names = " and ".join(of.name for of in sides)
        raise InputError(f"{names} have no score in common: {why}")
    told = [f"Left out: {'; '.join(left_out)}."] * bool(left_out)
    return found, [*told, *dict.fromkeys(note for of in sides for note in of.notes)]


def pool_of(sides: Sequence[Side]) -> SeedPool:
    """The pool of the variants of all sides; one with the same scores in several is pooled once."""
    every = [of for side in sides for of in side.pool.variants.values()]
    return SeedPool({repr([[*one.values] for one in of.values() if one]): of for of in every})


def difference(
    a: Mapping[str, Scored], b: Mapping[str, Scored], tasks: Sequence[str], pool: SeedPool
) -> Estimate | None:
    """`b` minus `a` on the mean of some tasks; of one seed it is judged by the rows alone.

    None if no seed has been run on all of the tasks.
    """
    terms = [(sign, {task: of[task].score for task in tasks}) for sign, of in ((1.0, b), (-1.0, a))]
    found = pool.estimate(terms, equally(tasks))
    return found.of_rows if found and found.n_seeds < 2 else found


def members_of(tasks: Sequence[str]) -> dict[str, list[str]]:
    """The tasks of each average over `tasks` and of each task."""
    averages = {"avg": list(EIGHT)} if {*EIGHT} < {*tasks} else {}
    averages |= {"mean": [*tasks]} if len(tasks) > 1 else {}
    return averages | {task: [task] for task in tasks}


def of_run(folder: Path) -> Side:
    """The cells of a run's studies.

    Cells of another config that lie in the same folder are named in the notes.
    """
    paths = {Cell.parse(path): path for path in sorted(folder.glob("cells/*/*.json"))}
    config, plan, known, notes = {}, None, dict[Cell, str](), []
    try:
        config = read([folder / CONFIG])
        plan = Plan(parse(config))
        known = studies.cells(plan)
    except ConfigError as error:  # not kept yet, or written by another version of the suite
        notes = [f"Variants have no titles and seeds are not pooled: {error}."]
    made = [cell for cell in paths if plan is None or cell in known]
    if not made:
        what = f"none of its {len(paths)} cells is of {folder / CONFIG}"
        raise InputError(f"{folder}: {what}; put the config there with which they were made")
    if others := [str(path) for cell, path in paths.items() if cell not in made]:
        what = f"{len(others)} cells of another config than that of {folder / CONFIG}"
        notes = [f"Left out: {what}, such as {others[0]}."]
    records = {cell: CellRecord.read(paths[cell], **vars(cell)) for cell in made}
    samples, cells = Samples(), dict[tuple[str, str], Scored]()
    for cell, record in records.items():
        samples.add(cell, folder, [run.seed for run in record.seeds])
        if (head := samples.headline(cell)) is not None:
            splits = samples.headline_splits(cell.task)
            rows = {split: samples.examples.get(f"{cell.task}/{split}", "") for split in splits}
            of = samples.task(cell.task)
            cells[cell.variant, cell.task] = Scored(
                head, of.metric, rows, of.title, _recorded(record)
            )
    claims, config = _claims(folder / "claims.csv"), flat(config | {"results": ""})
    found = Side(str(folder), cells, config, claims=claims, notes=notes)
    if plan is None:
        return found
    grid, titles = plan.grid(), {cell.variant: known[cell] for cell in reversed(known)}
    return replace(found, titles=titles, pool=samples.seed_pool(grid), margins=grid.margins)


def _recorded(record: CellRecord) -> dict[str, Any]:
    """What a cell was trained with, by its own account."""
    digests = record.digests.model_dump(include={"tokenizer", "data", "code"})
    checkpoints = sha256_json([run.checkpoint for run in record.seeds])
    digests |= {"checkpoints": checkpoints}
    return flat(record.settings.model_dump(mode="json")) | {k: of[:8] for k, of in digests.items()}


def _claims(table: Path) -> dict[str, str]:
    """The estimate and the verdict of each line of `claims.csv`."""
    lines = read_csv(table).to_dict("records") if table.exists() else []
    return {
        f"{of['statement']}; {of['tasks']}; {of['contrast']}": f"{of['ours']:.1f}, {of['verdict']}"
        for of in lines
    }


def of_rows(frame: pd.DataFrame, metric: str) -> dict[tuple[str, str], Scored]:
    """The scores of a frame's rows by variant and task; `gpt1.compare` describes its columns."""
    given = {"seed": 0, "task": "all", "metric": MEAN if "score" in frame else metric}
    frame = frame.assign(**{name: of for name, of in given.items() if name not in frame})
    frame = frame if "line" in frame else frame.assign(line=frame["metric"])
    for name in frame.columns.intersection([*given, "line", "row", "prediction", "label", "score"]):
        if n := int(frame[name].isna().sum()):
            why = f"{n} of {len(frame)} rows have no {name}"
            raise InputError(f"{name}: {why}; give each row one, or leave the rows out yourself")
    frame = frame.astype(dict.fromkeys(["task", "line", "metric"], str))
    if taken := {"mean", "avg"} & {*frame["task"]}:
        raise InputError(f"task: {taken.pop()} is the name of an average; give another")
    if formulas := [*filter(FORMULA.match, {*frame["task"], *frame["line"]})]:
        raise InputError(
            f"{formulas[0]!r} begins like a formula of a spreadsheet; give another name"
        )
    found = {}
    for (line, task), rows in frame.groupby(["line", "task"], sort=False):
        names = rows["metric"].unique()
        if len(names) > 1:
            several = f"{task}: {line} has the metrics {', '.join(names)}"
            raise InputError(f"{several}; give each a line of its own, or leave out `line`")
        found[line, task] = _scored(rows, task, names[0])
    return found


def _scored(rows: pd.DataFrame, task: str, metric: str) -> Scored:
    """The score of the rows of one variant and task.

    Raises InputError unless each row is there once for each seed, with a value of the metric.
    """
    if metric == "accuracy" and {"prediction", "label"} <= {*rows}:
        rows = rows.assign(score=_is_right(rows, task))
    name, value = (MEAN, "score") if metric in ("accuracy", MEAN) else (metric, "prediction")
    rows = rows if "label" in rows or name != MEAN else rows.assign(label="")
    if metric not in SUMMED or not {"row", value, "label"} <= {*rows}:
        remedy = f"give row, and score or prediction and label, and one of {', '.join(SUMMED)}"
        raise InputError(f"{task}: no {metric} of columns {', '.join(rows)}; {remedy}")
    rows = rows.assign(row=rows["row"].astype(str))
    once = (pd.crosstab(rows["row"], rows["seed"]) == 1).all(axis=1)
    once &= rows.groupby("row")["label"].nunique() == 1
    if not (len(once) and once.all()):
        row = once.idxmin() if len(once) else "with a label"
        remedy = "give each once for each seed, with one label"
        raise InputError(f"{task}: row {row} is missing or there twice; {remedy}")
    table = rows.set_index(["row", "label", "seed"])[value].unstack()
    names, truth = (table.index.get_level_values(of) for of in ("row", "label"))
    try:
        values = table.to_numpy(dtype=float).T
        labels = values[0] if name == MEAN else truth.to_numpy(dtype=float)
    except ValueError as error:
        raise InputError(f"{task}: {metric} is of numbers ({error}); give numbers") from None
    both, is_real = np.vstack([values, labels]), metric in ("pearson", "spearman")
    if not np.isfinite(both).all() or not (is_real or ((both >= 0) & (both <= 1)).all()):
        raise InputError(f"{task}: {metric} is of {both.min():g} to {both.max():g}; give 0 to 1")
    units, seeds = np.arange(len(table)), tuple(table.columns)
    found = resample(name, values, labels, units, task)
    score = Score(seeds, (0,) * len(seeds), *found, limits_of(metric))
    return Scored(score, metric, dict(zip(names, truth.astype(str), strict=True)), task)


def _is_right(rows: pd.DataFrame, task: str) -> pd.Series:
    """Whether each prediction is its label, also where one column has its numbers as text."""
    sides = [rows["prediction"].astype(object), rows["label"].astype(object)]
    are_numbers = [pd.api.types.is_numeric_dtype(of.infer_objects()) for of in sides]
    if are_numbers[0] != are_numbers[1]:
        try:
            sides = [pd.to_numeric(of) for of in sides]
        except (ValueError, TypeError) as error:
            why = f"text in one of prediction and label, numbers in the other ({error})"
            raise InputError(f"{task}: {why}; give both in one form") from None
    return sides[0] == sides[1]
