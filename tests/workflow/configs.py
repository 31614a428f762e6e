"""Configs for the tests, made from those that the project ships."""

import copy
from pathlib import Path
from typing import Any

import yaml

from workflow.plan import PUBLISHED_BPE, WEIGHTS

ROOT = Path(__file__).resolve().parent.parent.parent
HIDDEN = ("test.tsv", "test_matched.tsv", "test_mismatched.tsv")
NAMES = ("world", "smoke", "novels", "paper", "published")


def shipped(name: str = "world") -> dict[str, Any]:
    """A config of `workflow/config`."""
    path = ROOT / "workflow" / "config" / f"{name}.yaml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def small() -> dict[str, Any]:
    """The default config cut down to two tasks and few layers, so that a dry run is quick."""
    config = shipped()
    experiment = config["experiment"]
    experiment["tasks"] = {name: experiment["tasks"][name] for name in ("rte", "cola")}
    experiment["grid"]["layers"] = {"transformer": ["none", 0, 5, 9, 12], "lstm": ["none", 0, 1]}
    experiment["zero_shot"]["tasks"] = {"cola": {}}
    experiment["zero_shot"]["normalise"] = {"cola": {"random": 0, "best": 35.0}}
    experiment["pretrain"]["checkpoints"] = 3
    return config


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


def without_lstm(config: dict[str, Any]) -> dict[str, Any]:
    """A copy whose grid has no LSTM, and none of its keys."""
    config = changed(config, "experiment.grid.arch", ["transformer"])
    experiment = config["experiment"]
    rates = [section["lr"] for section in experiment["tasks"].values() if "lr" in section]
    rates += [experiment[name]["lr"] for name in ("pretrain", "finetune") if name in experiment]
    for section in (experiment["model"], experiment["grid"]["layers"], *rates):
        section.pop("lstm", None)
    return config


def raw_data(folder: Path, config: dict[str, Any]) -> None:
    """Empty files where `config` looks for raw data under `folder`."""
    experiment = config["experiment"]
    tasks = [*experiment["tasks"].values(), *experiment["zero_shot"]["tasks"].values()]
    for entry in (experiment.get("corpus", {}), experiment["tokenizer"], *tasks):
        if "folder" in entry:
            (folder / entry["folder"]).mkdir(parents=True, exist_ok=True)
            for name in ("train.txt", *(HIDDEN if experiment["submission"] else ())):
                (folder / entry["folder"] / name).write_text("")
    for name in PUBLISHED_BPE if "folder" in experiment["tokenizer"] else ():
        (folder / experiment["tokenizer"]["folder"] / name).write_text("")
    if "pretrained" in experiment:
        pretrained = experiment["pretrained"]
        for name in WEIGHTS[pretrained["format"]]:
            path = folder / pretrained["path"] / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
