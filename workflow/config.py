"""Print complete configs, their JSON Schema, and the reference page of all keys.

python -m workflow.config show FILE [FILE...]    the complete config of one or more files
python -m workflow.config schema                 the JSON Schema, for editors
python -m workflow.config reference              the reference page of all keys
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from workflow.config_faults import ConfigError, parse, read
from workflow.config_model import Config
from workflow.config_schema import tree

TYPES = {
    **{"integer": "whole number", "number": "number", "string": "text"},
    **{"boolean": "true or false", "object": "section"},
}
INTRODUCTION = """\
# Config reference

Every key of a config file, with its default. A file states only what differs from the defaults,
which are the paper's; `python -m workflow.config show FILE` prints the complete config. Several
files after `--configfile` are merged in their order: sections key by key, lists as a whole. `null`
stands for "not given".

Snakemake reads these files before the suite does. Where it ends in a traceback (a file that is not
UTF-8) or names no line (a tab), the same `show FILE` says in one line what is wrong, and where. A
file with `__use_yte__` is a template from which Snakemake runs code: `show FILE` refuses it,
Snakemake does not. `make CONFIG=FILE` starts a run after `show FILE` found nothing.

This page is made by `python -m workflow.config reference`.
"""


def show(paths: list[Path]) -> str:
    """The complete config of one or more files, as YAML that reads back as the same config."""
    return as_yaml(parse(read(paths)))


def as_yaml(config: Config) -> str:
    """A complete config as YAML, without what tasks and studies leave at its default."""
    values = config.model_dump(mode="json")
    studies = config.experiment.studies.items()
    values["experiment"]["studies"] = {
        name: study.model_dump(mode="json", exclude_unset=True) for name, study in studies
    }
    for section in (values["experiment"], values["experiment"]["zero_shot"]):
        section["tasks"] = {name: _given(entry) for name, entry in section["tasks"].items()}
    return yaml.safe_dump(values, sort_keys=False, width=100, default_flow_style=None)


def _given(entry: dict[str, Any]) -> dict[str, Any]:
    """A task's entry without what is not given."""
    inner = {k: _given(v) if isinstance(v, dict) else v for k, v in entry.items()}
    return {key: value for key, value in inner.items() if value not in (None, {})}


def schema() -> str:
    """The JSON Schema of the config, for editors.

    Without titles, which repeat the keys, and without the defaults of sections.
    """

    def short(node: dict[str, Any]) -> dict[str, Any]:
        is_section = isinstance(node.get("default"), dict)
        left_out = {"title", "default"} if is_section else {"title"}
        return {key: value for key, value in node.items() if key not in left_out}

    whole = json.dumps(Config.model_json_schema())
    text = json.dumps(json.loads(whole, object_hook=short), indent=1, ensure_ascii=False)
    # ECMA's regular expressions, which schemas use, have no \\z.
    return text.replace("\\\\z", "$") + "\n"


def reference() -> str:
    """The reference page of all keys, as Markdown: a table for each section."""
    return INTRODUCTION + "".join(_section("", tree(), {}))


def _section(path: str, section: dict[str, Any], shown: dict[str, str]) -> Iterator[str]:
    """A section's heading and table, then the sections inside it.

    `shown` has the path of each table so far: where a second section has the same keys, a link
    stands for its table.
    """
    description = section["description"]
    yield f"\n## {path or 'Top level'}\n\n{description[0].upper()}{description[1:]}.\n\n"
    keys = json.dumps(section["properties"])
    if keys in shown:
        yield f"Its keys are those of [{shown[keys]}](#{shown[keys].replace('.', '').lower()}).\n"
        return
    shown[keys] = path
    yield "| key | type | default | |\n|---|---|---|---|\n"
    for name, key in section["properties"].items():
        description = key["description"].replace("|", "\\|")
        yield f"| `{name}` | {_type(key)} | {_default(key)} | {description} |\n"
    for name, key in section["properties"].items():
        if "properties" in key:
            yield from _section(f"{path}.{name}".lstrip("."), key, shown)
        elif "properties" in (entries := key.get("additionalProperties") or {}):
            yield from _section(f"{path}.{name}.NAME", entries, shown)


def _type(key: dict[str, Any]) -> str:
    """The type of a key in words."""
    if "anyOf" in key:
        return " or ".join(map(_type, key["anyOf"]))
    if "enum" in key or "const" in key:
        return ", ".join(f"`{value}`" for value in key.get("enum") or [key["const"]])
    if key["type"] == "array":
        return f"list of {_type(key['items'])}"
    if entries := key.get("additionalProperties"):
        return "sections" if "properties" in entries else f"section of {_type(entries)}"
    return TYPES[key["type"]]


def _default(key: dict[str, Any]) -> str:
    """The default of a key; of a section, what differs from the defaults in its own table."""
    if "default" not in key:
        return "required"
    value = key["default"]
    if not isinstance(value, dict):
        return f"`{json.dumps(value, ensure_ascii=False)}`"
    if "properties" not in key:
        return f"`{{{', '.join(value)}}}`"
    own = {name: inner.get("default") for name, inner in key["properties"].items()}
    return ", ".join(f"`{k}: {v}`" for k, v in value.items() if v != own[k]) or "see below"


def main() -> int:
    """The command line; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m workflow.config", description=__doc__.splitlines()[0]
    )
    commands = parser.add_subparsers(dest="command", required=True)
    complete = commands.add_parser("show", help="print the complete config of one or more files")
    complete.add_argument("files", nargs="+", type=Path, metavar="FILE")
    commands.add_parser("schema", help="print the JSON Schema, for editors")
    commands.add_parser("reference", help="print the reference page of all keys, as Markdown")
    a = parser.parse_args()
    try:
        text = {"schema": schema, "reference": reference}.get(a.command, lambda: show(a.files))()
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 1
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
