# The cells: a rule for each set of variants that train in one process, with a job for each task. How
# variants are split into jobs affects no result: finished runs are cached, whichever job needs them.
# A cell of experiment.keep has a job of its own, which writes its weights as well; if it was trained
# before it was named there, it is trained again.
for job in studies.jobs(plan):
    cells = [Cell(variant, "{task}") for variant in job.variants]
    first = job.variants[0]

    rule:
        name:
            job.name
        input:
            vocabulary_of(first),
            encoded=stage_path(first, "encoded", "encoded/{task}"),
            baselines=stage_path(first, "tasks", "baselines/{task}.json"),
            checkpoints=started_from(first, "checkpoint"),
            facts=started_from(first, "facts"),
            vectors=vectors_of(job),
        output:
            cells=[cell.path("<results>") for cell in cells],
            predictions=[cell.predictions("<results>") for cell in cells],
            weights=[directory(cell.kept("<results>")) for cell in cells if job.is_kept],
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
            keep=["--keep", os.path.dirname(tokenizer_of(first)[0])] if job.is_kept else [],
            settings=cell_settings(job),
            seeds=seed_options(first),
            code=code.digest("gpt1.finetune"),
        shell:
            "python -m gpt1 finetune {params.cells:q}"
            " --encoded {input.encoded} --baselines {input.baselines}"
            " --checkpoints {input.checkpoints}"
            " --settings {params.settings:q} {params.seeds} --vectors {input.vectors}"
            ' --runtime "$FINETUNE_RUNTIME" --code {params.code} --cache {params.cache:q}'
            " {params.keep:q} &> {log}"
