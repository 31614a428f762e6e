"""A signal to stop: one line, exit code 75, and the same end as ever when it is started again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pandas import read_csv

from gpt1.settings import RuntimeSettings
from gpt1.training import accumulation, pretraining
from gpt1.training.runtime import Runtime
from tasks.common.errors import INTERRUPTED, Interrupted
from tests.gpt1.test_pretrain import run
from tests.gpt1.toy import ARCHS, corpus, pretrain_settings
from tests.workflow.configs import shipped
from tests.workflow.running import ROOT, copy_project, write

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP]
SECONDS = 30  # that a program has to end, as Slurm leaves it

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


@pytest.fixture(autouse=True)
def heard():
    """No signal is ignored in the programs, as a shell has those that it puts in the background."""
    ignored = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, signal.SIG_DFL)
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def program(tmp_path, *options, **settings):
    """The command of a pre-training run that does not end by itself."""
    settings = pretrain_settings("transformer", updates=10**6, checkpoints=[0, 10**6], **settings)
    command = [sys.executable, "-m", "gpt1.pretrain", "transformer", "--settings"]
    command += [settings.to_json(), "--corpus", str(corpus(tmp_path / "corpus"))]
    return [*command, "--work", str(tmp_path / "work"), "--out", str(tmp_path / "out"), *options]


def delayed(pid):
    """The seconds that a process has been ready to run while others had the processors."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:  # not Linux
        return 0.0


def last_words(process):
    """What a program says on stderr that got a signal; it ends within SECONDS of its own."""
    begun = time.monotonic() - delayed(process.pid)
    while process.poll() is None:
        assert time.monotonic() - delayed(process.pid) - begun < SECONDS, process.args
        time.sleep(0.05)
    return process.communicate()[1]


def stopped(command, tmp_path, number):
    """What a run says that gets a signal when it has made its first checkpoint."""
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process:
        while process.poll() is None and not list(tmp_path.glob("work/*/update-0.json")):
            time.sleep(0.02)
        time.sleep(0.5)
        process.send_signal(number)
        said = last_words(process)
    assert process.returncode == INTERRUPTED == 75
    assert said.count("\n") == 1 and f"stopped by {number.name} at update" in said
    assert len(list(tmp_path.glob("work/*/state.safetensors"))) == 1
    return said


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_saves_the_state_and_says_so_in_one_line(tmp_path, number):
    stopped(program(tmp_path), tmp_path, number)


def test_an_update_that_takes_minutes_does_not_delay_the_stop(tmp_path):
    runtime = RuntimeSettings(micro_batch=1).to_json()
    command = program(tmp_path, "--runtime", runtime, batch=60_000)
    assert "at update 0 of" in stopped(command, tmp_path, signal.SIGTERM)


@pytest.mark.parametrize("arch", ARCHS)
def test_a_run_stopped_between_micro_batches_ends_as_one_that_was_not(tmp_path, arch, monkeypatch):
    whole = run(tmp_path, arch, "whole", Runtime(micro_batch=1))
    seed_step, steps = accumulation.seed_step, []

    def signalled(*numbers):
        steps.append(numbers)
        if numbers[2:] == (5, 2):  # update, first window of the micro-batch
            os.kill(os.getpid(), signal.SIGTERM)
        seed_step(*numbers)

    monkeypatch.setattr(accumulation, "seed_step", signalled)
    with pytest.raises(
        Interrupted, match="stopped by SIGTERM at update 5 of 8; the state is saved"
    ):
        run(tmp_path, arch, "parts", Runtime(micro_batch=1))
    assert steps[-1][2:] == (5, 2)  # the last of the update, of window 3, was not begun
    monkeypatch.undo()
    parts = run(tmp_path, arch, "parts", Runtime(micro_batch=1))
    for update in (0, 3, 8):
        file = f"update-{update}.safetensors"
        assert (whole / file).read_bytes() == (parts / file).read_bytes()


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("name", ["gpt1.pretrain", "gpt1.finetune"])
def test_a_signal_while_pytorch_is_imported_is_one_line(tmp_path, name, number):
    (tmp_path / "torch.py").write_text(
        "import time; print('importing', flush=True); time.sleep(60)"
    )
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    command = [sys.executable, "-m", name]
    assert ended(command, number, env=environment) == line(number)


def line(number):
    return f"error: stopped by {number.name}; start again to go on\n"


def ended(command, *numbers, **options):
    """What a program says on stderr that gets these signals after its first line."""
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, **options) as process:
        process.stdout.readline()
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.2)
        said = last_words(process)
    assert process.returncode == INTERRUPTED
    return said


def waiting(*words):
    """A program that does nothing but wait, and takes a while to end."""
    code = (
        "import time\nfrom tasks.common.errors import run\ndef main():\n    print(1, flush=True)\n"
    )
    code += "    try:\n        time.sleep(60)\n    finally:\n        time.sleep(0.5)\n"
    return [*words, sys.executable, "-c", f"{code}raise SystemExit(run(main))"]


def test_a_signal_that_comes_twice_is_one_line():
    said = ended(waiting(), signal.SIGTERM, signal.SIGTERM, signal.SIGINT, cwd=ROOT)
    assert said == line(signal.SIGTERM)


def test_a_program_under_nohup_outlives_its_terminal():
    said = ended(waiting("nohup"), signal.SIGHUP, signal.SIGTERM, cwd=ROOT)
    assert said.endswith(line(signal.SIGTERM)) and "SIGHUP" not in said


def test_a_process_that_a_library_forks_dies_of_a_signal_as_ever():
    """Pools end their processes by SIGTERM."""
    code = "import os, time\nfrom tasks.common.errors import run\ndef main():\n"
    code += "    ready, up = os.pipe()\n    pid = os.fork()\n    if not pid:\n"
    code += "        os.write(up, b'1')\n        time.sleep(60)\n        os._exit(0)\n"
    code += "    os.read(ready, 1)\n"
    code += f"    os.kill(pid, {signal.SIGTERM:d})\n    print(os.waitpid(pid, 0)[1])\nrun(main)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, text=True, capture_output=True)
    assert (done.stdout, done.stderr) == (f"{signal.SIGTERM:d}\n", "")


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


def test_a_signal_to_a_whole_job_leaves_pretraining_the_time_to_save(tmp_path):
    """It reaches Snakemake and all that it has started; no shell is there to end first."""
    copy_project(tmp_path)
    (tmp_path / "gpt1/pretrain.py").write_text(STAND_IN)
    config = write(tmp_path / "config.yaml", shipped("smoke") | {"results": "made"})
    for name in ("corpus.json", "train.bin", "heldout.bin"):
        (tmp_path / "made/corpus").mkdir(parents=True, exist_ok=True)
        (tmp_path / "made/corpus" / name).touch()
    target = "made/pretrain/lstm/seed-0/log.csv"
    command = [sys.executable, "-m", "snakemake", target, "--cores", "1", "--configfile", config]
    command += ["--allowed-rules", "pretrain"]
    log = tmp_path / "made/logs/pretrain/lstm/0.log"
    options = {"cwd": tmp_path, "stdout": -1, "stderr": -2, "text": True}
    with subprocess.Popen(command, start_new_session=True, **options) as process:
        while process.poll() is None and not (log.exists() and "ready" in log.read_text()):
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGTERM)
        said, _ = process.communicate(timeout=120)
    assert process.returncode and "error: stopped by a signal; start again" in said
    assert "exit status 75" in said, said
    assert "start again" in log.read_text()
