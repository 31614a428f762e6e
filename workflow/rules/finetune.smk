# The cells. A rule for each part of an architecture's layer sweep, so that one process trains many
# cells: starting one costs as much as training a small cell. Sharding is not a param, so resharding
# reruns nothing. Layers that the grid leaves out can be asked for cell by cell.
# The rules by their names: the cells that a job trains, and the variants whose jobs they are. A job
# of a variant trains one cell.
TRAINED = {job.name: (job.cells(), [""]) for job in jobs(grid, cfg.runtime.shards)}
TRAINED["finetune_variant"] = (
    [Cell("{arch}", "{task}", "{aux}", "{layers}")],
    list(variants.overlays)[1:],
)

for name, (cells, names) in TRAINED.items():
    every = "|".join(str(cell.path("")) for cell in cells)
    stem = os.path.join(*(key for key in ("{arch}", "{task}", "{aux}", "{layers}") if key in every))

    rule:
        name:
            name
        input:
            vocabulary,
            encoded=of("encoded", "encoded/{task}"),
            baselines=of("tasks", "baselines/{task}.json"),
            checkpoints=functools.partial(started_from, cells[0], "checkpoint"),
            facts=functools.partial(started_from, cells[0], "facts"),
        output:
            cells=[cell.path("<results>{home}") for cell in cells],
            predictions=[cell.predictions("<results>{home}") for cell in cells],
        log:
            f"<results>{{home}}/logs/{name}/{stem}.log",
        benchmark:
            f"<results>{{home}}/benchmarks/{name}/{stem}.tsv"
        wildcard_constraints:
            home=homes(names),
            task="|".join(grid.tasks),
            layers="none|[0-9]+",
        threads: cfg.runtime.finetune_threads
        resources:
            **training_job("finetune"),
        params:
            cache=f"{cfg.results}/.work/runs",
            settings=functools.partial(finetune_settings, cells[0]),
            seeds=its(lambda config, _: config.experiment.seeds.finetune),
            code=code.digest("gpt1.finetune"),
        shell:
            "python -m gpt1.finetune {output.cells} --predictions {output.predictions}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints}"
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
            checkpoints=functools.partial(started_from, cell, "checkpoint"),
            facts=functools.partial(started_from, cell, "facts"),
            tokenizer=functools.partial(vocabulary, variant=cell.variant),
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
            settings=functools.partial(finetune_settings, cell),
            seeds=variants.config(cell.variant).experiment.seeds.finetune,
            tokenizer=os.path.dirname(tokenizer_of(cell.variant)[0]),
            code=code.digest("gpt1.finetune"),
        shell:
            "python -m gpt1.finetune {input.cell} --weights {output}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints} --tokenizer {params.tokenizer:q}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            " &> {log}"
