"""A run as the page's templates see it: its results as HTML, and the commands that make them.

The HTML runs no code: Markdown is rendered by a library, figures are images.
"""

import json
import shlex
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from gpt1.records import CellRecord
from workflow.analysis import markdown
from workflow.analysis.markdown import MISSING
from workflow.analysis.stats.scores import OF_SEEDS
from workflow.analysis.table import read_csv
from workflow.grid import Grid, PagePlan, StudyHead

CAPTIONS = Path(__file__).parents[2] / "report"
MODEL = ["arch", "corpus", "aux", "n_transfer"]
TONES = {  # how the words of a verdict look
    "reproduced": "good",
    "holds here": "good",
    "yes": "good",
    "not reproduced": "bad",
    "does not hold here": "bad",
    "equal": "none",
    "no": "bad",
    "undecided": "open",
    "not run": "none",
    MISSING: "none",
}


@dataclass(frozen=True)
class Run:
    """A run's results folder, and the tables, figures and studies that its page has.

    `options` are the Snakemake options that chose the config, for the commands. What has not been
    made yet is empty HTML. Raises InputError for a damaged table or cell.
    """

    results: Path
    grid: Grid
    page: PagePlan
    options: str = ""

    @property
    def synthetic(self) -> str:
        """The titles of the tasks whose rows the synthetic world makes; empty if all are real."""
        made = [name for name in self.grid.examples if name in self.grid.synthetic]
        if made == self.grid.examples:
            return "every task"
        return ", ".join(self.grid.task(name).title for name in made)

    def command(self, target: str) -> str:
        """The command that makes a file of the results folder."""
        path = (self.results / target).as_posix()
        return f"{shlex.join(['snakemake', '--cores', 'all', path])} {self.options}".strip()

    def studies(self, made: bool) -> list[StudyHead]:
        """The studies that were run, or those that were not."""
        known = {path.stem for path in self.results.glob("studies/*.md")}
        return [study for study in self.page.studies if (study.name in known) == made]

    def frame(self, table: str) -> pd.DataFrame | None:
        """A table's numbers, or None where it was not made."""
        path = self.results / f"{table}.csv"
        return read_csv(path) if table in self.page.tables and path.exists() else None

    def fine_tuning_runs(self) -> pd.DataFrame | None:
        """The runs of `cells.csv`, whose rows are scores: one row each."""
        cells = self.frame("cells")
        if cells is None:
            return None
        return cells.dropna(subset="seed").drop_duplicates(["line", "task", "seed"])

    def table(self, name: str, title: str) -> Markup:
        """A table; `name` is its path below the results without the suffix."""
        return from_markdown(read(self.results / f"{name}.md"), title)

    def figure(self, name: str, description: str) -> Markup:
        """A figure; `name` is its path below the results without the suffix.

        It is an image, in which a browser runs no script and loads nothing.
        """
        path = self.results / f"{name}.svg"
        if not path.exists():
            return Markup()
        source = f"data:image/svg+xml;base64,{b64encode(path.read_bytes()).decode()}"
        return Markup('<div class="box"><img src="{}" alt="{}"></div>').format(source, description)

    def caption(self, name: str) -> str:
        """A caption of Snakemake's report as one line; empty if there is none."""
        return " ".join(read(CAPTIONS / f"{name}.rst").split())

    @property
    def of_rows(self) -> list[str]:
        """The alarms that the rows of a task raise, whatever is trained on them."""
        data = self.frame("data")
        raised = [] if data is None else data.dropna(subset="alarms").itertuples()
        return [f"{self.grid.shown(row.task)}, {row.split}: {row.alarms}" for row in raised]

    def alarms(self, title: str) -> Markup:
        """How many runs and cells of each kind of model raised each alarm."""
        runs = self.fine_tuning_runs()
        if runs is None:
            return Markup()
        of_runs, of_cells = raised(runs)
        by_run = of_runs.groupby([runs[name] for name in MODEL], sort=False)
        by_cell = of_cells.groupby(MODEL, sort=False)
        sizes = by_run.size().rename("runs"), by_cell.size().rename("cells")
        table = pd.concat([sizes[0], by_run.sum(), sizes[1], by_cell.sum()], axis=1)
        table = table[table[[*of_runs, *of_cells]].any(axis=1)].reset_index()
        if table.empty:
            return Markup("<p>No run raised an alarm.</p>")
        table.columns = table.columns.str.replace("_", " ")
        table = table.rename(columns={"arch": "model", "n transfer": "layers"}).set_index("model")
        table = table.replace({"corpus": markdown.CORPORA}).astype(str)
        return from_markdown(markdown.render(table, ("layers", "corpus", "aux")), title)

    def environments(self) -> Markup:
        """The environments that the grid's cells recorded in training, and where they differ.

        The processors are those of all seeds of a cell.
        """
        found: dict[str, dict[str, str]] = {}
        for cell in self.grid.cells():
            if record := CellRecord.find(cell.path(self.results), **vars(cell)):
                cpus = "; ".join(sorted({run.cpu for run in record.seeds}))
                named = {**record.runtime, "processor": cpus, **record.versions}
                texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in named.items()}
                found[cell.name] = {name: text for name, text in texts.items() if text}
        if not found:
            return Markup()
        every = pd.DataFrame([*found.values()], index=[*found]).fillna(markdown.NONE)
        alike = every.groupby([*every], sort=False)
        table = alike.size().rename("cells").reset_index().astype(str).set_index("cells")
        text = markdown.render(table, words=table.columns)
        if differ := [name for name in table if table[name].nunique() > 1]:
            firsts = ", ".join(f"`{name}`" for name in alike.head(1).index)
            text += f"\n\nCells differ in {', '.join(differ)}; first of each row: {firsts}."
        return from_markdown(text, "Trained with")


def raised(runs: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Which alarms each run raised by itself, and each cell through its seeds together, 0 or 1."""
    every = runs["alarms"].astype(object).str.get_dummies(";")  # dtype str fails without alarms
    of_seeds = every.columns.intersection(OF_SEEDS)
    cells = (
        every[of_seeds].groupby([runs[name] for name in (*MODEL, "line", "task")], sort=False).max()
    )
    return every.drop(columns=of_seeds), cells


def from_markdown(text: str, title: str) -> Markup:
    """Markdown as HTML without its own heading; each table is in a scrolling box named `title`.

    An image becomes a link: the page loads no file but itself.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(text)
    if tokens and tokens[0].type == "heading_open":
        tokens = tokens[3:]
    for i, token in enumerate(tokens):
        if token.type.startswith("heading"):
            token.tag = "h4"  # below the title
        elif token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "td_open" and tokens[i - 1].type == "tr_open":
            token.tag = tokens[i + 2].tag = "th"
            token.attrSet("scope", "row")
        elif token.content in TONES and tokens[i - 1].tag == "td":  # not a row's own head
            tokens[i - 1].attrSet("class", TONES[token.content])
    html = parser.renderer.render(tokens, parser.options, {})
    box = f'<div class="box" role="region" aria-label="{escape(title)}" tabindex="0"><table>'
    return Markup(html.replace("<table>", box).replace("</table>", "</table></div>"))


def read(path: Path) -> str:
    """The text of a file; empty where there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
