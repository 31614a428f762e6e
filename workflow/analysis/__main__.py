"""The programs of the analysis: `python -m workflow.analysis --help` lists them."""

import sys

from tasks.common.programs import door

PROGRAMS = {
    "report": "workflow.analysis.report",
    "cost": "workflow.analysis.cost",
    "compare": "workflow.analysis.ranking",
}

if __name__ == "__main__":
    sys.exit(door("workflow.analysis", PROGRAMS))
