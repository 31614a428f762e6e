"""The reference page of all keys of the config, made from its JSON Schema."""

import json
import re
from collections.abc import Iterator
from typing import Any

from workflow.configuration.model import Config

TYPES = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
}
INTRODUCTION = """\
# Config reference

Every key of a config file, with its default. A file states only what differs from the defaults,
which are the paper's; `python -m workflow.configuration show FILE` prints the complete config.
Several files after `--configfile` are merged in their order: sections key by key, lists as a whole.
`null` stands for "not given".

Files are read as YAML 1.2: `on` is text and `1e-4` a number. Snakemake reads them too, before the
suite does. Where it fails with a traceback or hangs (a file that is not UTF-8, aliases of aliases),
`show FILE` says in one line what is wrong. A file with `__use_yte__` is a template from which
Snakemake runs code: `show FILE` refuses it, Snakemake does not. `make CONFIG=FILE` starts a run
after `show FILE` found nothing.

This page is made by `python -m workflow.configuration reference`.
"""


def schema() -> str:
    """The JSON Schema of the config, for editors."""
    return json.dumps(Config.model_json_schema(), indent=1, ensure_ascii=False) + "\n"


def reference() -> str:
    """The reference page of all keys, as Markdown: a list for each section."""
    whole = Config.model_json_schema()
    return INTRODUCTION + "".join(_section("", whole, whole, {}))


def _section(
    path: str, key: dict[str, Any], schema: dict[str, Any], shown: dict[str, str]
) -> Iterator[str]:
    """The heading and the keys of the section that `key` holds, then the sections inside it.

    `shown` has the path of each list so far, by the name of its kind: where a second section is of
    one kind, a link stands for its list.
    """
    section = schema["$defs"][kind_of(key)] if path else schema
    yield f"\n## {path or 'Top level'}\n\n{_sentence(section | key)}{_overridden(key, section)}\n\n"
    if (kind := section["title"]) in shown:
        yield f"Its keys are those of [{shown[kind]}](#{shown[kind].replace('.', '').lower()}).\n"
        return
    shown[kind] = path
    sections = {name: own for name, own in section["properties"].items() if kind_of(own)}
    for name, own in section["properties"].items():
        if name not in sections:
            default = json.dumps(own["default"]) if "default" in own else "required"
            yield f"- `{name}` ({_type(own)}, `{default}`): {_sentence(own)}\n"
    for name, own in sections.items():
        inside = f"{path}.{name}".lstrip(".")
        yield from _section(inside + ".NAME" * has_names(own), own, schema, shown)


def kind_of(key: dict[str, Any]) -> str:
    """The class of the section that a key holds, or of the sections, by their names; else empty."""
    found = re.search(r"#/\$defs/(\w+)", json.dumps(key))
    return found[1] if found else ""


def has_names(key: dict[str, Any]) -> bool:
    """Whether the keys of a section are names, such as those of tasks."""
    kinds = key.get("anyOf", [key])
    return any(one.get("additionalProperties") or "patternProperties" in one for one in kinds)


def _overridden(key: dict[str, Any], section: dict[str, Any]) -> str:
    """The default of a section where it is not that of its keys."""
    if "default" not in key or key["default"] is None:
        return " Default: `null`." if "default" in key else ""
    own = {name: inner.get("default") for name, inner in section["properties"].items()}
    given = [
        name if isinstance(value, dict) else f"{name}: {value}"
        for name, value in key["default"].items()
        if value != own.get(name, {})
    ]
    return f" Default: `{', '.join(given)}`." if given else ""


def _sentence(described: dict[str, Any]) -> str:
    """A description on one line, with a capital and a full stop."""
    text = " ".join(described["description"].split())
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def _type(key: dict[str, Any]) -> str:
    """The type of a key in words; of one that may be null its other type."""
    if "anyOf" in key:
        return " or ".join(_type(one) for one in key["anyOf"] if one != {"type": "null"})
    if "enum" in key or "const" in key:
        return ", ".join(f"`{value}`" for value in key.get("enum") or [key["const"]])
    if key.get("type") == "array":
        return f"list of {_type(key['items'])}"
    if has_names(key):
        return f"section of {_type(key['additionalProperties'])}"
    return TYPES.get(key.get("type", ""), "any value")
