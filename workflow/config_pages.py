"""What `python -m workflow.config` prints: complete configs, the JSON Schema, the reference."""

import argparse
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import yaml
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from tasks.common.settings import Settings
from workflow.config import Config
from workflow.config_faults import ConfigError, describe, item, parse, read, strip
from workflow.config_sections import OneOf

TYPES = {int: "whole number", float: "number", str: "text", bool: "true or false"}
INTRODUCTION = """\
# Config reference

Every key of a config file, with its default. A file states only what differs from the defaults,
which are the paper's; `python -m workflow.config show FILE` prints the complete config. Several
files after `--configfile` are merged in their order: sections key by key, lists as a whole. `null`
stands for "not given".

This page is made by `python -m workflow.config reference`.
"""


def show(paths: list[Path]) -> str:
    """The complete config of one or more files, as YAML that reads back as the same config."""
    values = parse(read(paths)).model_dump(mode="json")
    for section in (values["experiment"], values["experiment"]["zero_shot"]):
        section["tasks"] = {name: _given(entry) for name, entry in section["tasks"].items()}
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, width=100)


def _given(entry: dict[str, Any]) -> dict[str, Any]:
    """A task's entry without what is not given."""
    inner = {k: _given(v) if isinstance(v, dict) else v for k, v in entry.items()}
    return {key: value for key, value in inner.items() if value not in (None, {})}


class _Dumper(yaml.SafeDumper):
    """YAML in which a number with an exponent reads back as a number; what is flat is inline."""


def _float(dumper: yaml.SafeDumper, value: float) -> yaml.Node:
    text = repr(value)
    mantissa, e, exponent = text.partition("e")
    text = f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}" if e else text
    return dumper.represent_scalar("tag:yaml.org,2002:float", text)


def _list(dumper: yaml.SafeDumper, values: list[Any]) -> yaml.Node:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", values, flow_style=True)


def _dict(dumper: yaml.SafeDumper, values: dict[str, Any]) -> yaml.Node:
    flat = len(values) < 5 and not any(isinstance(value, dict) for value in values.values())
    return dumper.represent_mapping("tag:yaml.org,2002:map", values.items(), flow_style=flat)


_Dumper.add_representer(float, _float)
_Dumper.add_representer(dict, _dict)
_Dumper.add_representer(list, _list)


def schema() -> str:
    """The JSON Schema of the config, for editors; no key is required of an overlay."""
    text = json.dumps(_short(Config.model_json_schema()), indent=1, ensure_ascii=False)
    # ECMA's regular expressions, which schemas use, have no \\z.
    return text.replace("\\\\z", "$") + "\n"


def _short(node: Any) -> Any:
    """A schema without titles, which repeat the keys, and without the defaults of sections."""
    if isinstance(node, list):
        return [_short(value) for value in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _short(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
        and not (key == "default" and isinstance(value, dict))
    }


def reference() -> str:
    """The reference page of all keys, as Markdown: a table for each section."""
    return INTRODUCTION + "".join(_section("", FieldInfo(annotation=Config)))


def _section(path: str, field: FieldInfo) -> Iterator[str]:
    """A section's heading and table, then the sections inside it."""
    model, inner = strip(field.annotation), []
    if get_origin(model) is dict:
        path, model = f"{path}.NAME", strip(get_args(model)[1])
    yield f"\n## {path or 'Top level'}\n\n"
    about = describe(field)
    yield f"{about[0].upper()}{about[1:]}.\n\n"
    yield "| key | type | default | |\n|---|---|---|---|\n"
    for name, key in model.model_fields.items():
        if _is_section(key.annotation):
            inner.append((f"{path}.{name}".lstrip("."), key))
        default = _default(key)
        yield f"| `{name}` | {_type(key.annotation)} | {default} | {_escape(describe(key))} |\n"
    for inner_path, key in inner:
        yield from _section(inner_path, key)


def _is_section(annotation: Any) -> bool:
    inner = strip(annotation)
    if get_origin(inner) is dict:
        inner = strip(get_args(inner)[1])
    return isinstance(inner, type) and issubclass(inner, Settings)


def _type(annotation: Any) -> str:
    """The type of a key in words."""
    field = item(annotation)
    inner, args = strip(annotation), get_args(strip(annotation))
    if get_origin(inner) is Literal:
        return ", ".join(f"`{value}`" for value in args)
    if get_origin(inner) in (Union, types.UnionType):
        return " or ".join(_type(arg) for arg in args if arg is not type(None))
    if get_origin(inner) is list:
        return f"list of {_type(args[0])}"
    if _is_section(annotation):
        return "section"
    if get_origin(inner) is dict:
        return f"section of {_type(args[1])}"
    names = [name for part in field.metadata if isinstance(part, OneOf) for name in part.names]
    return ", ".join(f"`{name}`" for name in names) or TYPES[inner]


def _default(field: FieldInfo) -> str:
    """The default of a key; a section shows its keys' in its own table."""
    value = field.default
    if value is PydanticUndefined:
        return "required"
    if isinstance(value, Settings):
        stated = [f"`{k}: {v}`" for k, v in value if k in value.model_fields_set]
        return ", ".join(stated) or "see below"
    if isinstance(value, dict):
        return f"`{{{', '.join(value)}}}`" if value else "`{}`"
    return f"`{json.dumps(value, ensure_ascii=False)}`"


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """The command line; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m workflow.config", description=__doc__)
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
