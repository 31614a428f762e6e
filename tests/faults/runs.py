"""A small run of the whole workflow, to be disturbed."""

import copy
import hashlib
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.workflow.configs import shipped
from tests.workflow.running import copy_project, write
from workflow.configuration.studies import shipped as paper_studies

RESULTS = "made"
OWN = (".work", ".snakemake_timestamp")  # hidden files of ours and of Snakemake's
TABLES = ["cells", "ablation", "main", "layer_transfer", "zero_shot", "cloze", "pretraining"]
TABLES += ["contamination", "claims", "degrees", "positive_control"]


@dataclass(frozen=True)
class Whole:
    """A run that nothing disturbed, its score tables, and the seconds that it took."""

    project: Path
    tables: dict[str, bytes]
    seconds: float

    @property
    def size(self) -> int:
        """The bytes of its results on a disk."""
        files = [path for path in (self.project / RESULTS).rglob("*") if path.is_file()]
        return sum(4096 * -(-path.stat().st_size // 4096) for path in files)


def tiny() -> dict[str, Any]:
    """The smoke config cut down to a few jobs."""
    config = shipped("smoke") | {"results": RESULTS}
    experiment = config["experiment"]
    experiment["tasks"] = {"rte": {"limit_train": 24}, "race": {"limit_train": 24}}
    experiment["studies"] = studies = copy.deepcopy(paper_studies(has_lstm=False))
    for study in studies.values():
        study["lines"] |= {line: None for line in study["lines"] if "w/o aux LM" in line}
    studies["layer_transfer"]["values"] = ["none", 0, 12]
    experiment["zero_shot"] = {"limit": 8, "tasks": {"race": {}}}
    experiment["submission"] = False
    return config


def new_project(folder: Path) -> Path:
    """The project's sources with the tiny config, in a new folder."""
    folder.mkdir()
    copy_project(folder)
    write(folder / "tiny.yaml", tiny())
    return folder


def start(project: Path, *options: str) -> subprocess.Popen:
    """Snakemake with the tiny config, in a process group of its own."""
    command = [sys.executable, "-m", "snakemake", *options, "--configfile", "tiny.yaml"]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=project, start_new_session=True, **streams)


def start_tables(project: Path, cores: int = 1) -> subprocess.Popen:
    """Snakemake making the score tables."""
    targets = [f"{RESULTS}/{name}.csv" for name in TABLES]
    return start(project, *targets, "--cores", str(cores))


def ended(process: subprocess.Popen) -> tuple[int, str]:
    """The exit code of a run, and what it said."""
    said, _ = process.communicate()
    return process.returncode, said


def finished(process: subprocess.Popen) -> str:
    """What a run said that ended well."""
    code, said = ended(process)
    assert code == 0, said
    return said


def tables(project: Path) -> dict[str, bytes]:
    """The bytes of the score tables and of the Markdown beside them."""
    paths = (path for name in TABLES for path in project.glob(f"{RESULTS}/{name}.*"))
    return {path.name: path.read_bytes() for path in paths}


def failed_rules(said: str) -> set[str]:
    """The rules of which Snakemake says that a job failed."""
    return set(re.findall(r"^Error in rule (\w+)[, :]", said, re.MULTILINE))


def contents(folder: Path) -> dict[str, str]:
    """The digest of every file below a folder of results, but for logs, benchmarks, the lock."""
    found = {}
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder)
        if path.is_file() and not {"logs", "benchmarks", "run.lock"} & set(place.parts):
            found[str(place)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def leftovers(folder: Path) -> list[Path]:
    """Temporary files below a folder."""
    return [path for path in folder.rglob(".*") if path.name not in OWN]
