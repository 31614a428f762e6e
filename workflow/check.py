"""Is a config right? Asked before the graph is built; each fault is one line with the key's path.

The schema says what each key may hold; its errors are put into our words here. What a schema cannot
say is in `workflow.misfits`.
"""

import difflib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from workflow import plan
from workflow.misfits import absent, misfits

SCHEMA = Path(__file__).with_name("schemas") / "config.schema.yaml"
NOUNS = {
    **{"integer": "a whole number", "number": "a number", "string": "text", "null": "null"},
    **{"boolean": "true or false", "array": "a list", "object": "a section of keys"},
}


def faults(config: dict[str, Any], planning: bool = False) -> list[str]:
    """Every fault of a config, one line each; none is a good sign.

    Whoever only plans may leave the raw data out altogether.
    """
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    errors = sorted(Draft202012Validator(schema).iter_errors(config), key=lambda e: e.json_path)
    # Each of two missing keys is an error that tells of both.
    found = list(dict.fromkeys(line for error in errors for line in _lines(error, schema)))
    if found or (planning and plan.no_data(config)):
        return found or list(misfits(config))
    return [*misfits(config), *absent(config)]


def _lines(error: ValidationError, schema: dict[str, Any]) -> Iterator[str]:
    """An error of the schema in our words: the key's path, what was found, what is expected."""
    path = ".".join(str(part) for part in error.absolute_path)
    at = f"{path}: " if path else ""
    value = error.instance
    expected = _about(schema, error.absolute_path) + _bound(error)
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for key in [key for key in value if key not in known]:
            yield f"{_join(path, key)}: unknown key; {_nearest(key, known)}"
    elif "propertyNames" in error.absolute_schema_path:
        yield f"{_join(path, value)}: unknown task; {_nearest(value, error.validator_value)}"
    elif error.validator == "required":
        for key in [key for key in error.validator_value if key not in value]:
            about = _about(schema, [*error.absolute_path, key])
            yield f"{_join(path, key)}: missing; it is {about}"
    elif error.validator == "type":
        kinds = error.validator_value
        kinds = [kinds] if isinstance(kinds, str) else kinds
        wanted = " or ".join(NOUNS[kind] for kind in kinds)
        yield f"{at}{_shown(value)} is not {wanted}{_hint(value, kinds)}; expected: {expected}"
    else:
        yield f"{at}{_shown(value)} does not fit; expected: {expected}"


def _about(schema: dict[str, Any], path: Iterable[str | int]) -> str:
    """The description of the key at `path`."""
    node = schema
    for part in path:
        node = _resolved(schema, node)
        known = node.get("properties", {})
        node = known.get(part) or node.get("items") or node.get("additionalProperties")
    return _resolved(schema, node)["description"]


def _resolved(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """A node with what its `$ref` stands for; what it says itself goes first."""
    while "$ref" in node:
        target = schema
        for part in node["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
        if "$ref" in target:
            node["$ref"] = target["$ref"]
    return node


def _bound(error: ValidationError) -> str:
    """The bound or choice that was missed."""
    bounds = {
        **{"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most"},
        **{"exclusiveMaximum": "less than", "minItems": "at least", "minProperties": "at least"},
        **{"maxProperties": "at most", "minLength": "at least"},
    }
    if error.validator == "enum":
        return f" ({', '.join(map(str, error.validator_value))})"
    if error.validator == "uniqueItems":
        return " (each only once)"
    if error.validator in bounds:
        return f" ({bounds[error.validator]} {error.validator_value})"
    return ""


def _hint(value: Any, kinds: list[str]) -> str:
    """The cure for YAML's own traps."""
    if isinstance(value, str) and {"number", "integer"} & set(kinds):
        try:
            number = float(value)
        except ValueError:
            return ""
        mantissa, _, exponent = f"{number:e}".partition("e")
        short = f"{float(mantissa)}e{int(exponent)}" if "e" in value.lower() else f"{number:g}"
        return f" (it is text to YAML; write {short})"
    return ""


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else str(key)


def _nearest(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(str(key), known, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
