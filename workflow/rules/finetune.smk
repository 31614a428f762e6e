# The cells. A rule for each part of an architecture's layer sweep, so that one process trains many
# cells: starting one costs as much as training a small cell. Sharding is not a param, so resharding
# reruns nothing. Layers that the grid leaves out can be asked for cell by cell. The tasks of
# experiment.finetune.multi_task have one model, and so one job.
import itertools

together = sorted(cfg.experiment.finetune.multi_task)
alone = [task for task in grid.tasks if task not in together]
groups = [*([["{task}"]] if alone else []), *([together] if together else [])]

for job, tasks in itertools.product(jobs(grid, cfg.runtime.shards), groups):
    is_one = len(tasks) == 1
    rule_name = job.name if is_one else f"{job.name}_multi_task"
    cells = job.cells(tasks)

    rule:
        name:
            rule_name
        input:
            vocabulary,
            encoded=[f"<results>/encoded/{task}" for task in tasks],
            baselines=[f"<results>/baselines/{task}.json" for task in tasks],
            checkpoints=[m.checkpoint("<results>", cfg.checkpoint()) for m in job.sources],
            facts=[m.facts("<results>", cfg.checkpoint()) for m in job.sources],
        output:
            cells=[cell.path("<results>") for cell in cells],
            predictions=[cell.predictions("<results>") for cell in cells],
        log:
            f"<results>/logs/{rule_name}/{'{task}/' * is_one}{{aux}}.log",
        benchmark:
            f"<results>/benchmarks/{rule_name}/{'{task}/' * is_one}{{aux}}.tsv"
        wildcard_constraints:
            task="|".join(alone),
        threads: cfg.runtime.finetune_threads
        resources:
            **training_job("finetune"),
        params:
            cache=f"{cfg.results}/.work/runs",
            tokenizer=its_tokenizer,
            settings=functools.partial(run_settings, job.arch, tasks),
            seeds=grid.seeds.finetune,
            code=code.digest("gpt1.finetune"),
        shell:
            "python -m gpt1.finetune {output.cells} --predictions {output.predictions}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints} --tokenizer {params.tokenizer:q}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            ' --keep "$KEPT_CELLS" &> {log}'


# The weights of the cells of experiment.keep. A cell that is trained after it was named has left
# them in the cache; another is trained again.
for cell in cfg.kept():

    rule:
        name:
            f"finetune_kept_{re.sub('[^a-z0-9]', '_', cell.place)}"
        input:
            cell=cell.path("<results>"),
            encoded=below(cell.variant, "encoded", f"encoded/{cell.task}"),
            baselines=below(cell.variant, "tasks", f"baselines/{cell.task}.json"),
            checkpoints=started_from(cell, "checkpoint"),
            facts=started_from(cell, "facts"),
            tokenizer=tokenizer_of(cell.variant),
        output:
            directory(cell.kept("<results>")),
        log:
            f"<results>/logs/finetune_kept/{cell.place}.log",
        benchmark:
            f"<results>/benchmarks/finetune_kept/{cell.place}.tsv"
        threads: cfg.runtime.finetune_threads
        resources:
            **training_job("finetune"),
        params:
            cache=f"{cfg.results}/.work/runs",
            settings=functools.partial(trained_as, cell),
            seeds=variants.config(cell.variant).experiment.seeds.finetune,
            tokenizer=os.path.dirname(tokenizer_of(cell.variant)[0]),
            labels=named_labels(cell.task),
            code=code.digest("gpt1.finetune"),
        shell:
            "python -m gpt1.finetune {input.cell} --weights {output} {params.labels:q}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints} --tokenizer {params.tokenizer:q}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            " &> {log}"
