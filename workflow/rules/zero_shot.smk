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
        "<results>/logs/zero_shot/{arch}/{seed}.log",
    benchmark:
        "<results>/benchmarks/zero_shot/{arch}/{seed}.tsv"
    threads: cfg.runtime.finetune_threads
    resources:
        mem_mb=per_attempt(cfg.runtime.mem_mb, "finetune"),
        runtime=per_attempt(cfg.runtime.minutes, "finetune"),
        gpu=GPU,
        gpu_model=GPU_MODEL,
    params:
        results=subpath(output[0], ancestor=5),
        tokenizer=TOKENIZER,
        settings=settings(cfg.zero_shot, "arch"),
        code=code.digest("gpt1.zero_shot"),
    message:
        "zero-shot {wildcards.arch}, seed {wildcards.seed}: score every checkpoint"
    shell:
        "python -m gpt1.zero_shot {wildcards.arch} --encoded {input.encoded}"
        " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
        ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
        " --results {params.results:q} &> {log}"
