"""What a user sees: a panel on a terminal, a plain log elsewhere, a line for a mistake."""

import importlib.util
import os
import pty
import re
import subprocess
import sys

import pytest

from tests.workflow.configs import shipped
from tests.workflow.running import ROOT, copy_project, snakemake, with_config

WORLD = "results/smoke/world/manifest.json"
SMOKE = ("--configfile", str(ROOT / "workflow" / "config" / "smoke.yaml"))


def on_a_terminal(project, *options):
    """What Snakemake shows on a terminal, without colours, and its exit code."""
    terminal, end = pty.openpty()
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *options]
    streams = {"stdin": subprocess.DEVNULL, "stdout": end, "stderr": end}
    shown = b""
    with subprocess.Popen(command, cwd=project, **streams) as process:
        os.close(end)
        try:
            while part := os.read(terminal, 65536):
                shown += part
        except OSError:  # what a terminal answers whose programs have ended
            os.close(terminal)
    return re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\r", "", shown.decode()), process.returncode


def test_on_a_terminal_a_plan_is_a_table_that_fits_and_no_list_of_jobs(tmp_path):
    said, code = on_a_terminal(ROOT, "-d", str(tmp_path), "--dry-run", "all")
    table = said.partition("Job stats")[2].partition("total")[0]
    rows = dict(re.findall(r"^ ([a-z ]+?) +(\d+) *$", table, re.MULTILINE))
    assert code == 0 and "results/logs/" not in said
    assert {"pretrain", "finetune", "tables"} <= set(rows) and len(rows) <= 20


def test_on_a_terminal_a_run_has_a_panel_and_an_error_its_line(tmp_path):
    copy_project(tmp_path)
    said, code = on_a_terminal(tmp_path, *SMOKE, "--", WORLD)
    assert code == 0 and "Workflow Progress" in said and "Total Progress" in said
    program = tmp_path / "tasks" / "world" / "make.py"
    program.write_text("raise SystemExit('error: the stand-in failed')")
    said, code = on_a_terminal(tmp_path, *SMOKE, "--force", "--", WORLD)
    assert code == 1 and "error: the stand-in failed" in said


def test_in_a_pipe_the_log_says_what_each_job_asks_for_and_lists_no_files(tmp_path):
    runtime = {"device": "cuda", "gpu_model": "a100", "pretrain_processes": 2}
    config = shipped("smoke") | {"runtime": runtime}
    said = snakemake(ROOT, "-n", *with_config(tmp_path, config), "all")
    jobs = re.findall(r"^Job \d+: (.*)$", said, re.MULTILINE)
    log = "logs/pretrain/transformer/seed-0.log"
    assert f"pretrain results/smoke/{log}, 2 CPU, 1500 MB, 60 min, 2 GPU a100" in jobs
    others = [job for job in jobs if job.startswith("finetune")]
    assert others and all(", 1 CPU, 1500 MB, 30 min, 1 GPU a100" in job for job in others)
    assert "world results/smoke/logs/world.log, 1 CPU, 2000 MB, 60 min" in jobs
    assert not re.search(r"^ +(input|output|resources):", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--configfile", "smok.yaml"], "config: smok.yaml: No such file"),
        (["-C", "data=F", "all"], "config: --config: 'all' is not KEY=VALUE; give targets"),
        (["--config", "data=F", "-Cresults=R"], "--config is given twice, and Snakemake takes"),
        (["--cores", "0", "all"], "--cores 0: give at least 1, or all"),
        (["all", *SMOKE, "results/none.csv"], "config: results/none.csv: No such file"),
        pytest.param(
            ["all", "--profile", "workflow/profiles/slurm"],
            "Snakemake's plugin for Slurm is not installed; install it with: make slurm",
            marks=pytest.mark.skipif(
                bool(importlib.util.find_spec("snakemake_executor_plugin_slurm")),
                reason="the plugin is installed",
            ),
        ),
    ],
)
def test_a_mistyped_option_is_one_line(options, fault, tmp_path):
    _profile, line = snakemake(ROOT, "-d", str(tmp_path), *options, code=1).splitlines()
    assert line.startswith(f"error: {fault}")


CELLS = "results/smoke/cells"


@pytest.mark.parametrize(
    ("target", "near"),
    [
        ("al", "did you mean all?"),
        ("results/main.csv", "did you mean results/smoke/main.csv?"),
        (f"{CELLS}/n_transfer_none/sst2.json", f"did you mean {CELLS}/n_transfer-none/sst2.json?"),
        ("x", "what this config makes lies in results/smoke"),
    ],
)
def test_a_mistyped_target_names_the_nearest(target, near, tmp_path):
    said = snakemake(ROOT, *with_config(tmp_path, "smoke"), target, code=1)
    assert said.splitlines()[-1] == f"error: {target}: no such target; {near}"


@pytest.mark.parametrize(
    "words", ["gpt1 predict", "workflow.analysis cost", "workflow.configuration"]
)
def test_a_program_without_its_packages_says_how_to_get_them(words):
    command = [sys.executable, "-S", "-m", *words.split()]  # -S: no installed packages
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert " has no package " in done.stderr and "activate" in done.stderr
