"""The page of accidents names tests that there are, each with the command that runs it."""

import re
import shlex
import subprocess
import sys

import pytest

from tests.workflow.running import ROOT

NAMED = r"`(test_\w+)::(test_\w+)`(?: \((\w+)\))?"
TARGETS = {"": "test", "faults": "test-faults", "slow": "test-slow", "slurm": "test-slurm"}


def rows() -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Each accident of the page with its tests: module, name, and the mark behind it."""
    lines = (ROOT / "docs/accidents.md").read_text(encoding="utf-8").splitlines()
    table = [line.split(" | ") for line in lines if line.startswith("| ")][1:]
    return [(row[0], re.findall(NAMED, row[-1])) for row in table]


def commands() -> dict[str, list[list[str]]]:
    """What the targets of the Makefile give to pytest."""
    found: dict[str, list[list[str]]] = {}
    target = ""
    for line in (ROOT / "Makefile").read_text(encoding="utf-8").splitlines():
        if start := re.match(r"([\w-]+):", line):
            target = start[1]
        elif call := re.match(r"\t.*-m pytest (.*)", line):
            found.setdefault(target, []).append(shlex.split(call[1]))
        elif line.startswith("\ttests/slurm/run"):
            found[target] = [["tests/slurm"]]
    return found


@pytest.fixture(scope="module")
def run() -> dict[str, set[tuple[str, str]]]:
    """The module and the name of every test of the page that a target runs."""
    modules = {module for _, named in rows() for module, *_ in named}
    files = [str(path) for name in sorted(modules) for path in ROOT.glob(f"tests/*/{name}.py")]
    found: dict[str, set[tuple[str, str]]] = {}
    used = {TARGETS[mark] for _, named in rows() for *_, mark in named}
    for target in used:
        for words in commands()[target]:
            paths = [] if any(word.startswith("tests/") for word in words) else files
            options = ["--collect-only", "-q", "-p", "no:cacheprovider"]
            command = [sys.executable, "-m", "pytest", *words, *paths, *options]
            said = subprocess.run(command, cwd=ROOT, text=True, capture_output=True).stdout
            tests = re.findall(r"/(test_\w+)\.py::(test_\w+)", said)
            found.setdefault(target, set()).update(tests)
    return found


def test_every_accident_of_the_page_has_a_test_that_its_command_runs(run):
    assert len(rows()) > 20
    for accident, named in rows():
        assert named, accident
        for module, name, mark in named:
            assert (module, name) in run[TARGETS[mark]], f"{module}::{name} ({mark})"
