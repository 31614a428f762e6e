"""What a schema cannot say of a config: keys that must fit each other, data that must be there.

Each fault is one line: the key's path, what was found, what to do. `workflow.check` asks.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks import catalogue, hidden
from workflow import plan


def misfits(config: dict[str, Any]) -> Iterator[str]:
    """Keys that do not fit each other."""
    experiment = config["experiment"]
    if "pretrained" in experiment:
        yield from _pretrained_misfits(experiment)
    else:
        yield from _pretrain_misfits(experiment)
    shape = experiment["model"]["transformer"]
    if shape["n_embd"] % shape["n_head"]:
        yield (
            f"experiment.model.transformer.n_embd: {shape['n_embd']} is not divisible by "
            f"n_head {shape['n_head']}; change one of them"
        )
    yield from _lstm_misfits(experiment)
    for arch in experiment["model"].keys() & {"transformer", "lstm"}:
        most = plan.n_layer(config, arch)
        for layer in experiment["grid"]["layers"].get(arch, []):
            if layer != "none" and layer > most:
                yield (
                    f"experiment.grid.layers.{arch}: {layer} layers cannot be transferred, the "
                    f"model has {most}; give none or 0 to {most}"
                )
    for task, entry in experiment["tasks"].items():
        if entry.get("train_from") and entry["train_from"] in (entry.get("report_on") or []):
            yield (
                f"experiment.tasks.{task}.report_on: {entry['train_from']} is trained on "
                "(train_from); report another split"
            )
    yield from _zero_shot_misfits(experiment)
    yield from _submission_misfits(config)
    yield from _source_misfits(config)


def _source_misfits(config: dict[str, Any]) -> Iterator[str]:
    """A data set comes from a folder or from the hub, and from the hub at a commit."""
    by_folder = any("folder" in entry for _, entry in plan.entries(config).values())
    if "world" in config["experiment"] and not by_folder:
        yield "experiment.world: no effect, no data set is taken from a folder; remove it"
    for key, (name, entry) in plan.entries(config).items():
        hub = "{source: wikitext103}" if key == "experiment.corpus" else "{source: hub}"
        if "folder" in entry and "source" in entry:
            yield f"{key}: both folder and source are given; remove one of them"
        elif "folder" not in entry and "source" not in entry:
            yield f"{key}: neither folder nor source is given; give {{folder: NAME}} or {hub}"
        elif "source" not in entry and "revision" in entry:
            yield f"{key}.revision: no effect on a folder; remove it, or give {hub} instead"
        elif "source" in entry and (wrong := catalogue.fault(name, entry.get("revision"))):
            yield f"{key}.source: {wrong}"
        if "min_rows" in entry and "source" not in entry and key == "experiment.corpus":
            yield f"{key}.min_rows: no effect on a folder of books, which has any number; remove it"
        elif "min_rows" in entry and "source" not in entry and "world" in config["experiment"]:
            yield f"{key}.min_rows: no effect on the embedded world, whose rows are made; remove it"


def _lstm_misfits(experiment: dict[str, Any]) -> Iterator[str]:
    """The LSTM's keys stand where the grid has an LSTM, and nowhere else."""
    sections = {
        "model": experiment["model"],
        "pretrain.lr": experiment.get("pretrain", {}).get("lr"),
        "finetune.lr": experiment["finetune"]["lr"],
        "grid.layers": experiment["grid"]["layers"],
        **{f"tasks.{task}.lr": entry.get("lr") for task, entry in experiment["tasks"].items()},
    }
    wanted = "lstm" in experiment["grid"]["arch"]
    if "pretrained" in experiment:
        if wanted:  # told already
            return
        del sections["pretrain.lr"]
    for path, section in sections.items():
        if section and ("lstm" in section) != wanted:
            yield f"experiment.{path}.lstm: " + (
                "missing, experiment.grid.arch has lstm; give it as for the transformer"
                if wanted
                else "no effect, experiment.grid.arch has no lstm; remove it"
            )


def _pretrain_misfits(experiment: dict[str, Any]) -> Iterator[str]:
    books, heldout = experiment.get("world", {}).get("books"), experiment["corpus"]["heldout"]
    if books and "folder" in experiment["corpus"] and isinstance(heldout, int) and heldout >= books:
        yield (
            f"experiment.corpus.heldout: {heldout} of {books} books leave none to train on; "
            "give fewer"
        )
    source = experiment["corpus"].get("source")
    official = catalogue.entry(source).heldout if source else None
    if bool(official) != (heldout == "official"):
        yield f"experiment.corpus.heldout: {heldout!r} does not fit; " + (
            f"what the publisher of {source} set apart is held out: give official"
            if official
            else "no publisher set anything apart here: give a number"
        )
    pretrain = experiment["pretrain"]
    if pretrain["warmup"] >= pretrain["updates"]:
        yield (
            f"experiment.pretrain.warmup: {pretrain['warmup']} updates of warm-up leave none of "
            f"{pretrain['updates']}; give fewer than experiment.pretrain.updates"
        )


def _pretrained_misfits(experiment: dict[str, Any]) -> Iterator[str]:
    """What has no place beside published weights."""
    for key in ("corpus", "pretrain"):
        if key in experiment:
            yield (
                f"experiment.{key}: no effect, experiment.pretrained gives published weights; "
                "remove one of them"
            )
    if "merges" in experiment["tokenizer"]:
        yield (
            "experiment.tokenizer.merges: published weights have a vocabulary already; give "
            "{folder: NAME}, the folder that holds it"
        )
    for arch in experiment["grid"]["arch"]:
        if arch != "transformer":
            yield (
                f"experiment.grid.arch: {arch} cannot start from experiment.pretrained; "
                "give [transformer]"
            )


def _submission_misfits(config: dict[str, Any]) -> Iterator[str]:
    """The hand-in is of the fully transferred transformer with the auxiliary loss."""
    grid, most = config["experiment"]["grid"], plan.n_layer(config, "transformer")
    if not config["experiment"]["submission"]:
        return
    if "transformer" not in grid["arch"] or "on" not in grid["aux"]:
        yield (
            "experiment.submission: hands in the transformer with aux on, which experiment.grid "
            "does not have; add it, or give false"
        )
    elif most not in grid["layers"]["transformer"]:
        yield (
            f"experiment.submission: hands in the transformer with {most} layers transferred; add "
            f"{most} to experiment.grid.layers.transformer, or give false"
        )


def _zero_shot_misfits(experiment: dict[str, Any]) -> Iterator[str]:
    section = experiment["zero_shot"]
    for task, entry in section["tasks"].items():
        path = f"experiment.zero_shot.tasks.{task}"
        if task in experiment["tasks"] and entry:
            yield (
                f"{path}.{next(iter(entry))}: no effect, experiment.tasks.{task} says it already; "
                "write {}"
            )
        if task not in experiment["tasks"] and not entry:
            yield (
                f"{path}: no source; give {{folder: NAME}} or {{source: hub}}, the task is not in "
                "experiment.tasks"
            )
        if task not in section["normalise"]:
            yield f"experiment.zero_shot.normalise.{task}: missing; give {{random: .., best: ..}}"
    for task, values in section["normalise"].items():
        path = f"experiment.zero_shot.normalise.{task}"
        if task not in section["tasks"]:
            yield f"{path}: no effect, the task is not in experiment.zero_shot.tasks; remove it"
        if values["random"] == values["best"]:
            yield f"{path}: random and best are both {values['best']}; give two different scores"


def _hidden_absent(config: dict[str, Any]) -> Iterator[str]:
    """Test rows for the hand-in that a folder of raw data lacks; the world makes them."""
    if config["data"] is None:
        return
    for name in plan.hidden_tasks(config):
        entry = config["experiment"]["tasks"][name]
        folder = plan.data_folder(config, name, entry)
        if "source" in entry or not Path(folder).is_dir() or hidden.are_there(name, folder):
            continue
        yield (
            f"experiment.submission: {folder} lacks {' or '.join(hidden.needed(name))}, the rows "
            "to hand in; put it there, or give false"
        )


def absent(config: dict[str, Any]) -> Iterator[str]:
    """Raw data that is not there."""
    experiment = config["experiment"]
    if plan.no_data(config):
        folders = [f for f in plan.raw_folders(config).values() if not Path(f).is_absolute()]
        yield (
            "data: missing; give the folder that holds "
            + ", ".join(dict.fromkeys(f"{Path(folder).name}/" for folder in folders))
            + " in their original layouts, with --config data=FOLDER (see README.md)"
        )
        return
    if config["data"] is None:
        folders = plan.published_folders(config)
    else:
        folders = plan.raw_folders(config)
        if "world" in experiment:
            yield (
                "experiment.world: no effect where data is given; take a config without it, such "
                "as workflow/config/novels.yaml"
            )
        if not Path(config["data"]).is_dir():
            yield f"data: no folder {config['data']!r}; give the folder of the raw data"
            return
    yield from _hidden_absent(config)
    for key, folder in folders.items():
        if not Path(folder).is_dir():
            yield f"{key}: no folder {folder}; put the files there, or name another folder"
            continue
        # Snakemake would take them for wildcards.
        braced = next((name for name in plan.raw_files(folder) if set("{}") & set(name)), None)
        if braced:
            yield f"{key}: {braced} has braces in its name; rename it"
    if "experiment.corpus.folder" in folders:
        books = Path(folders["experiment.corpus.folder"])
        if books.is_dir() and not any(books.rglob("*.txt")):
            yield f"experiment.corpus.folder: no .txt file in {books}; put the books there"
    if "folder" in experiment["tokenizer"]:
        remedy = "put it there" + (", or give merges" if "pretrained" not in experiment else "")
        yield from _no_file("experiment.tokenizer.folder", plan.tokenizer_files(config), remedy)
    if "pretrained" in experiment:
        yield from _no_file("experiment.pretrained.path", plan.weight_files(config), "put it there")


def _no_file(key: str, paths: list[str], remedy: str) -> Iterator[str]:
    """Files that a folder lacks; a folder that is not there is told by itself."""
    for path in paths:
        if Path(path).parent.is_dir() and not Path(path).is_file():
            yield f"{key}: no file {path}; {remedy}"
