"""What no single key of a study can tell: whether its cells can be made under this config.

Checked when a study, or a cell by its path, is asked for, so that a run of fewer tasks or updates,
which asks for none, may keep the studies in its config.
"""

from collections.abc import Iterator

from gpt1.settings import TransformerShape
from gpt1.variant import Variant
from workflow import books
from workflow.config_studies import Change
from workflow.configuration.model import Config


def study_faults(config: Config, name: str) -> Iterator[str]:
    """The faults of one of the config's studies, one line each."""
    study, key = config.experiment.studies[name], f"experiment.studies.{name}"
    for task in study.tasks:
        if task not in config.experiment.tasks:
            yield f"{key}.tasks: {task} is not in experiment.tasks; add it there, or remove it"
    for line, value, change in study.points():
        place = f"{key}.beside.{line}" if line in study.beside else f"{key}.lines.{line}"
        at = "" if value is None else f" at {study.axis} {value}"
        faults = change_faults(config, change, study.tasks)
        yield from (f"{place}{at}: {fault}" for fault in faults)
    yield from (f"{key}: {fault}" for fault in books.planted_faults(study))


def change_faults(config: Config, change: Change, tasks: list[str]) -> Iterator[str]:
    """Why the cells of a change cannot be made on some tasks, one line each."""
    yield from _faults(config, change)
    if change.together:
        yield from _faults_together(config, change, tasks)


def _faults(config: Config, change: Change) -> Iterator[str]:
    experiment = config.experiment
    if change.arch not in experiment.grid.arch:
        yield f"{change.arch} is not in experiment.grid.arch; add it there, or give another arch"
        return
    shape = config.model(change.arch).shape
    n_layer = change.n_layer or shape.n_layer
    for key in ("n_transfer", "left_out", "read_layer"):
        layer = getattr(change, key)
        if isinstance(layer, int) and layer > n_layer:
            yield f"{key} {layer}, but the model has {n_layer} layers; give at most {n_layer}"
    if change.update is not None and change.update not in config.updates():
        kept = ", ".join(map(str, config.updates()))
        yield f"update {change.update} has no checkpoint; give one of {kept}"
    is_transformer = isinstance(shape, TransformerShape)
    if change.n_hidden and is_transformer:
        yield "n_hidden is the LSTM's; remove it, or give arch: lstm"
    if change.read_layer != "top" and not is_transformer:
        yield "read_layer is the transformer's; remove it"
    if change.block == "modern" and not is_transformer:
        yield "block is the transformer's; remove it"
    d_head = shape.n_embd // shape.n_head if isinstance(shape, TransformerShape) else 0
    if change.block == "modern" and d_head % 2:
        yield f"modern blocks need heads of an even width, not {d_head}; change n_embd or n_head"
    if (change.n_hidden or change.n_layer or change.block != "gpt1") and experiment.pretrained:
        yield "no other model can be pre-trained, experiment.pretrained gives the weights"
    if change.frozen and (change.aux == "on" and change.lm_coef != 0):
        yield 'a frozen model has no auxiliary loss; give aux: "off"'
    if change.aux == "off" and change.lm_coef:
        yield f'lm_coef {change.lm_coef:g} has no effect with aux "off"; remove one of them'
    if change.prompted and (change.aux == "on" or change.n_transfer not in ("all", n_layer)):
        yield 'prompted trains and copies nothing; give aux: "off" and no n_transfer'
    if change.books:
        yield from books.faults(config, change)


def _faults_together(config: Config, change: Change, tasks: list[str]) -> Iterator[str]:
    for task in tasks:
        if task not in change.together:
            yield f"together leaves out {task}; add it, or remove it from the study's tasks"
    missing = [task for task in change.together if task not in config.experiment.tasks]
    for task in missing:
        yield f"together: {task} is not in experiment.tasks; add it there, or remove it"
    if change.layer_decay < 1 or change.gradual_unfreezing:
        yield "together has one rate for all layers; remove layer_decay and gradual_unfreezing"
    if change.prompted:
        yield "together trains, prompted does not; remove one of them"
    if change.books:
        yield "together trains from the run's own books; remove without and planted"
    variant = Variant(lr=change.lr)
    present = [task for task in change.together if task not in missing]
    given = [config.finetune(change.arch, task, "on", variant) for task in present]
    if len({settings.lr for settings in given}) > 1:
        yield "the tasks that are trained together have different learning rates; give lr"
