"""Print complete configs, their JSON Schema, and the reference page of all keys.

python -m workflow.configuration show FILE [FILE...]    the complete config of one or more files
python -m workflow.configuration schema                 the JSON Schema, for editors
python -m workflow.configuration reference              the reference page of all keys
"""

import argparse
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from workflow.configuration.model import Config
from workflow.configuration.read import ConfigError, as_yaml, parse, read, refuse
from workflow.configuration.sections import section_of
from workflow.plan import Plan
from workflow.studies import run_faults

NUMBER = "a number"
INTRODUCTION = """\
# Config reference

Every key of a config file, with its default. A file states only what differs from the defaults,
which are the paper's; `python -m workflow.configuration show FILE` prints the complete config.
Several files after `--configfile` are merged in their order: sections key by key, lists as a whole.
`null` stands for "not given", `NAME` for any name.

Files are read as YAML 1.2: `on` is text and `1e-4` a number. Snakemake would run code in a file
that has `__use_yte__`, and follow aliases without end, so the default profile lets the suite check
files first; with `--workflow-profile`, or a `profiles/default` in the folder where the run starts,
there is no such check.

This page is made by `python -m workflow.configuration reference`.
"""


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


def schema() -> str:
    """The JSON Schema of the config, for editors."""
    return json.dumps(Config.model_json_schema(), indent=1, ensure_ascii=False) + "\n"


def reference() -> str:
    """The reference page of all keys, as Markdown around a config."""
    lines = "\n".join(_lines(Config, Config(), ""))
    return f"{INTRODUCTION}\n```yaml\n{lines}\n```\n"


def has_names(kind: Any) -> bool:
    """Whether the keys of a section are names, such as those of tasks."""
    return get_origin(kind) is dict or any(map(has_names, get_args(kind)))


def _lines(section: type[BaseModel], values: BaseModel | None, indent: str) -> Iterator[str]:
    """The keys of a section, each below its description; `values` are its defaults, if any."""
    for name, field in section.model_fields.items():
        inner, named = section_of(field.annotation), has_names(field.annotation)
        default = getattr(values, name) if values else field.get_default()
        yield from _comment(field.description or (inner and inner.__doc__) or "", indent)
        if inner is None:
            yield f"{indent}{name}: {_shown(field, default)}"
            continue
        by_default = ", ".join(default) if named and default else "null" if default is None else ""
        yield f"{indent}{name}:" + (by_default and f"  # default: {by_default}")
        if named:
            yield f"{indent}  NAME:"
        own = default if isinstance(default, inner) else None
        yield from _lines(inner, own, indent + "  " * (1 + named))


def _comment(text: str, indent: str) -> list[str]:
    """A description as comment lines, with a capital and a full stop."""
    text = " ".join(text.split())
    text = f"{text[0].upper()}{text[1:].rstrip('.')}."
    return textwrap.wrap(text, 100, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# ")


def _shown(field: FieldInfo, default: Any) -> str:
    """A default as YAML, followed by the words that the key accepts."""
    words = ", ".join(dict.fromkeys(_words(field.annotation)))
    words = "" if words == NUMBER else words
    shown = "" if default is PydanticUndefined else json.dumps(default)
    beside = "; ".join(filter(None, ["" if shown else "required", words]))
    return f"{shown}  # {beside}".lstrip() if beside else shown


def _words(kind: Any) -> list[str]:
    if get_origin(kind) is Literal:
        return [str(word) for word in get_args(kind)]
    if kind in (int, float):
        return [NUMBER]
    return [] if get_origin(kind) is dict else [w for part in get_args(kind) for w in _words(part)]
