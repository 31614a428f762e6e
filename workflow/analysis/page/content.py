"""What a run has for each part of the page: its tables, figures, data cards and studies."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from markupsafe import Markup

import tasks
from workflow.analysis import markdown
from workflow.analysis.page import alarms, blocks, svg
from workflow.analysis.page.blocks import Block, Heading, Picture, Prose
from workflow.analysis.page.made import Run
from workflow.analysis.page.outline import OUTLINE, Item, Part

CAPTIONS = Path(__file__).parents[2] / "report"
CARD = "Left how long the inputs of each split are, in tokens; right how often each label occurs."


@dataclass(frozen=True)
class Drawing:
    """A figure as it stands on the page."""

    svg: Markup
    kind: ClassVar = "drawing"


@dataclass(frozen=True)
class Gap:
    """The figure of a table that is there is not."""

    text: str
    command: str
    kind: ClassVar = "gap"


@dataclass(frozen=True)
class Card:
    """A task's data card."""

    title: str
    blocks: list[Block | Drawing]
    kind: ClassVar = "card"


Shown = Block | Drawing | Card | Gap


@dataclass(frozen=True)
class View:
    """An item of the page; without `blocks` it has not been made yet."""

    item: Item
    command: str
    caption: list[Block]
    blocks: list[Shown]


@dataclass(frozen=True)
class Section:
    """A part of the page, with what the run has of it; `absent` are titles of what it lacks."""

    part: Part
    views: list[View]
    absent: list[str]


def sections(run: Run) -> list[Section]:
    """The page's sections in their order. Raises InputError for a damaged table or figure."""
    more = {"studies": [*_studies(run)], "further": [*_further(run)]}
    found = [_section(run, part, [*part.items, *more.get(part.name, [])]) for part in OUTLINE]
    return [section for section in found if section.views or section.absent]


def _studies(run: Run) -> Iterator[Item]:
    """Those of the config, first the ones that were run."""
    found = sorted(run.studies, key=lambda study: not run.has_study(study.name))
    return (Item("study", study.name, study.heading) for study in found)


def _further(run: Run) -> Iterator[Item]:
    """The tables and figures that have no place in the outline."""
    named = {(item.kind, item.name) for part in OUTLINE for item in part.items}
    items = [Item("table", name, _title(name)) for name in run.tables]
    items += [Item("figure", name, _title(name)) for name in run.figures]
    return (item for item in items if (item.kind, item.name) not in named)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _section(run: Run, part: Part, items: list[Item]) -> Section:
    has = {"table": run.tables, "figure": run.figures}
    absent = [item for item in items if item.name not in has.get(item.kind, [item.name])]
    views = [_view(run, item) for item in items if item not in absent]
    return Section(part, views, [item.title for item in absent])


def _view(run: Run, item: Item) -> View:
    target, caption, shown = {
        "table": _table,
        "figure": _figure,
        "study": _study,
        "cards": _cards,
        "alarms": _alarms,
    }[item.kind](run, item)
    return View(item, run.command(target), list(blocks.parse(caption, item.title)), shown)


# Each of these returns the file to make, the caption, and what is shown of an item.


def _table(run: Run, item: Item) -> tuple[str, str, list[Shown]]:
    run.table(item.name)  # refuses a CSV that is not the one of the Markdown
    shown = _markdown(run.results / f"{item.name}.md", item.title)
    return f"{item.name}.csv", _text(f"table_{item.name}"), [*shown]


def _figure(run: Run, item: Item) -> tuple[str, str, list[Shown]]:
    path = run.results / "figures" / f"{item.name}.svg"
    caption = _text(item.name)
    shown = _drawing(path, item.name, item.title, caption)
    return f"figures/{item.name}.png", caption, [*shown]


def _study(run: Run, item: Item) -> tuple[str, str, list[Shown]]:
    target = f"studies/{item.name}.csv"
    asks = next(study.asks for study in run.studies if study.name == item.name)
    if not run.has_study(item.name):
        return target, asks, []
    stem, shown = run.results / "studies" / item.name, list[Shown]()
    shown += _drawing(stem.with_suffix(".svg"), f"study-{item.name}", item.title, asks)
    if not shown:
        svg_file = f"studies/{item.name}.svg"
        gap = Gap("Its figure is not there. This makes it:", run.command(svg_file))
        shown = [gap]
    return target, asks, [*shown, *_markdown(stem.with_suffix(".md"), item.title)]


def _cards(run: Run, item: Item) -> tuple[str, str, list[Shown]]:
    folder, found = run.results / "cards", []
    for name in run.grid.examples:
        title = tasks.task(name).title
        shown: list[Block | Drawing] = []
        for block in _markdown(folder / f"{name}.md", title):
            if isinstance(block, Picture):
                path = (folder / block.path).with_suffix(".svg")
                shown += _drawing(path, f"card-{name}", block.title, CARD)
            elif not isinstance(block, Heading):  # the card's own, which its title repeats
                shown.append(block)
        found += [Card(title, shown)] if shown else []
    return "data_cards.md", "", [*found]


def _alarms(run: Run, item: Item) -> tuple[str, str, list[Shown]]:
    cells = run.table("cells")
    if cells is None:
        return "cells.csv", "", []
    counts = alarms.counts(cells)
    if counts.empty:
        return "cells.csv", "", [Prose(Markup("<p>No run raised an alarm.</p>"))]
    return "cells.csv", "", [*blocks.parse(markdown.render(counts), item.title)]


def _markdown(path: Path, title: str) -> Iterator[Block]:
    return blocks.parse(path.read_text(encoding="utf-8") if path.exists() else "", title)


def _drawing(path: Path, name: str, title: str, description: str) -> list[Drawing]:
    return [Drawing(svg.inline(path, name, title, description))] if path.exists() else []


def _text(name: str) -> str:
    """A caption of the report as one line; empty if there is none."""
    path = CAPTIONS / f"{name}.rst"
    return " ".join(path.read_text(encoding="utf-8").split()) if path.is_file() else ""
