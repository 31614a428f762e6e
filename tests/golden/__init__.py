"""A small finished run, and the digests of all that is made from it.

`run.tar.xz` has what the tables read of a run of `world.yaml`, here. Of `results/`, and of each
folder of `variants/`, these are: cells, predictions, baselines, zero_shot, cloze, contamination,
benchmarks and logs; the JSON files of examples, encoded, pretrain, vectors and corpus;
examples/cola, pretrain's log.csv, world/manifest.json and world/degrees.csv.

`python -m tests.golden` makes all tables, figures, studies and the page anew and writes their
digests to `digests.json`; a change of theirs is one of the suite's numbers or words.
"""

import contextlib
import hashlib
import importlib
import os
import tarfile
from pathlib import Path

from tasks.world import read_degrees
from workflow import studies
from workflow.analysis import make_figure, make_study, submission
from workflow.analysis.page import write as page
from workflow.analysis.stats.samples import Samples, part_path
from workflow.configuration.read import parse, read
from workflow.grid import Grid
from workflow.plan import Plan

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.json"
# In an order in which each finds what it reads.
TABLES = (
    *("data", "pretraining", "cost_pretraining", "zero_shot", "cloze", "ablation", "degrees"),
    *("layer_transfer", "contamination", "main", "cells", "claims", "positive_control", "cost"),
)
FIGURES = {
    **{name: [name] for name in ("ablation", "layer_transfer", "zero_shot", "cloze")},
    "figure2": ["layer_transfer", "zero_shot"],
    "pretraining": ["pretraining", "cost_pretraining"],
    "differences": ["ablation"],
}
SHOWN = (".csv", ".md", ".svg", ".html", ".zip")


def build(folder: Path) -> dict[str, str]:
    """Make everything from the run, in `folder`/results; the digest of each file."""
    with tarfile.open(HERE / "run.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    given = {path for path in folder.rglob("*") if path.is_file()}
    with contextlib.chdir(folder):
        make(Path("results"), Plan(parse(read([HERE / "world.yaml"]))))
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()[:16]
        for path in sorted({*folder.rglob("*")} - given)
        if path.suffix in SHOWN
    }


def make(results: Path, lines: Plan) -> None:
    """All that `snakemake all` and the studies make from the cells of a run."""
    grid = Grid.parse(text := lines.grid().to_json())
    degrees = read_degrees(results / "world" / "degrees.csv")
    (results / "samples").mkdir()
    for part, cells in grid.parts().items():
        samples = Samples()
        for cell in cells:
            samples.add(cell, results, grid.seeds.finetune, degrees)
        samples.write(part_path(results, part))
    for name in TABLES:
        table = importlib.import_module(f"workflow.analysis.tables.{name}")
        table.build(results, grid).write(results / f"{name}.csv")
    given = ["--results", str(results), "--grid", text, "--out"]
    for name, read_from in FIGURES.items():
        tables = [str(results / f"{table}.csv") for table in read_from]
        out = results / "figures" / f"{name}.png"
        out.parent.mkdir(exist_ok=True)
        make_figure.main([name, "--tables", *tables, "--grid", text, "--out", str(out)])
    (results / "studies").mkdir()
    heads = studies.heads(lines)
    for head in heads:
        study = studies.plan(lines, head.name).to_json()
        make_study.main([*given, f"{results}/studies/{head.name}.csv", "--study", study])
    submission.write_zip(results / "glue_submission.zip", submission.sheets(results, grid)[0])
    os.environ.pop("RUN_CONFIG", None)
    shown = ["--tables", *TABLES, "--figures", *FIGURES]
    page.main([*given, f"{results}/index.html", *shown, "--studies", *(h.to_json() for h in heads)])
