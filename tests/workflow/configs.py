"""Configs for the tests, made from those that the project ships."""

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from gpt1.cell import WEIGHT_FILES
from gpt1.text.vocabulary import PUBLISHED_FILES
from tasks.splits import choose_splits
from tests.workflow.running import ROOT
from workflow import results_folder
from workflow.configuration.model import Config
from workflow.configuration.paths import data_sets, missing_data, named_files
from workflow.configuration.read import ConfigError, merge, parse
from workflow.plan import Plan
from workflow.studies import run_faults

UNLABELLED = ("test.tsv", "test_matched.tsv", "test_mismatched.tsv")
NAMES = ("world", "quick", "smoke", "novels", "novels_night", "gpu", "paper", "laptop")


def shipped(name: str = "world") -> dict[str, Any]:
    """A config of `workflow/config`, as its file states it."""
    path = ROOT / "workflow" / "config" / f"{name}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def full() -> dict[str, Any]:
    """The default with all negative controls, as two files give it."""
    return merge(shipped(), shipped("world_full"))


def complete(name: str = "world") -> Config:
    """A config of `workflow/config` with every default."""
    return parse(shipped(name))


def one_study(base: Any = None, **entry: Any) -> Plan:
    """The lines of a config, the default one, with one study, `mine`, of RTE."""
    study = {"heading": "Mine", "tasks": ["rte"], **entry}
    return Plan(parse(changed(base or shipped(), "experiment.studies", {"mine": study})))


def small() -> dict[str, Any]:
    """The default config cut down to two tasks and few layers, so that a dry run is quick."""
    config = shipped()
    experiment = config["experiment"]
    experiment["tasks"] = {"rte": {}, "cola": {}}
    experiment["studies"]["layer_transfer"] = {"values": ["none", 0, 5, 9, 12]}
    experiment["studies"].pop("ablation")
    experiment["seeds"] = {"pretrain": [0, 1], "finetune": [0, 1]}
    experiment["zero_shot"] = {"tasks": {"cola": {}}}
    experiment["pretrain"] |= {"updates": 3000, "checkpoints": 3}
    return config


def faults(config: dict[str, Any]) -> list[str]:
    """Every fault of a config, one line each; empty if it is valid and its data is there."""
    try:
        found = parse(config)
        own = run_faults(Plan(found))
        missing = missing_data(found, [*data_sets(found), *named_files(found)])
        return [*results_folder.faults(found), *own, *missing]
    except ConfigError as error:
        return error.faults


def changed(config: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy with the key at the dotted `path` set; the value `...` removes it."""
    config = copy.deepcopy(config)
    *sections, key = path.split(".")
    section = config
    for name in sections:
        section = section.setdefault(name, {})
    if value is ...:
        del section[key]
    else:
        section[key] = value
    return config


def raw_data(folder: Path, config: dict[str, Any]) -> None:
    """Empty files where `config` looks for raw data under `folder`."""
    found = parse(config | {"data": str(folder)})
    for name, data_set in data_sets(found).items():
        if not data_set.entry.source:
            unlabelled = UNLABELLED if found.experiment.submission else ()
            splits = ["train.txt"] if name == "corpus" else split_files(found, name)
            write_empty(Path(data_set.folder), (*splits, *unlabelled))
    if found.experiment.tokenizer.folder:
        write_empty(folder / found.experiment.tokenizer.folder, PUBLISHED_FILES)
    if found.experiment.cloze:
        write_empty(folder, (found.experiment.cloze,))
    if found.experiment.pretrained:
        write_empty(folder / found.experiment.pretrained.path, WEIGHT_FILES)


def split_files(config: Config, name: str) -> list[str]:
    """A file name for each official split that a task reads."""
    task = config.experiment.task(name)
    layout, roles = task.layouts[0], choose_splits(task, config.prepare(name))
    return [layout.pattern(split).replace("*", "x") for split in roles.files.values()]


def write_empty(folder: Path, names: Iterable[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
