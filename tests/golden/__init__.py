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
import os
import tarfile
from pathlib import Path

from workflow import studies
from workflow.analysis import figures, report
from workflow.configuration.read import parse, read
from workflow.grid import Grid, PagePlan
from workflow.plan import Plan

HERE = Path(__file__).parent
DIGESTS = HERE / "digests.json"
TABLES = [name for name in report.TABLES if name != "confusion"]  # of tasks of one's own
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


def make(results: Path, plan: Plan) -> None:
    """All that `snakemake all` and the studies make from the cells of a run."""
    grid = Grid.parse(plan.grid().to_json())
    heads = studies.heads(plan)
    page = PagePlan(tables=TABLES, figures=list(figures.TABLES), studies=heads)
    drawn = (f"figures/{name}.png" for name in figures.TABLES)
    for product in (*(f"{name}.csv" for name in TABLES), *drawn):
        report.make(product, results, grid)
    for head in heads:
        report.make(f"studies/{head.name}.csv", results, grid, studies.checked(plan, head.name))
    report.make("glue_submission.zip", results, grid)
    os.environ.pop("RUN_CONFIG", None)
    report.make("index.html", results, grid, page=page)
