"""`make test-slurm` does not pass where its tests cannot run."""

import os
import subprocess
import sys

from tests.workflow.running import ROOT


def test_the_tests_on_slurm_fail_where_slurm_is_missing():
    test = "tests/slurm/test_nodes.py::test_the_nodes_cannot_write_to_the_home"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
        cwd=ROOT,
        env=os.environ | {"PATH": ""},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert done.returncode == 1, done.stdout
    assert "Slurm is not installed (" in done.stdout and "as root, apt-get install" in done.stdout
