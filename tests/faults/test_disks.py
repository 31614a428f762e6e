"""What this machine cannot try is skipped in words, and by make test-faults failed."""

import os
import subprocess

import pytest

from tests.faults import disks
from tests.workflow.running import ROOT

FAILED, SKIPPED = pytest.fail.Exception, pytest.skip.Exception


@pytest.mark.parametrize(("given", "outcome"), [("1", FAILED), ("", SKIPPED)])
def test_without_root_rights_to_mount_or_a_compiler_a_test_says_what_to_do(
    tmp_path, monkeypatch, given, outcome
):
    monkeypatch.setenv(disks.ALL, given)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(outcome, match="needs root; run make test-faults as root"):
        disks.need_mounts(tmp_path / "user")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    refused = subprocess.CompletedProcess([], 32, stderr="mount: permission denied\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: refused)
    with pytest.raises(outcome, match=r"\(mount: permission denied\); where this is a container"):
        disks.need_mounts(tmp_path / "root")
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(outcome, match="needs a C compiler; install one"):
        disks.compiler()


def test_make_test_faults_skips_none():
    lines = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    (called,) = (line for line in lines if "pytest tests/faults" in line)
    assert called.startswith(f"\t{disks.ALL}=1 ")
