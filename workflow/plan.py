"""Overlays of the config: what a variant changes, what it is called, and where its files lie.

An overlay maps dotted keys of the config to values: {"experiment.finetune.lm_coef": 0.25}. Its
name states the differences, `finetune.lm_coef-0.25`, and is part of the names of its cells. The
files that the cells are made from (world, books, tokens, language models) lie below
`results/variants/NAME/`, laid out like the results; NAME is that of the variant with only the keys
that they depend on. So those that differ only in fine-tuning share a language model: the run's own,
if they change nothing that it depends on.

Light, because the Snakefile plans with it at every start.
"""

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from gpt1.cell import UNCHANGED, Arch, home
from tasks.settings import OwnTask
from workflow.configuration.checks import model_faults
from workflow.configuration.model import Config
from workflow.configuration.read import ConfigError, refuse, validated
from workflow.configuration.sections import TaskEntry, TaskRows
from workflow.configuration.studies import ARCH, LM_COEF, N_TRANSFER, READ_LAYER, flat, merge
from workflow.grid import Grid, Point, StudyPlan, Variant, ZeroShot

Overlay = Mapping[str, Any]  # by dotted key, in any order

LONGEST = 160  # characters in a name; file systems allow 255
_BOOKS = ("data", "experiment.world", "experiment.corpus")
# The keys that each stage's files depend on; a key stands for all keys below it.
STAGES = {
    "world": ("data", "experiment.world"),
    "tasks": (
        *("data", "experiment.world", "experiment.tasks", "experiment.zero_shot.tasks"),
        *("experiment.finetune.select_fraction", "experiment.finetune.select_seed"),
    ),
    "tokenizer": (*_BOOKS, "experiment.tokenizer"),
    "books": _BOOKS,
    "tokens": (*_BOOKS, "experiment.tokenizer", "experiment.pretrain.shuffled"),
    "model": (
        *(*_BOOKS, "experiment.tokenizer", "experiment.model", "experiment.optimizer"),
        *("experiment.pretrain", "experiment.pretrained"),
    ),
}
STAGES["encoded"] = (*STAGES["tasks"], *STAGES["tokenizer"])
# Keys that change only the books: the world's tasks stay as they are, and so does the vocabulary,
# which is learnt from the run's own books.
OF_BOOKS_ALONE = tuple(
    f"experiment.world.{key}" for key in ("book_degrees", "discourse", "exclude")
)

# Keys of a task's entry that affect only its training, not its rows.
OF_TRAINING = set(TaskEntry.model_fields) - {*TaskRows.model_fields, *OwnTask.model_fields}
# Keys that make a variant a negative control, unless the value is word vectors.
CONTROLS = {"experiment.pretrain.shuffled", "experiment.finetune.embeddings"}


def nested(overlay: Overlay) -> dict[str, Any]:
    """An overlay as nested sections, as in a config file.

    Raises ConfigError if a key lies below one that is given as a whole, such as null.
    """
    sections: dict[str, Any] = {}
    for key, value in overlay.items():
        *path, last = key.split(".")
        section = sections
        for part in path:
            section = section.setdefault(part, {})
            if not isinstance(section, dict):
                raise ConfigError([f"{key}: the section {part} is given as well; remove one"])
        section[last] = value
    return sections


def cut(overlay: Overlay, stage: str) -> dict[str, Any]:
    """The part of an overlay that a stage's files depend on."""

    def is_below(key: str, sections: tuple[str, ...]) -> bool:
        return any(f"{key}.".startswith(f"{section}.") for section in sections)

    spared = OF_BOOKS_ALONE if stage in ("tasks", "tokenizer", "encoded") else ()
    return {
        key: value
        for key, value in overlay.items()
        if is_below(key, STAGES[stage]) and not is_below(key, spared) and not _trains(key)
    }


def _trains(key: str) -> bool:
    """Whether a key sets how a single task is trained, such as `tasks.rte.epochs`."""
    path = key.split(".")
    return path[:2] == ["experiment", "tasks"] and not OF_TRAINING.isdisjoint(path[3:4])


def name(overlay: Overlay) -> str:
    """`KEY-VALUE` of each key, joined by `+`; `full` if there is none.

    A name that is too long, or has characters that do not belong in a path, is shortened or cleaned
    and ends in a digest.
    """
    parts = (f"{key.removeprefix('experiment.')}-{_text(overlay[key])}" for key in sorted(overlay))
    whole = "+".join(parts)
    plain = re.sub(r"[^\w.+-]+", "-", whole) or UNCHANGED
    if plain in (whole, UNCHANGED) and len(plain) <= LONGEST:
        return plain
    return f"{plain[:LONGEST]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ".".join(map(_text, value))
    if isinstance(value, float):
        value += 0.0  # -0.0 is 0
    return value if isinstance(value, str) else json.dumps(value).removesuffix(".0")


class Plan:
    """The variants of a run, of its studies and of its files, by name.

    `full` is the run itself. Raises ConfigError, with a line for each fault, if an overlay does not
    give a valid config.
    """

    def __init__(self, base: Config):
        self.base = base
        values = base.model_dump(mode="json", exclude={"experiment": {"studies", "keep", "all"}})
        values["experiment"]["submission"] = False
        self._values, self._flat = values, flat(values)
        self.overlays: dict[str, Overlay] = {UNCHANGED: {}}
        faults: dict[str, None] = {}
        for study, entry in base.experiment.studies.items():
            for title, _, given in entry.points():
                try:
                    variant = self._add(self.effective(given))
                    own = self.config(variant).experiment
                    if own.pretrain is own.pretrained is None:
                        refuse(model_faults(own))
                except ConfigError as error:
                    for fault in error.faults:
                        key = f"{fault.partition(':')[0]}."
                        part = "axis" if key.startswith(f"{entry.axis}.") else entry.part(title)
                        faults[f"experiment.studies.{study}.{part}: {fault}"] = None
        refuse(faults)

    def _add(self, overlay: Overlay) -> str:
        """Add the variant of an overlay, and those that its stages' files belong to; its name."""
        if (variant := name(overlay)) not in self.overlays:
            self.overlays[variant] = overlay
            for stage in STAGES:
                self._add(cut(overlay, stage))
        elif self.overlays[variant] != overlay:  # such as 1 and ["1"]
            raise ConfigError(
                [f"{min(overlay)}: {variant} has another value already; give both alike"]
            )
        return variant

    def effective(self, overlay: Overlay) -> Overlay:
        """An overlay without the keys that have the same value in the run."""
        arch = overlay.get(ARCH, self.base.experiment.arch)
        depth = f"experiment.model.{arch}.n_layer"
        n_layer = overlay.get(depth, self._flat.get(depth))
        every = {N_TRANSFER: "all"} | ({READ_LAYER: "top"} if arch == "transformer" else {})
        whole = {
            key: every[key] if key in every and value == n_layer else value
            for key, value in overlay.items()
        }
        base = self._flat | self._given_way(overlay)
        return {
            key: value
            for key, value in whole.items()
            if (key not in base or base[key] != value or self._given_way([key]))
            and not (value == {} and any(known.startswith(f"{key}.") for known in base))
        }

    def named(self, overlay: Overlay) -> str:
        """The name of the variant with an overlay."""
        return name(self.effective(overlay))

    def _given_way(self, keys: Iterable[str]) -> dict[str, None]:
        """Nulls for the tasks' own values of keys that are set for all tasks, such as epochs.

        Within a config a task's own value takes precedence. A variant's value for all tasks takes
        precedence over the config's values for single tasks, or it would have no effect.
        """
        tasks, prefix = self.base.experiment.tasks, "experiment.finetune."
        common = [key.removeprefix(prefix) for key in keys if key.startswith(prefix)]
        of_tasks = [f"experiment.tasks.{task}.{key}" for task in tasks for key in common]
        return {key: None for key in of_tasks if self._flat.get(key) is not None}

    @functools.cache  # noqa: B019  (it lives as long as the run's config)
    def config(self, variant: str) -> Config:
        """The config of a variant, with the variant's folder as `results`."""
        if variant == UNCHANGED:
            return self.base
        overlay, folder = self.overlays[variant], home(self.base.results, variant).as_posix()
        values = merge(merge(self._values, nested(self._given_way(overlay))), nested(overlay))
        return validated(values).model_copy(update={"results": folder})

    def at(self, variant: str, stage: str) -> str:
        """The variant whose folder has a stage's files: the one with only the keys that matter."""
        return name(cut(self.overlays[variant], stage))

    def reading(self, variant: str) -> Config:
        """The config of a variant, with the folder of the world that it reads as `results`."""
        world = self.config(self.at(variant, "world"))
        return self.config(variant).model_copy(update={"results": world.results})

    def by_updates(self) -> dict[tuple[int, ...], list[str]]:
        """The run, then the variants that pre-train, grouped by the updates with a checkpoint."""
        variants: dict[tuple[int, ...], list[str]] = {}
        for variant in self.names("model"):
            variants.setdefault(tuple(self.config(variant).updates()), []).append(variant)
        return variants

    def names(self, stage: str) -> list[str]:
        """The run itself and the variants that have their own files of a stage."""
        found = {self.at(variant, stage) for variant in self.overlays}
        return sorted(found, key=lambda name: (name != UNCHANGED, name))

    # --- what the analysis knows ---

    @functools.cache  # noqa: B019
    def variant(self, name: str) -> Variant:
        """A variant as the analysis knows it; `full` is the full model."""
        config = self.config(name)
        experiment = config.experiment
        return Variant(
            name=name,
            arch=experiment.arch,
            n_transfer=config.n_transfer(),
            n_layer=config.n_layer(experiment.arch),
            aux="on" if experiment.finetune.lm_coef else "off",
            corpus=config.read(),
            model=self.at(name, "model"),
            update=config.checkpoint(),
            pretrain=experiment.seeds.sources(),
            plain=_is_plain(self.overlays[name]),
        )

    def study(self, name: str) -> StudyPlan:
        """A study with its cells."""
        entry = self.base.experiment.studies[name]
        tasks = entry.tasks or list(self.base.experiment.tasks)
        order, points = [str(value) for value in entry.values], []
        ranks: dict[str, int] = {}  # of values: the study's own come first
        for title, value, overlay in entry.points():
            variant, given = self.variant(self.named(overlay)), entry.lines.get(title)
            axis, minus = (given.axis or entry.axis or "", given.minus) if given else ("", "")
            shown = variant.n_transfer if axis == N_TRANSFER else value
            if isinstance(shown, dict) and shown:
                shown = ", ".join(f"{key} {part}" for key, part in flat(shown).items())
            text = str("null" if shown is None else shown) if axis else ""
            if axis:
                ranks.setdefault(text, [*order, str(value)].index(str(value)))
            points.append(
                Point(line=title, axis=_axis_name(axis), value=text, variant=variant, minus=minus)
            )
        return StudyPlan(
            title=entry.heading or name,
            axis=_axis_name(entry.axis or ""),
            order=sorted(ranks, key=ranks.__getitem__),
            tasks=tasks,
            own=self._own(tasks),
            references=[title for title, line in entry.references.items() if line],
            points=points,
            expected=entry.expected,
            skills=entry.skills,
            seeds=self.config(points[0].variant.name).experiment.seeds.finetune,
        )

    def _own(self, names: Iterable[str]) -> dict[str, OwnTask]:
        own = self.base.experiment.own_tasks
        return {name: own[name] for name in names if name in own}

    def grid(self) -> Grid:
        """The run as the rules and the analysis know it."""
        experiment = self.base.experiment
        studies = {study: self.study(study) for study in experiment.all}
        archs = dict.fromkeys(p.variant.arch for study in studies.values() for p in study.points)
        scores = experiment.zero_shot_scores
        return Grid(
            studies=studies,
            tasks=list(experiment.tasks),
            own=experiment.own_tasks,
            seeds=experiment.seeds,
            examples=list(self.base.examples()),
            updates=self.base.updates(),
            margins=experiment.margins,
            n_ctx=experiment.model.n_ctx,
            zero_shot=ZeroShot(tasks=list(scores), own=self._own(scores), normalise=scores),
            unlabelled=self.base.unlabelled(),
            synthetic=[t for t, e in self.base.examples().items() if self.base.is_synthetic(e)],
            has_corpus=experiment.pretrained is None,
            scale=self.base.scale(archs),
        )


def _is_plain(overlay: Overlay) -> bool:
    """Whether an overlay changes only what the paper's ablations and the controls change."""
    is_control = overlay.keys() & CONTROLS
    of_controls = {*CONTROLS, "experiment.seeds.pretrain"} if is_control else set()
    return not overlay.get(LM_COEF) and overlay.keys() <= {ARCH, N_TRANSFER, LM_COEF, *of_controls}


def _axis_name(key: str) -> str:
    """The last part of a key, or the last two if the last is an architecture: `lr.transformer`."""
    parts = key.split(".")
    return ".".join(parts[-2:] if parts[-1] in get_args(Arch) else parts[-1:])
