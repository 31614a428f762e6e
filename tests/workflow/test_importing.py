"""A signal while a program imports libraries, which takes seconds, is one line as at any time."""

import os
import signal
import subprocess
import sys

import pytest

from tasks.common.errors import INTERRUPTED, importing
from tests.workflow.running import ROOT

LIBRARIES = ("torch", "pandas", "datasets", "tokenizers", "ftfy", "huggingface_hub", "httpx2")
LIBRARIES += ("sklearn", "scipy", "matplotlib", "jinja2")
STAND_IN = "import time\nprint('importing', flush=True)\ntime.sleep(60)\n"
# Those that import nothing of this before they parse their arguments.
QUICK = {"tasks.baselines", "tasks.word_classes", "tasks.prepare"}
QUICK |= {"tasks.world", "workflow.analysis.tables"}
OTHERS = {"gpt1.pretrain"}  # whose first process alone may answer: see test_signals


def programs() -> list[str]:
    """The module of every program of the suite that ends as `tasks.common.errors.run` says."""
    packages = ("gpt1", "tasks", "workflow")
    files = [path for name in packages for path in (ROOT / name).rglob("*.py")]
    found = [p for p in files if "sys.exit(run(main))" in p.read_text(encoding="utf-8")]
    names = (p.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".") for p in found)
    return sorted(name.removesuffix(".__main__") for name in names)


@pytest.fixture
def slow(tmp_path) -> dict[str, str]:
    """An environment in which no library can be imported in less than a minute."""
    for name in LIBRARIES:
        (tmp_path / f"{name}.py").write_text(STAND_IN)
    return os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}


@pytest.mark.parametrize("name", sorted({*programs()} - QUICK - OTHERS))
def test_a_signal_while_a_program_imports_libraries_is_one_line(name, slow, tmp_path):
    command = [sys.executable, "-m", name]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, env=slow, **streams) as process:
        assert process.stdout.readline() == "importing\n"
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    remedy = "put the imports of the program under `with importing(__name__)`"
    assert said == "error: stopped by SIGTERM; start again to resume\n", remedy
    assert process.returncode == INTERRUPTED


@pytest.mark.parametrize("name", sorted(QUICK))
def test_the_other_programs_import_none_of_them(name, slow, tmp_path):
    command = [sys.executable, "-m", name, "--help"]
    done = subprocess.run(
        command, cwd=tmp_path, env=slow, text=True, capture_output=True, timeout=60
    )
    assert done.returncode == 0 and done.stdout.startswith("usage:")


def test_a_program_that_is_imported_itself_leaves_signals_alone():
    before = signal.getsignal(signal.SIGTERM)
    with importing("gpt1.convert"):
        assert signal.getsignal(signal.SIGTERM) == before
    with importing("__main__"):
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before
