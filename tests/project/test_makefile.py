"""Targets of the Makefile, run with the Python of the tests and without installing anything."""

import os
import subprocess
import sys

import pytest

from tests.workflow.configs import ROOT


def make(*words: str) -> subprocess.CompletedProcess[str]:
    """Run make without installing anything."""
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    rules = rules.replace(".venv/bin/python", sys.executable)
    rules = rules.replace(".venv/bin/snakemake", f"{sys.executable} -m snakemake --dry-run")
    env = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "-f", "-", "--old-file=install", *words]
    return subprocess.run(command, input=rules, cwd=ROOT, env=env, text=True, capture_output=True)


@pytest.mark.parametrize("cores", ["0", "-1", "1.5", "two", ""])
def test_a_number_of_cores_that_is_none_is_one_line(cores):
    done = make(f"CORES={cores}", "all")
    assert done.returncode and done.stdout == "" and done.stderr.count("\n") == 1
    assert f"CORES={cores}: give a whole number of at least 1, or all" in done.stderr


@pytest.mark.parametrize("cores", ["1", "16", "all"])
def test_other_numbers_of_cores_are_passed_on(cores):
    done = make("--dry-run", f"CORES={cores}", "smoke")
    assert f" --cores {cores} " in done.stdout, done.stderr


def test_configs_of_ones_own_are_snakemakes_to_read():
    assert " all --configfile a.yaml b.yaml\n" in make("-n", "all", "CONFIG=a.yaml b.yaml").stdout


def test_make_install_writes_the_schema_that_the_configs_name():
    done = make("--dry-run", "--always-make", ".venv/ready")
    assert "-m workflow.configuration schema > workflow/config/config.schema.json\n" in done.stdout


def test_make_takes_a_first_look_and_make_full_the_default_config():
    first, full = (make("--dry-run", word).stdout for word in ("all", "full"))
    assert first.rstrip().endswith("--cores all all --configfile workflow/config/quick.yaml")
    assert full.rstrip().endswith("--cores all all")


def test_users_install_no_tool_of_developers_and_tests_wait_for_them():
    users, developers = (
        make("-n", "-B", f".venv/{name}").stdout for name in ("ready", "ready-dev")
    )
    assert "-r requirements.lock" in users and "requirements-dev.lock" not in users
    assert "--require-hashes -r requirements-dev.lock" in developers
    rules = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\ntest: dev\n" in rules and "\nlint: dev\n" in rules
