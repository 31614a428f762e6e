"""One run at a time in a folder of results, the config that it was made with, and its sweeping."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tasks.common.errors import InputError
from tasks.common.files import this_machine
from tests.workflow.configs import changed, shipped
from tests.workflow.running import ROOT, copy_project, planned, snakemake, with_config, write
from workflow import results_folder
from workflow.configuration.read import parse

# In the place of a program: asks for the lock while its run holds it, and takes SECONDS.
ASKS = """
import os, sys, time
from pathlib import Path
from tasks.common.errors import InputError
from workflow import results_folder
out = Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(parents=True, exist_ok=True)
try:
    said = str(results_folder.lock(out.parent))
except InputError as error:
    said = str(error)
(out / "manifest.json").write_text(said)
time.sleep(int(os.environ.get("SECONDS", 0)))
main = lambda: None
"""


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_stops_no_run(tmp_path, monkeypatch, number):
    def flock(file, operation):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(results_folder.fcntl, "flock", flock)
    assert results_folder.lock(tmp_path) is None


def test_a_run_holds_the_lock_until_its_jobs_have_ended_or_it_is_killed(tmp_path):
    copy_project(tmp_path)
    (tmp_path / "tasks" / "world" / "make.py").write_text(ASKS)
    manifest = tmp_path / "results" / "world" / "manifest.json"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "results/world/manifest.json"]
    options = {"cwd": tmp_path, "env": os.environ | {"SECONDS": "600"}, "start_new_session": True}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, **options) as process:
        while process.poll() is None and not manifest.exists():
            time.sleep(0.05)
        process.kill()
        process.wait()
        said = snakemake(tmp_path, "results/world/manifest.json", code=1)
        assert "another run is writing to 'results'; wait" in said
        os.killpg(process.pid, signal.SIGKILL)
    snakemake(tmp_path, "results/world/manifest.json")  # the same command goes on
    said = manifest.read_text()
    assert "another run is writing to 'results'; wait" in said
    assert results_folder.lock(tmp_path / "results")


def test_a_second_run_from_another_folder_is_refused_and_jobs_are_not(tmp_path):
    """A plan changes nothing, and jobs load the workflow again."""
    results = tmp_path / "results"
    lock = results_folder.lock(results)
    options = with_config(tmp_path, shipped("smoke") | {"results": str(results)})
    manifest = str(results / "world" / "manifest.json")
    assert planned(ROOT, *options, manifest) == {"world": 1}
    said = snakemake(ROOT, *options, manifest, code=1)
    assert said.strip().splitlines()[-1].startswith("error: results: another run is writing to ")
    assert not Path(manifest).exists() and not (results / "config.yaml").exists()
    as_job = ("--mode", "remote", "--no-hooks", "--nolock")  # of what Snakemake gives to a job
    snakemake(ROOT, *as_job, *options, manifest)
    assert Path(manifest).exists()
    lock.close()

    left = [results / "cells" / f".a.json.{this_machine()}-12345678", results / ".notes.markdown"]
    left[0].parent.mkdir()
    for path in left:
        path.write_text("")
    snakemake(ROOT, "--forceall", *options, manifest)
    assert [path.exists() for path in left] == [False, True]


def test_a_config_of_the_users_is_not_written_over(tmp_path):
    config, path = shipped("smoke") | {"results": str(tmp_path)}, tmp_path / "config.yaml"
    faults = [f"{path}: the run would write its own config over it; give it another name"]
    write(path, config)
    assert list(results_folder.faults(parse(config))) == faults
    results_folder.keep_config(parse(config), set(), [])
    assert not list(results_folder.faults(parse(config), [path]))  # written by a run, to the letter
    (tmp_path / "provenance.json").write_text("{}")
    write(path, config)
    assert list(results_folder.faults(parse(config), [path])) == faults
    assert not list(results_folder.faults(parse(config), [tmp_path / "mine.yaml"]))  # a run's, old
    said = snakemake(ROOT, "-n", "-d", str(tmp_path), "--configfile", str(path), code=1)
    assert said.endswith(f"\nerror: config: {faults[0]}\n")


def test_a_link_out_of_the_folder_is_refused_and_one_to_the_folder_is_not(tmp_path):
    results, other, linked = (tmp_path / name for name in ("results", "other", "linked"))
    (results / "cells").mkdir(parents=True)
    other.mkdir()
    linked.symlink_to(results)
    (results / "inner").symlink_to("cells")
    results_folder.sweep_all(linked)
    for link in (results / "logs", results / "cells" / "rte.json"):
        link.symlink_to(other)
        with pytest.raises(InputError, match=f"{link.name}: a link that leads out of"):
            results_folder.sweep_all(results)
        link.unlink()


def test_another_config_is_told_by_the_keys_in_which_it_differs(tmp_path):
    config = shipped("smoke") | {"results": str(tmp_path)}
    assert results_folder.changes(parse(config)) == []
    results_folder.keep_config(parse(config), set(), [])
    same = changed(changed(config, "runtime.shards", 3), "experiment.keep", [])
    assert results_folder.changes(parse(same)) == []
    other = changed(config, "experiment.seeds.finetune", [9])
    other = changed(other, "experiment.finetune.epochs", 7)
    keys = ["experiment.finetune.epochs", "experiment.seeds.finetune"]
    assert sorted(results_folder.changes(parse(other))) == keys
    (tmp_path / "config.yaml").write_text("of another version: 1")
    assert results_folder.changes(parse(config)) == ["all"]
