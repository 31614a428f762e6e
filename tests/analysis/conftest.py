"""A made results folder: every cell, zero-shot and pre-training JSON that the analysis reads.

The numbers are random but shaped like a real run (scores rise with the layers transferred), so that
the figures drawn from them look like figures. Tests overwrite single cells with hand-made numbers.
"""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tasks


def make_settings(names: list[str] | None = None) -> dict[str, Any]:
    """The analysis settings of the full grid, or of a grid over the tasks `names`."""
    zero_shot = {"cola": (0, 35.0), "sst2": (50, 93.2), "race": (25, 50.4), "dprd": (50, 76.4)}
    return {
        "tasks": names or [task.name for task in tasks.TASKS],
        "arch": ["transformer", "lstm"],
        "aux": ["on", "off"],
        "layers": {"transformer": ["none", *range(13)], "lstm": ["none", 0, 1]},
        "n_layer": {"transformer": 12, "lstm": 1},
        "seeds": {"ends": [0, 1, 2], "between": [0]},
        "examples": [*(names or (task.name for task in tasks.TASKS)), "dprd"],
        "clean": True,
        "updates": [0, 30, 56, 105, 196, 367, 687, 1284, 3000],
        "zero_shot": {
            "tasks": list(zero_shot),
            "normalise": {k: {"random": a, "best": b} for k, (a, b) in zero_shot.items()},
        },
    }


def write_all(results: Path, settings: dict[str, Any]) -> None:
    """Every JSON that a finished run of `settings` would have left under `results`."""
    rng = random.Random(5)
    for name in {*settings["tasks"], *settings["zero_shot"]["tasks"]}:
        write(results / f"examples/{name}.json", {"note": ""})
    for name in settings["tasks"]:
        for arch in settings["arch"]:
            for aux in settings["aux"]:
                for n_transfer in settings["layers"][arch]:
                    cell = make_cell(rng, settings, arch, name, aux, n_transfer)
                    write(results / cell_name(arch, name, aux, n_transfer), cell)
    for arch in settings["arch"]:
        for update in settings["updates"]:
            progress = math.log1p(update) / math.log1p(3000)
            loss = 7.2 - (3.9 if arch == "transformer" else 3.4) * progress**1.5
            point = {"arch": arch, "update": update, "tokens": update * 2560}
            checkpoint = {**point, "seconds": update * 0.11, "heldout_loss": loss}
            checkpoint |= {"heldout_perplexity": math.exp(loss), "train_loss": loss - 0.1}
            write(results / f"pretrain/{arch}/update-{update}.json", checkpoint)
            for name in settings["zero_shot"]["tasks"]:
                limits = settings["zero_shot"]["normalise"][name]
                gain = (0.6 if arch == "transformer" else 0.3) * progress**3 + rng.gauss(0, 0.03)
                score = limits["random"] + gain * (limits["best"] - limits["random"])
                task = tasks.task(name)
                found = {"task": name, "split": task.main, "metric": task.metric, "score": score}
                found |= {"n": 1000, "threshold": -3.1 if name == "cola" else None}
                write(results / f"zero_shot/{arch}/{name}/update-{update}.json", {**point, **found})


def cell_name(arch: str, name: str, aux: str, n_transfer: str | int) -> str:
    return f"cells/{arch}/{name}/aux-{aux}/layers-{n_transfer}.json"


def make_cell(
    rng: random.Random, settings: dict, arch: str, name: str, aux: str, n_transfer: str | int
) -> dict[str, Any]:
    task = tasks.task(name)
    splits = list(task.report)
    if name == "race":
        splits += [f"{split}_{group}" for split in task.report for group in ("middle", "high")]
    floor = {"accuracy": 48.0, "f1": 60.0, "matthews": 0.0, "pearson": 5.0, "spearman": 5.0}
    base = {metric: floor[metric] for metric in task.metrics}
    n_layer = settings["n_layer"][arch]
    share = 0.0 if n_transfer == "none" else (1 + int(n_transfer)) / (1 + n_layer)
    gain = (30 if arch == "transformer" else 18) * share**0.7 + (2 if aux == "on" else 0)
    ends = n_transfer in ("none", n_layer)
    runs = []
    for seed in settings["seeds"]["ends" if ends else "between"]:
        luck = rng.gauss(0, 1.5)
        scores = {
            split: {m: base[m] + gain + luck + rng.gauss(0, 0.7) for m in task.metrics}
            for split in splits
        }
        scores["train"] = {m: min(99.0, base[m] + 1.2 * gain + 8 + luck) for m in task.metrics}
        scores["select"] = dict(scores[splits[0]])
        alarms = ["majority_rate"] if n_transfer == "none" and name == "rte" and seed else []
        runs.append(
            {
                **{"seed": seed, "scores": scores, "alarms": alarms, "best_epoch": 2},
                **{"train_tokens": 120_000, "train_seconds": 3.5 + 0.1 * seed, "peak_mb": 410.5},
            }
        )
    return {
        **{"arch": arch, "task": name, "aux": aux == "on", "n_transfer": n_transfer},
        "baselines": {
            "majority": {split: {m: base[m] - 3 for m in task.metrics} for split in splits},
            "bag_of_words": {split: {m: base[m] + 9 for m in task.metrics} for split in splits},
        },
        "seeds": runs,
    }


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


@pytest.fixture(scope="session")
def settings() -> dict[str, Any]:
    """The full grid: twelve tasks, both architectures."""
    return make_settings()


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory, settings: dict[str, Any]) -> Path:
    """A finished run of the full grid. Read only: tests that change cells make their own."""
    results = tmp_path_factory.mktemp("finished")
    write_all(results, settings)
    return results


@pytest.fixture
def run_of(tmp_path: Path) -> Callable[..., tuple[Path, dict[str, Any]]]:
    """Make a small finished run over the given tasks, for a test to change: (results, settings)."""

    def make(*names: str) -> tuple[Path, dict[str, Any]]:
        settings = make_settings(list(names))
        settings["layers"]["transformer"] = ["none", 0, 6, 12]
        write_all(tmp_path, settings)
        return tmp_path, settings

    return make


@pytest.fixture
def change() -> Callable[..., None]:
    """`change(results, cell, f)` lets `f` edit one cell's JSON in place."""

    def edit(results: Path, cell: tuple, f: Callable[[dict], None]) -> None:
        path = results / cell_name(*cell)
        value = json.loads(path.read_text(encoding="utf-8"))
        f(value)
        write(path, value)

    return edit
