"""The programs of the analysis: `python -m workflow.analysis --help` lists them."""

import sys

from tasks.common.programs import door

PROGRAMS = {
    "samples": "workflow.analysis.stats.samples",
    "table": "workflow.analysis.make_table",
    "figure": "workflow.analysis.make_figure",
    "study": "workflow.analysis.make_study",
    "page": "workflow.analysis.page.write",
    "submission": "workflow.analysis.submission",
    "cost": "workflow.analysis.cost",
    "compare": "workflow.analysis.compare",
}

if __name__ == "__main__":
    sys.exit(door("workflow.analysis", PROGRAMS))
