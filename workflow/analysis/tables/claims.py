"""Every claim of the paper's results and analysis, judged at the scale of this run.

A claim is *reproduced* if the 95 % interval of its contrast lies on the claim's side of 0, *not
reproduced* if it lies on the other side, or within one point of 0 on either side (an effect of no
consequence); else *undecided*, and `needs` says how many seeds and rows would do. Where a claim is
about several tasks, Holm's p-value must be below 0.05 as well. Of a correlation there is no margin.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from gpt1.cell import CORPORA
from workflow.analysis import markdown
from workflow.analysis.cells import read_cells
from workflow.analysis.claims import CLAIMS, Average, Claim, EachTask, SizeTrend
from workflow.analysis.evidence import Evidence, Finding
from workflow.analysis.notes import fewer_seeds
from workflow.analysis.table import Table
from workflow.analysis.uncertainty import LEVEL, MARGIN, holm
from workflow.grid import Grid

COLUMNS = [
    *("statement", "section", "tasks", "contrast", "paper", "ours", "ci_low", "ci_high", "p"),
    *("verdict", "needs", "n_seeds"),
]
DECIMALS = {**dict.fromkeys(["paper", "ours", "ci_low", "ci_high"], 4), "p": 6}
REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
UNDECIDED, NOT_RUN = "undecided", "not run"


def build(results: Path, grid: Grid) -> Table:
    """One row per claim, or per claim and task."""
    evidence = Evidence(results, grid, read_cells(results, grid, CORPORA))
    rows = [row for claim in CLAIMS for row in _rows(claim, evidence.of(claim))]
    table = pd.DataFrame(rows, columns=COLUMNS)
    words = ("verdict", "tasks", "contrast", "needs")
    return Table(table, _wide(table, results, grid), DECIMALS, words)


def _rows(claim: Claim, findings: list[Finding]) -> list[dict[str, Any]]:
    p_values = holm([one.estimate.p if one.estimate else np.nan for one in findings])
    n_tests = max(1, int((~np.isnan(p_values)).sum()))
    return [_row(claim, one, p, n_tests) for one, p in zip(findings, p_values, strict=True)]


def _row(claim: Claim, finding: Finding, p: float, n_tests: int) -> dict[str, Any]:
    found = finding.estimate
    ours = found.value if found else np.nan
    low, high = np.clip(found.interval, *finding.limits) if found else (np.nan, np.nan)
    verdict = judge(finding, p)
    needs = {NOT_RUN: finding.lacking}.get(verdict, "")
    if found and verdict == UNDECIDED:
        effect = abs(ours - finding.border)
        needs = found.needs(max(effect, finding.margin - effect), n_tests)
    return {
        **{"statement": claim.statement, "section": claim.section, "tasks": finding.tasks},
        **{"contrast": _name(claim), "paper": finding.paper, "ours": ours},
        **{"ci_low": low, "ci_high": high, "p": p, "verdict": verdict, "needs": needs},
        "n_seeds": found.n_seeds if found else 0,
    }


def judge(finding: Finding, p: float) -> str:
    """The verdict on a finding whose p-value among those of its claim is `p` (NaN: no test)."""
    if finding.estimate is None:
        return NOT_RUN
    ends = [(end - finding.border) * finding.direction for end in finding.estimate.interval]
    low, high = sorted(ends)
    tested = np.isnan(p) or p < 1 - LEVEL
    if low > 0 and tested:
        return REPRODUCED
    if (high < 0 and tested) or (-finding.margin < low and high < finding.margin):
        return NOT_REPRODUCED
    return UNDECIDED


def _wide(table: pd.DataFrame, results: Path, grid: Grid) -> list[str | pd.DataFrame]:
    columns = (table[name] for name in ("ours", "ci_low", "ci_high"))
    shown = []
    for value, low, high in zip(*columns, strict=True):
        decimals = 2 if abs(value) <= 1 and max(abs(low), abs(high)) <= 1 else 1
        shown.append(markdown.interval(value, low, high, decimals))
    wide = pd.DataFrame(
        {
            "statement": table["statement"],
            "verdict": table["verdict"],
            "section": table["section"],
            "tasks": table["tasks"],
            "contrast": table["contrast"],
            "paper": table["paper"].map(markdown.value),
            "ours": [text.replace(markdown.MISSING, NOT_RUN) for text in shown],
            "p": [_p(p) for p in table["p"]],
            "needs": table["needs"],
        }
    )
    counts = table["verdict"].value_counts()
    totals = [f"{counts.get(v, 0)} {v}" for v in (REPRODUCED, NOT_REPRODUCED, UNDECIDED, NOT_RUN)]
    seeds = f"{len(grid.seeds.pretrain)} of pre-training, {len(grid.seeds.finetune)} of fine-tuning"
    return [
        f"# The paper's claims at the scale of this run: {Path(results).name}",
        f"Scale: {grid.scale or 'not stated'}; {len(grid.tasks)} tasks; seeds: {seeds}. "
        "The verdicts hold for this scale and these data alone.",
        wide.set_index("statement"),
        f"{', '.join(totals)}.",
        f"Ours: the contrast, paired by row and seed, and {markdown.INTERVAL}. Zero-shot "
        "contrasts are over pre-training seeds, with the rows as they are. Reproduced: the "
        "interval is on the claim's side of 0; not reproduced: on the other side, or within "
        f"{MARGIN:g} point of 0; undecided: neither, and `needs` is what would decide an effect "
        "of this size with a power of 80 %. p: Holm's, among the tasks of a claim; there the "
        "verdict needs p below 0.05 as well.",
        *fewer_seeds(grid),
    ]


def _name(claim: Claim) -> str:
    if isinstance(claim, SizeTrend):
        return f"{claim.contrast.name}, points per tenfold training rows"
    return claim.contrast.name if isinstance(claim, (Average, EachTask)) else claim.contrast_name


def _p(p: float) -> str:
    if np.isnan(p):
        return markdown.NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
