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
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print the complete config of one or more files")
    show.add_argument("files", nargs="+", type=Path, metavar="FILE")
    commands.add_parser("schema", help="print the JSON Schema, for editors")
    commands.add_parser("reference", help="print the reference page of all keys, as Markdown")
    a = parser.parse_args()
    if a.command == "show":
        try:
            print(as_yaml(parse(read(a.files))), end="")
        except ConfigError as error:
            sys.exit(str(error))
    else:
        print(schema() if a.command == "schema" else reference(), end="")


if __name__ == "__main__":
    main()
