"""A config file that Snakemake cannot read: what it says, and how the place is found.

Snakemake reads the files of --configfile before anything of this project runs.
"""

import subprocess
import sys

import pytest

from tests.workflow.running import ROOT, snakemake

FILES = {
    "Latin-1": ("results: café\n".encode("latin-1"), "not UTF-8 at byte 12; save it as UTF-8"),
    "a tab": (b"runtime:\n\tshards: 2\n", "line 2: a tab; YAML needs spaces"),
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
    command = [sys.executable, "-m", "workflow.config", "show", str(file)]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, f"error: config: {file}: {fault}\n")
