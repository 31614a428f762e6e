"""Pre-training by torchrun on the two nodes of the tests' cluster, as the page on clusters says."""

import contextlib
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.slurm.runs import Slurm, wait_for
from workflow.configuration.model import Config

SCRIPT = """\
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --mem=2000 --time=10
#SBATCH --signal=TERM@120
export GPT1_TEST_SECONDS={seconds}
srun --kill-on-bad-exit=1 {torchrun} --nnodes=$SLURM_NNODES --nproc-per-node=1 \\
  --rdzv-id=$SLURM_JOB_ID --rdzv-backend=c10d --rdzv-endpoint=127.0.0.1:29500 \\
  -m gpt1.pretrain transformer --corpus {corpus} --settings {settings} \\
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
