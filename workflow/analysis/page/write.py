"""Write the page of a run: one HTML file that requests nothing and depends on its inputs alone.

    python -m workflow.analysis page --results R --grid JSON --tables ... --figures ... --out FILE

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
from workflow.analysis.program import parser
from workflow.grid import StudyHead

HERE = Path(__file__).parent
TEMPLATES = ("page.html", "outline.html")  # the frame, and its content


def render(made: Run, config: str) -> str:
    """The page as HTML. Raises InputError for a damaged table."""
    templates = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return templates.get_template(TEMPLATES[0]).render(
        run=made,
        glance=Glance.of(made),
        tones=TONES,
        from_markdown=from_markdown,
        config=config,
        css=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        script=Markup((HERE / "page.js").read_text(encoding="utf-8")),
    )


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    arguments = parser("every table and figure of a run on one page")
    arguments.add_argument("--tables", nargs="*", required=True, help="the tables that it has")
    arguments.add_argument("--figures", nargs="*", required=True, help="the figures that it has")
    arguments.add_argument(
        "--studies", type=StudyHead.parse, nargs="*", default=[], help="JSON of each further study"
    )
    args = arguments.parse_args(argv)
    shown = (tuple(args.tables), tuple(args.figures), tuple(args.studies))
    made = Run(args.results, args.grid, *shown, os.environ.get("RUN_OPTIONS", ""))
    config = os.environ.get("RUN_CONFIG")
    page = render(made, Path(config).read_text(encoding="utf-8") if config else "")
    with write_atomic(args.out) as file:
        file.write(page)
