"""A made results folder: every cell, zero-shot and pre-training JSON that the analysis reads.

The numbers are random but shaped like a real run (scores rise with the layers transferred), so that
the figures drawn from them look like figures. Tests overwrite single cells with hand-made numbers.
"""

import json
import math
import random
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from matplotlib.axes import Axes

import tasks
from gpt1.cell import Arch, Cell, Corpus, NTransfer, PretrainedModel
from tasks.common.files import sha256_file
from tasks.metrics import METRICS, score_split
from tasks.settings import PrepareSettings
from tests.facts import CELL, CHECKPOINT, EXAMPLES, RUN, SCORED, SPLIT
from tests.support.variants import studies
from tests.support.variants import variant as full_variant
from workflow.analysis import report
from workflow.analysis.rows import PREDICTED
from workflow.configuration.sections import Seeds
from workflow.grid import Aux, Grid

LAYERS: dict[Arch, list[NTransfer]] = {
    "transformer": ["none", 0, 6, 12],
    "lstm": ["none", 0, 1],
}
PROCESSOR = "Some processor, AVX2"
SKILLS = {"copy": 2, "mood": 2, "reading": 4}  # numbers of choices


def make_grid(
    *names: str,
    arch: tuple[Arch, ...] = ("transformer", "lstm"),
    layers: dict[Arch, list[NTransfer]] | None = None,
    aux: tuple[Aux, ...] = ("on", "off"),
    without_aux: list[int] | None = None,
    controls: tuple[Corpus, ...] = (),
    of_controls: tuple[int, ...] | None = None,
    **changes: Any,
) -> Grid:
    """A run of all lines on all tasks, or on the tasks `names`; `changes` replace its fields."""
    zero_shot = {"cola": (0, 35.0), "sst2": (50, 93.2), "race": (25, 50.4), "dprd": (50, 76.4)}
    zero_shot |= {"snli": (33.3, 100), "qqp": (54, 100)}
    every = list(names) or [task.name for task in tasks.TASKS]
    fields = {
        "tasks": every,
        "seeds": {"pretrain": [0, 1], "finetune": [0, 1, 2]},
        "examples": [*every, "dprd"],
        "unlabelled": [],
        "has_corpus": True,
        "updates": [0, 30, 56, 105, 196, 367, 687, 1284, 3000],
        "zero_shot": {
            "tasks": list(zero_shot),
            "normalise": {k: {"random": a, "best": b} for k, (a, b) in zero_shot.items()},
        },
    }
    fields |= changes
    depths = {"transformer": ["none", *range(13)], "lstm": ["none", 0, 1]} | (layers or {})
    seeds = Seeds.model_validate(fields["seeds"])
    fields["studies"] = studies(
        *(every, {of: depths[of] for of in arch}, aux, controls, tuple(seeds.sources())),
        without_aux,
        of_controls and of_controls[: len(seeds.finetune)],
    )
    for study in fields["studies"].values():
        study.own.update(fields.get("own", {}))
    return Grid.model_validate(fields)


def build(name: str, results: Path, grid: Grid) -> tuple[pd.DataFrame, str]:
    """Make a table: its rows and its Markdown."""
    table = report.build(name, results, grid)
    return table.frame, table.markdown


def the(table: pd.DataFrame, **where: Any) -> pd.Series:
    """The only row with these values."""
    for key, wanted in where.items():
        table = table[table[key] == wanted]
    assert len(table) == 1, f"{where}: {len(table)} rows"
    return table.iloc[0]


def write_tables(results: Path, grid: Grid, names: Iterable[str]) -> None:
    """`cells.csv` and the tables `names` of a made run, as their programs write them."""
    no_degrees = pd.DataFrame(columns=["variant", "task", "degree", "mean", "best_baseline"])
    no_degrees.to_csv(results / "degrees.csv", index=False)  # for the positive control
    for name in ("cells", *names):
        report.build(name, results, grid).write(results / f"{name}.csv")


def write_all(results: Path, grid: Grid) -> None:
    """Every JSON that a finished run of `grid` would have left under `results`."""
    rng = random.Random(5)
    for name in {*grid.tasks, *grid.zero_shot.tasks}:
        of = grid.own.get(name)
        settings = {"settings": PrepareSettings(own=of, published=False).model_dump()} if of else {}
        write_examples(results, name, **settings)
    write_cloze(results, grid)
    for name in grid.tasks:
        for cell in grid.cells():
            if cell.task == name:
                write(cell.path(results), make_cell(rng, grid, cell))
    for model in grid.models():
        for update in grid.updates:
            arch, seed = model.arch, model.seed
            progress = math.log1p(update) / math.log1p(3000)
            loss = 7.2 + seed / 8 - (3.9 if arch == "transformer" else 3.4) * progress**1.5
            point = {"arch": arch, "seed": seed, "update": update, "tokens": update * 2560}
            checkpoint = {**point, "seconds": update * 0.11, "heldout_loss": loss, "cpu": PROCESSOR}
            checkpoint |= {"heldout_perplexity": math.exp(loss), "train_loss": loss - 0.1}
            checkpoint |= {"heldout_bits_per_byte": loss / math.log(2) / 4}
            write(model.facts(results, update), CHECKPOINT | checkpoint)
        for name in grid.zero_shot.tasks:
            write_zero_shot(results, grid, model, name)


def write_zero_shot(results: Path, grid: Grid, model: PretrainedModel, name: str) -> None:
    """A model's zero-shot scores on a task at every update, and the 120 rows behind each."""
    rng = np.random.default_rng([model.seed, *name.encode()])
    task, limits, parts = grid.zero_shot.task(name), grid.zero_shot.normalise[name], []
    labels = np.arange(120) % {"snli": 3, "mnli": 3, "race": 4}.get(name, 2)
    for update in grid.updates:
        progress = math.log1p(update) / math.log1p(3000)
        gain = (0.6 if model.arch == "transformer" else 0.3) * progress**3
        wanted = limits.random + gain * (limits.best - limits.random)
        share = (100 + wanted) / 200 if task.metric == "matthews" else wanted / 100
        by_scoring = {}
        for scoring in grid.zero_shot.scorings(name):
            said = np.where(rng.random(120) < share, labels, (labels + 1) % (labels.max() + 1))
            by_scoring[scoring] = 100 * float(METRICS[task.metric](labels, said))
            rows = {"update": update, "scoring": scoring, "label": labels, "prediction": said}
            guids = [f"{name}/{task.main}/{i}/0" for i in range(120)]
            parts.append(
                pd.DataFrame({**rows, "guid": guids, "margin": np.where(said == labels, 1, -0.5)})
            )
        point = {"arch": model.arch, "seed": model.seed, "update": update, "tokens": update * 2560}
        found = {"task": name, "split": task.main, "metric": task.metric, "by_scoring": by_scoring}
        found |= {
            "threshold": -3.1 if name == "cola" else None,
            "score": next(iter(by_scoring.values())),
        }
        write(model.zero_shot(results, name, update), {**SCORED, **point, **found})
    pd.concat(parts, ignore_index=True).to_parquet(
        model.zero_shot_rows(results, name), write_page_checksum=True
    )


def write_cloze(results: Path, grid: Grid) -> None:
    """The scores of every checkpoint on the cloze items."""
    rng = random.Random(9)
    for model, corpus in grid.all_models().items():
        for update in grid.updates:
            share = 0.9 * math.log1p(update) / math.log1p(3000) * (corpus == "books")
            scores = {}
            for skill, choices in SKILLS.items():
                chance = 1 / choices
                right = chance + share * (1 - chance)
                correct = sum(rng.random() < right for _ in range(200))
                scores[skill] = skill_score(correct, 200, choices)
            value = {"arch": model.arch, "corpus": corpus, "seed": model.seed, "update": update}
            value |= {"tokens": update * 2560, "skills": scores, "digests": {}}
            write(model.cloze(results, update), value)


def skill_score(correct: int, n: int, choices: int) -> dict[str, float]:
    """The score on one skill, as `gpt1.cloze` writes it."""
    score = {"n": n, "correct": correct, "choices": choices}
    score |= {"accuracy": 100 * correct / n, "accuracy_by_sum": 100 * correct / n}
    return {**score, "chance": 100 / choices, "margin": correct / n - 0.5}


def make_cell(rng: random.Random, grid: Grid, cell: Cell) -> dict[str, Any]:
    name, line = cell.task, grid.variants.get(cell.variant) or full_variant()
    arch, aux, n_transfer = line.arch, line.aux, line.n_transfer
    task = grid.task(name)
    splits = list(task.report)
    if name == "race":
        splits += [f"{split}_{group}" for split in task.report for group in ("middle", "high")]
    floor = {"accuracy": 48.0, "f1": 60.0, "matthews": 0.0, "pearson": 5.0, "spearman": 5.0}
    base = {metric: floor[metric] for metric in task.metrics}
    share = 0.0 if n_transfer == "none" else (1 + int(n_transfer)) / (1 + line.n_layer)
    gain = (30 if arch == "transformer" else 18) * share**0.7 + (2 if aux == "on" else 0)
    runs = []
    for seed in grid.seeds.finetune:
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
                **RUN,
                **{"seed": seed, "scores": scores, "alarms": alarms},
                "pretrain_seed": line.pretrain[
                    grid.seeds.finetune.index(seed) % len(line.pretrain)
                ],
                **{"train_tokens": 120_000, "train_seconds": 3.5 + 0.1 * seed, "peak_mb": 410.5},
                "cpu": PROCESSOR,
            }
        )
    return {
        **CELL,
        **vars(cell),
        "own": grid.own[name].model_dump() if name in grid.own else None,
        "arch": arch,
        "baselines": {
            "majority": {split: {m: base[m] - 3 for m in task.metrics} for split in splits},
            "bag_of_words": {split: {m: base[m] + 9 for m in task.metrics} for split in splits},
        },
        "seeds": runs,
    }


def write_predictions(
    results: Path, cell: Cell, rows: list[tuple], examples: dict[str, str] | None = None
) -> Path:
    """A cell's predictions; `rows` are (seed, split, guid, group, label, prediction).

    Their digest goes into the cell's JSON, which is made without a run where there is none.
    """
    columns = zip(*rows, strict=True)
    types = (pa.int64(), pa.string(), pa.string(), pa.string(), pa.float64(), pa.float64())
    arrays = [pa.array(column, of) for column, of in zip(columns, types, strict=True)]
    digests = {split: f"{cell.task} {split}" for _, split, *_ in rows}
    facts = {**vars(cell), "tokenizer": "digest", "examples": examples or digests}
    table = pa.table(arrays, names=PREDICTED).replace_schema_metadata({"gpt1": json.dumps(facts)})
    path = cell.predictions(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
    facts = CELL | vars(cell)
    if cell.path(results).exists():
        facts = json.loads(cell.path(results).read_text())
    digests = facts["digests"] | {"predictions": sha256_file(path)}
    write(cell.path(results), facts | {"digests": digests})
    return path


def write_answers(results: Path, grid: Grid, n: int = 40, gain: float = 0.4) -> None:
    """Predictions of every cell, and its scores made theirs.

    The share of right answers rises from about a half by `gain` with the layers transferred; what
    is hard is hard for all; an LSTM and a model of shuffled books gain half and a fifth as much.
    """
    rng = np.random.default_rng(7)
    for cell in grid.cells():
        variant = grid.variant(cell)
        share = 0.0 if variant.n_transfer == "none" else (1 + variant.n_transfer)
        share /= 1 + variant.n_layer
        share *= 0.2 if variant.is_control else 0.5 if variant.arch == "lstm" else 1.0
        write_cell_answers(results, cell, rng, 0.4 + gain * share, n)


def write_cell_answers(
    results: Path, cell: Cell, rng: np.random.Generator, skill: float, n: int = 40
) -> None:
    """Predictions of a cell, whose scores are made theirs; `skill` is about their share of hits."""
    record, rows = json.loads(cell.path(results).read_text()), []
    task = tasks.task(cell.task, record.get("own"))
    for run in record["seeds"]:
        own = skill + 0.02 * rng.normal()
        for split in task.report:
            of_rows = np.random.default_rng(len(cell.task + split))
            hard = of_rows.random(n)
            right = (hard + rng.random(n)) / 2 < own
            labels = np.arange(n) % len(task.labels)
            said = np.where(right, labels, (labels + 1) % len(task.labels))
            groups = [("middle", "high")[i % 8 < 4] * bool(task.groups) for i in range(n)]
            names = [f"{g}/{i // 4}/{i}" if g else str(i) for i, g in enumerate(groups)]
            if task.soft_labels:
                labels, said = labels * 1.0, said * 1.0
            scores = score_split(task.spec, said, labels, groups, split)
            run["scores"] |= scores
            rows += [
                (run["seed"], split, f"{cell.task}/{split}/{name}", group, *map(float, pair))
                for name, group, *pair in zip(names, groups, labels, said, strict=True)
            ]
    write(cell.path(results), record)
    write_predictions(results, cell, rows)


def write_examples(results: Path, name: str, **facts: Any) -> None:
    """The facts of a task's examples."""
    write(results / "examples" / f"{name}.json", {**EXAMPLES, "task": name, **facts})


def write_encoded(results: Path, name: str, **splits: dict[str, Any]) -> None:
    """The facts of a task's encoded rows."""
    facts = {"spec": asdict(tasks.task(name).spec), "tokenizer": "", "n_vocab": 9}
    splits = {split: SPLIT | of for split, of in splits.items()}
    write(results / "encoded" / f"{name}.json", facts | {"splits": splits})


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def is_noted_as_not_run(ax: Axes) -> bool:
    """Whether a panel says so, in its middle, and nothing else."""
    notes = [(text.get_text(), text.get_position(), text.get_transform()) for text in ax.texts]
    return notes == [("not run", (0.5, 0.5), ax.transAxes)]


@pytest.fixture
def run_of(tmp_path: Path) -> Callable[..., tuple[Path, Grid]]:
    """Make a small finished run over the given tasks, for a test to change: (results, grid)."""

    def make(*names: str, **changes: Any) -> tuple[Path, Grid]:
        grid = make_grid(*names, layers=LAYERS, controls=changes.get("controls", ()))
        write_all(tmp_path, grid)
        return tmp_path, make_grid(*names, **{"layers": LAYERS, **changes})

    return make
