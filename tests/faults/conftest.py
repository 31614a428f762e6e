"""The run that nothing disturbed, which the disturbed ones are compared with; what tests need."""

import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.disks import compiler, need_mounts
from tests.faults.runs import Whole, finished, new_project, start_tables, tables


@pytest.fixture(scope="session")
def mounts(tmp_path_factory) -> None:
    """Asked for before `whole`, so that a test which cannot be run does not wait for it."""
    need_mounts(tmp_path_factory.mktemp("mounts") / "disk")


@pytest.fixture(scope="session")
def refusing(tmp_path_factory) -> Path:
    """The library that lets the system refuse something to programs."""
    library = tmp_path_factory.mktemp("refusing") / "refusing.so"
    source = Path(__file__).with_name("refusing.c")
    subprocess.run([compiler(), "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return library


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Whole:
    """The tables of the tiny run, made on two cores."""
    project = new_project(tmp_path_factory.mktemp("whole") / "project")
    began = time.monotonic()
    finished(start_tables(project, cores=2))
    return Whole(project, tables(project), time.monotonic() - began)
