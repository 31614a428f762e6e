"""Snakemake, called by the tests.

`snakemake` forks a process from a server that has imported Snakemake and read the project's sources
already, which takes longer than most plans; `command_line` starts one as a user does.
"""

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.support.forks import FORKS

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGES = ("gpt1", "tasks", "workflow")


def snakemake(project: Path, *options: str, code: int = 0) -> str:
    """Run snakemake in `project`; returns what it said, errors included."""
    _apart(project, options)
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as said:
        arguments = (project, ("--cores", "2", *options), dict(os.environ), said.name)
        process = FORKS.Process(target=_main, args=arguments)
        process.start()
        process.join()
        text = said.read()
    assert process.exitcode == code, text
    return text


def _main(project: Path, options: Sequence[str], environment: dict[str, str], said: str) -> None:
    """Snakemake's command line, as `python -m snakemake` in `project` would run it."""
    from snakemake.cli import main

    with open(said, "wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(project)
    sys.argv[1:] = options  # which the default profile looks at
    if project != ROOT:  # a copy has packages of its own
        for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
    sys.path[:] = [str(project), *(path for path in sys.path if path != str(ROOT))]
    try:
        main(list(options))
    finally:
        atexit._run_exitfuncs()  # which a process that is forked leaves out


def command_line(project: Path, *options: str, code: int = 0) -> str:
    """The same, with a Python of its own."""
    _apart(project, options)
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *options]
    done = subprocess.run(
        command,
        cwd=project,
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == code, done.stdout
    return done.stdout


def _apart(project: Path, options: Sequence[str]) -> None:
    assert project != ROOT or {"-d", "--directory"} & {*options}, "give a folder with --directory"


def with_config(folder: Path, config: dict[str, Any] | str) -> tuple[str, ...]:
    """Options for a run in `folder` with a config, or with one that the project ships by name.

    Targets come after them, other options before.
    """
    is_shipped = isinstance(config, str)
    path = ROOT / "workflow" / "config" / f"{config}.yaml" if is_shipped else folder / "config.yaml"
    if not is_shipped:
        write(path, config)
    return ("--directory", str(folder), "--configfile", str(path), "--")


def planned(project: Path, *options: str) -> dict[str, int]:
    """The number of jobs of each rule that a run would start."""
    said = snakemake(project, "--dry-run", "--quiet", "rules", *options)
    stats = said.partition("Job stats:")[2].partition("\n\n")[0]
    rows = re.findall(r"^(\w+) +(\d+)$", stats, re.MULTILINE)
    return {rule: int(count) for rule, count in rows if rule != "total"}


def write(path: Path, config: dict[str, Any]) -> str:
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    return str(path)


def copy_project(to: Path) -> None:
    """The sources that the graph is made of."""
    shutil.copytree(ROOT / "workflow", to / "workflow", ignore=shutil.ignore_patterns("__pyc*"))
    for package in ("tasks", "gpt1"):
        shutil.copytree(ROOT / package, to / package, ignore=shutil.ignore_patterns("__pyc*"))
    for name in ("Snakefile", "environment.yml"):
        shutil.copy2(ROOT / name, to / name)
    (to / "profiles").symlink_to("workflow/profiles")
