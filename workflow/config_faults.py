"""Reading config files, and reporting their faults: one line each, all at once.

A line has the key's path, what was found, and what to do: the nearest known key, the description
and the bound of the key, the way around a trap of YAML.
"""

import difflib
import types
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

import yaml
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from tasks.common.settings import Settings
from workflow.config import Config
from workflow.cross_checks import CrossCheckError

NOUNS = {
    **{"int_type": "a whole number", "int_from_float": "a whole number"},
    **{"float_type": "a number", "finite_number": "a finite number", "string_type": "text"},
    **{"bool_type": "true or false", "list_type": "a list", "dict_type": "a section of keys"},
    **{"model_type": "a section of keys", "model_attributes_type": "a section of keys"},
}
BOUNDS = {
    **{"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"},
    **{"min_length": "at least", "max_length": "at most"},
}


class ConfigError(Exception):
    """An invalid config; `faults` has one line for each fault."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("\n".join(f"error: config: {fault}" for fault in faults))
        self.faults = list(faults)


def refuse(faults: Iterable[str]) -> None:
    """Raise ConfigError if there are any `faults`."""
    if found := list(faults):
        raise ConfigError(found)


def parse(data: dict[str, Any]) -> Config:
    """The config in `data`. Raises ConfigError with a line for each fault."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        # Each branch of a union is an error of its own, with the same line.
        lines = [line for fault in error.errors(include_url=False) for line in _lines(fault)]
        raise ConfigError(list(dict.fromkeys(lines))) from None


def read(paths: Sequence[str | Path]) -> dict[str, Any]:
    """The keys of one or more config files; later files take precedence, lists are replaced.

    Raises ConfigError for a file that is missing, not UTF-8, not YAML, or that has a key twice.
    """
    merged: dict[str, Any] = {}
    for path in paths:
        try:
            text = Path(path).read_bytes().decode("utf-8")
            given = yaml.load(text, Loader=_Loader) or {}
        except OSError as error:
            raise ConfigError([f"{path}: {error.strerror}"]) from None
        except UnicodeDecodeError as error:
            raise ConfigError(
                [f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8"]
            ) from None
        except yaml.YAMLError as error:
            raise ConfigError([_yaml_fault(path, error)]) from None
        if not isinstance(given, dict):
            raise ConfigError([f"{path}: {_shown(given)} is no section; give keys such as results"])
        merged = _merge(merged, given)
    return merged


def _merge(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """Sections are merged, everything else is replaced, as Snakemake does."""
    both = {
        key: _merge(base[key], value)
        for key, value in overlay.items()
        if isinstance(value, dict) and isinstance(base.get(key), dict)
    }
    return base | overlay | both


class _Loader(yaml.SafeLoader):
    """YAML without repeated keys, of which the last would silently win."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key in [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
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
    return f"{path}: " + (f"line {mark.line + 1}: " if mark else "") + " ".join(problem.split())


def _lines(fault: Any) -> Iterator[str]:
    """A fault found by pydantic in our words."""
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    if isinstance(context.get("error"), CrossCheckError):
        yield from context["error"].faults
        return
    path, field, rest = _locate(fault["loc"])
    at = f"{path}: " if path else ""
    expected = describe(field)
    if kind == "extra_forbidden":
        yield f"{at}unknown key; {_nearest(str(fault['loc'][-1]), _keys(field))}"
    elif kind == "unknown_name":
        yield f"{at}unknown {context['noun']}; {_nearest(value, list(context['names']))}"
    elif kind == "missing":
        yield f"{at}missing; it is {expected}"
    elif kind == "value_error":
        yield f"{at}{context['error']}; change one of them"
    elif kind in NOUNS and not rest:
        wanted = NOUNS[kind] + (" or null" if _is_optional(field.annotation) else "")
        hint = _hint(value) if "number" in wanted else ""
        yield f"{at}{_shown(value)} is not {wanted}{hint}; expected: {expected}"
    else:
        bound = "" if rest else _bound(kind, context, field.annotation)
        yield f"{at}{_shown(value)} does not fit; expected: {expected}{bound}"


def _locate(loc: tuple[str | int, ...]) -> tuple[str, FieldInfo, tuple[str | int, ...]]:
    """The key's path, its field, and what of `loc` is the branch of a union or a key of a section.

    The field of an unknown key is that of its section. The field of an item is that of its list.
    """
    field, path = FieldInfo(annotation=Config), []
    for i, part in enumerate(loc):
        inner, args = strip(field.annotation), get_args(strip(field.annotation))
        if isinstance(inner, type) and issubclass(inner, Settings):
            path.append(str(part))
            if part not in inner.model_fields:
                break
            field = inner.model_fields[str(part)]
        elif get_origin(inner) in (dict, list) and loc[i + 1 : i + 2] != ("[key]",):
            path.append(str(part))
            inner_field = item(args[-1])
            inner_field.description = inner_field.description or field.description
            field = inner_field
        elif get_origin(inner) is dict:
            path.append(str(part))
            return ".".join(path), field, ()
        else:
            return ".".join(path), field, loc[i:]
    return ".".join(path), field, ()


def describe(field: FieldInfo) -> str:
    """A key's description; a section's is the first sentence of its docstring."""
    if field.description:
        return field.description
    sentence = (strip(field.annotation).__doc__ or "").strip().partition(".\n")[0].rstrip(".")
    text = " ".join(sentence.split())
    return text[:1].lower() + text[1:]


def item(annotation: Any) -> FieldInfo:
    """An item's or value's annotation as a field, with its description and its bounds."""
    return FieldInfo.from_annotation(annotation)


def strip(annotation: Any) -> Any:
    """An annotation without `| None` and `Annotated`."""
    if get_origin(annotation) is Annotated:
        return strip(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [arg for arg in get_args(annotation) if arg is not type(None)]
        return strip(inner[0]) if len(inner) == 1 else annotation
    return annotation


def _is_optional(annotation: Any) -> bool:
    return type(None) in get_args(annotation)


def _keys(field: FieldInfo) -> list[str]:
    return list(strip(field.annotation).model_fields)


def _bound(kind: str, context: dict[str, Any], annotation: Any) -> str:
    """The bound or the choice that was missed."""
    if kind == "literal_error":
        return f" ({', '.join(map(str, get_args(strip(annotation))))})"
    if kind == "not_unique":
        return " (each only once)"
    for name, words in BOUNDS.items():
        if name in context:
            return f" ({words} {context[name]})"
    return ""


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
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _nearest(key: str, known: list[str]) -> str:
    near = difflib.get_close_matches(str(key), known, n=1)
    return f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
