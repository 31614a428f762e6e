"""The reference page of all keys of the config, and its JSON Schema for editors."""

import json
from collections.abc import Iterator
from typing import Any

from workflow.configuration.model import Config

TYPES = {
    **{"integer": "whole number", "number": "number", "string": "text"},
    **{"boolean": "true or false", "object": "section"},
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


def tree() -> dict[str, Any]:
    """The JSON Schema of the config, with every reference filled in.

    A key that may be null is the schema of its other type, with `nullable` true. A section without
    a description of its own has the first sentence of its class's docstring.
    """
    schema = Config.model_json_schema()
    for section in (schema, *schema["$defs"].values()):
        sentence = " ".join(section["description"].partition(".\n")[0].rstrip(".").split())
        section["description"] = sentence[0].lower() + sentence[1:]

    def filled(node: Any) -> Any:
        if isinstance(node, list):
            return [filled(inner) for inner in node]
        if not isinstance(node, dict):
            return node
        others = [branch for branch in node.get("anyOf", ()) if branch != {"type": "null"}]
        if len(others) == 1:
            node = others[0] | {k: v for k, v in node.items() if k != "anyOf"} | {"nullable": True}
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]] | node
        return {key: filled(inner) for key, inner in node.items() if key not in ("$ref", "$defs")}

    return filled(schema)


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
    """The reference page of all keys, as Markdown: a list for each section."""
    whole = tree()
    return INTRODUCTION + "".join(_section("", whole, whole, {}))


def _section(
    path: str, key: dict[str, Any], section: dict[str, Any], shown: dict[str, str]
) -> Iterator[str]:
    """A section's heading and keys, then the sections inside it; `key` is the one that holds it.

    `shown` has the path of each list so far: where a second section has the same keys, a link
    stands for its list.
    """
    description, default = key["description"], _default(key) if path else ""
    own = f" Default: {default}." if default else ""
    yield f"\n## {path or 'Top level'}\n\n{description[0].upper()}{description[1:]}.{own}\n\n"
    keys = json.dumps(section["properties"])
    if keys in shown:
        yield f"Its keys are those of [{shown[keys]}](#{shown[keys].replace('.', '').lower()}).\n"
        return
    shown[keys] = path
    inside = {}
    for name, key in section["properties"].items():
        entries = key.get("additionalProperties") or {}
        if "properties" in key:
            inside[name] = (key, key)
        elif "properties" in entries:
            inside[f"{name}.NAME"] = (key, entries)
        else:
            yield f"- `{name}` ({_type(key)}, {_default(key)}): {key['description']}\n"
    for name, (key, entries) in inside.items():
        yield from _section(f"{path}.{name}".lstrip("."), key, entries, shown)


def _type(key: dict[str, Any]) -> str:
    """The type of a key in words."""
    if "anyOf" in key:
        return " or ".join(map(_type, key["anyOf"]))
    if "enum" in key or "const" in key:
        return ", ".join(f"`{value}`" for value in key.get("enum") or [key["const"]])
    if "type" not in key:
        return "any value"
    if key["type"] == "array":
        return f"list of {_type(key['items'])}"
    if entries := key.get("additionalProperties"):
        return "sections" if "properties" in entries else f"section of {_type(entries)}"
    return TYPES[key["type"]]


def _default(key: dict[str, Any]) -> str:
    """The default of a key; of a section, what differs from the defaults of its own keys."""
    if "default" not in key:
        return "" if "properties" in key else "required"
    value = key["default"]
    if not isinstance(value, dict):
        return f"`{json.dumps(value, ensure_ascii=False)}`"
    if "properties" not in key:
        return f"`{{{', '.join(value)}}}`"
    own = {name: inner.get("default") for name, inner in key["properties"].items()}
    return ", ".join(f"`{k}: {v}`" for k, v in value.items() if v != own[k])
