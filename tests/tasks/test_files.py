"""Files are written whole or not at all, and what is wrong with one is told in one line."""

import errno
import fcntl
import os
import subprocess
import sys
import tempfile
import time

import pytest

from tasks.common import files
from tasks.common.errors import InputError
from tasks.common.files import read_json, write_atomic, write_json

FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from tasks.common.errors import run
{call}
"""


def limited(call):
    """Run a call in a process that may write no file over 4 kB, the rest of which is refused."""
    command = [sys.executable, "-c", FULL.format(call=call)]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_failed_block_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyError), write_atomic(path) as file:
        file.write("new")
        raise KeyError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_file_over_the_limit_is_one_line_that_names_it_and_leaves_nothing(tmp_path):
    write = f"write_json({str(tmp_path / 'a.json')!r}, list(range(9999)))"
    call = f"from tasks.common.files import write_json; sys.exit(run(lambda: {write}))"
    done = limited(call)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "a.json: File too large while writing; raise the limit on the size" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_over_the_limit_leaves_no_half_world(tmp_path):
    settings = '{"words": 20000, "books": 2, "scale": 0.1, "report": 10}'
    call = "from tasks.world.__main__ import WorldSettings, make_world; from pathlib import Path\n"
    call += f"settings, out = WorldSettings.parse({settings!r}), Path({str(tmp_path)!r})\n"
    call += "sys.exit(run(lambda: make_world(settings, out)))"
    done = limited(call)
    assert done.returncode == 1 and "(ulimit -f) and start again" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("function", ["fdopen", "fsync"])
def test_a_quota_that_is_used_up_is_one_line_and_leaves_the_old_file(
    tmp_path, monkeypatch, function
):
    """A quota may be noticed when a file is opened, written or, over a network, flushed."""
    path = tmp_path / "a.json"
    write_json(path, {"old": 1})

    def refuse(*arguments, **options):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    with monkeypatch.context() as patch:
        patch.setattr(files.os, function, refuse)
        with pytest.raises(InputError, match=r"a\.json: Disk quota exceeded .*free some space"):
            write_json(path, {"new": 1})
    assert read_json(path) == {"old": 1} and list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    """Another process may write the same file and sweep in between."""
    make, made = tempfile.mkstemp, []

    def made_and_swept(**options):
        handle, name = make(**options)
        made.append(name)
        if len(made) == 1:
            files.sweep(tmp_path)
            assert not os.path.exists(name)
        return handle, name

    monkeypatch.setattr(files.tempfile, "mkstemp", made_and_swept)
    write_json(tmp_path / "a.json", {"x": 1})
    assert len(made) == 2 and read_json(tmp_path / "a.json") == {"x": 1}
    assert list(tmp_path.iterdir()) == [tmp_path / "a.json"]


def test_a_missing_key_is_told_with_its_file(tmp_path):
    write_json(tmp_path / "a.json", {"x": {"y": 1}})
    found = read_json(tmp_path / "a.json")
    assert found["x"]["y"] == 1 and found.get("z") is None
    with pytest.raises(InputError, match=r"a.json: 'z' is missing; found y"):
        found["x"]["z"]


@pytest.mark.parametrize("content", [b'{"a": ', b"", b"\xff\xfe"])
def test_a_damaged_json_is_told(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match="a.json: (line|not UTF-8)"):
        read_json(tmp_path / "a.json")


def test_what_a_killed_write_left_is_swept_from_a_network_file_system(tmp_path, monkeypatch):
    """NFS locks a file exclusively only if it is open for writing."""

    def flock(file, operation):
        if fcntl.fcntl(file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    monkeypatch.setattr(files.fcntl, "flock", flock)
    (tmp_path / f".a.json.{files.this_machine()}-12345678").write_text("half of it")
    write_json(tmp_path / "a.json", {"x": 1})
    assert list(tmp_path.iterdir()) == [tmp_path / "a.json"]


def test_what_another_machine_left_is_swept_once_nothing_was_written_for_an_hour(
    tmp_path, monkeypatch
):
    """Its lock may be seen on that machine alone, and its write be going on."""
    mine, its = f"{files.this_machine()}-12345678", "0badcafe-12345678"
    names = [f".{name}.{end}" for name in ("new", "old") for end in (mine, its)]
    for name in names:
        (tmp_path / name).write_text("half of it")
        if "old" in name:
            os.utime(tmp_path / name, (time.time() - 3601,) * 2)
    files.sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f".new.{its}"}

    def flock(file, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - 3601 * ("old" in name),) * 2)
    monkeypatch.setattr(files.fcntl, "flock", flock)
    files.sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f".new.{mine}", f".new.{its}"}


def test_hidden_files_of_others_are_not_swept(tmp_path):
    names = {".notes.markdown", ".a.json.12345678", f".{files.this_machine()}-12345678"}
    for name in names:
        (tmp_path / name).write_text("")
    files.sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == names
