"""Hypothesis keeps what it learns in a temporary folder, not in the repository."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def _no_trace_in_the_repository(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(tmp_path_factory.mktemp("hypothesis")))
        yield
