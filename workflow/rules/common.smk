# The config checked; names and helpers that the rules share.
import json
import os
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
        HF_HUB_DISABLE_TELEMETRY="1",
        HF_HUB_OFFLINE="1",  # no job but fetch asks the network
        FETCH_OFFLINE=os.environ.get("HF_HUB_OFFLINE", "0"),
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


def raw(name, entry):
    """What a job that reads raw data depends on, its files or what tells that they are made."""
    folder = plan.data_folder(config, name, entry)
    if "source" in entry:
        return [f"{folder}/manifest.json"]
    if WITHOUT_DATA:
        return []
    if config["data"] is None:
        return [f"{RESULTS}/world/manifest.json"]
    return plan.raw_files(folder)


def raw_task(wildcards):
    """What a job that reads the raw data of a task depends on."""
    return raw(wildcards.task, plan.example_tasks(config)[wildcards.task])


def task_folder(wildcards):
    """The folder of a task's raw data."""
    entry = plan.example_tasks(config)[wildcards.task]
    return plan.data_folder(config, wildcards.task, entry)


def facts_of(tasks):
    """The facts about the rows of tasks; tables say where these are not all published ones."""
    return [f"{RESULTS}/examples/{task}.json" for task in tasks]


def shards(step):
    """What tells that the shards of a step are done; a step in one piece has none.

    A shard leaves its share of the work beside the other shards', and the job that comes after
    finds it done; these marks are there to keep the order.
    """
    n = config["runtime"]["corpus_shards"]
    marks = f"{RESULTS}/corpus/.shards/{step}-{{shard}}-of-{n}"
    return expand(marks, shard=range(1, n + 1)) if n > 1 else []


GPU = int(config["runtime"]["device"].startswith("cuda"))


wildcard_constraints:
    arch="transformer|lstm",
    task="[a-z0-9_]+",
    aux="on|off",
