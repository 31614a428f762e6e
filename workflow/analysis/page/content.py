"""What a run has for each part of the page: its tables, figures, data cards and studies."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pandas as pd
from markupsafe import Markup

import tasks
from workflow.analysis import markdown
from workflow.analysis.page import alarms, blocks, svg
from workflow.analysis.page.blocks import Block, Heading, Picture, Prose
from workflow.analysis.page.outline import OUTLINE, Item, Part
from workflow.analysis.table import read_csv
from workflow.grid import Grid

CAPTIONS = Path(__file__).parents[2] / "report"
CARD = "Left how long the inputs of each split are, in tokens; right how often each label occurs."


@dataclass(frozen=True)
class Run:
    """A run's results folder, and the tables and figures that a run of its config has.

    `options` are those of Snakemake that chose the config, for the commands.
    """

    results: Path
    grid: Grid
    tables: tuple[str, ...]
    figures: tuple[str, ...]
    options: str = ""

    @property
    def title(self) -> str:
        """The page's heading; the default folder goes without its name."""
        name = self.results.name
        return "Results" if name == "results" else f"Results: {name}"

    @property
    def scale(self) -> str:
        """The data, models and seeds in words."""
        seeds = self.grid.seeds
        counts = (
            f"seeds: {len(seeds.pretrain)} of pre-training, {len(seeds.finetune)} of fine-tuning"
        )
        return f"{self.grid.scale or 'scale not stated'}; {len(self.grid.tasks)} tasks; {counts}"

    @property
    def is_made_up(self) -> bool:
        """Whether the rows are those of the embedded world, which `Config.scale` says first."""
        return self.grid.scale.startswith("the embedded world")

    def table(self, name: str) -> pd.DataFrame | None:
        """A table, or None where it was not made. Raises InputError if it is damaged."""
        path = self.results / f"{name}.csv"
        return read_csv(path) if name in self.tables and path.exists() else None

    def command(self, target: str) -> str:
        """The command that makes a file of the results folder."""
        made = shlex.join(["snakemake", "--cores", "2", (self.results / target).as_posix()])
        return f"{made} {self.options}".strip()


@dataclass(frozen=True)
class Drawing:
    """A figure as it stands on the page."""

    svg: Markup
    kind: ClassVar = "drawing"


@dataclass(frozen=True)
class Card:
    """A task's data card."""

    title: str
    blocks: list[Block | Drawing]
    kind: ClassVar = "card"


@dataclass(frozen=True)
class View:
    """An item of the page; without `blocks` it has not been made yet."""

    item: Item
    command: str
    caption: list[Block]
    blocks: list[Block | Drawing | Card]


@dataclass(frozen=True)
class Section:
    """A part of the page, with what the run has of it; `absent` are titles of what it lacks."""

    part: Part
    views: list[View]
    absent: list[str]


def sections(run: Run) -> list[Section]:
    """The page's sections in their order. Raises InputError for a damaged table or figure."""
    named = {(item.kind, item.name) for part in OUTLINE for item in part.items}
    kinds = (("table", run.tables), ("figure", run.figures))
    further = [(kind, name) for kind, names in kinds for name in names]
    more = {
        "studies": tuple(_studies(run)),
        "further": tuple(
            Item(kind, name, name.replace("_", " ").capitalize())  # type: ignore[arg-type]
            for kind, name in further
            if (kind, name) not in named
        ),
    }
    found = [_section(run, part, (*part.items, *more.get(part.name, ()))) for part in OUTLINE]
    return [section for section in found if section.views or section.absent]


def _section(run: Run, part: Part, items: tuple[Item, ...]) -> Section:
    has = {"table": run.tables, "figure": run.figures}
    absent = [item for item in items if item.name not in has.get(item.kind, [item.name])]
    views = [_view(run, item) for item in items if item not in absent]
    return Section(part, views, [item.title for item in absent])


def _studies(run: Run) -> Iterator[Item]:
    """The studies that were run; no run is asked for them."""
    for path in sorted((run.results / "studies").glob("*.md")):
        head = path.read_text(encoding="utf-8").partition("\n")[0]
        yield Item("study", path.stem, head.lstrip("# ") or path.stem)


def _view(run: Run, item: Item) -> View:
    name, title = item.name, item.title
    if item.kind == "figure":
        caption, path = _caption(name), run.results / "figures" / f"{name}.svg"
        drawn = [_drawing(path, name, title, _text(name))] if path.exists() else []
        return View(item, run.command(f"figures/{name}.png"), caption, [*drawn])
    if item.kind == "cards":
        return View(item, run.command("data_cards.md"), [], [*_cards(run)])
    if item.kind == "alarms":
        cells = run.table("cells")
        return View(item, run.command("cells.csv"), [], [*_alarms(cells, title)])
    folder = "studies/" if item.kind == "study" else ""
    target = f"{folder}{name}.csv"
    drawn = [
        _drawing(path, f"study-{name}", title, title)
        for path in [run.results / folder / f"{name}.svg"]
        if folder and path.exists()
    ]
    shown = _markdown(run.results / f"{folder}{name}.md", title)
    if shown and not folder:
        run.table(name)  # refuses a CSV that is not the one of this Markdown
    return View(item, run.command(target), _caption(f"table_{name}"), [*drawn, *shown])


def _markdown(path: Path, title: str) -> list[Block]:
    return list(blocks.parse(path.read_text(encoding="utf-8"), title)) if path.exists() else []


def _text(name: str) -> str:
    """A caption of the report as one line; empty if there is none."""
    path = CAPTIONS / f"{name}.rst"
    return " ".join(path.read_text(encoding="utf-8").split()) if path.exists() else ""


def _caption(name: str) -> list[Block]:
    return list(blocks.parse(_text(name), name))


def _drawing(path: Path, name: str, title: str, description: str) -> Drawing:
    return Drawing(svg.inline(path, name, title, description))


def _cards(run: Run) -> Iterator[Card]:
    folder = run.results / "cards"
    for name in run.grid.examples:
        title = tasks.task(name).title
        shown: list[Block | Drawing] = []
        for block in _markdown(folder / f"{name}.md", title):
            if isinstance(block, Picture):
                path = (folder / block.path).with_suffix(".svg")
                shown.append(_drawing(path, f"card-{name}", block.title, CARD))
            elif not isinstance(block, Heading):
                shown.append(block)
        if shown:
            yield Card(title, shown)


def _alarms(cells: pd.DataFrame | None, title: str) -> Iterator[Block]:
    if cells is None:
        return
    counts = alarms.counts(cells)
    if counts.empty:
        yield Prose(Markup("<p>No run raised an alarm.</p>"))
    else:
        yield from blocks.parse(markdown.render(counts), title)
