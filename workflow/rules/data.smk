# The tasks, from raw files to token ids: the embedded world, fetched data, examples, baselines.


if cfg.experiment.world:

    rule world:
        output:
            "<results>/world/manifest.json",
        resources:
            mem_mb=2000,
            runtime=per_attempt(cfg.runtime.minutes, "data"),
        params:
            out=subpath(output[0], parent=True),
            settings=settings(lambda: cfg.experiment.world),
        message:
            "world: write the books and the tasks of the embedded world"
        shell:
            "python -m tasks.world --settings {params.settings:q} --out {params.out:q}"
            " 2>&1 | tee {log}"


# A data set of the Hugging Face hub at one commit; the only job that uses the network.
rule fetch:
    output:
        # Kept when the job starts: files already present and intact are not downloaded again.
        update("<results>/raw/{name}/{revision}/manifest.json"),
    wildcard_constraints:
        name="[a-z0-9_]+",
        revision="[0-9a-f]{40}",
    localrule: True  # compute nodes often have no network
    params:
        folder=subpath(output[0], parent=True),
    message:
        "fetch {wildcards.name}: from the hub, at commit {wildcards.revision}"
    # Over plain HTTP rather than Xet, whose errors are undocumented.
    shell:
        'HF_HUB_DISABLE_XET=1 HF_HUB_OFFLINE="$FETCH_OFFLINE" python -m tasks.fetch'
        " {wildcards.name} --revision {wildcards.revision} --folder {params.folder:q}"
        " 2>&1 | tee {log}"


rule examples:
    input:
        lambda wildcards: raw(wildcards.task),
    output:
        examples=directory("<results>/examples/{task}"),
        facts="<results>/examples/{task}.json",
    resources:
        mem_mb=2000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        folder=lambda wildcards: DATA[wildcards.task].folder,
        settings=settings(cfg.prepare, "task"),
    message:
        "examples {wildcards.task}: read, check and split the rows"
    shell:
        "python -m tasks.prepare {wildcards.task} --folder {params.folder:q}"
        " --settings {params.settings:q} --out {output.examples} --facts {output.facts}"
        " 2>&1 | tee {log}"


rule baselines:
    input:
        "<results>/examples/{task}",
    output:
        "<results>/baselines/{task}.json",
    resources:
        mem_mb=4000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    message:
        "baselines {wildcards.task}: majority and bag of words"
    shell:
        "python -m tasks.baselines {wildcards.task} --examples {input} --out {output}"
        " 2>&1 | tee {log}"


rule encode:
    input:
        vocabulary,
        examples="<results>/examples/{task}",
    output:
        encoded=directory("<results>/encoded/{task}"),
        facts="<results>/encoded/{task}.json",
    resources:
        mem_mb=4000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        tokenizer=TOKENIZER,
    message:
        "encode {wildcards.task}: examples to token ids"
    shell:
        "python -m gpt1.encode {wildcards.task} --examples {input.examples}"
        " --tokenizer {params.tokenizer:q} --out {output.encoded} --facts {output.facts}"
        " 2>&1 | tee {log}"
