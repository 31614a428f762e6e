"""Runs of the workflow on the tests' cluster, and what they made."""

import csv
import hashlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

PROFILE = Path("workflow", "profiles", "slurm")
QUICK = ("--slurm-init-seconds-before-status-checks", "5", "--latency-wait", "20")
SECONDS = 1800


@dataclass(frozen=True)
class Slurm:
    """The cluster, by the environment of its commands."""

    environment: dict[str, str]
    started: list[subprocess.Popen] = field(default_factory=list)  # every Snakemake

    def __call__(self, *command: str) -> str:
        """What one of its commands says."""
        done = subprocess.run(
            command, env=self.environment, text=True, capture_output=True, check=True
        )
        return done.stdout

    def jobs(self, states: str = "all") -> dict[str, str]:
        """The comment (rule and wildcards) of each job, by its number."""
        lines = self("squeue", "-h", f"--states={states}", "-o", "%i|%k").splitlines()
        return dict(line.split("|", 1) for line in lines)

    def job(self, number: str) -> dict[str, str]:
        """Everything that Slurm knows of a job."""
        fields = self("scontrol", "--oneliner", "show", "job", number).split()
        return dict(field.split("=", 1) for field in fields if "=" in field)


@dataclass(frozen=True)
class Run:
    """A run of the workflow in a folder of its own."""

    slurm: Slurm
    project: Path
    folder: Path

    def start(
        self, *options: str, profile: Path | None = None, seconds: float = 0
    ) -> subprocess.Popen:
        """Snakemake, submitting to the cluster; `seconds` is what an update takes longer."""
        words = ["--profile", str(profile or self.project / PROFILE), *QUICK]
        return self._snakemake([*words, *options], seconds)

    def local(self, *options: str) -> None:
        """The same workflow in one process, without Slurm."""
        self.finish(self._snakemake(["--cores", "2", "--rerun-incomplete", *options], 0))

    def _snakemake(self, options: Sequence[str], seconds: float) -> subprocess.Popen:
        words = ["--snakefile", str(self.project / "Snakefile")]
        words += [] if "--configfile" in options else ["--configfile", "config.yaml"]
        with open(self.folder / "snakemake.out", "ab") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "snakemake", *words, *options],
                cwd=self.folder,
                env={**self.slurm.environment, "GPT1_TEST_SECONDS": str(seconds)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                # Of tests in the background, which ignore it, Snakemake would inherit this.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
        self.slurm.started.append(process)
        return process

    def finish(self, process: subprocess.Popen, code: int = 0) -> str:
        """Wait for a run; returns what it and those before it said."""
        process.wait(SECONDS)
        said = (self.folder / "snakemake.out").read_text(encoding="utf-8")
        assert process.returncode == code, said[-8000:]
        return said


def new_run(slurm: Slurm, project: Path, folder: Path, config: dict[str, Any]) -> Run:
    """A run that has not been started."""
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return Run(slurm, project, folder)


def without_pretraining(slurm: Slurm, project: Path, folder: Path, finished: Path) -> Run:
    """A copy of a finished run that lacks the pre-training and its table, results/pretraining.csv.

    So a test of one kind of job submits only jobs of this kind.
    """
    shutil.copytree(finished, folder)
    (folder / "snakemake.out").unlink()
    for name in (".work", "pretrain", "logs/pretrain"):
        shutil.rmtree(folder / "results" / name)
    for form in ("csv", "md"):
        (folder / "results" / f"pretraining.{form}").unlink()
    return Run(slurm, project, folder)


def changed_profile(project: Path, folder: Path, *changes: tuple[str, str]) -> Path:
    """A copy of the profile with lines replaced, as its comments advise."""
    folder.mkdir(parents=True)
    text = (project / PROFILE / "profile.yaml").read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    (folder / "profile.yaml").write_text(text, encoding="utf-8")
    return folder


def scores(folder: Path) -> dict[str, bytes]:
    """Every table of a run, but those of costs, which no two runs share."""
    paths = [path for form in ("csv", "md") for path in (folder / "results").glob(f"*.{form}")]
    return {path.name: path.read_bytes() for path in paths if not path.name.startswith("cost")}


def weights(folder: Path) -> dict[str, str]:
    """The digest of every pre-trained checkpoint."""
    files = sorted((folder / "results" / "pretrain").rglob("*.safetensors"))
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
    }


def pretraining(slurm: Slurm, states: str = "running") -> str | None:
    """The number of a job that pre-trains, if there is one."""
    found = [job for job, comment in slurm.jobs(states).items() if "pretrain" in comment]
    return found[-1] if found else None


def losses(folder: Path) -> list[float]:
    """The training losses in the log of a pre-training run."""
    with open(folder / "log.csv", encoding="utf-8") as file:
        return [float(row["loss"]) for row in csv.DictReader(file)]


def wait_for(condition: Callable[[], Any], seconds: float = SECONDS) -> Any:
    """The first true value of `condition`."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.5)
    return found
