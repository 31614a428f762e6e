"""What a run has for each part of the page: its tables, figures, data cards and studies."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

import tasks
from workflow.analysis import markdown
from workflow.analysis.page import markup
from workflow.analysis.page.glance import alarms
from workflow.analysis.page.outline import ALARMS, CARDS, OUTLINE, Part
from workflow.analysis.page.run import Run
from workflow.analysis.records import Environment

CAPTIONS = Path(__file__).parents[2] / "report"


@dataclass(frozen=True)
class View:
    """Something of the page under its title; without a `body` it has not been made yet."""

    id: str
    title: str
    caption: Markup
    body: Markup
    command: str


@dataclass(frozen=True)
class Section:
    """A part of the page, with what the run has of it; `absent` are titles of what it lacks."""

    part: Part
    views: list[View]
    absent: list[str]


def sections(run: Run) -> list[Section]:
    """The page's sections in their order. Raises InputError for a damaged file."""
    named = {target for part in OUTLINE for target in part.items or {}}
    made = [f"{name}.csv" for name in run.tables] + [f"figures/{f}.svg" for f in run.figures]
    known = {*made, ALARMS, CARDS}
    more = {
        "studies": {f"studies/{study.name}.csv": study.heading for study in run.studies},
        "further": {target: _title(target) for target in made if target not in named},
    }
    found = []
    for part in OUTLINE:
        items = more.get(part.name) or part.items or {}
        is_known = {target: target in known or part.name == "studies" for target in items}
        views = [_view(run, *item) for item in items.items() if is_known[item[0]]]
        views.sort(key=lambda view: part.name == "studies" and not view.body)
        absent = [title for target, title in items.items() if not is_known[target]]
        found += [Section(part, views, absent)] if items else []
    return found


def _title(target: str) -> str:
    return Path(target).stem.replace("_", " ").capitalize()


def _view(run: Run, target: str, title: str) -> View:
    path = run.results / target
    if target == CARDS:
        caption, body = "", _cards(run)
    elif target == ALARMS:
        caption, body = "", _alarms(run, title)
    elif path.suffix == ".svg":
        caption = _caption(path.stem)
        body = markup.figure(path, caption or title)
    elif path.parent.name == "studies":
        caption = next(study.question for study in run.studies if study.name == path.stem)
        body = _table(path, title)
        body = markup.figure(path.with_suffix(".svg"), caption or title) + body if body else body
    else:
        caption, body = _caption(f"table_{path.stem}"), _table(path, title)
    kind = {"figures": "figure", "studies": "study"}.get(path.parent.name, "table")
    name = "table-alarms" if target == ALARMS else f"{kind}-{path.stem}"
    command = run.command(target.partition("#")[0])
    return View(name, title, markup.from_markdown(caption, title), body, command)


def _table(path: Path, title: str) -> Markup:
    return markup.from_markdown(markup.read(path.with_suffix(".md")), title)


def _cards(run: Run) -> Markup:
    folder, found = run.results / "cards", Markup()
    for name in run.grid.examples:
        if text := markup.read(folder / f"{name}.md"):
            title = tasks.task(name).title
            picture = Markup(f'src="{markup.data_uri(folder / f"{name}.svg")}"')
            card = markup.from_markdown(text, title).replace(f'src="{name}.png"', picture)
            found += Markup("<details><summary>{}</summary>{}</details>\n").format(title, card)
    return found


def _alarms(run: Run, title: str) -> Markup:
    cells = run.table("cells")
    if cells is None:
        return Markup()
    counts = alarms(cells)
    if counts.empty:
        return Markup("<p>No run raised an alarm.</p>")
    words = ("layers", "corpus", "aux")
    return markup.from_markdown(markdown.render(counts, words), title)


def environments(run: Run) -> Markup:
    """What the grid's cells were trained with, as each records it; empty where none is there.

    Raises InputError for a damaged cell.
    """
    paths = [path for cell in run.grid.cells() if (path := cell.path(run.results)).is_file()]
    found = Counter(Environment.read(path).description for path in paths)
    rows = [{"cells": str(n), **dict(description)} for description, n in found.items()]
    if not rows:
        return Markup()
    table = pd.DataFrame(rows).fillna(markdown.NONE).set_index("cells")
    return markup.from_markdown(markdown.render(table, words=table.columns), "Trained with")


def _caption(name: str) -> str:
    """A caption of the report as one line; empty if there is none."""
    return " ".join(markup.read(CAPTIONS / f"{name}.rst").split())
