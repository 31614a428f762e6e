"""A file system without locks (NFS, Lustre): what needs none goes on, what needs one says so."""

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpt1.cell import Cell
from gpt1.settings import RunSettings
from tasks.common.errors import InputError
from tasks.fetch import fetch
from tests.gpt1 import toy
from tests.gpt1.examples import random_pairs, write_examples
from tests.tasks.both_layouts import glue_original

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux's /proc")
ROOT = Path(__file__).resolve().parents[2]
# Runs a module where no file below a folder can be locked.
PROGRAM = """
import errno, fcntl, os, runpy, sys
folder, module, *sys.argv[1:] = sys.argv[1:]
lock = fcntl.flock
def flock(file, operation):
    number = file if isinstance(file, int) else file.fileno()
    if os.readlink(f"/proc/self/fd/{number}").startswith(folder):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    lock(file, operation)
fcntl.flock = flock
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def run(without_locks, module, *arguments, code=0):
    """Run a program where no file below a folder can be locked; returns its errors."""
    command = [sys.executable, "-c", PROGRAM, without_locks, module, *arguments]
    done = subprocess.run([*map(str, command)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    return done.stderr


def test_books_become_cells_where_nothing_can_be_locked(tmp_path):
    books, made, rows = tmp_path / "books", tmp_path / "made", tmp_path / "examples" / "rte"
    books.mkdir()
    for name in ("a", "b", "c"):
        (books / f"{name}.txt").write_text("a b c d e f g h i j .\n" * 20)
    given = ("--folder", books, "--settings", '{"heldout": 1}', "--threads", 2)
    run("/", "gpt1.corpus", "documents", *given, "--out", made / "documents")
    given = ("--documents", made / "documents")
    run("/", "gpt1.text.tokenizer", "train", *given, "--merges", 5, "--out", made / "tokenizer")
    given = (*given, "--tokenizer", made / "tokenizer", "--threads", 2)
    run("/", "gpt1.corpus", "tokens", *given, "--out", made)
    settings = toy.pretrain_settings("lstm").to_json()
    given = ("--corpus", made / "corpus.json", "--settings", settings, "--work", made / "work")
    run("/", "gpt1.pretrain", "lstm", *given, "--out", made / "lstm")

    sizes = {"train": 12, "select": 6, "dev": 8}
    write_examples(rows, "rte", {split: random_pairs(n, n) for split, n in sizes.items()})
    run("/", "tasks.baselines", "rte", "--examples", rows, "--out", made / "baselines.json")
    out, facts = made / "encoded" / "rte", made / "encoded" / "rte.json"
    given = ("--examples", rows, "--tokenizer", made / "tokenizer", "--facts", facts)
    run("/", "gpt1.encode", "rte", *given, "--out", out)
    own = Cell("lstm", "rte", "on", 1)
    cell, settings = own.path(made), RunSettings(tasks={"rte": toy.settings("lstm")})
    given = ("--encoded", out, "--baselines", made / "baselines.json", "--seeds", 0)
    given = (*given, "--settings", settings.to_json(), "--cache", made / "cache")
    given = (*given, "--predictions", own.predictions(made))
    run("/", "gpt1.finetune", cell, *given, "--checkpoints", made / "lstm" / "update-8.safetensors")
    assert cell.exists()


def test_examples_need_no_locks(tmp_path):
    for split in ("train", "dev"):
        glue_original(tmp_path / "RTE", "rte", split)
    out = tmp_path / "made" / "rte"
    given = ("--folder", tmp_path / "RTE", "--settings", '{"published": false}', "--out", out)
    run("/", "tasks.prepare", "rte", *given, "--facts", f"{out}.json")
    assert out.with_name("rte.json").exists()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_fetching_says_that_it_needs_locks(tmp_path, monkeypatch, number):
    def flock(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(InputError, match="fetching needs a file system with locks: fetch into a"):
        fetch("rte", None, tmp_path)
