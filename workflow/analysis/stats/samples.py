"""The samples behind the tables: each cell's scores by seed, on all rows and on resampled ones.

    python -m workflow.analysis.stats.samples CELL.json ... --results R --seeds 0 1 2 --out FILE

Each part of the grid is resampled once, into one Parquet file: a row for each cell, split, metric
and seed, with the scores on resampled rows under `boot`. `cells.csv`, the other tables and the
claims read these files, and nothing else of the cells.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

    import tasks
    from gpt1.cell import Cell
    from tasks.common.files import write_atomic
    from workflow.analysis.predictions import Predictions, answers, read_predictions
    from workflow.analysis.records import REMEDY, CellRecord, Run
    from workflow.analysis.stats.bootstrap import N_RESAMPLES, resample
    from workflow.analysis.stats.degrees import place, read_degrees
    from workflow.analysis.stats.estimate import Sample, average
    from workflow.grid import Grid

KEY = ["cell", "split", "metric", "degree"]  # a cell by its path below the results
FACTS = ["pretrain", "score", "n_rows", "majority", "bag_of_words", "train_tokens", "alarms"]
NOT_REPORTED = ("train", "select")
GROUPS = ("_middle", "_high")  # RACE's two halves, scored beside the whole
CORRELATIONS = ("matthews", "pearson", "spearman")
Key = tuple[str, str, str]  # split, metric, and a degree of difficulty or "" for all rows


@dataclass(frozen=True)
class Samples:
    """The samples of some cells, by cell and Key; `examples` are the digests of `TASK/SPLIT`."""

    cells: dict[Cell, dict[Key, Sample]] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_grid(cls, results: Path, grid: Grid, names: Iterable[str]) -> Self:
        """Of the parts of the grid whose names end with one of `names`.

        Raises InputError for a file that is damaged or that lacks a cell of the grid.
        """
        parts = {n: cells for n, cells in grid.parts().items() if n.endswith(tuple(names))}
        found = cls.read(part_path(results, name) for name in parts)
        for name, cells in parts.items():
            for cell in cells:
                if cell not in found.cells:
                    raise InputError(f"{part_path(results, name)}: lacks {cell.place}; {REMEDY}")
        return found

    @classmethod
    def read(cls, paths: Iterable[Path]) -> Self:
        """What `write` wrote into some files. Raises InputError for a damaged or foreign one."""
        found = cls()
        for path in paths:
            try:
                table = pq.read_table(path, page_checksum_verification=True)
                examples = json.loads(table.schema.metadata[b"examples"])
                for cell, key, sample in _samples(table):
                    found.cells.setdefault(cell, {})[key] = sample
            except FileNotFoundError:
                raise InputError(f"{path}: no such file; run its job first") from None
            except (pa.ArrowInvalid, OSError, KeyError, ValueError, TypeError) as error:
                reason = " ".join(str(error).split())
                raise InputError(f"{path}: not samples ({reason:.80}); {REMEDY}") from None
            found.check_examples(path, examples)
        return found

    def write(self, path: Path) -> None:
        """Write them as Parquet, a row for each cell, Key and seed; `boot` is empty if unknown."""
        pairs = [(cell, key, one) for cell, of in self.cells.items() for key, one in of.items()]
        rows = [
            {**dict(zip(KEY, (str(cell.path("")), *key), strict=True)), **facts}
            for cell, key, sample in pairs
            for facts in by_seed(sample)
        ]
        boots = [boot if one.n_rows else boot[:0] for _, _, one in pairs for boot in one.boot]
        offsets = np.cumsum([0, *map(len, boots)], dtype=np.int32)
        boot = pa.ListArray.from_arrays(offsets, np.concatenate([np.empty(0), *boots]))
        table = pa.Table.from_pandas(pd.DataFrame(rows), preserve_index=False)
        table = table.append_column("boot", boot)
        table = table.replace_schema_metadata({"examples": json.dumps(self.examples)})
        with write_atomic(path, "wb") as file:
            pq.write_table(table, file, write_page_checksum=True)

    def add(
        self,
        cell: Cell,
        results: Path,
        seeds: Sequence[int],
        degrees: Mapping[str, set[str]] | None = None,
    ) -> None:
        """Sample a cell that was run: of its `seeds` those that it has.

        So a cell left over from a wider config does not make its neighbours' averages lopsided.
        `degrees` are rows of the embedded world, which are scored by themselves as well. Raises
        InputError for a damaged file, or one of another cell or of other rows than those before.
        """
        path, metric = cell.path(results), tasks.task(cell.task).metric
        record = CellRecord.read(path, **vars(cell))
        known = [one.seed for one in record.seeds]
        if len(set(known)) < len(known):
            raise InputError(f"{path}: 'seeds' holds a seed twice, {known}; {REMEDY}")
        runs = [one for one in record.seeds if one.seed in seeds]
        predictions = read_predictions(results, cell)
        if predictions is not None:
            named = {f"{cell.task}/{s}": digest for s, digest in predictions.examples.items()}
            self.check_examples(predictions.path, named)
        found = self.cells[cell] = {(*key, ""): one for key, one in _scored(record, runs)}
        for (split, name, _), sample in list(found.items()):
            if predictions is not None:
                resampled = _resampled(sample, predictions, cell, split, name)
                found[split, name, ""] = replace(resampled or sample, score=sample.score)
                for degree, rows in (degrees or {}).items() if name == metric else ():
                    of_degree = _resampled(sample, predictions, cell, split, name, rows)
                    found |= {(split, name, degree): of_degree} if of_degree else {}

    def check_examples(self, path: Path, examples: Mapping[str, str]) -> None:
        """Raise InputError where the rows of a split are not those of the cells before."""
        for split, digest in examples.items():
            if self.examples.setdefault(split, digest) != digest:
                raise InputError(f"{path}: its rows of {split} are not other cells'; {REMEDY}")

    def of(self, cell: Cell, split: str, metric: str, degree: str = "") -> Sample | None:
        """One metric on one split; None of a cell or a split that is not there.

        `{split}_{group}` are the rows of one of RACE's groups.
        """
        return self.cells.get(cell, {}).get((split, metric, degree))

    def headline(self, cell: Cell, degree: str = "", metric: str | None = None) -> Sample | None:
        """The main `metric` on the split, or the mean of the splits, that stands for the task."""
        splits, metric = self.headline_splits(cell.task), metric or tasks.task(cell.task).metric
        found = [self.of(cell, split, metric, degree) for split in splits]
        known = [one for one in found if one is not None]
        mean = average(known) if len(known) == len(splits) else None
        if mean is None:
            return None
        # One run is behind the scores on all splits.
        return replace(mean, train_tokens=known[0].train_tokens, alarms=known[0].alarms)

    def headline_splits(self, task: str) -> list[str]:
        """The splits behind a task's one number: both of MNLI (Table 5), else the first."""
        return headline_splits(task, self.reported(task))

    def reported(self, task: str) -> list[str]:
        """The splits that a task reports, main one first; those of its cells if there are any."""
        return reported(
            task, {s for c, of in self.cells.items() if c.task == task for s, _, _ in of}
        )


def reported(task: str, found: Iterable[str]) -> list[str]:
    """The `found` splits that a task reports, or those that it should, the main one first."""
    official = list(tasks.task(task).report)
    order = {split: place for place, split in enumerate(official)}
    splits = [s for s in found if s not in NOT_REPORTED and not s.endswith(GROUPS)]
    return sorted(splits, key=lambda s: (order.get(s, len(order)), s)) or official


def headline_splits(task: str, splits: list[str]) -> list[str]:
    """Of the reported splits those behind a task's one number."""
    return splits if tasks.task(task).averages_splits else splits[:1]


def official_sets(split: str) -> str:
    """The official set behind some splits: `dev` for dev_matched+dev_mismatched."""
    return "+".join(sorted({part.split("_")[0] for part in split.split("+")}))


def part_path(results: Path, part: str) -> Path:
    """Where the samples of a part of the grid lie."""
    return Path(results, "samples", f"{part}.parquet")


def by_seed(sample: Sample) -> Iterator[dict[str, Any]]:
    """What is known of each seed of a single score: `seed` and FACTS."""
    for i, seed in enumerate(sample.seeds):
        yield {
            "seed": seed,
            "pretrain": sample.pretrain[i],
            "score": sample.score[i],
            "n_rows": sample.n_rows,
            "majority": sample.majority,
            "bag_of_words": sample.bag_of_words,
            "train_tokens": sample.train_tokens[seed],
            "alarms": sample.alarms[seed][0],
        }


def _samples(table: pa.Table) -> Iterator[tuple[Cell, Key, Sample]]:
    """What is in a table that `write` made."""
    boot = table["boot"].combine_chunks()
    ends, values = boot.offsets.to_numpy(), boot.values.to_numpy()
    rows = table.drop_columns("boot").to_pandas()
    columns = {name: rows[name].to_numpy() for name in rows}
    cells = {name: Cell.parse(name) for name in rows["cell"].unique()}
    for (name, *key), at in rows.groupby(KEY, sort=False).indices.items():
        of = {name: column[at] for name, column in columns.items()}
        seeds, known = [int(seed) for seed in of["seed"]], ends[at[0] + 1] > ends[at[0]]
        split, metric, degree = key
        yield (
            cells[name],
            (split, metric, degree),
            Sample(
                seeds=tuple(seeds),
                pretrain=tuple(int(seed) for seed in of["pretrain"]),
                score=of["score"].astype(float),
                boot=np.stack([values[ends[i] : ends[i + 1]] for i in at])
                if known
                else _not_resampled(len(seeds)),
                n_rows=int(of["n_rows"][0]),
                limits=limits_of(metric),
                majority=float(of["majority"][0]),
                bag_of_words=float(of["bag_of_words"][0]),
                train_tokens=dict(zip(seeds, of["train_tokens"].astype(float), strict=True)),
                alarms={seed: (text,) for seed, text in zip(seeds, of["alarms"], strict=True)},
            ),
        )


def limits_of(metric: str) -> tuple[float, float]:
    """The lowest and the highest value of a metric."""
    return (-100.0 if metric in CORRELATIONS else 0.0), 100.0


def _not_resampled(n_seeds: int) -> np.ndarray:
    return np.broadcast_to(np.nan, (n_seeds, N_RESAMPLES))


def _scored(record: CellRecord, runs: Sequence[Run]) -> Iterator[tuple[tuple[str, str], Sample]]:
    """By split and metric the scores of a cell's JSON, not resampled yet."""
    baselines = record.baselines
    for split, scores in runs[0].scores.items() if runs else ():
        for metric in scores:
            yield (
                (split, metric),
                Sample(
                    seeds=tuple(one.seed for one in runs),
                    pretrain=tuple(one.pretrain_seed for one in runs),
                    score=np.array([one.scores[split][metric] for one in runs]),
                    boot=_not_resampled(len(runs)),
                    n_rows=0,
                    limits=limits_of(metric),
                    majority=baselines.majority.get(split, {}).get(metric, np.nan),
                    bag_of_words=baselines.bag_of_words.get(split, {}).get(metric, np.nan),
                    train_tokens={one.seed: one.train_tokens for one in runs},
                    alarms={one.seed: (";".join(sorted(one.alarms)),) for one in runs},
                ),
            )


def _resampled(
    sample: Sample,
    predictions: Predictions,
    cell: Cell,
    split: str,
    metric: str,
    chosen: set[str] | None = None,
) -> Sample | None:
    """The sample on the predicted rows of a split, or on those at the places that are `chosen`.

    None if there are no such rows.
    """
    rows = predictions.rows[predictions.rows["seed"].isin(sample.seeds)]
    mine = rows[rows["split"] == split]
    if mine.empty:
        base, _, group = split.rpartition("_")
        mine = rows[(rows["split"] == base) & (rows["group"] == group)]
    if chosen is not None:
        mine = mine[mine["guid"].map(lambda guid: place(guid) in chosen).astype(bool)]
    if mine.empty:
        return None
    shape = len(sample.seeds), len(mine) // len(sample.seeds)
    said = answers(predictions.path, cell.task, mine["prediction"]).reshape(shape)
    labels = answers(predictions.path, cell.task, mine["label"][: shape[1]])
    texts = shared_texts(cell.task, mine["guid"].to_numpy()[: shape[1]])
    score, boot, n_rows = resample(metric, said, labels, texts, f"{cell.task}/{split}")
    return replace(sample, score=score, boot=boot, n_rows=n_rows)


def shared_texts(task: str, guids: Sequence[str]) -> np.ndarray:
    """For each row the number, from 0, of the text that it shares with others; else its own."""
    if not tasks.task(task).several_rows_a_text:
        return np.arange(len(guids))
    return np.unique([guid.rpartition("/")[0] for guid in guids], return_inverse=True)[1]


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cells", nargs="+", type=Cell.parse, help="JSON files of `gpt1.finetune`")
    parser.add_argument("--results", required=True, type=Path, help="the results folder")
    parser.add_argument("--seeds", required=True, nargs="+", type=int, help="of fine-tuning")
    parser.add_argument("--degrees", action="store_true", help="of the embedded world: by degree")
    parser.add_argument("--out", required=True, type=Path, help="the file to write")
    args = parser.parse_args(argv)
    world = args.results / "world" / "degrees.csv"
    degrees = read_degrees(world) if args.degrees else None
    samples = Samples()
    for cell in args.cells:
        samples.add(cell, args.results, args.seeds, degrees)
    samples.write(args.out)


if __name__ == "__main__":
    sys.exit(run(main))
