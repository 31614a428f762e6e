"""The cells of the grid, read into one long table: one row per run, split and metric.

Everything that the tables say of fine-tuning comes from these small JSON files alone. A cell that
was not run is simply not in the table here; `summary.complete` makes it show as missing later.
A cell file that is damaged, or that speaks of another cell than its path, stops the analysis.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from tasks.common.errors import InputError
from tasks.common.files import read_json

RUN = ["arch", "aux", "n_transfer", "seed"]
SPLITS_NOT_REPORTED = ("train", "select")
COLUMNS = [
    *("task", "split", "metric", "score", "majority", "bag_of_words", "n_runs"),
    *("train_tokens", "train_seconds", "peak_mb", "alarms"),
]
REMEDY = "delete the file and run its job again"


def cell_path(results: Path, arch: str, task: str, aux: str, n_transfer: str) -> Path:
    """Where the contract puts a cell's JSON; `aux` is `on` or `off`, `n_transfer` `none` or 0.."""
    return Path(results) / "cells" / arch / task / f"aux-{aux}" / f"layers-{n_transfer}.json"


def full(settings: dict[str, Any], arch: str) -> str:
    """The `n_transfer` that stands for everything transferred; `all` of what is not in the grid."""
    return str(settings["n_layer"].get(arch, "all"))


def fully_transferred(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings cut down to the paper's own model: the transformer with all its layers."""
    full_only = {"transformer": [full(settings, "transformer")]}
    return {**settings, "arch": ["transformer"], "layers": full_only}


def layers(settings: dict[str, Any], arch: str, ends: bool = False) -> list[str]:
    """The grid's `n_transfer` of an architecture as words; only `none` and full if `ends`."""
    names = [str(layer) for layer in settings["layers"][arch]]
    return [name for name in names if not ends or name in ("none", full(settings, arch))]


def grid(settings: dict[str, Any], ends: bool = False) -> Iterator[tuple[str, str, str, str]]:
    """Every (arch, task, aux, n_transfer) that the config asks for."""
    for arch in settings["arch"]:
        for task in settings["tasks"]:
            for aux in settings["aux"]:
                for n_transfer in layers(settings, arch, ends):
                    yield arch, task, aux, n_transfer


def read_runs(results: Path, settings: dict[str, Any], ends: bool = False) -> pd.DataFrame:
    """One row per (cell, seed, split, metric), scores from 0 to 100, of the cells that exist.

    Only the seeds that the config asks for are taken, so that a cell left over from a wider
    config does not make its neighbours' averages lopsided.
    """
    rows: list[dict[str, Any]] = []
    for cell_id in grid(settings, ends):
        path = cell_path(results, *cell_id)
        if path.exists():
            rows.extend(_cell_rows(path, read_json(path), cell_id, _seeds(settings, cell_id)))
    return pd.DataFrame(rows, columns=[*RUN, *COLUMNS])


def number(path: Path, where: dict[str, Any], key: str) -> float:
    """A finite number out of a JSON object, or an `InputError` that names file and key."""
    value = where.get(key) if isinstance(where, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(f"{path}: '{key}' is {value!r}, not a number; {REMEDY}")
    return value


def score(path: Path, where: dict[str, Any], key: str) -> float:
    """A score from -100 to 100 out of a JSON object, or an `InputError`."""
    value = number(path, where, key)
    if abs(value) > 100.001:  # a correlation may round past 1
        raise InputError(f"{path}: '{key}' is {value}, not in -100..100; {REMEDY}")
    return value


def _seeds(settings: dict[str, Any], cell_id: tuple[str, str, str, str]) -> list[int]:
    arch, _, _, n_transfer = cell_id
    at_an_end = n_transfer in ("none", full(settings, arch))
    return settings["seeds"]["ends" if at_an_end else "between"]


def _cell_rows(
    path: Path, cell: Any, cell_id: tuple[str, str, str, str], seeds: list[int]
) -> Iterator[dict[str, Any]]:
    arch, task, aux, n_transfer = cell_id
    _check_identity(path, cell, cell_id)
    baselines = _part(path, cell, "baselines", dict)
    for run in _part(path, cell, "seeds", list):
        if number(path, run, "seed") not in seeds:
            continue
        about_run = {
            **{"arch": arch, "aux": aux, "n_transfer": n_transfer, "seed": run["seed"]},
            **{"task": task, "n_runs": 1},
            "train_tokens": number(path, run, "train_tokens"),
            "train_seconds": number(path, run, "train_seconds"),
            "peak_mb": math.nan if run.get("peak_mb") is None else number(path, run, "peak_mb"),
            "alarms": tuple(sorted(_part(path, run, "alarms", list))),
        }
        scores = _part(path, run, "scores", dict)
        for split in scores:
            for metric in _part(path, scores, split, dict):
                yield {
                    **about_run,
                    **{"split": split, "metric": metric},
                    "score": score(path, scores[split], metric),
                    **{
                        name: _baseline(path, baselines, name, split, metric)
                        for name in ("majority", "bag_of_words")
                    },
                }


def _check_identity(path: Path, cell: Any, cell_id: tuple[str, str, str, str]) -> None:
    if not isinstance(cell, dict):
        raise InputError(f"{path}: holds a {type(cell).__name__}, not a cell; {REMEDY}")
    wanted = dict(zip(("arch", "task", "aux", "n_transfer"), cell_id, strict=True))
    wanted["aux"] = wanted["aux"] == "on"
    for key, value in wanted.items():
        found = cell.get(key)
        if (str(found) if key == "n_transfer" else found) != value:
            raise InputError(f"{path}: '{key}' is {found!r}, its path says {value!r}; {REMEDY}")


def _part(path: Path, where: Any, key: str, kind: type) -> Any:
    value = where.get(key) if isinstance(where, dict) else None
    if not isinstance(value, kind):
        raise InputError(f"{path}: '{key}' is missing or not a {kind.__name__}; {REMEDY}")
    return value


def _baseline(path: Path, baselines: dict, name: str, split: str, metric: str) -> float:
    """A baseline's score, or NaN where it was not scored (the training split)."""
    scores = _part(path, baselines, name, dict).get(split, {})
    return score(path, scores, metric) if metric in scores else math.nan
