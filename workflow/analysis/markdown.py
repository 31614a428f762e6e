"""The tables' Markdown: numbers as text, and frames of text as padded tables.

A dash means that there is no such number (the paper prints none, or it is not defined).
"""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from workflow.analysis.stats.scores import fits, is_marked
from workflow.configuration.sections import BASELINES

MISSING = "missing"
NONE = "–"
METRICS = {
    **{"accuracy": "accuracy", "f1": "F1", "macro_f1": "macro-F1", "matthews": "Matthews"},
    **{"pearson": "Pearson", "spearman": "Spearman", "mean": "mean"},
}
CORPORA = {  # what a language model was trained on, or how it was altered
    "books": "books",
    "shuffled": "shuffled words",
    "sentences-shuffled": "shuffled sentences",
    "permuted-embeddings": "permuted embeddings",
    "word-vectors": "word vectors",
}
INTERVAL = (
    "the 95 % interval over rows and seeds (of pre-training, each with its fine-tuning; of "
    "fine-tuning alone where there is one pre-training seed; no interval of a single seed), with "
    "the variance over fewer than five seeds pooled over the run's variants of each kind, an "
    "architecture pre-trained or not"
)
FITS = (
    "`(4 of 5)`: so many fits have not failed; the others raised an alarm of their own, and score "
    "more than 10 points (a correlation: 20) below the best seed of their cell. Mean and deviation "
    "are of the first, but of all fits where half or more have failed, and beside such a cell."
)
LEGEND = (
    "`a ± b`: mean and standard deviation over fine-tuning seeds (no `±`: one seed); `ci_low` and "
    f"`ci_high` in the CSV: {INTERVAL}. "
    "`!`: at least one run raised an alarm (at majority rate, constant prediction, loss not "
    f"falling, training rows not fitted, failed fits), named in the CSV. {FITS} "
    "`missing`: not run. Constant answer: the one that scores best on the training rows (by F1 "
    "always yes, otherwise the most frequent label there, for STS-B the mean); on the reported "
    "rows another may score better."
)


def render(frame: pd.DataFrame, words: Collection[str] = ()) -> str:
    """A frame of text as a Markdown table, its index the first column; reads well as plain text.

    The index and the columns named in `words` are left-aligned, the others right-aligned.
    """

    def escape(text: str) -> str:
        return text.replace("|", "\\|")

    align = ("left", *("left" if name in words else "right" for name in frame.columns))
    text = frame.reset_index().astype(str).map(escape).rename(columns=escape)
    return text.to_markdown(index=False, disable_numparse=True, colalign=align)


def pivot(table: pd.DataFrame, index: str, columns: str, values: str) -> pd.DataFrame:
    """`table` in wide form, rows and columns in the order in which they first occur.

    Combinations that the table lacks are dashes.
    """
    wide = table.pivot(index=index, columns=columns, values=values)
    wide = wide.reindex(index=table[index].unique(), columns=table[columns].unique())
    return wide.fillna(NONE)


def scores(table: pd.DataFrame, line: str) -> pd.DataFrame:
    """`table` with columns `line`, `shown` (each score as text) and `seeds` (how many)."""
    shown = table.apply(score, axis=1)
    return table.assign(line=line, shown=shown, seeds=seeds(table["n_seeds"]))


def with_baselines(lines: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """`lines` in wide form with the `baselines` below.

    The columns are the seeds, the heads of the baselines, and then any others.
    """
    heads = dict.fromkeys([*baselines.columns, *lines["head"]])
    wide = pivot(lines, "line", "head", "shown")[list(heads)]
    wide.insert(0, "seeds", lines.groupby("line")["seeds"].first())
    return pd.concat([wide, baselines]).fillna(NONE)


def baselines(table: pd.DataFrame, columns: str) -> pd.DataFrame:
    """One row per baseline: its score, as text, for each value of the table's column `columns`."""
    known = table.groupby(columns, sort=False)[list(BASELINES)].first()
    return known.map(lambda number: value(number, MISSING)).T.rename(index=BASELINES)


def score(row: Mapping[str, Any], decimals: int = 1) -> str:
    """`12.3 ± 0.4` with the `mark` of its alarms; `missing` where nothing was run."""
    if pd.isna(row["mean"]):
        return MISSING
    spread = "" if pd.isna(row["sd"]) else f" ± {row['sd']:.{decimals}f}"
    return f"{row['mean']:.{decimals}f}{spread}{mark(row.get('alarms', ''))}"


def mark(alarms: str) -> str:
    """What stands behind a score: ` (4 of 5)` if some have failed, and ` !` if one has an alarm."""
    return fits(alarms) + " !" * is_marked(alarms)


def decontaminated(row: Mapping[str, Any]) -> str:
    """The score on decontaminated rows and their number: `12.3 ± 0.4 (n 270)`; a dash if none."""
    if pd.isna(row["decontaminated_rows"]):
        return MISSING
    if not row["decontaminated_rows"]:
        return NONE
    shown = {"mean": row["decontaminated_mean"], "sd": row["decontaminated_sd"]}
    return f"{score(shown)} (n {row['decontaminated_rows']:.0f})"


def interval(value: float, low: float, high: float, decimals: int = 1) -> str:
    """`1.2 [-0.3, 2.7]`, never -0.0 [...]; the value alone where there is no interval."""
    if pd.isna(value):
        return MISSING
    limits = "" if pd.isna(low) else f" [{low:.{decimals}f}, {high:.{decimals}f}]"
    return f"{value:z.{decimals}f}{limits}"


def intervals(table: pd.DataFrame, *columns: str) -> list[str]:
    """The `interval` of each row, whose value and limits are in the three `columns`."""
    return [interval(*row) for row in table[list(columns)].itertuples(index=False)]


def value(number: float | None, absent: str = NONE, form: str = ".1f") -> str:
    """A number as text, by default with one decimal; `absent` if there is none."""
    return absent if pd.isna(number) else f"{number:{form}}"


def p_value(p: float) -> str:
    """A p-value with three decimals; a dash where there is none."""
    return "< 0.001" if p < 0.001 else value(p, form=".3f")


def column(numbers: pd.Series, form: str, absent: str = MISSING) -> pd.Series:
    """The `value` of each number."""
    return numbers.map(lambda number: value(number, absent, form))


def seeds(counts: pd.Series) -> str:
    """How many seeds are behind a line's numbers, `3` or `1-3`; `0` if all are missing."""
    counts = counts[counts > 0] if (counts > 0).any() else counts
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low}-{high}"
