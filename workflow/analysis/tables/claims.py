"""Every claim of the paper's results and analysis, judged at the scale of this run.

The claims and their judges are in `workflow.analysis.claims`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.claims.evidence import Evidence
from workflow.analysis.claims.finding import (
    DOES_NOT_HOLD,
    EQUAL,
    HOLDS,
    MADE,
    NOT_RUN,
    NOTHING,
    PUBLISHED,
    VERDICTS,
    Finding,
    shown,
)
from workflow.analysis.claims.paper_claims import CLAIMS, HELPS
from workflow.analysis.rows import single_control
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Grid

TABLE_5 = ["table_5", "table_5_low", "table_5_high"]
DECIMALS = {**dict.fromkeys(["paper", "ours", "ci_low", "ci_high", *TABLE_5], 4), "p": 6}


def claims(results: Path, grid: Grid) -> Table:
    """One row per claim, or per claim and task; the user's own tasks are left out."""
    samples = Samples.of_cells(results, grid, grid.cells())
    grid = grid.model_copy(update={"tasks": [n for n in grid.tasks if n not in grid.own]})
    run = Evidence(results, grid, samples)
    data = PUBLISHED if run.is_all_published else MADE
    rows = [
        {"statement": claim.statement, "section": claim.section, **_row(finding), "data": data}
        for claim in CLAIMS
        for finding in claim.judge(run, claim)
    ]
    table = pd.DataFrame(rows)
    words = ("verdict", "section", "tasks", "contrast", "by Table 5", "needs")
    return Table(table, _wide(table, results, grid), DECIMALS, words)


def _row(finding: Finding) -> dict[str, Any]:
    found, printed = finding.found or NOTHING, finding.printed or NOTHING
    by_paper = replace(finding, found=finding.printed).verdict if finding.printed else ""
    return {
        "tasks": finding.tasks,
        "contrast": finding.contrast,
        "paper": finding.paper,
        "ours": found.value,
        **dict(zip(["ci_low", "ci_high"], found.interval, strict=True)),
        "p": found.p,
        "verdict": finding.verdict,
        "needs": finding.needs,
        "n_seeds": found.n_seeds,
        "alarms": found.alarms,
        **dict(zip(TABLE_5, (printed.value, *printed.interval), strict=True)),
        "table_5_verdict": by_paper,
    }


def _wide(table: pd.DataFrame, results: Path, grid: Grid) -> list[str | pd.DataFrame]:
    (data,) = table["data"].unique()
    said = {verdict: shown(verdict, data) for verdict in VERDICTS}
    wide = table.assign(
        verdict=table["verdict"].map(said),
        paper=table["paper"].map(markdown.value),
        ours=_ours(table),
        p=table["p"].map(markdown.p_value),
    )
    wide["by Table 5"] = [
        f"{markdown.interval(*numbers)}: {verdict}" if verdict else markdown.NONE
        for *numbers, verdict in table[[*TABLE_5, "table_5_verdict"]].itertuples(index=False)
    ]
    columns = ["verdict", "section", "tasks", "contrast", "paper", "by Table 5", "ours", "p"]
    counts = table["verdict"].value_counts()
    totals = [f"{counts.get(verdict, 0)} {said[verdict]}" for verdict in VERDICTS]
    seeds = f"{len(grid.seeds.pretrain)} of pre-training, {len(grid.seeds.finetune)} of fine-tuning"
    return [
        f"# The paper's claims at the scale of this run: {Path(results).name}",
        f"Scale: {grid.scale or 'not stated'}; tasks: {grid.titles}; seeds: {seeds}. "
        "The verdicts hold for this scale and these data alone.",
        wide.set_index("statement")[[*columns, "needs"]],
        f"{', '.join(totals)}. {decided(table)}.",
        f"Ours: the contrast, paired by row and seed, and {markdown.INTERVAL}. Zero-shot "
        "contrasts are over pre-training seeds, those along fine-tuning over all seeds, with the "
        "rows as they are; the scores of baselines are taken as given. "
        f"{said[HOLDS].capitalize()}: the interval is on the claim's side; "
        f"{said[DOES_NOT_HOLD]}: on the other side; equal: two one-sided tests show it to be "
        f"within {grid.margins.task:g} points of 0 for a task or {grid.margins.mean:g} for a mean, "
        "which the config states; undecided: none of these, and `needs` is what would decide an "
        "effect of this size with a power of 80 %. By Table 5: the same contrast and test by the "
        "numbers that the paper prints, with its tasks as the sample. A claim about several tasks "
        "holds if it does on each; a line before them counts those of which the run is sure, and "
        "those that are not ruled out. A trend over tasks speaks of these tasks "
        f"alone. {markdown.FITS} An interval reaches to the mean over all. "
        "`!`: a run behind it raised an alarm, named in "
        "the CSV.",
        *single_control(grid),
    ]


def decided(table: pd.DataFrame) -> str:
    """How many of the lines that were run are decided, with and without "Pre-training helps".

    The lines of that claim are decided by the construction of the positive control, so they would
    hide the others.
    """
    known = table[table["verdict"] != NOT_RUN]
    (n, of), (others, of_others) = (
        (int(rows["verdict"].isin([HOLDS, DOES_NOT_HOLD, EQUAL]).sum()), len(rows))
        for rows in (known, known[~known["statement"].str.startswith(HELPS)])
    )
    return f'{n} of {of} lines are decided, {others} of {of_others} without "{HELPS}"'


def _ours(table: pd.DataFrame) -> list[str]:
    """The estimates with their intervals; two decimals for small ones, none for counts."""
    ends = table[["ours", "ci_low", "ci_high"]]
    decimals = (ends.abs().max(axis=1) <= 1).map({True: 2, False: 1})
    decimals[table["contrast"].str.endswith(("tasks", "tasks won", "steps"))] = 0
    shown = [
        markdown.interval(value, low, high, n)
        for (value, low, high), n in zip(ends.itertuples(index=False), decimals, strict=True)
    ]
    return [
        text.replace(markdown.MISSING, NOT_RUN) + markdown.mark(alarms)
        for text, alarms in zip(shown, table["alarms"], strict=True)
    ]
