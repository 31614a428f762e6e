"""A config file that Snakemake cannot read: what it says, and how the place is found.

Snakemake reads the files of --configfile before anything of this project runs; `make` lets the
project read them first.
"""

import os
import shutil
import subprocess
import sys

import pytest

from tests.workflow.running import ROOT, snakemake

FILES = {
    "Latin-1": ("results: café\n".encode("latin-1"), "not UTF-8 at byte 12; save it as UTF-8"),
    "a tab": (
        b"runtime:\n\tshards: 2\n",
        "line 2: found character '\\t' that cannot start any token",
    ),
}
SNAKEMAKE = {  # its last line
    "Latin-1": "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xe9 in position 12",
    "a tab": "make sure to not mix whitespace and tab indentation",
}


@pytest.mark.parametrize("name", FILES)
def test_a_config_that_snakemake_cannot_read_ends_the_run_and_show_finds_the_place(name, tmp_path):
    content, fault = FILES[name]
    file = tmp_path / "config.yaml"
    file.write_bytes(content)
    options = ("--snakefile", str(ROOT / "Snakefile"), "--configfile", str(file))
    said = snakemake(tmp_path, *options, code=1)
    assert SNAKEMAKE[name] in said.strip().splitlines()[-1]
    assert list(tmp_path.iterdir()) == [file]
    command = [sys.executable, "-m", "workflow.configuration", "show", str(file)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"error: config: {file}: {fault}\n")


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
@pytest.mark.parametrize("name", ["Latin-1", "a tab", "code"])
def test_make_lets_the_project_read_a_config_before_snakemake(name, tmp_path):
    made = tmp_path / "made"
    code = f"import os; os.mkdir({str(made)!r})"
    template = f'__use_yte__: true\n__definitions__: ["{code}"]\n'.encode()
    fault = "__use_yte__ lets the file run code; remove it"
    content, fault = {**FILES, "code": (template, fault)}[name]
    file = tmp_path / "config.yaml"
    file.write_bytes(content)
    # The Python of the tests in the place of .venv's, which `install` would make.
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = text.replace(".venv/bin/python", sys.executable)
    rules = rules.replace(".venv/bin/snakemake", f"{sys.executable} -m snakemake --dry-run")
    command = ["make", "-f", "-", "--old-file=install", "all", f"CONFIG={file}"]
    env = {key: value for key, value in os.environ.items() if key not in ("MAKELEVEL", "MAKEFLAGS")}
    done = subprocess.run(command, input=rules, cwd=ROOT, env=env, text=True, capture_output=True)
    assert done.returncode and done.stderr.startswith(f"error: config: {file}: {fault}\nmake: ***")
    assert not made.exists()
