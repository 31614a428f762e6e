"""A signal to stop: one line, exit code 75, and the same end as ever when it is started again."""

import os
import signal
import subprocess
import sys
import time

import pytest
from pandas import read_csv

from gpt1 import pretrain
from gpt1.training import windows
from gpt1.training.runtime import Runtime
from tasks.common.programs import INTERRUPTED, Interrupted
from tests.gpt1.test_pretrain import run
from tests.gpt1.toy import ARCHS, corpus, pretrain_settings
from tests.workflow.running import ROOT

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP]
SECONDS = 60  # that a program has to end


@pytest.fixture(autouse=True)
def heard():
    """No signal is ignored in the programs, as a shell has those that it puts in the background."""
    ignored = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def program(tmp_path):
    """The command of a pre-training run that does not end by itself."""
    settings = pretrain_settings("transformer", updates=10**6, checkpoints=[0, 10**6])
    command = [sys.executable, "-m", "gpt1", "pretrain", "transformer", "--settings"]
    command += [settings.to_json(), "--corpus", str(corpus(tmp_path / "corpus"))]
    return [*command, "--work", str(tmp_path / "work"), "--out", str(tmp_path / "out")]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_saves_the_state_and_says_so_in_one_line(tmp_path, number):
    with subprocess.Popen(program(tmp_path), stdout=-1, stderr=-1, text=True) as process:
        while process.poll() is None and not list(tmp_path.glob("work/*/update-0.json")):
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(number)
        said = process.communicate(timeout=SECONDS)[1]
    assert process.returncode == INTERRUPTED == 75
    assert said.count("\n") == 1 and f"stopped by {number.name} at update" in said
    assert len(list(tmp_path.glob("work/*/state.safetensors"))) == 1


def line(number):
    return f"error: stopped by {number.name}; start again to resume\n"


def ended(command, *numbers, **options):
    """What a program says on stderr that gets these signals after its first line."""
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, **options) as process:
        process.stdout.readline()
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.2)
        said = process.communicate(timeout=SECONDS)[1]
    assert process.returncode == INTERRUPTED
    return said


def waiting(*words):
    """A program that does nothing but wait, and takes a while to end."""
    code = "import time\nfrom tasks.common.programs import run\n"
    code += "def main():\n    print(1, flush=True)\n"
    code += "    try:\n        time.sleep(60)\n    finally:\n        time.sleep(0.5)\n"
    return [*words, sys.executable, "-c", f"{code}raise SystemExit(run(main))"]


def test_a_signal_that_comes_twice_is_one_line():
    said = ended(waiting(), signal.SIGTERM, signal.SIGTERM, signal.SIGINT, cwd=ROOT)
    assert said == line(signal.SIGTERM)


def test_a_program_under_nohup_outlives_its_terminal():
    said = ended(waiting("nohup"), signal.SIGHUP, signal.SIGTERM, cwd=ROOT)
    assert said.endswith(line(signal.SIGTERM)) and "SIGHUP" not in said


def test_a_process_that_a_library_forks_dies_of_a_signal_as_ever():
    """Pools end their processes by SIGTERM, also one that waits for a lock."""
    code = "import os, signal, time\nfrom tasks.common.programs import run\ndef main():\n"
    code += "    ready, up = os.pipe()\n    pid = os.fork()\n    if not pid:\n"
    code += "        is_default = signal.getsignal(signal.SIGTERM) is signal.SIG_DFL\n"
    code += (
        "        os.write(up, b'%d' % is_default)\n        time.sleep(60)\n        os._exit(0)\n"
    )
    code += "    assert os.read(ready, 1) == b'1'\n"
    code += f"    os.kill(pid, {signal.SIGTERM:d})\n    print(os.waitpid(pid, 0)[1])\nrun(main)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True)
    assert (done.stdout, done.stderr) == (f"{signal.SIGTERM:d}\n", "")


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        (pretrain, "heldout_loss", 0),  # a checkpoint is scored
        (pretrain, "windows", 3),  # between two rows of the log
        (windows, "seed_step", 22),  # between the micro-batches of update 5
        (pretrain, "heldout_loss", 2),  # the last checkpoint
    ],
)
def test_a_stopped_run_ends_as_one_that_was_not(tmp_path, arch, module, name, call, monkeypatch):
    monkeypatch.setattr(pretrain, "LOG_ROWS", 2)
    runtime = Runtime(micro_batch=1)
    whole = run(tmp_path, arch, "whole", runtime)
    function, calls = getattr(module, name), []

    def signalled(*arguments):
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGTERM)
        calls.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(module, name, signalled)
    with pytest.raises(
        Interrupted, match="stopped by SIGTERM at update . of 8; the state is saved"
    ):
        run(tmp_path, arch, "parts", runtime)
    assert len(calls) == call + 1  # nothing more was begun
    parts = run(tmp_path, arch, "parts", runtime)
    for update in (0, 3, 8):
        file = f"update-{update}.safetensors"
        assert (whole / file).read_bytes() == (parts / file).read_bytes()
    logs = [read_csv(folder / "log.csv").drop(columns="seconds") for folder in (whole, parts)]
    assert logs[0].equals(logs[1])
