"""Print complete configs, their JSON Schema, and the reference page of all keys.

python -m workflow.configuration show FILE [FILE...]    the complete config of one or more files
python -m workflow.configuration schema                 the JSON Schema, for editors
python -m workflow.configuration reference              the reference page of all keys
"""

import argparse
import sys
from pathlib import Path

from workflow.configuration.read import ConfigError, as_yaml, parse, read
from workflow.configuration.reference import reference, schema


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m workflow.configuration", description=__doc__.splitlines()[0]
    )
    parser.add_argument("what", choices=["show", "schema", "reference"], help="what to print")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="the files to show")
    a = parser.parse_args()
    try:
        shown = as_yaml(parse(read(a.files))) if a.what == "show" else ""
    except ConfigError as error:
        sys.exit(str(error))
    print(shown or (schema() if a.what == "schema" else reference()), end="")
