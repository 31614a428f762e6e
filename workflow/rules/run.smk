# The environment of programs, and what is done and printed when a run is planned, begins and ends.
import difflib
import threading
from collections import Counter

from snakemake.common import NOTHING_TO_BE_DONE_MSG
from snakemake.settings.types import RerunTrigger
from snakemake_interface_logger_plugins.common import LogEvent

from tasks.common.errors import InputError
from tasks.common.files import sha256_file
from tasks.common.programs import PACKAGES, PLANNED, imported, refuse_edited, source_digest
from workflow.configuration.read import as_yaml
from workflow.provenance import Provenance

RULES = [*(PROJECT / "workflow" / "rules").glob("*.smk")]
# Rules shown by their kind alone, such as tables_ablation.
KINDS = re.compile(r"(tables|finetune|pretrain|cloze|baselines)_.+")


def own_rules():
    """The rules of the suite, without those of a workflow that uses it as a module."""
    return {r for r in workflow.rules if PROJECT in Path(os.path.realpath(r.snakefile)).parents}


def provenance(named):
    """The list of what each file of the results was made with, as it is now."""
    digests = {rule.params.get("code", "") for rule in named} | {*map(sha256_file, RULES)}
    metadata, triggers = workflow.persistence.metadata, workflow.dag_settings.rerun_triggers
    unchecked = {"--touch": workflow.touch, "--rerun-triggers": triggers != RerunTrigger.all()}
    option = next((name for name, given in unchecked.items() if given), "")
    return Provenance(cfg, digests, lambda file: getattr(metadata(file), "endtime", None), option)


def plan_checked(run, taken, made):
    """End a run, or warn in a plan, if files that it would use were made with something else."""
    if workflow.dag_settings.allowed_rules:
        return stop(
            "error: --allowed-rules takes the files of other rules as they are, whatever made them; "
            "name files to make, or rules with --until or --omit-from"
        )
    if fault := made.refusal([*taken, *run] if workflow.touch else taken):
        return stop(fault)
    before = f"{cfg.results} was made with another"
    if old := made.with_other("packages", taken):
        warn(
            f"{before} requirements*.lock or packages: {len(old):,} of its files, {old[0]} among "
            "them, stay as they are; --forceall makes all anew."
        )
    keys = results_folder.changes(cfg)
    others = made.with_other("config", run)  # also of a run that was interrupted, or is of a part
    if run and (keys or others):
        again = ", except runs of the same seeds" if keys == ["experiment.seeds.finetune"] else ""
        differs = f"which differs in {', '.join(keys[:5])}{', ...' if keys[5:] else ''}"
        (warn_last if workflow.dryrun else warn)(
            f"{before} config, {differs if keys else f'as {others[0]} was'}. What depends on it is "
            f"made anew in its place{again}; to keep both, name another folder with --config "
            "results=FOLDER."
        )


def begin_run(run, made):
    """Before the first job: lock the folder, and clear what a killed run has left."""
    global is_running, lock, of_this_run  # the lock is held until the process ends
    if (lock := results_folder.lock(cfg.results)) is None:
        warn(f"{cfg.results} is on a disk without locks: a second run there is not refused")
    else:  # jobs left when Snakemake is killed hold it, too: stdin is all that they inherit
        os.dup2(lock.fileno(), 0)
    results_folder.sweep_all(cfg.results)
    of_this_run = made, {job.jobid: job for job in run}
    is_running = True
    in_file(shown)  # RUN_CONFIG
    # Snakemake's default limit of 100 jobs a second is never reached here, but checking it makes
    # each pass of the scheduler schedule another a second later, until the end of the run. A limit
    # that the user sets is kept.
    limit = workflow.scheduler.job_rate_limiter
    if limit and limit.max_jobs == 100 and limit.timespan == 1:
        workflow.scheduler.job_rate_limiter = None
    # A signal to stop is answered in the thread that schedules, which may hold these locks.
    workflow.scheduler._lock = threading.RLock()
    workflow.scheduler._open_jobs._cond = threading.Condition()


def end_run(run, taken, made):
    """After the last job, or after the first failed one: list what was made."""
    finished = {job for job in run if workflow.dag.finished(job)}
    made.end(finished, taken)
    if finished != run:
        return
    files = {file for job in workflow.dag.jobs for file in job.output}
    results_folder.keep_config(cfg, files, (f"{cfg.results}/{table}.csv" for table in TABLES))
    page = f"{cfg.results}/index.html"
    if any(page in job.output for job in run | {*taken}):
        # Printed last, after Snakemake's own closing messages.
        atexit.register(print, f"open {page}", file=sys.stderr)


def a_run(record):
    """A filter of Snakemake's log that acts before its lines on a plan, and on jobs and runs that end.

    No hook is called for a plan without jobs or for a job that has ended, and none of a module.
    """
    event = getattr(record, "event", None)
    if event == LogEvent.JOB_FINISHED:
        made, started = of_this_run
        if not workflow.touch and (job := started.get(record.job_id)):
            made.add(job)
        return True
    has_jobs, ends = event == LogEvent.RUN_INFO, str(record.msg).startswith("Elapsed time: ")
    if not (has_jobs or ends or record.msg == NOTHING_TO_BE_DONE_MSG):
        return True
    if lacking and not ends:
        faults = [fault for variant in lacking for fault in missing(variant, *lacking[variant])]
        stop(str(ConfigError(dict.fromkeys(faults))))
    named = own_rules()
    jobs = [job for job in workflow.dag.jobs if job.rule in named]
    run = {job for job in jobs if workflow.dag.needrun(job)}
    taken = [job for job in jobs if job not in run]  # their existing files are used
    try:
        if ends:
            end_run(run, taken, of_this_run[0])
        else:
            made = provenance(named)
            plan_checked(run, taken, made)
            if has_jobs and not workflow.dryrun:
                begin_run(run, made)
    except InputError as error:
        sys.exit(f"error: {error}")
    return True


def a_target(record):
    """A filter of Snakemake's log: for an unknown target, one line that names the nearest one."""
    if found := re.search(r"No rule\sto produce (\S+) \(if you use", str(record.msg)):
        made = [str(file) for rule in workflow.rules for file in rule.products()]
        names = [rule.name for rule in workflow.rules if rule.name.endswith("all")]  # of a module
        names += [name for name in made if "{" not in name]
        names += [str(cell.path(cfg.results)) for cell in grid.cells()]
        names += [f"{cfg.results}/studies/{study}.csv" for study in cfg.experiment.studies]
        near = difflib.get_close_matches(found[1], names, n=1)
        target = Path(found[1])
        if target.parent.name and Path(cfg.results) not in target.parents:  # of another config?
            near = [name for name in near if Path(name).name == target.name]
        own = f"what this config makes lies in {cfg.results}"
        record.msg = (
            f"error: {found[1]}: no such target; {f'did you mean {near[0]}?' if near else own}"
        )
    return True


def by_kind(record):
    """A filter of Snakemake's log that counts the jobs of one kind together.

    The panel on a terminal has a bar for each rule, and one that is taller than the terminal leaves
    some of its lines on the screen at the end.
    """
    said = vars(record)
    if "rule_name" in said:
        said["rule_name"] = KINDS.sub(r"\1", said["rule_name"])
    if "stats" in said:
        counts = Counter()
        for rule, count in said["stats"].items():
            counts[KINDS.sub(r"\1", rule)] += count
        said["stats"] = dict(counts)
    return True


def prepended(variable, folder):
    """The value of a path variable with one more folder in front."""
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get(variable)])])


def chosen_config():
    """The options of this call that chose the config, as typed."""
    files = [os.path.relpath(path) for path in workflow.overwrite_configfiles]
    options = ["--configfile", *files] if files else []
    values = workflow.config_settings.config_args or []
    return shlex.join([*options, *(["--config", *values] if values else [])])


def launcher(processes):
    """The command that runs a program in so many processes: Python, or torchrun with signals."""
    if processes == 1:
        return "python"
    signals = "SIGTERM,SIGINT,SIGHUP,SIGUSR1"
    gpus = f"python -m gpt1 devices {processes} " if cfg.runtime.device == "cuda" else ""
    return f"{gpus}torchrun --standalone --nproc-per-node={processes} --signals-to-handle={signals}"


shown = as_yaml(cfg)  # the page shows this, from a file, and RUN_OPTIONS
again = os.environ.get("RUN_PID") == str(os.getpid())  # as a module, by a second `use rule`
run_config = in_file(shown)
if again and os.environ.get("RUN_CONFIG") != run_config:
    sys.exit("error: module: a second one with another config; start another run for it")

# The environment of every program; a change here reruns no job.
os.environ.setdefault("FETCH_OFFLINE", os.environ.get("HF_HUB_OFFLINE", "0"))
os.environ |= {
    "PYTHONPATH": prepended("PYTHONPATH", PROJECT),
    "PYTHONUNBUFFERED": "1",  # so that a log can be followed
    "THP_MEM_ALLOC_ENABLE": "1",  # torch's large tensors in huge pages, for fewer page faults
    "PRETRAIN_WITH": launcher(cfg.runtime.pretrain_processes),
    "PRETRAIN_RUNTIME": cfg.runtime_of("pretrain").to_json(),
    "FINETUNE_RUNTIME": cfg.runtime_of("finetune").to_json(),
    "RUN_CONFIG": run_config,
    "RUN_OPTIONS": chosen_config(),
    "RUN_PID": str(os.getpid()),  # its stderr gets what a log on a full disk cannot hold
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_XET": "1",  # plain HTTP, whose errors are documented
    "HF_HUB_OFFLINE": "1",  # no job but fetch asks the network
}
# A job on a cluster reads the rules again: it has the digests of the run that submitted it.
if workflow.is_main_process:
    sources = [path for name in PACKAGES for path in (PROJECT / name).rglob("*.py")]
    os.environ[PLANNED] = " ".join(sorted(map(source_digest, [*sources, *RULES])))
else:
    try:
        refuse_edited([*RULES, *imported()])
    except InputError as error:
        sys.exit(f"error: {error}")
if workflow.deployment_settings.deployment_method:  # Snakemake takes PYTHONPATH away from conda
    folder = shlex.quote(str(PROJECT)).replace("{", "{{").replace("}", "}}")
    shell.prefix(f"set -euo pipefail; export PYTHONPATH={folder}; ")
else:  # the programs run with Snakemake's Python
    os.environ |= {"PATH": prepended("PATH", os.path.dirname(sys.executable))}

if workflow.resource_settings.cores == 0:  # Snakemake would wait for ever
    sys.exit("error: --cores 0: give at least 1, or all")

if not again:
    logger.addFilter(a_target)
    if workflow.is_main_process:  # not in the processes of jobs
        logger.addFilter(a_run)
    for handler in workflow.logger_manager.get_log_handlers():
        if handler.writes_to_stream:
            handler.addFilter(by_kind)
