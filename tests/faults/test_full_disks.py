"""A disk that is full at any stage, or read-only: each job says so, and no half file stays."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.runs import (
    RESULTS,
    contents,
    ended,
    failed_rules,
    finished,
    leftovers,
    new_project,
    start,
    start_tables,
    tables,
)


@contextlib.contextmanager
def mounted(disk: Path, options: str) -> Iterator[None]:
    """A file system in memory."""
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", disk], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", disk], check=True)


def remount(disk: Path, options: str) -> None:
    """Change the options of a mounted file system."""
    subprocess.run(["mount", "-o", f"remount,{options}", disk], check=True)


@contextlib.contextmanager
def filled(disk: Path) -> Iterator[None]:
    """A disk on which no block is free."""
    path = disk / "logs" / "filler"  # beside what `contents` leaves out
    path.parent.mkdir(exist_ok=True)
    with open(path, "wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    try:
        assert os.statvfs(disk).f_bfree == 0
        yield
    finally:
        path.unlink()


pytestmark = [pytest.mark.faults, pytest.mark.usefixtures("mounts")]

CHECKPOINT = "transformer/seed-0/update-40.json"

STAGES = {  # a rule, and a file that its job makes
    "world": "world/manifest.json",
    "documents": "corpus/documents.json",
    "tokenizer": "tokenizer/merges.bpe",
    "tokens": "corpus/corpus.json",
    "pretrain": f"pretrain/{CHECKPOINT}",
    "examples": "examples/rte.json",
    "baselines_word_classes": "corpus/word_classes.json",
    "baselines": "baselines/rte.json",
    "encode": "encoded/rte.json",
    "contamination": "contamination/rte.json",
    "finetune_kept_full_rte": "cells/full/rte.json",  # which smoke.yaml keeps
    "zero_shot": "zero_shot/transformer/race/seed-0/update-40.json",
    "cloze": f"cloze/{CHECKPOINT}",
    "tables_ablation": "figures/ablation.png",
    "page": "index.html",
}


def test_a_disk_that_is_full_at_any_stage_fails_its_job_alone_and_keeps_no_half_file(
    whole, tmp_path
):
    disk, project = tmp_path / "disk", new_project(tmp_path / "project")
    with mounted(disk, f"size={4 * whole.size}"):
        (project / RESULTS).symlink_to(disk)
        for rule, file in STAGES.items():
            target = (f"{RESULTS}/{file}", "--cores", "1")
            finished(start(project, *target, "--omit-from", rule))
            before = contents(disk)
            with filled(disk):
                code, said = ended(start(project, *target))
            assert code and failed_rules(said) == {rule}, said
            assert re.search(r"^ *error: .*No space left on device", said, re.MULTILINE), said
            assert contents(disk) == before, rule
        finished(start_tables(project))
        assert tables(project) == whole.tables and not leftovers(disk)


def test_a_read_only_disk_is_told_and_changes_nothing(tmp_path):
    """In one line while the run is planned, whether its files are there or not."""
    disk, project = tmp_path / "disk", new_project(tmp_path / "project")
    with mounted(disk, "size=64m"):
        (project / RESULTS).symlink_to(disk)
        finished(start(project, f"{RESULTS}/world/manifest.json", "--cores", "1"))
        before = contents(disk)
        remount(disk, "ro")
        for options in (["--forceall"], []):
            target = f"{RESULTS}/corpus/documents.json"
            code, said = ended(start(project, target, "--cores", "1", *options))
            _profile, line = said.splitlines()
            assert code and line.startswith(
                f"error: config: results: '{RESULTS}' cannot be written"
            )
        assert contents(disk) == before
        remount(disk, "rw")
        finished(start(project, f"{RESULTS}/corpus/documents.json", "--cores", "1"))
