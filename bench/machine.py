"""This machine and this checkout in words."""

import os
import platform
import subprocess
from pathlib import Path

from bench.sides import ROOT


def machine() -> str:
    """The processor and how many of them."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [s for s in info.read_text().splitlines() if s.startswith("model name")]
        name = models[0].split(":", 1)[1].strip() if models else name
    return f"{name}, {os.cpu_count()} cores"


def head() -> str:
    """The commit that is checked out; empty where there is no repository."""
    done = _git("rev-parse", "HEAD")
    return done.stdout.strip() if done.returncode == 0 else ""


def has_programs_of(commit: str, paths: tuple[str, ...]) -> bool:
    """Whether the files at `paths` are those of a commit, edited ones included."""
    return _git("diff", "--quiet", commit, "--", *paths).returncode == 0


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
