# The config checked; names and helpers that the rules share.
import json
import shlex
import sys
from pathlib import Path

from workflow import check, code, plan, settings

# What a config takes can be planned without any data: snakemake all -n --configfile ...
PLANNING = not {"-n", "--dry-run", "--dryrun"}.isdisjoint(sys.argv)
faults = check.faults(config, PLANNING)
if faults:
    sys.exit("\n".join(f"error: config: {fault}" for fault in faults))

RESULTS = config["results"]
DATA = config["data"] or f"{RESULTS}/world"
ARCHITECTURES = config["experiment"]["grid"]["arch"]
UPDATES = settings.checkpoints(config)
TABLES = settings.tables(config)
FIGURES = [name for name in settings.FIGURES if name in TABLES]
WITHOUT_DATA = plan.no_data(config)  # only in a plan
ENCODER, MERGES = plan.tokenizer_files(config)
if WITHOUT_DATA and "folder" in config["experiment"]["tokenizer"]:
    ENCODER = MERGES = str(
        Path(workflow.basedir) / "Snakefile"
    )  # any file that is there


def as_json(value):
    """A param that is passed to a program as one JSON string.

    It is a function because Snakemake looks for wildcards in plain strings.
    """
    text = json.dumps(value)
    return lambda wildcards: text


def exported(**variables):
    """A shell prefix that exports the variables. A change of it reruns nothing."""
    lines = [
        f"export {name}={shlex.quote(value)}; " for name, value in variables.items()
    ]
    return "".join(lines).replace("{", "{{").replace("}", "}}")


shell.prefix(
    exported(
        PYTHON=sys.executable,  # the programs run where snakemake runs
        PYTHONPATH=str(workflow.basedir),
        PRETRAIN_RUNTIME=json.dumps(settings.runtime(config, "pretrain")),
        FINETUNE_RUNTIME=json.dumps(settings.runtime(config, "finetune")),
    )
)


def minutes(stage):
    """The time limit of a stage's jobs; each further attempt gets as much again."""
    return (
        lambda wildcards, attempt: attempt * settings.limits(config, stage)["minutes"]
    )


def mem_mb(stage):
    """The memory of a stage's jobs; each further attempt gets as much again."""
    return lambda wildcards, attempt: attempt * settings.limits(config, stage)["mem_mb"]


def raw(folder):
    """The inputs of a rule that reads a folder of raw data."""
    if WITHOUT_DATA:
        return []
    if config["data"] is None:
        return [f"{RESULTS}/world/manifest.json"]
    return plan.raw_files(folder)


def task_folder(wildcards):
    """The folder of a task's raw data."""
    return f"{DATA}/{plan.example_tasks(config)[wildcards.task]['folder']}"


GPU = int(config["runtime"]["device"].startswith("cuda"))


wildcard_constraints:
    arch="transformer|lstm",
    task="[a-z0-9_]+",
    aux="on|off",
