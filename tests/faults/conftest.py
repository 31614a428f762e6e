"""The run that nothing disturbed, which the disturbed ones are compared with."""

import time

import pytest

from tests.faults.runs import Whole, finished, new_project, start_tables, tables


@pytest.fixture(scope="session")
def whole(tmp_path_factory) -> Whole:
    """The tables of the tiny run, made on two cores."""
    project = new_project(tmp_path_factory.mktemp("whole") / "project")
    began = time.monotonic()
    finished(start_tables(project, cores=2))
    return Whole(project, tables(project), time.monotonic() - began)
