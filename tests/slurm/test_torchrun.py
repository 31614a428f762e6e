"""torchrun on two nodes, as the page on clusters says: the losses of one process, whatever ends the
job in between."""

import contextlib
import os
import shlex
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.slurm.runs import Slurm, losses, wait_for
from workflow.configuration.model import Config
from workflow.configuration.read import parse

ONE_PROCESS = "results/pretrain/transformer/seed-0"
SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --mem=2000 --time=10
#SBATCH --signal=TERM@120
export GPT1_TEST_SECONDS={seconds}
srun --kill-on-bad-exit=1 {torchrun} --nnodes=$SLURM_NNODES --nproc-per-node=1 \\
  --rdzv-id=$SLURM_JOB_ID --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:29500 \\
  -m gpt1 pretrain transformer --corpus {corpus} --settings {settings} \\
  --runtime '{{"micro_batch": {micro_batch}}}' --work {folder}/work --out {folder}/out
"""


@dataclass(frozen=True)
class Torchrun:
    """A run in two processes, each on a node of its own, in a folder."""

    slurm: Slurm
    project: Path
    config: Config
    corpus: Path
    folder: Path

    def submit(self, seconds: float = 0) -> str:
        """The number of a new job; `seconds` is what an update takes longer."""
        script = SCRIPT.format(
            seconds=seconds,
            torchrun=Path(sys.executable).with_name("torchrun"),
            corpus=self.corpus,
            settings=shlex.quote(self.config.pretrain("transformer", 0).to_json()),
            micro_batch=self.config.runtime.micro_batch,
            folder=self.folder,
        )
        (self.folder / "job").write_text(script)
        places = ("-D", str(self.project), "--output", str(self.folder / "said"))
        return self.slurm("sbatch", "--parsable", *places, str(self.folder / "job")).strip()

    def ended(self, number: str, seconds: float = 600) -> tuple[str, str]:
        """The state that a job ends in, and what it said."""
        under_way = ("PENDING", "RUNNING", "COMPLETING")

        def end() -> str:
            state = self.slurm.job(number)["JobState"]
            return "" if state in under_way else state

        state = wait_for(end, seconds)
        wait_for(lambda: number not in self.slurm.jobs("running,completing"), seconds)
        return state, (self.folder / "said").read_text()

    def training(self) -> bool:
        """Whether updates are being made."""
        return bool(list(self.folder.glob("work/*/update-0.json")))


def process(number: str, rank: int) -> int | None:
    """The process of a rank of a job: the nodes are this machine."""
    wanted = {f"SLURM_JOB_ID={number}".encode(), f"RANK={rank}".encode()}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted <= set((folder / "environ").read_bytes().split(b"\0")):
                return int(folder.name)
    return None


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
