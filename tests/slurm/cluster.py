"""A real Slurm of two nodes on this machine, in a folder of its own: nothing in /etc is touched.

munged, slurmctld and slurmd (Debian's packages slurm-wlm and munge) listen on 127.0.0.1 only and
run as whoever runs the tests. Each node claims more CPUs than there are, and two GPUs of the kind
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
NODES = ("node1", "node2")
IDLE = ["idle"] * len(NODES)
CPUS, MEMORY_MB = 4, 16000
CONFIG = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={port}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
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
PartitionName=debug Nodes=ALL Default=YES MaxTime=01:00:00 State=UP
PartitionName=gpu Nodes=ALL Default=NO MaxTime=01:00:00 State=UP
"""
NODE = """\
NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} Boards=1 \
SocketsPerBoard=1 CoresPerSocket={cpus} ThreadsPerCore=1 RealMemory={memory} Gres=gpu:fake:2 \
State=UNKNOWN
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
    for name in ("state", *(f"spool-{node}" for node in NODES)):
        (folder / name).mkdir(parents=True)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    folder.chmod(0o755)
    ports = _free_ports(1 + len(NODES))
    text = CONFIG.format(host=host, user=getuser(), folder=folder, port=ports[0])
    for node, port in zip(NODES, ports[1:], strict=True):
        text += NODE.format(host=host, node=node, port=port, cpus=CPUS, memory=MEMORY_MB)
    (folder / "slurm.conf").write_text(text)
    gpus = (f"Name=gpu Type=fake File=/dev/{name}\n" for name in ("null", "zero"))
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
        *(["slurmd", "-D", "-N", node] for node in NODES),
    )
    with ExitStack() as running:
        for command in commands:
            log = running.enter_context(open(folder / f"{command[0]}.out", "ab"))
            running.enter_context(_daemon(command, environment, log))
            if command[0] == "munged":
                _wait((folder / "munge.socket").exists, folder)
        _wait(lambda: _says(environment, "sinfo", "-hN", "-pdebug", "-o%T").split() == IDLE, folder)
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
