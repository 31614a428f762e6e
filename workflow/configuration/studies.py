"""The section `experiment.studies`: what a study compares.

A study is a named set of lines, each on some tasks, with a table and a figure. A line is an overlay
of the config: the run's fully transferred transformer, trained as the config says except for the
keys that the line gives. A line that gives none is that model itself. The paper's Table 5 and
Figure 2 (left) are the studies `ablation` and `layer_transfer`.
"""

import contextlib
import difflib
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import Annotated, Any, Self

import yaml
from pydantic import AfterValidator, ConfigDict, Field, model_validator

from gpt1.cell import Arch
from tasks.common.settings import Settings, unique

SECTIONS = ("data", "experiment")  # what a line may change
LM_COEF = "experiment.finetune.lm_coef"
N_TRANSFER = "experiment.n_transfer"
CHECKPOINT = "experiment.finetune.checkpoint"
TRAIN_SHARE = "experiment.finetune.method.train_share"
READ_LAYER = "experiment.finetune.method.read_layer"
ARCH = "experiment.arch"


def flat(section: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The keys of a section, dotted or nested as they may be, each as its full dotted name."""
    found: dict[str, Any] = {}
    for key, value in section.items():
        is_section = isinstance(value, dict) and value
        found |= flat(value, f"{prefix}{key}.") if is_section else {f"{prefix}{key}": value}
    return found


def merge(base: dict[str, Any], overlay: dict[str, Any]) -> dict[str, Any]:
    """`base` with the keys of `overlay`: sections key by key, all else as a whole."""
    both = {
        key: merge(base[key], value)
        for key, value in overlay.items()
        if isinstance(value, dict) and isinstance(base.get(key), dict)
    }
    return base | overlay | both


def whole(key: str) -> str:
    """A key of the config in full: `arch` stands for `experiment.arch`."""
    return key if key.partition(".")[0] in SECTIONS else f"experiment.{key}"


Key = Annotated[str, AfterValidator(whole)]


def without_tasks(given: Any, dropped: Set[str], left: Sequence[str], key: str = "") -> Any:
    """What a config file has below a `key` of experiment, without what is about tasks `dropped`.

    A study of such tasks alone has as many of the tasks that are `left`, the first of them. Lines
    are `dotted`.
    """
    if isinstance(given, list) and key in ("tasks", "keep"):
        some = [one for one in given if str(one).rpartition("/")[2] not in dropped]
        return some or (left[: len(given)] if key == "tasks" else some)
    if not isinstance(given, dict):
        return given
    if key in ("lines", "references"):
        of_dropped = tuple(f"experiment.tasks.{task}." for task in dropped)
        return given | {
            title: {k: of for k, of in line.items() if not f"{k}.".startswith(of_dropped)}
            for title, line in given.items()
            if isinstance(line, dict)
        }
    names = dropped if key in ("tasks", "normalise", "skills") else ()
    of_names = key == "studies"  # whose keys may be any words
    return {
        k: without_tasks(of, dropped, left, "" if of_names else k)
        for k, of in given.items()
        if k not in names
    }


class Line(Settings):
    """The keys of the config that a line changes, by their dotted names."""

    model_config = ConfigDict(extra="allow")

    like: str = ""
    """The title of another line of the study, or of one of Table 5, whose keys it starts from, its
    own over them; values, axis and minus are its own alone."""
    values: Annotated[list[Any], Field(min_length=1)] | None = None
    """The values of the study's axis for this line, in place of the study's."""
    axis: Key | None = None
    """The key that takes the values for this line, in place of the study's axis."""
    minus: str = ""
    """The line that it is compared with, in place of the study's first."""

    @model_validator(mode="before")
    @classmethod
    def _dotted(cls, given: Any) -> Any:
        """Flatten nested keys to full dotted names."""
        return dotted(given) if isinstance(given, dict) else given

    @property
    def overlay(self) -> dict[str, Any]:
        """The values of the keys that the line changes, by their dotted names."""
        return dict(self.model_extra or {})


def dotted(line: Mapping[str, Any]) -> dict[str, Any]:
    """A line with the keys of the config that it changes as full dotted names.

    Raises ValueError for one that is given twice, such as dotted and nested.
    """
    own = {key: of for key, of in line.items() if key in Line.model_fields}
    keys: dict[str, Any] = {}
    for given in ({key: of} for key, of in line.items() if key not in own):
        for key, value in flat(given).items():
            if (name := whole(key)) in keys:
                raise ValueError(f"{name} is given twice; give it once")
            keys[name] = value
    return keys | own


def dotted_lines(studies: Mapping[str, Any]) -> dict[str, Any]:
    """Studies as config files have them, but the lines `dotted`, so that files can be merged.

    A line that has a key twice stays as it is, for the config to refuse it.
    """
    found = dict(studies)
    for study, entry in studies.items():
        for part in ("lines", "references"):
            if isinstance(entry, dict) and isinstance(lines := entry.get(part), dict):
                for title, line in lines.items():
                    with contextlib.suppress(ValueError):
                        own = dotted(line) if isinstance(line, dict) else line
                        lines = lines | {title: own}
                found[study] = entry = entry | {part: lines}
    return found


class Study(Settings):
    """A named set of lines with a table and a figure: every line at every value of one key."""

    heading: str = ""
    """The heading of its table (by default its name)."""
    question: str = ""
    """What it compares, in one plain sentence: the caption of its table and of its figure."""
    tasks: Annotated[list[str], Field(min_length=1), unique] | None = None
    """The tasks of experiment.tasks that it is run on (null: all of them)."""
    axis: Key | None = None
    """The key whose values it compares, such as n_transfer or finetune.lm_coef."""
    values: list[Any] = []
    """The values of that key, in the order of the figure."""
    lines: Annotated[dict[str, Line | None], Field(min_length=1)] = {"full": Line()}
    """What each line changes in the run's config, such as {n_transfer: none} or {finetune.l2: 0},
    by the line's name; null removes a line of the shipped study or of an earlier file."""
    references: dict[str, Line | None] = {}
    """The lines that the others are compared with, at every value of the axis."""
    expected: list[str] = []
    """What was predicted before the study was run, a sentence each."""
    skills: dict[str, list[str]] = {}
    """By task, the skills of the world's cloze items that teach it; only with the axis
    finetune.checkpoint."""

    @model_validator(mode="after")
    def _check_points(self) -> Self:
        if bool(self.axis) != bool(self.values):
            raise ValueError("axis and values: one without the other")
        if both := self.lines.keys() & self.references.keys():
            raise ValueError(f"lines and references: both have {min(both)!r}")
        lines = {title: line for title, line in self.lines.items() if line}
        if not lines:
            raise ValueError("lines: all are null; give one")
        if any(value in self.values[:i] for i, value in enumerate(self.values)):
            raise ValueError("values: each only once")
        if odd := [title for title in self.titled if not title.strip() or title[0] == "*"]:
            raise ValueError(f"lines: {odd[0]!r} is no title; give words, and no * before them")
        whole_lines = [k for k, of in self.titled.items() if of]
        for name, reference in self.references.items():
            if reference and (reference.values or reference.axis or reference.minus):
                raise ValueError(f"references.{name}: has no values, axis or minus; remove them")
        for name, line in lines.items():
            if both := line.overlay.keys() & self.varied(line):
                raise ValueError(f"lines.{name}: {min(both)} is given by the axis")
            if (line.values or line.axis) and not self.axis:
                raise ValueError(f"lines.{name}.values: the study has no axis; remove them")
            if line.axis and self.axis in (TRAIN_SHARE, CHECKPOINT):
                raise ValueError(f"lines.{name}.axis: the table is along {self.axis}; remove it")
            if line.minus and (self.axis or line.minus not in {*whole_lines} - {name}):
                raise ValueError(
                    f"lines.{name}.minus: give another line of a study without an axis"
                )
        if self.skills and (self.axis != CHECKPOINT or len(self.lines) > 1):
            raise ValueError("skills: give them for one line along finetune.checkpoint")
        every = [value for line in lines.values() for value in line.values or ()]
        if self.axis == CHECKPOINT and None in [*self.values, *every]:
            raise ValueError("values: null is the last checkpoint; give its update")
        return self

    @property
    def titled(self) -> dict[str, Line | None]:
        """The references, then the lines, by title."""
        return self.references | self.lines

    def varied(self, line: Line) -> set[str]:
        """The keys that the axis gives a line, those of all its values."""
        if (axis := line.axis or self.axis) is None:
            return set()
        given = (flat({axis: value}) for value in line.values or self.values)
        return {axis}.union(*given)

    def part(self, title: str) -> str:
        """The key of a line within the study."""
        return f"{'references' if title in self.references else 'lines'}.{title}"

    def points(self) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """Every line at every value with its overlay, the references first.

        The value is None where a line has none, and where the axis is null.
        """
        for title, line in self.titled.items():
            if line:
                axis = None if title in self.references else line.axis or self.axis
                for value in (line.values or self.values) if axis else [None]:
                    yield title, value, line.overlay | (flat({axis: value}) if axis else {})


# Table 5 first, since the first study with a cell trains and samples it: else Table 5 and what
# reads the same cells would wait for all cells of another study.
StudyNames = Annotated[
    list[str],
    Field(min_length=1),
    unique,
    AfterValidator(lambda names: sorted(names, key=lambda name: name != "ablation")),
]


def liked(studies: Mapping[str, Study], study: str, title: str) -> Line | None:
    """The line that a line is `like`: another one of its study, else one of Table 5."""
    line = studies[study].titled[title]
    like = line.like if line else ""
    own = studies[study].titled.get(like) if like != title else None
    return own or (studies["ablation"].titled.get(like) if study != "ablation" else None)


def alike(studies: dict[str, Study]) -> dict[str, Study]:
    """The studies with the keys of what lines are `like` written out, and without `like`.

    A line that is like none, or like itself in the end, keeps its `like`, for `cross_checks`.
    """
    before: dict[str, Study] = {}
    while before != studies:
        before = studies
        studies = {name: _written_out(before, name) for name in before}
    return studies


def _written_out(studies: Mapping[str, Study], name: str) -> Study:
    """A study whose lines are like no line that itself is not like another."""
    study, parts = studies[name], dict[str, dict[str, Line | None]]()
    for title, line in study.titled.items():
        if line and line.like and (other := liked(studies, name, title)) and not other.like:
            varied = study.varied(line)  # whose values come over the other's
            keys = {k: of for k, of in other.overlay.items() if k not in varied}
            keys |= line.model_dump(exclude_unset=True, exclude={"like"})
            part = study.part(title).partition(".")[0]
            parts.setdefault(part, {**getattr(study, part)})[title] = Line.model_validate(keys)
    return study.model_copy(update=parts)


def like_faults(studies: Mapping[str, Study]) -> Iterator[str]:
    """Lines that are like no line, or else those that are like each other in a circle."""
    left = [
        (study, title, line.like)
        for study, entry in studies.items()
        for title, line in entry.titled.items()
        if line and line.like
    ]
    unknown = [of for of in left if not liked(studies, *of[:2])]
    for study, title, like in unknown or left:
        entry, why = studies[study], "is like others in a circle; give one of them its keys instead"
        if unknown:
            titles = entry.titled | studies["ablation"].titled
            known = {name for name, of in titles.items() if of} - {title}
            near = difflib.get_close_matches(like, known, n=1)
            remedy = f"did you mean {near[0]!r}?" if near else "give the title of one"
            why = f"is no other line of the study and none of Table 5; {remedy}"
            if like in titles and like != title:
                why = "is null in this config; give the line its keys instead"
        yield f"experiment.studies.{study}.{entry.part(title)}.like: {like!r} {why}"


OF_THE_PAPER = ("ablation", "layer_transfer")  # studies with tables of their own
PAPER = "Transformer w/ aux LM (full)"  # of Table 5; the other lines are compared with it
# The other lines of Table 5 for which the paper prints scores.
PRINTED = ("Transformer w/o pre-training", "Transformer w/o aux LM", "LSTM w/ aux LM")

FITTED_TITLE, VECTORS_TITLE = "Transformer from scratch, fitted", "Word vectors"
NOT_OF_TABLE_5 = ("axis", "values", "references", "skills")
UNPUBLISHED = {ARCH, "experiment.finetune.embeddings"}  # an LSTM, and the books of word vectors


@functools.cache
def shipped(has_lstm: bool) -> dict[str, Any]:
    """The two studies of the paper, as a config gives them; published weights have no LSTM."""
    path = Path(__file__).with_name("studies.yaml")
    studies = dotted_lines(yaml.safe_load(path.read_text(encoding="utf-8")))
    for lines in () if has_lstm else [study["lines"] for study in studies.values()]:
        lines |= dict.fromkeys(title for title, line in lines.items() if UNPUBLISHED & line.keys())
    return studies


def not_of_table_5(study: Study) -> Iterator[str]:
    """What other studies may have or change, but not Table 5."""
    given = {key: getattr(study, key) for key in NOT_OF_TABLE_5}
    given |= {f"lines.{title}.minus": line.minus for title, line in study.lines.items() if line}
    for key in (key for key, value in given.items() if value):
        why = f"Table 5 compares each line with {PAPER!r}"
        yield f"{key}: {why}; remove it, or give it in a study of another name"
    if study.tasks:
        yield "tasks: Table 5 has all tasks; give experiment.only"
    if (first := study.lines.get(PAPER)) is None or first.overlay:
        why = f"the others are compared with {PAPER!r}, which is the config itself"
        yield f"lines: {why}; keep it as it is"
    for title in PRINTED:
        keys = shipped(has_lstm=True)["ablation"]["lines"][title]
        if (line := study.lines.get(title)) and line.overlay != Line.model_validate(keys).overlay:
            remedy = "keep it as it is, or give null and a line of another title"
            yield f"lines.{title}: the paper's scores of it stand beside it; {remedy}"


def not_of_figure_2(study: Study, archs: Iterable[Arch]) -> Iterator[str]:
    """What other studies may have, but not Figure 2 (left); its points have these `archs`."""
    own = {f"lines.{title}.axis": of.axis for title, of in study.lines.items() if of and of.axis}
    for key, axis in ({"axis": study.axis} | own).items():
        if axis != N_TRANSFER:
            why = f"{axis or 'null'}, but Figure 2 is drawn along n_transfer"
            yield f"{key}: {why}; give that, or a study of another name"
    if {*archs} == {"lstm"}:
        yield "lines: none is a transformer; keep one, or take it out of all"
