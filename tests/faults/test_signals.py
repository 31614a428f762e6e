"""A signal to pre-training saves its state: one line, exit code 75, and the same end as ever."""

import os
import signal
import subprocess
import sys
import time

import pytest
from pandas import read_csv

from gpt1.training import pretraining
from tasks.common.errors import INTERRUPTED, Interrupted
from tests.gpt1.test_pretrain import run
from tests.gpt1.toy import ARCHS, corpus, pretrain_settings
from tests.workflow.configs import shipped
from tests.workflow.running import copy_project, write

STAND_IN = """\
import signal, sys, time

def stop(number, frame):
    time.sleep(0.5)  # saving takes its time
    print("error: stopped by a signal; start again", flush=True)
    sys.exit(75)

signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_a_signal_saves_the_state_and_says_so_in_one_line(tmp_path, number):
    settings = pretrain_settings("transformer", updates=10**6, checkpoints=[0, 10**6])
    command = [sys.executable, "-m", "gpt1.pretrain", "transformer", "--settings"]
    command += [settings.to_json(), "--corpus", str(corpus(tmp_path / "corpus"))]
    command += ["--work", str(tmp_path / "work"), "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process:
        while process.poll() is None and not list(tmp_path.glob("work/*/update-0.json")):
            time.sleep(0.02)
        time.sleep(0.2)
        process.send_signal(number)
        _, said = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED == 75
    assert said.count("\n") == 1 and f"stopped by {number.name} at update" in said
    assert len(list(tmp_path.glob("work/*/state.safetensors"))) == 1


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("moment", [("heldout_loss", 0), ("windows", 3), ("heldout_loss", 2)])
def test_a_stopped_run_ends_as_one_that_was_not(tmp_path, arch, moment, monkeypatch):
    """While a checkpoint is scored, the last one too, and between two rows of the log."""
    monkeypatch.setattr(pretraining, "LOG_ROWS", 2)
    whole = run(tmp_path, arch, "whole")
    name, call = moment
    function, calls = getattr(pretraining, name), []

    def signalled(*arguments):
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGTERM)
        calls.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(pretraining, name, signalled)
    with pytest.raises(
        Interrupted, match="stopped by SIGTERM at update . of 8; the state is saved"
    ):
        run(tmp_path, arch, "parts")
    parts = run(tmp_path, arch, "parts")
    for update in (0, 3, 8):
        file = f"update-{update}.safetensors"
        assert (whole / file).read_bytes() == (parts / file).read_bytes()
    logs = [read_csv(folder / "log.csv").drop(columns="seconds") for folder in (whole, parts)]
    assert logs[0].equals(logs[1])


def test_the_shell_around_a_program_waits_for_its_last_line(tmp_path):
    """A signal reaches the whole job: Snakemake, the shell, the program and tee."""
    copy_project(tmp_path)
    (tmp_path / "tasks/world/__main__.py").write_text(STAND_IN)
    config = write(tmp_path / "config.yaml", shipped("smoke") | {"results": "made"})
    command = [sys.executable, "-m", "snakemake", "made/world/manifest.json", "--cores", "1"]
    command += ["--configfile", config]
    log = tmp_path / "made/logs/world.log"
    options = {"cwd": tmp_path, "stdout": -1, "stderr": -2, "text": True}
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        while process.poll() is None and not (log.exists() and "ready" in log.read_text()):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGTERM)
        said, _ = process.communicate(timeout=120)
    assert process.returncode and "error: stopped by a signal; start again" in said
    assert "exited with non-zero code 75" in said or "exit status 75" in said, said
    assert "start again" in log.read_text()
