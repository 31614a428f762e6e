"""The curves of a training run in other tools."""

import json
import subprocess
import sys
from importlib import import_module
from types import ModuleType

import pytest
import torch

from gpt1.training.run_files import TrainingLog, event_writer

TRACKIO = "trackio[tensorboard]==0.43.0"  # tensorboard as well
IMPORT = "import trackio; trackio.import_tf_events('results', project='p')"


@pytest.mark.slow
def test_trackio_imports_the_points_that_tensorboard_shows(tmp_path, monkeypatch):
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    command = [venv / "bin/pip", "install", "--quiet", TRACKIO]
    installed = subprocess.run(command, capture_output=True, text=True)
    if installed.returncode:
        pytest.skip(f"Trackio cannot be installed: {installed.stderr[-200:]}")
    monkeypatch.setattr(sys, "path", [*sys.path, *map(str, venv.glob("lib/*/site-packages"))])
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "store"))
    run, losses = "pretrain/transformer/seed-0", [3.5, 2.25, 1.125]
    log = TrainingLog(tokens_per_update=64, device="cpu")
    log.events = event_writer(tmp_path / "results" / run, 0)
    for update, loss in enumerate(losses, start=1):
        log.add(torch.tensor(loss))
        log.end_row(update, lr=0.5 / update)
    log.events.close()

    module = "tensorboard.backend.event_processing.event_accumulator"  # of the new environment
    shown = import_module(module).EventAccumulator(str(tmp_path / "results" / run)).Reload()
    subprocess.run([venv / "bin/python", "-c", IMPORT], cwd=tmp_path, check=True)
    for name in ("loss", "lr"):
        given = ["get", "metric", "--project", "p", "--run", run, "--metric", name, "--json"]
        told = subprocess.run([venv / "bin/trackio", *given], capture_output=True, check=True)
        imported = [(of["step"], of["value"]) for of in json.loads(told.stdout)["values"]]
        assert imported == [(of.step, of.value) for of in shown.Scalars(name)]
        assert len(imported) == len(losses)


@pytest.mark.parametrize("done", [0, 3])
def test_a_run_that_starts_anew_takes_the_curves_of_an_earlier_one_out(done, tmp_path, monkeypatch):
    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = lambda folder, **_: folder
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for name in ("events.out.tfevents.1", "log.csv"):
        (tmp_path / name).touch()
    event_writer(tmp_path, done)
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"log.csv", *["events.out.tfevents.1"] * bool(done)}
