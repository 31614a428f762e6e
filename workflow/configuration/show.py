"""Print complete configs, their JSON Schema, and the reference page of all keys.

python -m workflow.configuration show FILE [FILE...]    the complete config of one or more files
python -m workflow.configuration schema                 the JSON Schema, for editors
python -m workflow.configuration reference              the reference page of all keys
"""

import argparse
import sys
from pathlib import Path

from workflow.configuration.read import ConfigError, as_yaml, parse, read, refuse
from workflow.configuration.reference import reference, schema
from workflow.configuration.study_checks import run_faults
from workflow.plan import Plan


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m workflow.configuration", description=__doc__.splitlines()[0]
    )
    parser.add_argument("what", choices=["show", "schema", "reference"], help="what to print")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="the files to show")
    a = parser.parse_args()
    try:
        config = parse(read(a.files))
        refuse(run_faults(Plan(config)))
    except ConfigError as error:
        sys.exit(str(error))
    shown = {"show": as_yaml(config), "schema": schema(), "reference": reference()}
    print(shown[a.what], end="")
