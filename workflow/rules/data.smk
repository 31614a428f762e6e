# The tasks, from raw files to token ids: the embedded world, fetched data, examples, baselines.


if cfg.experiment.world:

    rule world:
        output:
            "<results>/world/manifest.json",
        log:
            "<results>/logs/world.log",
        benchmark:
            "<results>/benchmarks/world.tsv"
        resources:
            mem_mb=2000,
            runtime=per_attempt(cfg.runtime.minutes, "data"),
        params:
            out=subpath(output[0], parent=True),
            settings=settings(cfg.world),
            code=code.digest("tasks.world"),
        message:
            "world: write the books and the tasks of the embedded world"
        shell:
            "python -m tasks.world --settings {params.settings:q} --out {params.out:q}" " &> {log}"


# A data set of the Hugging Face hub at one commit; the only job that uses the network.
rule fetch:
    output:
        # Kept when the job starts: files already present and intact are not downloaded again.
        update("<results>/raw/{name}/{revision}/manifest.json"),
    log:
        "<results>/logs/fetch/{name}/{revision}.log",
    benchmark:
        "<results>/benchmarks/fetch/{name}/{revision}.tsv"
    wildcard_constraints:
        name="[a-z0-9_]+",
        revision="[0-9a-f]{40}",
    localrule: True  # compute nodes often have no network
    params:
        folder=subpath(output[0], parent=True),
        code=code.digest("tasks.fetch"),
    message:
        "fetch {wildcards.name}: from the hub, at commit {wildcards.revision}"
    shell:
        'HF_HUB_OFFLINE="$FETCH_OFFLINE" python -m tasks.fetch {wildcards.name}'
        " --revision {wildcards.revision} --folder {params.folder:q} &> {log}"


rule examples:
    input:
        lambda wildcards: raw(wildcards.task),
    output:
        examples=directory("<results>/examples/{task}"),
        facts="<results>/examples/{task}.json",
    log:
        "<results>/logs/examples/{task}.log",
    benchmark:
        "<results>/benchmarks/examples/{task}.tsv"
    resources:
        mem_mb=2000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        folder=lambda wildcards: DATA[wildcards.task].folder,
        settings=settings(cfg.prepare, "task"),
        code=code.digest("tasks.prepare"),
    message:
        "examples {wildcards.task}: read, check and split the rows"
    shell:
        "python -m tasks.prepare {wildcards.task} --folder {params.folder:q}"
        " --settings {params.settings:q} --out {output.examples} --facts {output.facts}"
        " &> {log}"


rule baselines:
    input:
        "<results>/examples/{task}",
    output:
        "<results>/baselines/{task}.json",
    log:
        "<results>/logs/baselines/{task}.log",
    benchmark:
        "<results>/benchmarks/baselines/{task}.tsv"
    resources:
        mem_mb=4000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        code=code.digest("tasks.baselines"),
    message:
        "baselines {wildcards.task}: majority and bag of words"
    shell:
        "python -m tasks.baselines {wildcards.task} --examples {input} --out {output}" " &> {log}"


rule encode:
    input:
        vocabulary,
        examples="<results>/examples/{task}",
    output:
        encoded=directory("<results>/encoded/{task}"),
        facts="<results>/encoded/{task}.json",
    log:
        "<results>/logs/encode/{task}.log",
    benchmark:
        "<results>/benchmarks/encode/{task}.tsv"
    resources:
        mem_mb=4000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        tokenizer=TOKENIZER,
        code=code.digest("gpt1.encode"),
    message:
        "encode {wildcards.task}: examples to token ids"
    shell:
        "python -m gpt1.encode {wildcards.task} --examples {input.examples}"
        " --tokenizer {params.tokenizer:q} --out {output.encoded} --facts {output.facts}"
        " &> {log}"
