"""Slurm jobs that wait for what may never come, told while the workflow runs.

Slurm lets a job wait for ever that asks for more than a partition, an account or a quality of
service allows, and Snakemake waits with it. What Slurm refuses at once fails at once.
Source: squeue(1), job reason codes.
"""

import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import NamedTuple

SECONDS = 60  # from one look at the queue to the next, and for its answer
QUEUE = ["squeue", "--me", "--noheader", "--states=PENDING", "--format=%i|%r|%k|%Z"]
ORDINARY = {  # reasons that pass by themselves
    *("None", "Priority", "Resources", "Dependency", "BeginTime", "Prolog", "Cleaning"),
    *("JobArrayTaskLimit", "Licenses"),
}
RELEASE = "release it with `scontrol release {0}`"
ANEW = "if that does not pass, stop the run, %s, and start again"
REMEDIES = {  # by what the reason contains, the first that fits; {0} is the job's number
    "JobHeldAdmin": "the administrators hold it, ask them",
    "JobHeldUser": RELEASE,
    "held|HoldMaxRequeue": f"look up what failed with `scontrol show job {{0}}`, then {RELEASE}",
    "MaxJobs|GrpJobs": "it starts when other jobs of yours, or of your account, have ended",
    "TimeLimit|WallDuration|RunMinutes": ANEW % "lower runtime.minutes in the config (a retry asks "
    "for twice of it, at most for runtime.minutes.most) or change slurm_partition in the profile",
    "Mem": ANEW % "lower runtime.mem_mb in the config (a retry asks for twice of it, at most for "
    "runtime.mem_mb.most)",
    "GRES": ANEW % "change runtime.gpu_model or runtime.pretrain_processes in the config",
    "C[Pp][Uu]": ANEW % "lower runtime.pretrain_threads or runtime.finetune_threads in the config",
    "": ANEW % "change slurm_account, slurm_partition or constraint in the profile",
}


class WaitingJob(NamedTuple):
    """A line of squeue; `comment` is Snakemake's, `rule_NAME_wildcards_VALUES`."""

    number: str
    reason: str
    comment: str
    folder: str

    @property
    def line(self) -> str:
        """What the user is told."""
        name = self.comment.removeprefix("rule_").replace("_wildcards_", " ")
        remedy = next(text for names, text in REMEDIES.items() if re.search(names, self.reason))
        told = remedy.format(self.number)
        return f"Slurm job {self.number} ({name}) waits: {self.reason}; {told}"


def jobs(queue: str, folder: str) -> Iterator[WaitingJob]:
    """Those of the workflow in `folder` that may wait for ever, from what squeue says."""
    for line in queue.splitlines():
        fields = line.split("|", 3)
        if len(fields) < 4:  # cut off, or a message
            continue
        job = WaitingJob(*fields)
        ours = os.path.realpath(job.folder) == os.path.realpath(folder)
        if ours and job.comment.startswith("rule_") and job.reason not in ORDINARY:
            yield job


def watch(folder: str, tell: Callable[[str], object]) -> None:
    """Tell of each rule and reason once, in a thread that ends with the process."""
    threading.Thread(target=_watch, args=(folder, tell), daemon=True).start()


def _watch(folder: str, tell: Callable[[str], object]) -> None:
    told: set[tuple[str, str]] = set()
    pause = threading.Event()
    while not pause.wait(SECONDS):
        try:
            done = subprocess.run(
                QUEUE, capture_output=True, text=True, errors="replace", timeout=SECONDS
            )
        except subprocess.TimeoutExpired:
            continue  # the controller is busy
        except OSError:
            return  # no squeue: it is the executor's to say so
        for job in jobs(done.stdout, folder):
            kind = (job.comment.partition("_wildcards_")[0], job.reason.partition(",")[0])
            if kind not in told:
                told.add(kind)
                tell(job.line)
