# The paper's four zero-shot heuristics, along pre-training.


rule zero_shot:
    input:
        vocabulary,
        [MODEL.facts("<results>", update) for update in grid.updates],
        encoded=expand("<results>/encoded/{task}", task=grid.zero_shot.tasks),
        checkpoints=[MODEL.checkpoint("<results>", update) for update in grid.updates],
    output:
        [
            MODEL.zero_shot("<results>", task, update)
            for task in grid.zero_shot.tasks
            for update in grid.updates
        ],
    log:
        "<results>/logs/zero_shot/{arch}/seed-{seed}.log",
    benchmark:
        "<results>/benchmarks/zero_shot/{arch}/seed-{seed}.tsv"
    threads: cfg.runtime.finetune_threads
    resources:
        **training_job("finetune"),
    params:
        results=subpath(output[0], ancestor=5),
        tokenizer=tokenizer_folder,
        settings=settings_json(lambda config, w: config.zero_shot(w.arch)),
        code=code.digest("gpt1.zero_shot"),
    shell:
        "python -m gpt1 zero_shot {wildcards.arch} --encoded {input.encoded}"
        " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
        ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
        " --results {params.results:q} &> {log}"
