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
    from rich.console import Console, Group, RenderableType
    from rich.text import Text

    from workflow import progress, studies
    from workflow.analysis import figures, job_costs, tables
    from workflow.analysis.table import read_csv
    from workflow.configuration.read import parse, read
    from workflow.progress import Progress
    from workflow.screens import SCREENS, headline, study
    from workflow.study_plan import StudyHead

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
    seconds, unknown = last.left(job_costs.mean_seconds(results))
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


def config_file(results: Path) -> Path | None:
    """The shipped config that writes to `results`; None if none does."""
    for path in sorted((HERE / "config").glob("*.yaml")):
        if os.path.abspath(read([path]).get("results", "results")) == os.path.abspath(results):
            return path
    return None


def options(results: Path) -> str | None:
    """Snakemake's options for the shipped config that writes to `results`; None if none does."""
    path = config_file(results)
    if path is None:
        return None
    return "" if path.name == DEFAULT else f" --configfile {os.path.relpath(path)}"


def known_studies(results: Path) -> list[StudyHead]:
    """The studies of the shipped config that writes to `results`, and any others that were made."""
    path = config_file(results)
    heads = studies.heads(parse(read([path]))).studies if path else []
    names = {head.name for head in heads}
    others = [path for path in sorted((results / "studies").glob("*.md")) if path.stem not in names]
    return [*heads, *(StudyHead(name=path.stem, heading=_heading(path)) for path in others)]


def _heading(path: Path) -> str:
    return path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ") or path.stem


def missing_lines(results: Path, last: Progress | None) -> Iterator[str]:
    """What is not there or out of date, and the commands that make it."""
    given = options(results)
    command = f"  snakemake --cores all {results / '{}'}{given or ''}"
    missing = [name for name in expected() if not (results / name).is_file()]
    made = {head.name: results / "studies" / f"{head.name}.csv" for head in known_studies(results)}
    page = results / "index.html"
    later = [
        name
        for name, path in made.items()
        if path.is_file() and page.is_file() and path.stat().st_mtime > page.stat().st_mtime
    ]
    if missing:
        yield "Not there (a table that this config does not have is refused by name):"
        yield from (command.format(name) for name in missing)
    elif not later:
        yield "Nothing that a run makes is missing."
    if later:
        yield f"The page is older than {', '.join(later)}:"
        yield command.format("index.html")
    asked = [name for name, path in made.items() if not path.is_file()]
    if asked:
        yield f"Studies that were not made: {', '.join(asked)}. Each is asked for by its name:"
        yield command.format(f"studies/{asked[0]}.csv")
    if given is None and (missing or later or asked):
        yield "with the --configfile and --config of the last run" + (
            f", which was: {last.command}" if last and last.command else ""
        )


def study_screens(results: Path) -> Iterator[RenderableType]:
    """The lines of each study that was made, and where the rest of it is."""
    for head in known_studies(results):
        path = results / "studies" / f"{head.name}.csv"
        if path.is_file():
            more = Text(f"{head.asks} More: {path.with_suffix('.md')}".strip())
            yield Group(headline(head.heading), study(read_csv(path)) or "", more)


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
    yield from study_screens(results)
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
