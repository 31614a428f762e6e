# The cells: a rule for each set of lines that train in one process, with a job for each task. How
# lines are split into jobs affects no result: finished runs are cached, whichever job needs them.
for job in jobs(lines):
    cells = [Cell(line or FULL, "{task}") for line in job.lines]

    rule:
        name:
            job.name
        input:
            vocabulary_of(job.encoded),
            encoded=stage_path(job.encoded, "encoded", "encoded/{task}"),
            baselines=stage_path(job.rows, "tasks", "baselines/{task}.json"),
            checkpoints=started_from(job, "checkpoint"),
            facts=started_from(job, "facts"),
            vectors=vectors_of(job),
        output:
            cells=[cell.path("<results>") for cell in cells],
            predictions=[cell.predictions("<results>") for cell in cells],
        log:
            f"<results>/logs/{job.name}/{{task}}.log",
        benchmark:
            f"<results>/benchmarks/{job.name}/{{task}}.tsv"
        wildcard_constraints:
            task="|".join(job.tasks),
        threads: cfg.runtime.finetune_threads
        resources:
            **training_job("finetune"),
        params:
            cache=f"{cfg.results}/.work/runs",
            cells=lambda _, output: arguments(*output.cells),
            predictions=lambda _, output: arguments(*output.predictions),
            settings=cell_settings(job),
            seeds=list(job.seeds),
            pretrain=list(job.pretrain),
            code=code.digest("gpt1.finetune"),
        shell:
            "python -m gpt1 finetune {params.cells:q} --predictions {params.predictions:q}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            " --pretrain-seeds {params.pretrain} --vectors {input.vectors}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            ' --keep "$KEPT_CELLS" &> {log}'


# The weights of the cells of experiment.keep. They are in the cache if the cell was trained after it
# was named there; otherwise it is trained again.
for cell in cfg.kept():
    rule_name = f"finetune_kept_{re.sub('[^A-Za-z0-9]', '_', cell.name)}"
    job = job_of(lines, rule_name, lines.variant(cell.line), (cell.task,))

    rule:
        name:
            job.name
        input:
            cell=cell.path("<results>"),
            encoded=stage_path(job.encoded, "encoded", f"encoded/{cell.task}"),
            baselines=stage_path(job.rows, "tasks", f"baselines/{cell.task}.json"),
            checkpoints=started_from(job, "checkpoint"),
            facts=started_from(job, "facts"),
            vectors=vectors_of(job),
            tokenizer=vocabulary_of(job.encoded),
        output:
            directory(cell.kept("<results>")),
        log:
            f"<results>/logs/finetune_kept/{cell.name}.log",
        benchmark:
            f"<results>/benchmarks/finetune_kept/{cell.name}.tsv"
        threads: cfg.runtime.finetune_threads
        resources:
            **training_job("finetune"),
        params:
            cache=f"{cfg.results}/.work/runs",
            settings=cell_settings(job),
            seeds=list(job.seeds),
            pretrain=list(job.pretrain),
            tokenizer=os.path.dirname(tokenizer_of(job.encoded)[0]),
            code=code.digest("gpt1.finetune"),
        shell:
            "python -m gpt1 finetune {input.cell} --weights {output}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints} --tokenizer {params.tokenizer:q}"
            " --settings {params.settings:q} --seeds {params.seeds}"
            " --pretrain-seeds {params.pretrain} --vectors {input.vectors}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            " &> {log}"
