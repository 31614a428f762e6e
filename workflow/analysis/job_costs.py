"""What each job of a run took, from the benchmarks that Snakemake writes beside the results.

They are no declared outputs: a table of costs shows those that are there. A job that was
interrupted counts with its last attempt alone. The CPU seconds there are left aside: Snakemake
samples them, at last every half minute, so they lack the end of a job.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from gpt1.cell import home
from tasks.common.errors import InputError
from workflow.grid import Grid

PREPARATION, TABLES = "data", "tables"
STAGES = {  # by the beginning of a rule's name; what comes before training is data
    "finetune": "fine-tuning",
    "pretrain": "pre-training",
    "zero_shot": "zero-shot",
    "cloze": "cloze",
    **dict.fromkeys(["table", "figure", "page", "samples", "glue"], TABLES),
}
COLUMNS = ["stage", "job", "runs", "job_seconds", "peak_mb"]


def read(results: Path, grid: Grid) -> pd.DataFrame:
    """One row per rule: its jobs, their seconds, the most memory of one in MB.

    Studies that the run does not make are left out. Raises InputError for a file that was cut,
    which a kill may leave, as Snakemake does not write it atomically.
    """
    rows = []
    own = tuple(f"finetune_{name}_" for name in (*grid.studies, "kept"))
    variants = dict.fromkeys(["", *(line.model for line in grid.lines.values())])
    folders = [home(results, variant) / "benchmarks" for variant in variants]
    for folder, path in ((of, path) for of in folders for path in sorted(of.rglob("*.tsv"))):
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        if rule != "study" and (not rule.startswith("finetune_") or rule.startswith(own)):
            of = (stage for start, stage in STAGES.items() if rule.startswith(start))
            rows.append([next(of, PREPARATION), rule, 1, *_last_attempt(path)])
    table = pd.DataFrame(rows, columns=COLUMNS)
    total = {"runs": "sum", "job_seconds": "sum", "peak_mb": "max"}
    return table.groupby(["stage", "job"], as_index=False, sort=False).agg(total)


def _last_attempt(path: Path) -> tuple[float, float]:
    """Seconds and megabytes of a job. Raises InputError if the file is damaged."""
    try:
        if not path.read_bytes().endswith(b"\n"):
            raise ValueError("its last line is cut off")
        found = pd.read_csv(path, sep="\t", na_values=["-", "NA"]).iloc[-1]
        seconds = float(found["s"])
        if not seconds >= 0:
            raise ValueError("no seconds")
        return seconds, float(found.get("max_rss", np.nan))
    except (ValueError, IndexError, KeyError) as error:
        raise InputError(
            f"{path}: not what Snakemake measures of a job ({error}); delete it, and the job's "
            "costs are left out"
        ) from None
