# Both language models on the books, with checkpoints at log-spaced updates.


rule pretrain:
    input:
        rules.tokens.output.tokens,
        corpus="<results>/corpus/corpus.json",
    output:
        checkpoints=expand("{path}.{form}", path=CHECKPOINTS, form=["safetensors", "json"]),
        log="<results>/pretrain/{arch}/log.csv",
    priority: 10
    threads: cfg.runtime.pretrain_threads
    resources:
        mem_mb=per_attempt(cfg.runtime.mem_mb, "pretrain"),
        runtime=per_attempt(cfg.runtime.minutes, "pretrain"),
        gpu=GPU,
    params:
        work=f"{cfg.results}/.work/pretrain",
        out=subpath(output.log, parent=True),
        settings=settings(cfg.pretrain, "arch"),
    message:
        "pretrain {wildcards.arch}: a language model on the books"
    shell:
        "python -m gpt1.pretrain {wildcards.arch} --corpus {input.corpus}"
        ' --settings {params.settings:q} --runtime "$PRETRAIN_RUNTIME" --code {params.code}'
        " --work {params.work:q} --out {params.out:q} 2>&1 | tee {log}"
