"""torchrun on two nodes: the losses of one process, whatever ends the job in between."""

import os
import signal
import time

import pytest

from tests.slurm.runs import losses, wait_for
from tests.slurm.torchrun import Torchrun, process
from workflow.configuration.read import parse

ONE_PROCESS = "results/pretrain/transformer/seed-0"


@pytest.fixture
def run(slurm, project, config, pretrained, tmp_path) -> Torchrun:
    """A run in two processes that has not been submitted."""
    corpus = pretrained / "results/corpus/corpus.json"
    return Torchrun(slurm, project, parse(config), corpus, tmp_path)


def trains_as_one_process_does(run, pretrained) -> str:
    """Submit the run and compare the losses of its end; returns what it said."""
    number = run.submit()
    state, said = run.ended(number)
    assert (state, run.slurm.job(number)["NumNodes"]) == ("COMPLETED", "2"), said
    out = run.folder / "out"
    assert losses(out) == pytest.approx(losses(pretrained / ONE_PROCESS), abs=1e-5)
    assert '"processes": 2' in (out / "update-20.json").read_text()
    return said


def test_two_nodes_train_as_one_process_does(run, pretrained):
    trains_as_one_process_does(run, pretrained)


@pytest.mark.parametrize("rank", [0, 1])
def test_a_process_that_dies_on_one_node_ends_the_job_within_a_minute(run, pretrained, rank):
    number = run.submit(seconds=1)
    wait_for(run.training)
    begun = time.monotonic()
    os.kill(process(number, rank), signal.SIGKILL)
    state, said = run.ended(number, seconds=60)
    assert state == "FAILED" and time.monotonic() - begun < 60, said
    assert "Signal 9 (SIGKILL)" in said
    assert process(number, 0) is None and process(number, 1) is None
    trains_as_one_process_does(run, pretrained)


def test_a_job_that_is_cancelled_saves_its_state_and_the_next_one_goes_on(run, pretrained):
    number = run.submit(seconds=1)
    wait_for(run.training)
    time.sleep(3)
    run.slurm("scancel", number)
    state, said = run.ended(number)
    assert state == "CANCELLED", said
    assert "stopped by SIGTERM at update" in said and "the state is saved" in said
    assert len(list(run.folder.glob("work/*/state.safetensors"))) == 1
    assert "resuming from update" in trains_as_one_process_does(run, pretrained)
