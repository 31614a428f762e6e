"""What the pool of false keeps needs beside Snakemake: other books before it, one file after it.

    python -m bench.false_keeps.make books            results/pool_books, of the same world
    snakemake --cores 2 --configfile workflow/config/quick.yaml bench/false_keeps/pool.yaml -- \
        results/pool/ablation.csv results/pool/studies/{planted,again}.csv
    python -m bench.false_keeps.make pool             bench/false_keeps/pool.parquet

The second pool has bench/false_keeps/second.yaml after these two config files, and no `again`;
`second` in place of `pool` writes it.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from bench.false_keeps.pool import BASE
from bench.sides import ROOT
from gpt1.cell import UNCHANGED, Cell
from tasks.world.make import make_world
from workflow.configuration.read import parse, read
from workflow.plan import Plan

HERE = ROOT / "bench/false_keeps"
CONFIGS = [ROOT / "workflow/config/quick.yaml", HERE / "pool.yaml"]
BOOKS = ROOT / "results/pool_books"


def books() -> None:
    """Write the books that the world would have after those of the run: as many, and as long."""
    settings = parse(read(CONFIGS)).experiment.world
    n, twice = settings.books, {"books": 2 * settings.books, "words": 2 * settings.words}
    BOOKS.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        make_world(settings.model_copy(update=twice), Path(folder, "world"))
        for path in sorted(Path(folder, "world", "books").glob("*.txt"))[n:]:
            (BOOKS / path.name).write_bytes(path.read_bytes())


def pool(which: str) -> None:
    """Write the answers of all runs: one row for each variant, seed, task and reported row."""
    config = parse(read([*CONFIGS, HERE / f"{which}.yaml"]))
    plan, results = Plan(config), ROOT / config.results
    lines = {BASE: UNCHANGED}
    studies = ["planted", "again"] if which == "pool" else ["planted"]
    for study in studies:
        points = {p.line: p.variant.name for p in plan.study(study).points}
        lines |= {"again" if study == "again" else title: name for title, name in points.items()}
    lines.pop("full")  # the first seeds of the base
    parts = []
    for variant, line in lines.items():
        for name in config.experiment.tasks:
            task = config.experiment.task(name)
            rows = pq.read_table(Cell(line, name).predictions(results)).to_pandas()
            rows = rows[rows["split"] == task.report[0]]
            given = np.stack(rows["probabilities"].to_numpy())
            label = rows["label"].to_numpy(dtype=int)
            parts.append(
                pd.DataFrame(
                    {
                        "variant": variant,
                        "seed": rows["seed"].astype("int16"),
                        "task": name,
                        "row": rows.groupby("seed").cumcount().astype("int16"),
                        "label": label.astype("int8"),
                        "prediction": rows["prediction"].astype("int8"),
                        # of the label
                        "probability": given[np.arange(len(rows)), label].astype("float32"),
                    }
                )
            )
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.astype(dict.fromkeys(["variant", "task"], "category"))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, HERE / f"{which}.parquet", compression="zstd")
    print(f"{len(frame):,} rows of {frame.groupby(['variant', 'seed']).ngroups} seeds")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("books", "pool", "second"))
    what = parser.parse_args().what
    books() if what == "books" else pool(what)
