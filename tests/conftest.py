"""What every test shares: one thread a process, for tests side by side; no host but this one."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
os.environ["NO_PROXY"] = "127.0.0.1"
os.environ.pop("HF_HUB_OFFLINE", None)  # read at import; the tests' hub is on this host


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return Path(__file__).resolve().parent.parent
