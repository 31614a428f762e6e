"""This machine and this checkout in words."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
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


def environment() -> str:
    """The machine, what its processor can do, torch's version, the commit and the day."""
    info = Path("/proc/cpuinfo")
    flags = info.read_text(encoding="utf-8").split() if info.exists() else []
    can = [name for name in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if name in flags]
    what = [machine(), " ".join(can), f"torch {version('torch')}", f"commit {head()[:7]}"]
    return ", ".join([*filter(None, what), datetime.now(UTC).date().isoformat()])


def head() -> str:
    """The commit that is checked out; empty where there is no repository."""
    done = _git("rev-parse", "HEAD")
    return done.stdout.strip() if done.returncode == 0 else ""


def has_programs_of(commit: str, paths: tuple[str, ...]) -> bool:
    """Whether the files at `paths` are those of a commit, edited ones included."""
    return _git("diff", "--quiet", commit, "--", *paths).returncode == 0


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
