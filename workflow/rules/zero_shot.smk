# The paper's four zero-shot heuristics, along pre-training.


rule zero_shot:
    input:
        vocabulary,
        [f"{path}.json" for path in CHECKPOINTS],
        encoded=expand("<results>/encoded/{task}", task=grid.zero_shot.tasks),
        checkpoints=[f"{path}.safetensors" for path in CHECKPOINTS],
    output:
        expand(
            "<results>/zero_shot/{{arch}}/{task}/update-{update}.json",
            task=grid.zero_shot.tasks,
            update=grid.updates,
        ),
    threads: cfg.runtime.finetune_threads
    resources:
        mem_mb=per_attempt(cfg.runtime.mem_mb, "finetune"),
        runtime=per_attempt(cfg.runtime.minutes, "finetune"),
        gpu=GPU,
    params:
        out=subpath(output[0], ancestor=2),
        tokenizer=TOKENIZER,
        settings=settings(cfg.zero_shot, "arch"),
    message:
        "zero-shot {wildcards.arch}: score every checkpoint"
    shell:
        "python -m gpt1.zero_shot {wildcards.arch} --encoded {input.encoded}"
        " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
        ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
        " --out {params.out:q} 2>&1 | tee {log}"
