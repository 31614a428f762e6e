"""Which part of the config goes to which program, so that a change reruns what depends on it alone.

Each function returns what one program is given as `--settings`, a JSON object. What decides no
result (`runtime`) is in none of them: the programs find it in `--runtime`.
"""

from typing import Any

from workflow import plan

Config = dict[str, Any]

PREPARE = ("limit_train", "limit_report", "train_from", "report_on", "min_rows")
FINETUNE = ("epochs", "batch", "warmup", "dropout", "eval_train")
RUNTIME = ("device", "precision", "micro_batch", "skip_pads", "compile")
GRID = ("arch", "aux", "layers", "n_layer", "tasks", "seeds")
TABLES = {
    "cells": GRID,
    "main": (*GRID, "clean"),
    "ablation": GRID,
    "layer_transfer": GRID,
    "zero_shot": ("arch", "updates", "zero_shot"),
    "pretraining": ("arch", "updates"),
    "contamination": (*GRID, "examples"),
}
OF_A_CORPUS = ("pretraining", "contamination")
FIGURES = ("layer_transfer", "zero_shot", "ablation", "pretraining")


def runtime(config: Config, stage: str) -> Config:
    """What may change a program's speed and nothing else; `stage` is `pretrain` or `finetune`."""
    section = config["runtime"]
    return {"threads": section[f"{stage}_threads"], **{key: section[key] for key in RUNTIME}}


def limits(config: Config, stage: str) -> Config:
    """What a job of `pretrain` or `finetune` asks a cluster for: `mem_mb` and `minutes`."""
    return {key: config["runtime"][key][stage] for key in ("mem_mb", "minutes")}


def world(config: Config) -> Config:
    """For `tasks.world`: the embedded world's seed and sizes."""
    return config["experiment"]["world"]


def prepare(config: Config, task: str) -> Config:
    """For `tasks.prepare`: how one task's rows are split and limited; the world's are made."""
    finetune = config["experiment"]["finetune"]
    entry = plan.example_tasks(config)[task]
    return {
        "source": entry.get("source", "folder"),
        "revision": entry.get("revision"),
        "published": config["data"] is not None or entry.get("source") == "hub",
        "seed": finetune["select_seed"],
        "select_fraction": finetune["select_fraction"],
        **{key: entry.get(key) for key in PREPARE},
    }


def hidden(config: Config, task: str) -> str:
    """For `tasks.hidden`: the options that tell where a task's rows come from, and how many.

    Neither the world's rows nor those of a stated subset are the official ones.
    """
    entry = plan.example_tasks(config)[task]
    options = [f"--source {entry.get('source', 'folder')}"]
    options += [f"--revision {entry['revision']}"] if entry.get("revision") else []
    published = config["data"] is not None or "source" in entry
    options += ["--published"] if published and not entry.get("min_rows") else []
    return " ".join(options)


def clean(config: Config) -> Config:
    """For `gpt1.corpus clean`: where the books come from, and which are held out."""
    corpus = config["experiment"]["corpus"]
    of_the_hub = {key: corpus[key] for key in ("revision", "min_rows") if key in corpus}
    return {"heldout": corpus["heldout"], "source": corpus.get("source", "folder"), **of_the_hub}


def model(config: Config, arch: str) -> Config:
    """The model of one architecture."""
    section = config["experiment"]["model"]
    common = {key: value for key, value in section.items() if key not in ("transformer", "lstm")}
    return {**common, "shape": section[arch]}


def pretrain(config: Config, arch: str) -> Config:
    """For `gpt1.pretrain`: model, optimizer and schedule of one architecture."""
    section = config["experiment"]["pretrain"]
    return {
        "model": model(config, arch),
        "optimizer": config["experiment"]["optimizer"],
        "pretrain": {**section, "lr": section["lr"][arch], "checkpoints": checkpoints(config)},
    }


def pretrained(config: Config) -> Config:
    """For `gpt1.convert import`: the model that published weights must fit."""
    return {"model": model(config, "transformer")}


def finetune(config: Config, arch: str, task: str, aux: str) -> Config:
    """For `gpt1.cells`: how the cells of one (arch, task, aux) are trained.

    A task's own `epochs`, `batch`, `lr` or `lm_coef` stands before the common one. Without the
    auxiliary loss `lm_coef` is 0.
    """
    experiment = config["experiment"]
    section = {**experiment["finetune"], **experiment["tasks"][task]}
    return {
        "model": model(config, arch),
        "optimizer": experiment["optimizer"],
        "finetune": {
            **{key: section[key] for key in FINETUNE},
            "lr": section["lr"][arch],
            "lm_coef": section["lm_coef"] if aux == "on" else 0.0,
        },
    }


def zero_shot(config: Config, arch: str) -> Config:
    """For `gpt1.zero_shot`: how many rows are scored, and the values that normalise the scores."""
    section = config["experiment"]["zero_shot"]
    return {
        "model": model(config, arch),
        "zero_shot": {"limit": section["limit"], "normalise": section["normalise"]},
    }


def checkpoints(config: Config) -> list[int]:
    """The updates of which there is a checkpoint; the last is what is fine-tuned."""
    if "pretrained" in config["experiment"]:
        return [config["experiment"]["pretrained"]["updates"]]
    section = config["experiment"]["pretrain"]
    return plan.checkpoint_updates(section["updates"], section["checkpoints"])


def analysis_settings(config: Config) -> Config:
    """The grid as the tables and figures need to know it."""
    experiment = config["experiment"]
    arch = experiment["grid"]["arch"]
    return {
        "arch": arch,
        "aux": experiment["grid"]["aux"],
        "layers": {name: plan.layers(config, name) for name in arch},
        "n_layer": {name: plan.n_layer(config, name) for name in arch},
        "tasks": list(experiment["tasks"]),
        "seeds": experiment["seeds"],
        "updates": checkpoints(config),
        "examples": list(plan.example_tasks(config)),
        "clean": "pretrain" in experiment,
        "zero_shot": {
            "tasks": list(experiment["zero_shot"]["tasks"]),
            "normalise": experiment["zero_shot"]["normalise"],
        },
    }


def cards(config: Config) -> Config:
    """For `workflow.analysis.cards`: every task whose examples are read, and the window."""
    return {
        "tasks": list(plan.example_tasks(config)),
        "n_ctx": config["experiment"]["model"]["n_ctx"],
    }


def tables(config: Config) -> list[str]:
    """The tables that are made; published weights tell nothing of what they were trained on."""
    trained = "pretrain" in config["experiment"]
    return [name for name in TABLES if trained or name not in OF_A_CORPUS]


def submission(config: Config) -> Config:
    """For `workflow.analysis.submission`: the cells that are handed in."""
    settings = analysis_settings(config)
    grid = {key: settings[key] for key in GRID}
    return {**grid, "aux": ["on"], "tasks": plan.hidden_tasks(config)}


def table(config: Config, name: str) -> Config:
    """For `workflow.analysis.NAME` and its figure: the part of the grid that they show."""
    settings = analysis_settings(config)
    return {key: settings[key] for key in TABLES[name]}
