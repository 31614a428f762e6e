"""The tutorial runs from its first cell to its last, and its outputs are in the repository."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.conftest import write_all, write_tables
from tests.workflow.configs import ROOT, complete
from tests.workflow.running import copy_project
from workflow.plan import Plan

NOTEBOOK = ROOT / "docs" / "tutorial.ipynb"
CELLS = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]


def program(cells: list[dict[str, Any]]) -> str:
    """The cells as one program: `!command {name}` runs in a shell, Jupyter's magics do nothing."""
    source = "\n".join("".join(cell["source"]) for cell in cells)
    source = re.sub(r"^%.*", "", source, flags=re.MULTILINE)
    called = r'subprocess.run(f"""\1""", shell=True, check=True)'
    return "import subprocess\n" + re.sub(r"^!(.*)", called, source, flags=re.MULTILINE)


def run(project: Path, cells: list[dict[str, Any]]) -> None:
    """Run cells in the docs of a project, as Jupyter would."""
    (project / "docs").mkdir()
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-c", program(cells)],
        cwd=project / "docs",
        env={**os.environ, "PATH": path, "PYTHONPATH": str(project)},
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_tutorial_runs_from_its_first_cell_to_its_last(tmp_path):
    copy_project(tmp_path)
    (tmp_path / "bench").symlink_to(ROOT / "bench")
    run(tmp_path, CELLS)


def test_the_cells_that_read_a_run_find_its_tables(tmp_path):
    results, grid = tmp_path / "results" / "smoke", Plan(complete("smoke")).grid()
    write_all(results, grid)
    write_tables(results, grid, ["ablation", "claims"])
    for package in ("gpt1", "tasks", "workflow", "bench"):
        (tmp_path / package).symlink_to(ROOT / package)
    of_a_run = [cell for cell in CELLS if "page" in cell["metadata"].get("tags", [])]
    assert len(of_a_run) > 5
    run(tmp_path, of_a_run)


def test_the_outputs_are_small_and_show_no_folder_of_a_machine():
    outputs = json.dumps([cell["outputs"] for cell in CELLS])
    assert len(outputs) < 300_000 and '"error"' not in outputs
    assert re.findall(r"/(?:home|root|work|tmp|Users)/[\w/]*", outputs) == []
