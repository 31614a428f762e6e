"""The time and memory of each job of a run, from Snakemake's benchmarks beside the results.

Benchmarks are not declared outputs, so a table of costs shows those that exist. Only the last
attempt of an interrupted job counts. The CPU seconds in them are not used: Snakemake samples them,
in a long job every half minute, so they miss the end of a job.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from gpt1.cell import home
from tasks.common.errors import InputError
from tasks.common.programs import PEAK_LINE
from workflow.grid import Grid

PREPARATION, TABLES = "data", "tables"
STAGES = {  # by the start of a rule's name; all other rules prepare data
    "finetune": "fine-tuning",
    "pretrain": "pre-training",
    "zero_shot": "zero-shot",
    "cloze": "cloze",
    **dict.fromkeys(["table", "figure", "page", "samples", "glue"], TABLES),
}
PEAK = re.compile(PEAK_LINE.format(r"(\d+)"))
COLUMNS = ["stage", "job", "runs", "job_seconds", "peak_mb"]


def read(results: Path, grid: Grid) -> pd.DataFrame:
    """One row per rule: its number of jobs, their total seconds, and the highest memory in MB.

    Studies that the run does not make are left out. Raises InputError for a truncated file, which a
    kill may leave because Snakemake does not write it atomically.
    """
    rows = []
    own = tuple(f"finetune_{name}_" for name in (*grid.studies, "kept"))
    variants = dict.fromkeys(["", *(line.model for line in grid.lines.values())])
    folders = [home(results, variant) / "benchmarks" for variant in variants]
    for folder, path in ((of, path) for of in folders for path in sorted(of.rglob("*.tsv"))):
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        if rule != "study" and (not rule.startswith("finetune_") or f"{rule}_".startswith(own)):
            of = (stage for start, stage in STAGES.items() if rule.startswith(start))
            log = folder.with_name("logs") / path.relative_to(folder).with_suffix(".log")
            rows.append([next(of, PREPARATION), rule, 1, *_last_attempt(path, log)])
    table = pd.DataFrame(rows, columns=COLUMNS)
    total = {"runs": "sum", "job_seconds": "sum", "peak_mb": "max"}
    return table.groupby(["stage", "job"], as_index=False, sort=False).agg(total)


def _last_attempt(path: Path, log: Path) -> tuple[float, float]:
    """Seconds and peak megabytes of a job. Raises InputError if the file is damaged.

    Snakemake's own peak is a sample, which misses most of a short program; the log has the exact.
    """
    try:
        if not path.read_bytes().endswith(b"\n"):
            raise ValueError("its last line is cut off")
        found = pd.read_csv(path, sep="\t", na_values=["-", "NA"]).iloc[-1]
        seconds = float(found["s"])
        if not seconds >= 0:
            raise ValueError("no seconds")
        logged = PEAK.findall(log.read_text("utf-8", "replace")) if log.is_file() else []
        return seconds, max([float(found.get("max_rss", np.nan)), *map(float, logged)])
    except (ValueError, IndexError, KeyError) as error:
        raise InputError(
            f"{path}: not what Snakemake measures of a job ({error}); delete it, and the job's "
            "costs are left out"
        ) from None
