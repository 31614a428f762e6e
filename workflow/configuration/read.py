"""Reading a config from files and `--config`, and reporting what is wrong with it, a line each."""

import difflib
import functools
import json
import re
import reprlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from tasks import TASKS
from workflow.configuration.checks import cross_checks
from workflow.configuration.model import Config
from workflow.configuration.sections import section_of
from workflow.configuration.studies import dotted_lines, flat, merge, shipped

DEFAULT = Path(__file__).parents[1] / "config" / "world.yaml"
GONE = {  # keys that no longer exist, or belong elsewhere
    "grid": "give lines in experiment.studies",
    "aux": "give finetune.lm_coef: 0 in a line",
    "predicted": "say it in expected, a sentence each",
    "shuffled": "give pretrain.shuffled and seeds.pretrain in a line",
    **dict.fromkeys(("runtime", "results"), "a line may change data and experiment only"),
}
_SECTION = "keys, such as {key: value}"
_PLAIN = {  # in place of pydantic's words
    "missing": "missing; give it",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "string_type": "should be text",
    "bool_type": "should be true or false",
    "list_type": "should be a list",
    "invalid_key": "a key should be text; quote it, and write 1000 for 1,000, or 0.5 for 0,5",
}
_YAML = {  # what YAML says, with the line up to there, and the remedy
    r"^--config": "give it in single quotes, as --config 'experiment={keep: [full/sst2]}'",
    r"'\\t'": "indent with blanks, not tabs",
    r"stream": "close the bracket or quotation mark that is open there",
    r"values are not": "quote a text that has ': ' in it, and give each key a colon and a blank",
    r"cannot start|[]}'\"]\Z": "quote a text that begins with a mark, such as '{text} is good'",
    r"<block end>": "indent the keys of a section alike",
    r"expected ','": "close each bracket, and quote texts with brackets, commas or ': '",
    r"constructor": "take tags out",
}
_SHORT = reprlib.Repr()
_SHORT.maxlevel = 2
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 60


class ConfigError(Exception):
    """An invalid config; `faults` has one line for each fault."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = [" ".join(fault.split()) for fault in faults]
        super().__init__("\n".join(f"error: config: {fault}" for fault in self.faults))


def refuse(faults: Iterable[str]) -> None:
    """Raise ConfigError if there are any `faults`."""
    if found := list(faults):
        raise ConfigError(found)


def validated(data: dict[str, Any]) -> Config:
    """The config in `data`, each key checked alone. Raises ConfigError, a line for each fault."""
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise ConfigError(_lines(error, data)) from None


def parse(data: dict[str, Any]) -> Config:
    """The config in `data`. Raises ConfigError with a line for each fault."""
    config = validated(data)
    refuse(cross_checks(config))
    return config


def config_of(files: Sequence[str | Path], given: Iterable[str] | None) -> Config:
    """The config of a run, from the words after `--configfile` and `--config`.

    Files replace the default one: merged into it, they would inherit keys that they do not show.
    """
    return parse(read(files or [DEFAULT], given or ()))


def lost_results(files: Sequence[str | Path]) -> str:
    """A note if a file names the results folder before a longer one, which names another.

    It probably stands in the wrong order: what changes a config comes after it.
    """
    keys = {str(file): flat(read([file])) for file in files if len(files) > 1}
    *earlier, last = [name for name, of in keys.items() if "results" in of] or [""]
    if not (lost := [name for name in earlier if len(keys[name]) < len(keys[last])]):
        return ""
    what = f"results: {keys[last]['results']} is of {last}, which comes after {lost[0]}"
    return f"{what}; the last file counts, so give one that changes another after it"


def read(paths: Sequence[str | Path], given: Iterable[str] = ()) -> dict[str, Any]:
    """The keys of config files, then those of `--config KEY=VALUE`; later ones take precedence.

    Raises ConfigError for a file that is missing, not UTF-8 or not YAML, that has a key twice, or
    that could make Snakemake run code.
    """
    merged: dict[str, Any] = {}
    for path in paths:
        try:
            keys = _load(Path(path).read_text(encoding="utf-8"), path) or {}
        except UnicodeDecodeError as error:
            raise ConfigError([f"{path}: {error}; save it as UTF-8"]) from None
        except OSError as error:
            raise ConfigError(
                [f"{path}: {error.strerror}; give a config file, and targets before --configfile"]
            ) from None
        if not isinstance(keys, dict):
            raise ConfigError([f"{path}: {_shown(keys)} is no section; give keys such as results"])
        if "__use_yte__" in keys:  # of YTE, a template language that Snakemake supports
            raise ConfigError([f"{path}: __use_yte__ lets the file run code; remove it"])
        merged = _over(merged, keys)
    for pair in given:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ConfigError(
                [f"--config: {pair!r} is not KEY=VALUE; give targets before --config"]
            )
        merged = _over(merged, {key: _load(value, f"--config {key}")})
    return merged


def _over(earlier: dict[str, Any], later: dict[str, Any]) -> dict[str, Any]:
    """`later` merged into `earlier`, without the earlier lines that are null in `later`.

    The null of a line that every config has stays, because only the null removes that line.
    Raises ConfigError for the null of a task that there is not.
    """
    if studies := _section(later, "experiment", "studies"):
        own = {"studies": dotted_lines(studies)}
        later = later | {"experiment": later["experiment"] | own}
    merged, known = merge(earlier, later), shipped(has_lstm=True)
    tasks = {task.name for task in TASKS} | _section(earlier, "experiment", "tasks").keys()
    for name, entry in _section(later, "experiment", "tasks").items():
        if entry is None and name not in tasks:
            near = difflib.get_close_matches(str(name), tasks, n=1)
            remedy = f"did you mean {near[0]}?" if near else "take it out"
            raise ConfigError([f"experiment.tasks.{name}: null drops no task; {remedy}"])
    for study in _section(later, "experiment", "studies"):
        for part in ("lines", "references"):
            place = ("experiment", "studies", study, part)
            before, every = _section(earlier, *place), known.get(study, {}).get(part, {})
            for title, line in _section(later, *place).items():
                if line is None and title not in every and before.get(title) is not None:
                    del _section(merged, *place)[title]
    return merged


def _section(data: Any, *keys: str) -> dict[str, Any]:
    """The section at a path of keys; empty if one of them is not a section."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def as_yaml(config: Config) -> str:
    """A complete config as YAML that can be read back, without unset keys of tasks and studies."""
    values = config.model_dump(mode="json")
    stated = config.model_dump(mode="json", exclude_unset=True).get("experiment", {})
    values["experiment"]["studies"] = stated.get("studies", {})
    for section in filter(None, (values["experiment"], values["experiment"]["zero_shot"])):
        section["tasks"] = {name: _given(entry) for name, entry in section["tasks"].items()}
    return yaml.dump(values, Dumper=_Dumper, sort_keys=False, width=100, default_flow_style=None)


def as_text(value: Any) -> Any:
    """A part of a config, its texts escaped for reStructuredText, which shows them as given."""
    if isinstance(value, dict):
        return {key: as_text(of) for key, of in value.items()}
    if isinstance(value, list):
        return [as_text(of) for of in value]
    if isinstance(value, str):
        return re.sub(r"[^a-zA-Z0-9 ]", r"\\\g<0>", " ".join(value.split()))
    return value


def _given(entry: dict[str, Any]) -> dict[str, Any]:
    """A task's entry without what is not given."""
    inner = {k: _given(v) if isinstance(v, dict) else v for k, v in entry.items()}
    return {key: value for key, value in inner.items() if value not in (None, {})}


class _Loader(yaml.SafeLoader):
    """The core schema of YAML 1.2: `on` is text and 1e-4 a number. No aliases, no key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "an alias; write it out", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in seen:
                problem = f"the key {key.value} is given twice; remove one"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Quotes a text that this reader, or one of YAML 1.1, would take for something else."""


_Loader.yaml_implicit_resolvers = {}
for _kind, _pattern in {
    "merge": "<<",
    "null": r"~|null|",
    "bool": r"true|false",
    "int": r"[-+]?(0|[1-9][0-9]{0,17})",  # a longer one is read as a float
    "float": r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan",
}.items():
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(
            f"tag:yaml.org,2002:{_kind}", re.compile(rf"(?:{_pattern})\Z"), None
        )


def _load(text: str, source: str | Path) -> Any:
    """The value of a YAML text. Raises ConfigError, naming the source and the line."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        said, at = str(error.problem), error.problem_mark
        at = (error.context_mark or at) if "stream" in said else at
        line = text.splitlines()[at.line][:100] if text and at else ""
        whole = f"{source}: {said}\n{line[: at.column].rstrip()}" if at else said
        remedy = next((f"; {_YAML[words]}" for words in _YAML if re.search(words, whole)), "")
        where = f" in line {at.line + 1}, column {at.column + 1}: {line.strip()}" if at else ""
        raise ConfigError([f"{source}: {said}{where}{remedy}"]) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ConfigError([f"{source}: {error}"]) from None
    except (ValueError, LookupError, AttributeError, TypeError) as error:  # a tag that does not fit
        raise ConfigError([f"{source}: {error}; take tags out"]) from None


def _lines(error: ValidationError, data: Any) -> list[str]:
    """The faults that pydantic found, a line for each key; a union's branches are joined."""
    found: dict[tuple[str | int, ...], list[Any]] = {}
    for fault in error.errors(include_url=False):
        found.setdefault((*_path(fault, data),), []).append(fault)
    lines = []
    for keys, faults in found.items():
        said = " or ".join(dict.fromkeys(map(_message, faults)))
        has_value = faults[0]["type"] not in ("missing", "extra_forbidden")
        if "." in str(keys[-1:]):
            value = functools.reduce(lambda section, key: section[key], keys, data)
            if not (has_value and isinstance(value, dict)):  # not a name of the user's
                said, has_value = f"unknown key; did you mean {_nested(keys, value)}?", False
        line = f"{'.'.join(map(str, keys))}: {said.replace(' or should be ', ' or ')}"
        lines.append(f"{line}, found {_shown(faults[0]['input'])}" if has_value else line)
    return lines


def _nested(keys: Iterable[str | int], value: Any) -> str:
    """A key with dots in it, written as nested sections."""
    names = ".".join(map(str, keys)).split(".")
    names = names if names[0] in Config.model_fields else ["experiment", *names]
    value = f"{json.dumps(value, default=str):.60}"
    return ": {".join(names) + f": {value}" + "}" * (len(names) - 1)


def _path(fault: Any, data: Any) -> list[str | int]:
    """A fault's path without the branches of unions, which pydantic lists among the keys."""
    path: list[str | int] = []
    for part in fault["loc"]:
        try:
            data = data[part]
        except (LookupError, TypeError):
            return [*path, part] if fault["type"] == "missing" else path
        path.append(part)
    return path


def _message(fault: Any) -> str:
    """What is wrong, in plain words; for an unknown key, with a remedy."""
    kind, given, about = fault["type"], fault["input"], fault.get("ctx", {})
    path = [str(part) for part in fault["loc"]]
    if kind == "extra_forbidden":
        return f"unknown key; {_remedy(path, given)}"
    if kind in ("dict_type", "model_type"):
        keys = Config.model_json_schema()["$defs"].get(about.get("class_name"), {})
        named = "" if keys.get("additionalProperties") else ", ".join(keys.get("properties", ()))
        blank = " (a blank comes after a colon)" * (":" in str(given))
        return f"should be a section of {f'the keys {named}' if named else _SECTION}{blank}"
    if kind == "list_type" and isinstance(given, str | int | float):
        return f"give a list, [{given!s:.60}]"
    if kind == "string_pattern_mismatch":
        form = re.split(r"(?<=[\w)])\.", _at(path)[1])[0]  # the first sentence of its description
        return f"should be: {form[:1].lower()}{form[1:]}"
    if kind in ("int_type", "float_type") and re.fullmatch(r"[-+]?\d[\d,_ ']*", str(given)):
        thousands = re.fullmatch(r"[-+]?\d{1,3}([,_ ']\d{3})+", str(given))
        plain = re.sub("[,_ ']", "" if thousands else ".", str(given))
        return f"give a number without marks in it, {plain}"
    said = str(fault["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return _PLAIN.get(kind, said)


def _at(path: Iterable[str]) -> tuple[type[BaseModel], str]:
    """The innermost section on a path, and the description of the last known key."""
    section: type[BaseModel] = Config
    said = ""
    for key in path:
        if field := section.model_fields.get(key):
            section, said = section_of(field.annotation) or section, field.description or ""
    return section, said


def _remedy(path: list[str], given: Any) -> str:
    """What to give in place of an unknown key."""
    *above, key = path
    if ":" in key:
        return "give a blank after its colon, as in {key: value}"
    if key in GONE:
        return f"{GONE[key]} (docs/studies.md)"
    keys = flat(Config().model_dump(exclude={"experiment": {"tasks", "studies"}}))
    parts = [p for p in (f"{one}.".partition(f".{key}.") for one in keys) if p[1]]
    sections = [p for p in parts if p[2]] if isinstance(given, dict) else []
    if places := dict.fromkeys(f"{p[0]}.{key}" for p in sections or parts):  # it belongs elsewhere
        known = "experiment." if above else ""  # left out where a line or experiment implies it
        return f"did you mean {' or '.join(p.removeprefix(known) for p in places)}?"
    own = [*_at(above)[0].model_fields]
    schema = Config.model_json_schema()
    every = [name for s in (schema, *schema["$defs"].values()) for name in s.get("properties", ())]
    for names, cutoff in ((own, 0.75), (sorted({*every} - {key}), 0.75), (own, 0.55)):
        if near := difflib.get_close_matches(key, names, n=1, cutoff=cutoff):
            return f"did you mean {near[0]}?"
    return f"give one of {', '.join(own)}"


def _shown(value: Any) -> str:
    return "null" if value is None else _SHORT.repr(value)
