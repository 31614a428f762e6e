"""Files of a task that jobs of cells read."""

import shutil

import pytest

from tests.gpt1.cell_jobs import write_encoded, write_task


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The files that a job of cells on RTE reads, and its rows."""
    folder = tmp_path_factory.mktemp("made")
    return folder, write_task(folder, "rte", reported=8)


@pytest.fixture
def files(made, tmp_path):
    """A copy of these files."""
    shutil.copytree(made[0], tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def encode_again(made, files):
    """Encodes other rows of the task: other reported ones, or unlabelled ones as well."""

    def encode_again(unlabelled=False, **splits):
        rows = made[1] | splits
        if unlabelled:
            rows |= {"test": [{**row, "label": -1} for row in rows["dev"]]}
        write_encoded(files, "rte", rows, ["test"] if unlabelled else [])

    return encode_again
