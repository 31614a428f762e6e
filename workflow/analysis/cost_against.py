"""A forecast of costs beside what a finished run took."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from workflow.analysis import markdown
from workflow.analysis.table import read_csv

WITHIN = 0.25  # that much a forecast may be off
REST = "the rest"


def run_seconds(results: Path, threads: Mapping[str, int]) -> pd.Series:
    """Seconds of the jobs of a finished run by stage, those of a job of several threads as often.

    Raises InputError if the run has no table of costs.
    """
    table = read_csv(results / "cost.csv")
    seconds = table.groupby("stage")["job_seconds"].sum()
    return seconds * pd.Series(
        {stage: threads.get(stage, 1) for stage in seconds.index}, dtype=float
    )


def compare(
    forecast: Mapping[str, float], results: Path, threads: Mapping[str, int]
) -> pd.DataFrame:
    """The stages of a forecast with the run's seconds and the error; `forecast` has seconds.

    What the run has no stage for (the starts of processes) stands beside what the forecast has no
    stage for (data, probes, tables) as the rest. The errors are shares of the run's seconds.
    """
    run = run_seconds(results, threads)
    both = [stage for stage in forecast if stage in run]
    rows = [(stage, forecast[stage], run[stage]) for stage in both]
    rows.append((REST, sum(s for x, s in forecast.items() if x not in both), run.drop(both).sum()))
    rows.append(("all", sum(forecast.values()), run.sum()))
    frame = pd.DataFrame(rows, columns=["stage", "forecast", "run"]).set_index("stage")
    return frame.assign(error=frame["forecast"] / frame["run"].where(frame["run"] > 0) - 1)


def page(frame: pd.DataFrame, results: Path) -> str:
    """The comparison as Markdown, and whether the forecast is as near as it should be."""
    shown = pd.DataFrame(
        {
            "forecast, core-s": frame["forecast"].map("{:,.0f}".format),
            "run, s of jobs": frame["run"].map("{:,.0f}".format),
            "error": frame["error"].map(lambda x: markdown.NONE if pd.isna(x) else f"{x:+.0%}"),
        }
    )
    error = frame.loc["all", "error"]
    near = "within" if abs(error) <= WITHIN else "not within"
    note = (
        f"Against {results / 'cost.csv'}: {near} {WITHIN:.0%} of the run. The rest are the starts "
        "of all processes beside the run's data, probes and tables. The run's seconds are of the "
        "clock, so they are longer where other programs ran."
    )
    return "\n\n".join([markdown.render(shown), note])
