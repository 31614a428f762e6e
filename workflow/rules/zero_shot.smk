# The paper's four zero-shot heuristics, along pre-training.


rule zero_shot:
    input:
        encoded=expand(
            "{results}/encoded/{task}.npz",
            results=RESULTS,
            task=config["experiment"]["zero_shot"]["tasks"],
        ),
        encoder=ENCODER,
        merges=MERGES,
        checkpoints=expand(
            "{results}/pretrain/{{arch}}/update-{update}.safetensors",
            results=RESULTS,
            update=UPDATES,
        ),
        facts=expand(
            "{results}/pretrain/{{arch}}/update-{update}.json",
            results=RESULTS,
            update=UPDATES,
        ),
    output:
        expand(
            "{results}/zero_shot/{{arch}}/{task}/update-{update}.json",
            results=RESULTS,
            task=config["experiment"]["zero_shot"]["tasks"],
            update=UPDATES,
        ),
    log:
        f"{RESULTS}/logs/zero_shot/{{arch}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/zero_shot/{{arch}}.tsv"
    conda:
        "../../environment.yml"
    threads: config["runtime"]["finetune_threads"]
    resources:
        mem_mb=mem_mb("finetune"),
        runtime=minutes("finetune"),
        gpu=GPU,
    params:
        out=subpath(output[0], ancestor=2),
        tokenizer=subpath(input.encoder, parent=True),
        settings=lambda wildcards: json.dumps(
            settings.zero_shot(config, wildcards.arch)
        ),
        code=code.digest("gpt1.zero_shot"),
    message:
        "zero-shot {wildcards.arch}: score every checkpoint"
    shell:
        '"$PYTHON" -m gpt1.zero_shot {wildcards.arch} --encoded {input.encoded}'
        " --tokenizer {params.tokenizer:q} --checkpoints {input.checkpoints}"
        ' --settings {params.settings:q} --runtime "$FINETUNE_RUNTIME" --code {params.code}'
        " --out {params.out:q} 2>&1 | tee {log}"
