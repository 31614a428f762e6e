"""A results folder: where it may lie, its lock against a second run, and the config it keeps."""

import fcntl
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from tasks.common.errors import InputError
from tasks.common.files import inside, sweep, write_atomic
from workflow.configuration.model import Config
from workflow.configuration.read import ConfigError, as_yaml, parse, read
from workflow.configuration.studies import flat

CONFIG, LIST = "config.yaml", "provenance.json"  # of a run, beside its tables
PROJECT = Path(__file__).resolve().parent.parent
UNCHANGING: dict[str, bool | set[str]] = {
    "results": True,
    "runtime": True,
    "experiment": {"keep", "studies"},
}


def faults(config: Config, given: Iterable[str | Path] = ()) -> Iterator[str]:
    """Why the results folder cannot or should not be written to; empty if all is well.

    Links are followed; a relative path starts from the folder where the run is started. `given` are
    the files that the config was read from: a run would write its own over one of the same name.
    """
    kept = Path(config.results, CONFIG)
    if kept.is_file() and not _is_written(kept):
        is_given = any(os.path.exists(file) and kept.samefile(file) for file in given)
        if is_given or not kept.with_name(LIST).exists():  # saved before the config
            yield f"{kept}: the run would write its own config over it; give it another name"
    path = Path(os.path.realpath(config.results))
    there = next(one for one in (path, *path.parents) if os.path.exists(one))
    own = (PROJECT, *PROJECT.parents, Path.home().resolve(), *Path.cwd().parents)
    if path in own:
        why = "is your home folder, or holds the project or the folder of this run"
    elif not (os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)):
        why = f"cannot be written: {there} is closed, a file, or on a read-only disk"
    else:
        return
    yield f"results: {config.results!r} {why}; name a folder of its own, as results/mine"


def lock(results: str | Path) -> IO[str] | None:
    """Lock a results folder by a file that is open until the process ends, however it ends.

    Jobs that inherit the file hold the lock too. Snakemake itself locks only the folder where a run
    is started, and two runs with the same results folder may be started in different ones. Raises
    InputError if another run holds the lock. Returns None where locking is not possible, as on some
    network file systems or a full disk; a run may start there.
    """
    path = Path(results, ".work", "run.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115, it is held
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError(
            f"results: another run is writing to {str(results)!r}; wait for the end of it and its "
            "jobs, or name another folder with --config results=FOLDER"
        ) from None
    except OSError:
        return None
    return file


def sweep_all(results: str | Path) -> None:
    """Remove what killed writes have left anywhere in the folder.

    Raises InputError for a link that leads out of it, behind which a run would write elsewhere.
    """
    for place, folders, files in os.walk(results):
        paths = [Path(place, name) for name in (*folders, *files)]
        inside(Path(results), [path for path in paths if path.is_symlink()])
        sweep(Path(place))


def keep_config(config: Config, made: set[str], tables: Iterable[str]) -> None:
    """Save the config of a run that `made` these files, unless other tables belong to another."""
    path, others = Path(config.results, CONFIG), {*filter(os.path.exists, tables)} - made
    if not (others and (changes(config) or not path.exists())):
        with write_atomic(path) as file:
            file.write(as_yaml(config))


def _is_written(path: Path) -> bool:
    """Whether a config is one that `keep_config` has written, to the letter."""
    try:
        return as_yaml(parse(read([path]))) == path.read_text(encoding="utf-8")
    except ConfigError:
        return False


def changes(config: Config) -> list[str]:
    """The keys of `data` and `experiment` that differ from the config saved with the results."""
    path = Path(config.results, CONFIG)
    if not path.is_file():
        return []
    try:
        before = parse(read([path]))
    except ConfigError:
        return ["all"]  # of another version of the suite, or damaged
    one, other = (flat(found.model_dump(exclude=UNCHANGING)) for found in (before, config))
    return [key for key in one | other if one.get(key, ...) != other.get(key, ...)]
