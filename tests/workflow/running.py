"""Snakemake, called by the tests."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.workflow.configs import ROOT


def snakemake(project: Path, *options: str, code: int = 0) -> str:
    """Run snakemake in `project`; returns what it said, errors included."""
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
