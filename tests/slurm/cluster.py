"""A real Slurm of one node on this machine, in a folder of its own: nothing in /etc is touched.

munged, slurmctld and slurmd (Debian's packages slurm-wlm and munge) listen on 127.0.0.1 only and
run as whoever runs the tests. The node claims more CPUs than there are, and two GPUs of the kind
"fake".
"""

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from getpass import getuser
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
SECONDS = 60
CPUS, MEMORY_MB = 8, 16000
CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,sched_interval=5,bf_interval=5
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MinJobAge=600
KillWait=30
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} Boards=1 SocketsPerBoard=1 CoresPerSocket={cpus} \
ThreadsPerCore=1 RealMemory={memory} Gres=gpu:fake:2 State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=01:00:00 State=UP
PartitionName=gpu Nodes={host} Default=NO MaxTime=01:00:00 State=UP
"""


def missing() -> str:
    """What keeps a cluster from being started here, with the remedy; empty if nothing does."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    absent = [program for program in PROGRAMS if not shutil.which(program, path=path)]
    if absent:
        return (
            f"Slurm is not installed ({absent[0]} is missing): as root, apt-get install "
            "--no-install-recommends slurm-wlm slurm-wlm-basic-plugins munge"
        )
    return ""


@contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """A cluster that lives in `folder`; yields the environment in which its commands find it."""
    host = socket.gethostname().split(".")[0]
    for name in ("state", "spool"):
        (folder / name).mkdir(parents=True)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    folder.chmod(0o755)
    text = CONFIG.format(
        **{"host": host, "user": getuser(), "folder": folder, "ports": _free_ports(2)},
        **{"cpus": CPUS, "memory": MEMORY_MB},
    )
    (folder / "slurm.conf").write_text(text)
    gpus = (f"NodeName={host} Name=gpu Type=fake File=/dev/{name}\n" for name in ("null", "zero"))
    (folder / "gres.conf").write_text("".join(gpus))
    # Within a job Snakemake's plugin removes SLURM_CONF from the environment of srun.
    (folder / "bin").mkdir()
    srun = folder / "bin" / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={folder}/slurm.conf exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    places = [str(folder / "bin"), os.environ["PATH"], "/usr/sbin", "/usr/local/sbin"]
    path = os.pathsep.join(places)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": path}
    munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    munge.append(f"--socket={folder}/munge.socket")
    commands = (
        ["munged", "--foreground", "--force", "--num-threads=2", *munge],
        ["slurmctld", "-D", "-i"],
        ["slurmd", "-D", "-N", host],
    )
    with ExitStack() as running:
        for command in commands:
            log = running.enter_context(open(folder / f"{command[0]}.out", "wb"))
            running.enter_context(_daemon(command, environment, log))
            if command[0] == "munged":
                _wait((folder / "munge.socket").exists, folder)
        _wait(lambda: "idle" in _says(environment, "sinfo", "-h", "-o", "%T"), folder)
        yield environment
        _says(environment, "scancel", "--user", getuser())
        _wait(lambda: not _says(environment, "squeue", "-h"), folder)


def _says(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    return done.stdout


@contextmanager
def _daemon(command: list[str], environment: dict[str, str], log) -> Iterator[None]:
    ending = ["setpriv", "--pdeathsig", "TERM"]  # with the tests, should these be killed
    process = subprocess.Popen(
        [*ending, *command], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


def _wait(ready, folder: Path) -> None:
    end = time.monotonic() + SECONDS
    while not ready():
        if time.monotonic() > end:
            logs = [*folder.glob("*.out"), *folder.glob("*.log")]
            tails = "\n".join(f"{log.name}: {log.read_text()[-2000:]}" for log in logs)
            raise TimeoutError(f"Slurm does not start:\n{tails}")
        time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
