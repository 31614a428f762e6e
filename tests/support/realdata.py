"""Where the published files lie that some tests read; such a test skips where they are absent."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
REALDATA = Path(os.environ.get("GPT1_REALDATA", ROOT.parent / "shared" / "realdata"))


def realdata(name: str) -> Path:
    """A file or folder of the published data; skips the test, saying so, where it is absent."""
    path = REALDATA / name
    if not path.exists():
        pytest.skip(f"the published {name} is not available (GPT1_REALDATA names its folder)")
    return path
