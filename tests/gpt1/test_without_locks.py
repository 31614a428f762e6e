"""A file system without locks (NFS, Lustre): fetching, which needs them, says so."""

import errno
import fcntl
import os

import pytest

from tasks.common.errors import InputError
from tasks.fetch import fetch


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_fetching_says_that_it_needs_locks(tmp_path, monkeypatch, number):
    def flock(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(InputError, match="fetching needs a file system with locks: fetch into a"):
        fetch("rte", None, tmp_path)
