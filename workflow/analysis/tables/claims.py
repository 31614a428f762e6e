"""Every claim of the paper's results and analysis, judged at the scale of this run.

The claims and their judges are in `workflow.analysis.claims`.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.claims.evidence import Evidence
from workflow.analysis.claims.finding import NOT_RUN, VERDICTS
from workflow.analysis.claims.paper_claims import CLAIMS
from workflow.analysis.notes import fewer_seeds
from workflow.analysis.stats.alarms import is_marked
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Grid

INPUTS = ("endpoints", "intermediate", "shuffled", "zero_shot", "facts")
DECIMALS = {**dict.fromkeys(["paper", "ours", "ci_low", "ci_high"], 4), "p": 6}


def build(results: Path, grid: Grid) -> Table:
    """One row per claim, or per claim and task."""
    run = Evidence(results, grid, Samples.of_grid(results, grid, INPUTS))
    rows = []
    for claim in CLAIMS:
        for finding in claim.findings(run):
            found = finding.found
            rows.append(
                {
                    "statement": claim.statement,
                    "section": claim.section,
                    "tasks": finding.tasks,
                    "contrast": finding.contrast,
                    "paper": finding.paper,
                    "ours": found.value if found else np.nan,
                    "ci_low": finding.interval[0],
                    "ci_high": finding.interval[1],
                    "p": finding.p,
                    "verdict": finding.verdict,
                    "needs": finding.needs,
                    "n_seeds": found.n_seeds if found else 0,
                    "alarms": finding.alarms,
                }
            )
    table = pd.DataFrame(rows)
    words = ("verdict", "tasks", "contrast", "needs")
    return Table(table, _wide(table, results, grid), DECIMALS, words)


def _wide(table: pd.DataFrame, results: Path, grid: Grid) -> list[str | pd.DataFrame]:
    wide = table.set_index("statement")[
        ["verdict", "section", "tasks", "contrast", "paper", "ours", "p", "needs"]
    ]
    wide = wide.assign(
        paper=wide["paper"].map(markdown.value), ours=_ours(table), p=wide["p"].map(_p)
    )
    counts = table["verdict"].value_counts()
    totals = [f"{counts.get(verdict, 0)} {verdict}" for verdict in VERDICTS]
    seeds = f"{len(grid.seeds.pretrain)} of pre-training, {len(grid.seeds.finetune)} of fine-tuning"
    return [
        f"# The paper's claims at the scale of this run: {Path(results).name}",
        f"Scale: {grid.scale or 'not stated'}; {len(grid.tasks)} tasks; seeds: {seeds}. "
        "The verdicts hold for this scale and these data alone.",
        wide,
        f"{', '.join(totals)}.",
        f"Ours: the contrast, paired by row and seed, and {markdown.INTERVAL}. Zero-shot "
        "contrasts are over pre-training seeds, with the rows as they are. Reproduced: the "
        "interval is on the claim's side of 0; not reproduced: on the other side; equal: two "
        f"one-sided tests show it to be within {grid.margins.task:g} points of 0 for a task or "
        f"{grid.margins.mean:g} for a mean, which the config states; undecided: none of these, and "
        "`needs` is what would decide an effect of this size with a power of 80 %. A claim about "
        "several tasks holds if it does on each; a line before them counts those of which the run "
        "is sure, and those that are possible. `!`: a run behind it raised an alarm, named in the "
        "CSV.",
        *fewer_seeds(grid),
    ]


def _ours(table: pd.DataFrame) -> list[str]:
    """The estimates with their intervals; two decimals of small ones, none of counts."""
    ends = table[["ours", "ci_low", "ci_high"]]
    decimals = (ends.abs().max(axis=1) <= 1).map({True: 2, False: 1})
    decimals[table["contrast"].str.endswith(("tasks", "tasks won"))] = 0
    shown = [
        markdown.interval(value, low, high, n)
        for (value, low, high), n in zip(ends.itertuples(index=False), decimals, strict=True)
    ]
    marks = table["alarms"].map(lambda alarms: " !" if is_marked(alarms) else "")
    return [text.replace(markdown.MISSING, NOT_RUN) for text in shown + marks]


def _p(p: float) -> str:
    if np.isnan(p):
        return markdown.NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
