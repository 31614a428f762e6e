"""Show a folder of results in the terminal: progress, verdicts, main tables, what is missing.

    python -m workflow.show results

While Snakemake runs, how far it is comes first; `watch -c -n 5 python -m workflow.show results`
repeats it. Of each table there is an excerpt; the CSV and Markdown files have all of it.
"""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from tasks.common.errors import InputError, importing, run

with importing(__name__):
    from rich.console import Console, RenderableType
    from rich.text import Text

    from workflow import progress
    from workflow.analysis import figures, job_costs, tables
    from workflow.analysis.table import read_csv
    from workflow.config_faults import read
    from workflow.progress import Progress
    from workflow.screens import SCREENS

HERE = Path(__file__).parent
DEFAULT = "world.yaml"  # the config that Snakemake takes if none is given


def duration(seconds: float) -> str:
    """A time in words, in minutes from two minutes on."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def run_lines(last: Progress, results: Path, now: datetime) -> Iterator[str]:
    """The state of the last run of Snakemake, line by line."""
    share = f"{last.done} of {last.total} jobs done"
    if last.over:
        end = f"failed in {', '.join(dict.fromkeys(last.failed))}" if last.failed else "ended"
        yield f"The last run {end}: {share}."
        return
    costs = job_costs.read(results, running=True)
    earlier = dict(zip(costs["job"], costs["job_seconds"] / costs["runs"], strict=True))
    seconds, unknown = last.left(earlier)
    stages = Counter[str]()
    for rule, n in last.remaining().items():
        stages[job_costs.stage(rule)] += n
    age = f", its log is {duration((now - last.seen).total_seconds())} old" if last.seen else ""
    yield f"A run is under way{age}: {share}."
    yield "Now: " + ("; ".join(message for _, message in last.running.values()) or "planning") + "."
    yield "To do: " + ", ".join(f"{stage} {n}" for stage, n in stages.items()) + " jobs."
    lacking = f"none of {', '.join(unknown)} has finished yet" if unknown else ""
    if seconds or not unknown:
        lacking = f"about {duration(seconds)}" + (f", but {lacking}" if unknown else "")
    yield f"Time left: {lacking}."
    if last.failed:
        yield f"Failed so far: {', '.join(dict.fromkeys(last.failed))}."


def expected() -> list[str]:
    """The tables, the figures and the page that a run makes, as paths below its results."""
    made = [f"{name}.csv" for name in ("cells", *tables.names())]
    made += [f"figures/{name}.png" for name in figures.names()]
    return [*made, "data_cards.md", "index.html"]


def options(results: Path) -> str | None:
    """Snakemake's options for the shipped config that writes to `results`; None if none does."""
    for path in sorted((HERE / "config").glob("*.yaml")):
        if os.path.abspath(read([path]).get("results", "results")) == os.path.abspath(results):
            return "" if path.name == DEFAULT else f" --configfile {os.path.relpath(path)}"
    return None


def missing_lines(results: Path, last: Progress | None) -> Iterator[str]:
    """What is not there, and the commands that make it."""
    missing = [name for name in expected() if not (results / name).is_file()]
    if not missing:
        yield "Nothing is missing."
        return
    given = options(results)
    yield "Not there (a table that this config does not have is refused by name):"
    for name in missing:
        yield f"  snakemake --cores all {results / name}{given or ''}"
    if given is None:
        yield "with the --configfile and --config of the last run" + (
            f", which was: {last.command}" if last and last.command else ""
        )


def screens(results: Path, now: datetime) -> Iterator[RenderableType]:
    """All that is shown. Raises InputError for a folder that is not there or a damaged table."""
    if not results.is_dir():
        raise InputError(f"{results}: no such folder; run snakemake first, or name another")
    last = progress.last_run(results)
    if last:
        yield Text("\n".join(run_lines(last, results, now)), style="bold")
    for name, screen in SCREENS.items():
        path = results / f"{name}.csv"
        if path.is_file():
            frame = read_csv(path)
            try:
                yield screen(frame)
            except KeyError as error:
                raise InputError(f"{path}: no column {error}; make it again") from None
    yield Text("\n".join(missing_lines(results, last)))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="?", type=Path, default=Path("results"))
    a = parser.parse_args()
    console = Console(highlight=False)
    for screen in screens(a.results, datetime.now()):
        console.print(screen, soft_wrap=isinstance(screen, Text))  # commands stay whole
        console.print()


if __name__ == "__main__":
    sys.exit(run(main))
