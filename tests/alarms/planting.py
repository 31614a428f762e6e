"""A copy of the suite to plant faults in, and tests run in it, each time by a process of its own.

The processes are forked from a server that has imported what takes long, but nothing of the suite.
"""

import compileall
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from py_compile import PycInvalidationMode
from xml.etree import ElementTree

import pytest

from tests.alarms.faults import ROOT

LEFT_OUT = (".git", ".venv", ".slurm", ".mutation", ".snakemake", ".*_cache", "__pycache__")
LEFT_OUT += ("results", "*_run")
PACKAGES = ("gpt1", "tasks", "workflow", "tests")
LIBRARIES = ["torch", "pandas", "pyarrow.parquet", "scipy.stats", "sklearn.linear_model"]
LIBRARIES += ["matplotlib.figure", "datasets", "pytest"]
# What a broken suite raises, and a wrong number does not.
BROKEN = (
    *("ImportError", "ModuleNotFoundError", "SyntaxError", "IndentationError", "NameError"),
    *("UnboundLocalError", "AttributeError", "TypeError"),
)
LIMIT_SECONDS = 900
LIMIT_MEMORY, LIMIT_FILE = 12 * 2**30, 2**30  # bytes; a fault may ask for the whole machine
FORKS = multiprocessing.get_context("forkserver")


@dataclass(frozen=True)
class Outcome:
    """What tests did: the ids of those that passed, why others failed, and all that broke.

    If they were `timed_out`, nothing else is known.
    """

    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    timed_out: bool = False

    @classmethod
    def read(cls, report: Path) -> "Outcome":
        """Of a JUnit report; tests that were skipped are in none of the three."""
        found = cls()
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname')}::{case.get('name')}"
            failure, error = case.find("failure"), case.find("error")
            if error is not None:
                found.broken.append(f"{name}: {error.get('message')}")
            elif failure is not None:
                message = failure.get("message") or ""
                if message.startswith(BROKEN):
                    found.broken.append(f"{name}: {message}")
                found.failed[name] = message
            elif case.find("skipped") is None:
                found.passed.append(name)
        return found

    def holds(self, test: str) -> bool:
        """Whether a test, given by its node id, was run and all of its cases passed."""
        name = test.replace(".py::", "::").replace("/", ".")
        each = (*self.passed, *self.failed)
        ran = [one for one in each if one == name or one.startswith(f"{name}[")]
        return bool(ran) and not set(ran) & self.failed.keys()

    def stops(self, alarm: str = "") -> bool:
        """Whether a test failed by what it saw (the `alarm`, if one is expected)."""
        seen = any(alarm in message for message in self.failed.values())
        return seen and not self.broken


def copy_suite(to: Path) -> Path:
    """The suite without what it made; its byte code is told from another source by its digest."""
    shutil.copytree(ROOT, to, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
    for package in PACKAGES:
        compileall.compile_dir(
            to / package, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH
        )
    FORKS.set_forkserver_preload(LIBRARIES)
    return to


def run_tests(
    suite: Path, *tests: str, stop: bool = False, limit: float = LIMIT_SECONDS
) -> Outcome:
    """Run tests in a copy, with `stop` up to the first that fails; nothing is left there.

    After `limit` seconds they and all that they started are killed.
    """
    with tempfile.TemporaryDirectory() as folder:
        report, said = Path(folder, "report.xml"), Path(folder, "said")
        words = [*tests, "-q", "-p", "no:cacheprovider", f"--basetemp={folder}/tmp"]
        words += [f"--junitxml={report}", *(["-x"] if stop else [])]
        process = FORKS.Process(target=_pytest, args=(suite, words, said))
        process.start()
        process.join(limit)
        if process.is_alive():
            os.killpg(process.pid, signal.SIGKILL)  # pytest and what its tests started
            process.join()
            return Outcome(timed_out=True)
        if not report.is_file():
            return Outcome(broken=[said.read_text(encoding="utf-8", errors="replace")[-2000:]])
        return Outcome.read(report)


def _pytest(suite: Path, words: list[str], said: Path) -> None:
    """pytest on the copy, as `python -m pytest` in its folder would run it."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT_FILE, LIMIT_FILE))
    if sys.platform == "linux":  # elsewhere it limits nothing
        resource.setrlimit(resource.RLIMIT_AS, (LIMIT_MEMORY, LIMIT_MEMORY))
    with open(said, "wb") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
        del sys.modules[name]  # those that this process was started with are not the copy's
    for name in [name for name in os.environ if name.startswith("PYTEST")]:
        del os.environ[name]
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # no test needs a plugin
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    os.chdir(suite)
    sys.path[:] = [str(suite), *(p for p in sys.path if p and Path(p).resolve() != ROOT)]
    sys.exit(pytest.main(words))
