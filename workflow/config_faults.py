"""Reading config files, and reporting their faults: one line each, all at once.

A line has the key's path, what was found, and what to do: the nearest known key, the description
and the bound of the key, the way around a trap of YAML.
"""

import difflib
import reprlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from workflow.config_model import Config
from workflow.config_schema import tree
from workflow.cross_checks import cross_checks

NOUNS = {
    **{"int_type": "a whole number", "int_from_float": "a whole number"},
    **{"float_type": "a number", "finite_number": "a finite number", "string_type": "text"},
    **{"bool_type": "true or false", "list_type": "a list", "dict_type": "a section of keys"},
    **{"model_type": "a section of keys", "model_attributes_type": "a section of keys"},
}
BOUNDS = {
    **{"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"},
    **{"min_length": "length at least", "max_length": "length at most"},
}


# A few lines of YAML with aliases can stand for a list of millions.
_SHORT = reprlib.Repr()
_SHORT.maxlist = _SHORT.maxdict = 20
_SHORT.maxlevel = 4
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 1000


class ConfigError(Exception):
    """An invalid config; `faults` has one line for each fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = [" ".join(fault.split()) for fault in faults]
        super().__init__("\n".join(f"error: config: {fault}" for fault in self.faults))


def refuse(faults: Iterable[str]) -> None:
    """Raise ConfigError if there are any `faults`."""
    if found := list(faults):
        raise ConfigError(found)


def parse(data: dict[str, Any]) -> Config:
    """The config in `data`. Raises ConfigError with a line for each fault."""
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        # Each branch of a union is an error of its own, with the same line.
        lines = dict.fromkeys(_line(fault) for fault in error.errors(include_url=False))
        raise ConfigError(list(lines)) from None
    refuse(cross_checks(config))
    return config


def read(paths: Sequence[str | Path]) -> dict[str, Any]:
    """The keys of one or more config files; later files take precedence, lists are replaced.

    Raises ConfigError for a file that is missing, not UTF-8, not YAML, that has a key twice, or
    that Snakemake would run code from.
    """
    merged: dict[str, Any] = {}
    for path in paths:
        try:
            text = Path(path).read_bytes().decode("utf-8")
            given = _load(text, path) or {}
        except OSError as error:
            raise ConfigError([f"{path}: {error.strerror}"]) from None
        except UnicodeDecodeError as error:
            raise ConfigError(
                [f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8"]
            ) from None
        if not isinstance(given, dict):
            raise ConfigError(
                [f"{path}: {_shown(given)} is not a section; give keys such as results"]
            )
        if "__use_yte__" in given:  # of YTE, a language of templates that Snakemake knows
            raise ConfigError([f"{path}: __use_yte__ lets the file run code; remove it"])
        merged = _merge(merged, given)
    return merged


def typed(given: Any, written: Any = None) -> Any:
    """A section given by `--config`, in which Snakemake leaves numbers as text, with its values.

    What is `written` in config files, which Snakemake hands over in the same way, is left alone.
    Raises ConfigError for a text that is not YAML.
    """
    if isinstance(given, dict):
        known = written if isinstance(written, dict) else {}
        return {key: typed(value, known.get(key)) for key, value in given.items()}
    if given == written or not isinstance(given, (list, str)):
        return given
    if isinstance(given, list):
        return [typed(value) for value in given]
    value = _load(given, "--config")
    plain = type(value) in (int, float) or given in ("true", "false", "null")  # "on" is a name
    return value if plain else given


def with_sections(
    config: dict[str, Any], given: dict[str, Any], written: dict[str, Any]
) -> dict[str, Any]:
    """The `config` with the sections that were `given` by `--config`, not `written` in files."""
    sections = {key: value for key, value in given.items() if isinstance(value, dict)}
    return _merge(config, typed(sections, written))


def _merge(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Sections are merged, everything else is replaced, as Snakemake does."""
    both = {
        key: _merge(base[key], value)
        for key, value in overlay.items()
        if isinstance(value, dict) and isinstance(base.get(key), dict)
    }
    return base | overlay | both


def _load(text: str, source: str | Path) -> Any:
    """The value of a YAML text. Raises ConfigError, naming the source and the line."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ConfigError([_yaml_fault(source, error)]) from None
    except RecursionError:
        raise ConfigError([f"{source}: nested too deep; take brackets out"]) from None


class _Loader(yaml.SafeLoader):
    """YAML without repeated keys, of which the last would silently win.

    A value that Python cannot hold (the 31st of February) is an error of YAML, with its line.
    """

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (ValueError, KeyError, AttributeError):
            kind = node.tag.rpartition(":")[2]
            problem = f"{_shown(node.value)} is not of the type {kind}; put it in quotes"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        for key in [key for key, _ in pairs if isinstance(key, yaml.ScalarNode)]:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key.value} is given twice; remove one", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _yaml_fault(path: str | Path, error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not YAML"
    if "'\\t'" in problem:
        problem = "a tab; YAML needs spaces"
    if "constructor for the tag" in problem:
        problem = f"unknown tag {problem.partition(' tag ')[2]}; remove it"
    return f"{path}: " + (f"line {mark.line + 1}: " if mark else "") + " ".join(problem.split())


def _line(fault: Any) -> str:
    """A fault that pydantic found, in our words."""
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    path, key, is_whole = _locate(fault["loc"])
    at, expected = f"{path}: " if path else "", key["description"]
    if kind in ("extra_forbidden", "invalid_key"):
        return f"{at}unknown key; {_nearest(fault['loc'][-1], key['properties'])}"
    if fault["loc"][-1:] == ("[key]",) and "enum" in key["propertyNames"]:
        return f"{at}unknown task; {_nearest(value, key['propertyNames']['enum'])}"
    if kind == "missing":
        return f"{at}missing; expected: {expected}"
    if kind == "value_error":
        return f"{at}{context['error']}; change one of them"
    if kind in NOUNS and is_whole:
        wanted = NOUNS[kind] + (" or null" if "nullable" in key else "")
        hint = _hint(value) if "number" in wanted else ""
        return f"{at}{_shown(value)} is not {wanted}{hint}; expected: {expected}"
    bound = _bound(kind, context, key) if is_whole else ""
    return f"{at}{_shown(value)} is invalid; expected: {expected}{bound}"


def _locate(loc: tuple[str | int, ...]) -> tuple[str, dict[str, Any], bool]:
    """A key's path, its schema, and whether `loc` ends there, not in a branch of its union.

    The schema of an unknown key, or of the name of an item, is that of its section.
    """
    path: list[str] = []
    key = tree()
    for part, following in zip(loc, (*loc[1:], None), strict=True):
        inner = key.get("properties", {}).get(part)
        inner = inner or key.get("additionalProperties") or key.get("items")
        if "anyOf" in key:
            return ".".join(path), key, False
        path.append(str(part))
        if not inner or following == "[key]":
            return ".".join(path), key, True
        key = {"description": key["description"]} | inner
    return ".".join(path), key, True


def _bound(kind: str, context: dict[str, Any], key: dict[str, Any]) -> str:
    """The bound or the choice that was missed."""
    if kind == "literal_error":
        return f" ({', '.join(key.get('enum') or [key['const']])})"
    if kind == "not_unique":
        return " (each only once)"
    bounds = (f" ({words} {context[name]})" for name, words in BOUNDS.items() if name in context)
    return next(bounds, "")


def _hint(value: Any) -> str:
    """The cure for YAML's own traps."""
    if not isinstance(value, str):
        return ""
    try:
        number = float(value)
    except ValueError:
        return ""
    mantissa, _, exponent = f"{number:e}".partition("e")
    short = f"{float(mantissa)}e{int(exponent)}" if "e" in value.lower() else f"{number:g}"
    return f" (it is text to YAML; write {short})"


def _shown(value: Any) -> str:
    text = "null" if value is None else _SHORT.repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _nearest(key: Any, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.75)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
