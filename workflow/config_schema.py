"""The keys of the config as one tree, for error messages and for the reference page."""

import functools
from typing import Any

from workflow.config_model import Config


@functools.cache
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
