# Both language models on the books, with checkpoints at log-spaced updates.


rule pretrain:
    input:
        corpus=f"{RESULTS}/corpus/corpus.json",
        tokens=expand(
            "{results}/corpus/{split}.bin", results=RESULTS, split=["train", "heldout"]
        ),
    output:
        checkpoints=expand(
            "{results}/pretrain/{{arch}}/update-{update}.{kind}",
            results=RESULTS,
            update=UPDATES,
            kind=["safetensors", "json"],
        ),
        log=f"{RESULTS}/pretrain/{{arch}}/log.csv",
    log:
        f"{RESULTS}/logs/pretrain/{{arch}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/pretrain/{{arch}}.tsv"
    priority: 10
    conda:
        "../../environment.yml"
    threads: config["runtime"]["pretrain_threads"]
    resources:
        mem_mb=mem_mb("pretrain"),
        runtime=minutes("pretrain"),
        gpu=GPU,
    params:
        work=f"{RESULTS}/.work/pretrain",
        out=subpath(output.log, parent=True),
        settings=lambda wildcards: json.dumps(settings.pretrain(config, wildcards.arch)),
        code=code.digest("gpt1.pretrain"),
    message:
        "pretrain {wildcards.arch}: a language model on the books"
    shell:
        '"$PYTHON" -m gpt1.pretrain {wildcards.arch} --corpus {input.corpus}'
        ' --settings {params.settings:q} --runtime "$PRETRAIN_RUNTIME" --code {params.code}'
        " --work {params.work:q} --out {params.out:q}"
        " 2>&1 | tee {log}"
