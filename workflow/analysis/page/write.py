"""Write the page of a run: one HTML file that requests nothing and depends on its inputs alone.

The environment variable RUN_CONFIG names the file of the run's config, RUN_OPTIONS has the
Snakemake options that chose it. Both are only shown, so changing them reruns nothing.
"""

import os
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tasks.common.files import write_atomic
from workflow.analysis.page.glance import Glance
from workflow.analysis.page.markup import TONES, from_markdown
from workflow.analysis.page.run import Run
from workflow.grid import Grid, PagePlan

HERE = Path(__file__).parent
TEMPLATES = ("page.html", "outline.html")  # the frame, and its content


def html(results: Path, grid: Grid, page: PagePlan) -> str:
    """The page. Raises InputError for a damaged table."""
    templates = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made = Run(results, grid, page, os.environ.get("RUN_OPTIONS", ""))
    config = os.environ.get("RUN_CONFIG")
    return templates.get_template(TEMPLATES[0]).render(
        run=made,
        glance=Glance.of(made),
        tones=TONES,
        from_markdown=from_markdown,
        config=Path(config).read_text(encoding="utf-8") if config else "",
        css=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup((HERE / "page.js").read_text(encoding="utf-8")),
    )


def write(results: Path, grid: Grid, page: PagePlan) -> None:
    """Write the page to the results folder."""
    text = html(results, grid, page)
    with write_atomic(results / "index.html") as file:
        file.write(text)
