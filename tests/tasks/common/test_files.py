"""Files are written whole or not at all, and what is wrong with one is told in one line."""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from tasks.common import files
from tasks.common.errors import InputError
from tasks.common.files import read_json, scratch_folder, write_atomic, write_json
from tests.support.programs import refusal

# What a process does that may write no file over 4 kB, the rest of which is refused.
FULL = """
import resource, signal, sys
from tasks.common.programs import run
from tasks.common.files import write_json
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.exit(run(lambda: write_json(sys.argv[1], list(range(9999)))))
"""


def test_a_failed_block_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyError), write_atomic(path) as file:
        file.write("new")
        raise KeyError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_file_over_the_limit_is_one_line_that_names_it_and_leaves_nothing(tmp_path):
    command = [sys.executable, "-c", FULL, str(tmp_path / "a.json")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "a.json: File too large while writing; raise the limit on the size" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_quota_that_is_used_up_is_one_line_and_leaves_the_old_file(tmp_path):
    """A quota may be noticed when a file is opened, written or, over a network, flushed."""
    path = tmp_path / "a.json"
    write_json(path, {"old": 1})
    used_up = OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
    with patch.object(files.os, "fsync", side_effect=used_up):
        said = refusal(write_json, path, {"new": 1})
    assert "a.json: Disk quota exceeded while writing; free some space" in said
    assert read_json(path) == {"old": 1} and list(tmp_path.iterdir()) == [path]


def test_a_folder_in_the_place_of_a_file_and_the_folder_where_one_is_are_told(tmp_path):
    (tmp_path / "a.json").mkdir()
    (tmp_path / "file").touch()
    here = "the folder where you are; name a file or a folder in it"
    for path, said in (
        (tmp_path / "a.json", "Is a directory while writing; move what has a file's"),
        (tmp_path / "file" / "a.json", "File exists while writing; move what has a file"),
        (".", here),
    ):
        assert said in refusal(write_json, path, {})
    assert here in refusal(scratch_folder(Path(".")).__enter__)
    assert "a folder has the name of a file" in refusal(read_json, tmp_path / "a.json")


@pytest.mark.parametrize("content", [b'{"a": ', b"", b"\xff\xfe"])
def test_a_damaged_json_is_told(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match="a.json: (line|not UTF-8)"):
        read_json(tmp_path / "a.json")


def test_what_killed_writes_left_is_swept_and_what_is_being_written_is_not(tmp_path):
    """Of another machine only once nothing was written for an hour."""
    mine, other = files.this_machine(), "0badcafe"
    dead, alive = 99_999_999, os.getppid()  # no process has a number as high
    left = {
        (name, end): tmp_path / f".{name}.{end}"
        for name in ("new", "old")
        for end in (f"{mine}-{dead}", f"{mine}-{alive:08}", f"{other}-{alive:08}")
    }
    for (name, _), path in left.items():
        path.write_text("half of it")
        os.utime(path, (time.time() - 3601 * (name == "old"),) * 2)
    others = {".notes.markdown", ".a.json.12345678", f".{mine}-12345678"}  # other programs' names
    for name in others:
        (tmp_path / name).touch()
    write_json(tmp_path / "new", {"x": 1})
    assert not left["new", f"{mine}-{dead}"].exists() and left["old", f"{mine}-{dead}"].exists()
    files.sweep(tmp_path)
    kept = {f".new.{mine}-{alive:08}", f".new.{other}-{alive:08}", "new"}
    assert {path.name for path in tmp_path.iterdir()} == kept | others
