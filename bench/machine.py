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
    git = ["git", "rev-parse", "--short", "HEAD"]
    done = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=False)
    commit = f"commit {done.stdout.strip()}" if done.returncode == 0 else ""
    what = [machine(), " ".join(can), f"torch {version('torch')}", commit]
    return ", ".join([*filter(None, what), datetime.now(UTC).date().isoformat()])
