"""Make a study's table and its figure.

    python -m workflow.analysis study --results R --grid JSON --study JSON --out R/studies/X.csv

Beside the CSV it writes the same as Markdown, and the figure as PNG, SVG and PDF.
"""

from workflow.analysis.figures import lines, style
from workflow.analysis.program import parser
from workflow.analysis.studies import parts, table
from workflow.grid import StudyPlan


def main(argv: list[str] | None = None) -> None:
    """The command line."""
    arguments = parser("the table and the figure of a study")
    arguments.add_argument("--study", type=StudyPlan.parse, required=True, help="the plan as JSON")
    args = arguments.parse_args(argv)
    study = args.study
    made = table.build(args.results, args.grid, study)
    made.write(args.out)
    draw = parts.draw if study.is_compared else lines.draw
    style.save(lambda: draw(made.frame, study), args.out.with_suffix(".png"))
