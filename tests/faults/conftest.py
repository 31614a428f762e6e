"""The run that nothing disturbed, which the disturbed ones are compared with; what tests need."""

import os
import subprocess
import time

import pytest

from tests.faults.runs import Whole, finished, new_project, start_tables, tables


@pytest.fixture(scope="session")
def mounts(tmp_path_factory) -> None:
    """Fails where no file system can be mounted, before `whole` is waited for."""
    folder = tmp_path_factory.mktemp("mounts")
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder]
    if os.geteuid() or subprocess.run(command).returncode:
        pytest.fail("small disks are mounted: run as root, a container with --privileged")
    subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Whole:
    """The tables of the tiny run, made on two cores."""
    project = new_project(tmp_path_factory.mktemp("whole") / "project")
    began = time.monotonic()
    finished(start_tables(project, cores=2))
    return Whole(project, tables(project), time.monotonic() - began)
