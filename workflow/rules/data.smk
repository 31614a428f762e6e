# The tasks, from raw files to token arrays: the embedded world, examples and their baselines.


if "world" in config["experiment"]:

    rule world:
        output:
            f"{RESULTS}/world/manifest.json",
        log:
            f"{RESULTS}/logs/world.log",
        benchmark:
            f"{RESULTS}/benchmarks/world.tsv"
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=30,
        params:
            out=subpath(output[0], parent=True),
            settings=as_json(settings.world(config)),
            code=code.digest("tasks.world"),
        message:
            "world: write the books and the tasks of the embedded world"
        shell:
            '"$PYTHON" -m tasks.world --settings {params.settings:q}'
            " --out {params.out:q} 2>&1 | tee {log}"


rule examples:
    input:
        raw_task,
    output:
        examples=f"{RESULTS}/examples/{{task}}.jsonl",
        meta=f"{RESULTS}/examples/{{task}}.json",
    log:
        f"{RESULTS}/logs/examples/{{task}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/examples/{{task}}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        folder=task_folder,
        settings=lambda wildcards: json.dumps(settings.prepare(config, wildcards.task)),
        code=code.digest("tasks.prepare"),
    message:
        "examples {wildcards.task}: read, check and split the rows"
    shell:
        '"$PYTHON" -m tasks.prepare {wildcards.task} --folder {params.folder:q}'
        " --settings {params.settings:q} --out {output.examples} --meta {output.meta}"
        " 2>&1 | tee {log}"


rule baselines:
    input:
        f"{RESULTS}/examples/{{task}}.jsonl",
    output:
        f"{RESULTS}/baselines/{{task}}.json",
    log:
        f"{RESULTS}/logs/baselines/{{task}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/baselines/{{task}}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        code=code.digest("tasks.baselines"),
    message:
        "baselines {wildcards.task}: majority and bag of words"
    shell:
        '"$PYTHON" -m tasks.baselines {wildcards.task} --examples {input} --out {output}'
        " 2>&1 | tee {log}"


rule encode:
    input:
        examples=f"{RESULTS}/examples/{{task}}.jsonl",
        encoder=ENCODER,
        merges=MERGES,
    output:
        f"{RESULTS}/encoded/{{task}}.npz",
    log:
        f"{RESULTS}/logs/encode/{{task}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/encode/{{task}}.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        tokenizer=subpath(input.encoder, parent=True),
        code=code.digest("gpt1.encode"),
    message:
        "encode {wildcards.task}: examples to token arrays"
    shell:
        '"$PYTHON" -m gpt1.encode {wildcards.task} --examples {input.examples}'
        " --tokenizer {params.tokenizer:q} --out {output} 2>&1 | tee {log}"
