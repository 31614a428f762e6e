# The checked config, and the names and helpers that the rules share.
import atexit
import functools
import os
import re
import shlex
import sys
from pathlib import Path

from snakemake.io import contains_wildcard

from gpt1.cell import UNCHANGED, WORD_VECTORS, Cell, PretrainedModel, home
from gpt1.settings import JobSettings
from gpt1.text.vocabulary import FILES
from tasks.common.files import sha256_json, write_atomic
from workflow import code, results_folder, studies
from workflow.configuration import paths, read
from workflow.configuration.read import ConfigError, refuse
from workflow.studies import run_faults
from workflow.plan import Plan
from workflow.results_folder import PROJECT

# The files are read here because Snakemake reads `on` as true, 1e-4 as text, and only the last value
# of a key given twice. The config that another workflow gives to its module is read as it stands.
try:
    if workflow.modifier.skip_configfile:
        cfg, misplaced = read.parse(config), ""
    else:
        cfg = read.config_of(workflow.overwrite_configfiles, workflow.config_settings.config_args)
        misplaced = read.lost_results(workflow.overwrite_configfiles)
    plan = Plan(cfg)
    refuse([*results_folder.faults(cfg, workflow.overwrite_configfiles), *run_faults(plan)])
except ConfigError as error:
    sys.exit(str(error))
words = sys.argv if workflow.is_main_process else []
for option, short in (("--config", "-C"), ("--configfile", "--configfiles")):
    same = [w for w in words if w.partition("=")[0] == option or w.startswith(short)]
    if len(same) > 1:
        sys.exit(
            f"error: {option} is given twice, and Snakemake takes the last one alone; give all after one"
        )


# For the captions of the report.
config = read.as_text(cfg.model_dump(mode="json", exclude_none=True))
grid = plan.grid()
MODEL = PretrainedModel("{arch}", "{seed}")
PERMUTED = PretrainedModel("{arch}", "{seed}", permuted=True)
# The run and the variants that learn a vocabulary of their own.
LEARNT = [name for name in plan.names("tokenizer") if plan.config(name).experiment.tokenizer.merges]
LONG = 2**15  # characters in one param; Linux limits a shell command to 128 KiB
is_running = not workflow.is_main_process  # jobs of a cluster; else from the first job on
lacking = {}  # what has files missing and is asked for, by variant, see `user_files`
given = set()  # the user's own files among the inputs
# The raw files that a variant lacks of data sets, by their names, or of folders that keys give.
missing = functools.cache(
    lambda variant, *names: [*paths.missing_data(plan.config(variant), names)]
)
warn = functools.cache(logger.warning)
warn_last = functools.cache(lambda line: atexit.register(print, line, file=sys.stderr))
if misplaced and workflow.is_main_process:
    warn(misplaced)


def stop(fault):
    """End the run; a plan (-n) continues, and says so at its end."""
    if not workflow.dryrun:
        sys.exit(fault)
    warn_last(f"This is a plan only; a run would stop at once. {fault}")


def user_files(name, files, variant=UNCHANGED):
    """The raw files that a target needs, or those of the world.

    Where some are missing, a plan (-n) does without, and a run ends once all of them are known (see
    `a_run`); at once at a name that Snakemake would take for a pattern, which cannot be escaped.
    """
    if patterns := [file for file in files if contains_wildcard(file)]:
        sys.exit(f"error: {patterns[0]}: braces in a name are Snakemake's wildcards; rename it")
    if others := [
        f for f in files if os.path.exists(f) and not os.path.isfile(f) | os.path.isdir(f)
    ]:
        sys.exit(f"error: {others[0]}: neither a file nor a folder; put the file itself there")
    given.update(file for file in files if os.path.basename(file) != paths.MANIFEST)  # of a world
    if not missing(variant, name):
        return files
    lacking.setdefault(variant, set()).add(name)
    made = cfg.experiment.world and f"{cfg.results}/world/manifest.json"
    return [file for file in files if os.path.exists(file) or file == made]


def contents(*inputs):
    """A param: a digest of what the user's own files among some inputs hold, whatever their times."""
    return lambda wildcards: paths.content(
        tuple(file for files in inputs for file in files(wildcards) if file in given)
    )


def variant_of(wildcards):
    """The variant whose files a job makes."""
    return wildcards.get("home", "").rpartition("/")[2] or UNCHANGED


def home_pattern(names):
    """The constraint of the wildcard `home`: nothing for the run, `/variants/NAME` for others."""
    folders = [os.sep + str(home("", name)) if name != UNCHANGED else "" for name in names]
    return f"(?:{'|'.join(map(re.escape, folders))})" if folders else "(?!)"


def stage_path(variant, stage, path):
    """A file of a stage that a variant reads: its own, the run's or another variant's."""
    return str(home("<results>", plan.at(variant, stage)) / path)


def stage_inputs(stage, *files):
    """Inputs of a job: files of a stage, from the variant that they belong to."""
    return lambda wildcards: [
        stage_path(variant_of(wildcards), stage, file.format(**dict(wildcards.items())))
        for file in files
    ]


def config_of(wildcards):
    """The config of the variant whose files a job makes, with the folder of its world."""
    return plan.reading(variant_of(wildcards))


def in_file(text):
    """A param: a file that holds a text and is named by it.

    It is beside Snakemake's own, so that a job tells a full disk of results. A plan, which changes
    nothing, does not write it.
    """
    path = Path(".snakemake", "arguments", f"{sha256_json(text)}.args")
    if is_running and not path.exists():
        with write_atomic(path) as file:
            file.write(text)
    return str(path)


def arguments(*words):
    """A param: words of a command, or `@FILE` with a word a line if they are long."""
    text = "\n".join(words)
    return list(words) if len(text) <= LONG else [f"@{in_file(text)}"]


def settings_json(make):
    """A param of a job: settings from the config of its variant, as JSON."""
    return lambda wildcards: arguments(make(config_of(wildcards), wildcards).to_json())


def data_set_of(wildcards):
    """The data set that a job reads: that of its task, or the books."""
    sets = paths.data_sets(config_of(wildcards), cfg.results)
    return sets[wildcards.get("task", "corpus")]


def raw_inputs(wildcards):
    """An input: the files of that data set."""
    name = wildcards.get("task", "corpus")
    found = paths.raw_files(config_of(wildcards), name, cfg.results)
    from_hub = data_set_of(wildcards).entry.source
    return found if from_hub else user_files(name, found, variant_of(wildcards))


def cloze_items(wildcards):
    """An input: the cloze items, the run's own if only the books of a variant differ."""
    owner = plan.at(variant_of(wildcards), "tasks")
    return user_files("experiment.cloze", paths.raw_cloze(plan.reading(owner)), owner)


def tokenizer_of(variant):
    """The files of a variant's tokenizer, made by the rule `tokenizer` or published."""
    return paths.tokenizer_files(plan.config(plan.at(variant, "tokenizer")))


def vocabulary_of(variant):
    """An input: the files of a variant's tokenizer."""
    found, owner = tokenizer_of(variant), plan.at(variant, "tokenizer")
    own = "experiment.tokenizer.folder"
    return lambda _: found if owner in LEARNT else user_files(own, found, owner)


def vocabulary(wildcards):
    """An input: the files of the tokenizer."""
    return vocabulary_of(variant_of(wildcards))(wildcards)


def tokenizer_folder(wildcards):
    """A param: the folder of the tokenizer."""
    return os.path.dirname(tokenizer_of(variant_of(wildcards))[0])


def own_option(name):
    """The options that describe a user's own task to the program that fetches it; none for others."""
    own = cfg.experiment.own_tasks.get(name)
    return shlex.join(["--own", *arguments(own.to_json())]) if own else ""


def shuffled_option(config):
    """The options for making a variant's tokens: none, or what is shuffled in a control."""
    shuffled = config.experiment.pretrain.shuffled
    return f"--shuffled {shuffled}" if shuffled else ""


def data_job(mem_mb):
    """The resources of a job that prepares data; each further attempt gets more time."""
    minutes = cfg.runtime.minutes
    return {"mem_mb": mem_mb, "runtime": lambda wildcards, attempt: minutes.of("data", attempt)}


def training_job(stage):
    """The resources of a job that trains or scores models; each further attempt gets more."""
    gpus = int(cfg.runtime.device.startswith("cuda"))
    return {
        "mem_mb": lambda wildcards, attempt: cfg.runtime.mem_mb.of(stage, attempt),
        "runtime": lambda wildcards, attempt: cfg.runtime.minutes.of(stage, attempt),
        "gpu": gpus * (cfg.runtime.pretrain_processes if stage == "pretrain" else 1),
        "gpu_model": gpus * (cfg.runtime.gpu_model or ""),
    }


def started_from(variant, file):
    """A file for each checkpoint that the cells of a variant start from, one per model."""
    update = plan.config(variant).checkpoint()
    return [getattr(model, file)("<results>", update) for model in plan.variant(variant).models()]


def vectors_of(job):
    """The word vectors that variants of a job start from, one file for each width."""
    starts = [name for name in job.together if plan.variant(name).corpus == WORD_VECTORS]
    configs = [plan.config(name) for name in starts]
    widths = {config.model(config.experiment.arch).shape.n_embd for config in configs}
    return [stage_path(job.variants[0], "tokens", f"vectors/width-{n}.safetensors") for n in widths]


def seed_options(variant):
    """A param: both lists of seeds as one text, as Snakemake compares values without their order."""
    seeds = plan.config(variant).experiment.seeds.finetune, plan.variant(variant).pretrain
    return "--seeds {} --pretrain-seeds {}".format(*(" ".join(map(str, of)) for of in seeds))


def cell_settings(job):
    """A param: the training settings of the cells of a job, and of cells that another cut would add."""

    def of_job(wildcards):
        task = wildcards.get("task", job.tasks[0])
        settings = {name: plan.config(name).finetune(task) for name in job.together}
        return arguments(JobSettings(variants=settings).to_json())

    return of_job


wildcard_constraints:
    arch="transformer|lstm",
    task="[a-z0-9_]+",
    seed="[0-9]+",
