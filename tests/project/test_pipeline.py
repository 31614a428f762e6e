"""`workflow/pipeline.sh`, how a book becomes a score: it runs, and it runs what the rules run."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.workflow.configs import ROOT

SCRIPT = ROOT / "workflow" / "pipeline.sh"
PROGRAM = re.compile(r"-m (gpt1|tasks) (\w+)")
# Of configs that fetch data, import weights or ask for controls; and the list of a machine's GPUs.
OTHERS = {"fetch", "convert", "permute", "vectors", "devices"}


def _programs(text: str) -> set[str]:
    return {program for _, program in PROGRAM.findall(text)}


def test_the_script_has_every_program_that_a_run_of_the_worlds_books_has():
    rules = "".join(path.read_text() for path in (ROOT / "workflow" / "rules").glob("*.smk"))
    assert _programs(SCRIPT.read_text()) == _programs(rules) - OTHERS


def test_the_script_turns_a_book_into_scores(tmp_path: Path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [SCRIPT, tmp_path / "made"],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    scores = re.findall(r"^(\w+): [0-9.]+ % of 20 rows right$", done.stdout, re.MULTILINE)
    assert scores == ["full", "scratch"]
