"""Folders that the config names: where no results may go, and which lead out of the data folder."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from workflow.config_model import Config
from workflow.paths import data_sets

PROJECT = Path(__file__).resolve().parent.parent
CODE = ("bench", "docs", "gpt1", "tasks", "tests", "workflow")
SYSTEM = {"bin", "boot", "dev", "etc", "lib", "lib64", "proc", "run", "sbin", "sys", "usr"}


def dangerous_results(config: Config) -> Iterator[str]:
    """A results folder that would put files of the project or of the system in danger.

    Links are followed; a relative path begins where the run is started.
    """
    given, path = (Path(f(config.results)) for f in (os.path.abspath, os.path.realpath))
    remedy = "name a folder of its own, such as results/mine"
    if path in (PROJECT, *PROJECT.parents, *Path.cwd().parents):
        yield f"results: {config.results!r} holds the project or the folder of this run; {remedy}"
    elif os.path.isfile(path):
        yield f"results: {config.results!r} is a file; {remedy}"
    elif path.is_relative_to(PROJECT):
        top = path.relative_to(PROJECT).parts[0]
        if top in CODE or top.startswith("."):
            yield f"results: {config.results!r} is in {top}/, a part of the project; {remedy}"
    elif {given.parts[1], path.parts[1]} & SYSTEM and not path.is_relative_to("/dev/shm"):
        yield f"results: {config.results!r} is a folder of the system; {remedy}"


def unwritable_results(config: Config) -> Iterator[str]:
    """Why no results can be written, in one line; empty if they can."""
    folder = Path(os.path.realpath(config.results))
    there = next(path for path in (folder, *folder.parents) if os.path.exists(path))
    if not os.access(there, os.W_OK | os.X_OK):
        read_only = os.statvfs(there).f_flag & os.ST_RDONLY
        closed = errno.EACCES if there.is_dir() else errno.ENOTDIR
        reason = os.strerror(errno.EROFS if read_only else closed)
        yield f"results: {config.results!r}: {reason} in {there}; name a folder of your own"


def outside_data(config: Config) -> Iterator[str]:
    """Folders and files of the data folder that lie outside it."""
    found, experiment = data_sets(config).values(), config.experiment
    given = {f"{data_set.key}.folder": data_set.entry.folder for data_set in found}
    if config.data:  # else they lie where the run is started
        given["experiment.tokenizer.folder"] = experiment.tokenizer.folder
        given["experiment.probes"] = experiment.probes
        if experiment.pretrained:
            given["experiment.pretrained.path"] = experiment.pretrained.path
    for key, path in given.items():
        if path and os.path.normpath(path).split(os.sep)[0] == os.pardir:
            yield (
                f"{key}: {path!r} leads out of the data folder; name one in it, or give an "
                "absolute path"
            )
