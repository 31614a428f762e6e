# The tasks, from raw files to token ids: the synthetic world, fetched data, examples, baselines.
#
# `{home}` is empty for the run's own files, and `/variants/NAME` for those that a study's overlay
# changes (workflow/plan.py). A variant's job reads the run's files where these are the same.


if cfg.experiment.world:

    rule world:
        output:
            "<results>{home}/world/manifest.json",
        log:
            "<results>{home}/logs/world.log",
        benchmark:
            "<results>{home}/benchmarks/world.tsv"
        wildcard_constraints:
            home=home_pattern(plan.names("world")),
        resources:
            **data_job(2000),
        params:
            out=subpath(output[0], parent=True),
            settings=settings_json(lambda config, _: config.experiment.world),
            code=code.digest("tasks.world.make"),
        shell:
            "python -m tasks world --settings {params.settings:q} --out {params.out:q} &> {log}"


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
    priority: 20
    localrule: True  # compute nodes often have no network
    params:
        folder=subpath(output[0], parent=True),
        own=lambda wildcards: own_option(wildcards.name),
        code=code.digest("tasks.fetch"),
    shell:
        'HF_HUB_OFFLINE="$FETCH_OFFLINE" python -m tasks fetch {wildcards.name} {params.own}'
        " --revision {wildcards.revision} --folder {params.folder:q} &> {log}"


rule examples:
    input:
        raw_inputs,
    output:
        examples=directory("<results>{home}/examples/{task}"),
        facts="<results>{home}/examples/{task}.json",
    log:
        "<results>{home}/logs/examples/{task}.log",
    benchmark:
        "<results>{home}/benchmarks/examples/{task}.tsv"
    wildcard_constraints:
        home=home_pattern(plan.names("tasks")),
    priority: 20  # a fault of the user's rows is found before anything is trained
    resources:
        **data_job(2000),
    params:
        folder=lambda w: data_set_of(w).folder,
        settings=settings_json(lambda config, wildcards: config.prepare(wildcards.task)),
        contents=contents(raw_inputs),
        code=code.digest("tasks.prepare"),
    shell:
        "python -m tasks prepare {wildcards.task} --folder {params.folder:q}"
        " --settings {params.settings:q} --out {output.examples} --facts {output.facts}"
        " &> {log}"


rule baselines:
    input:
        examples="<results>{home}/examples/{task}",
        classes=stage_inputs("books", "corpus/word_classes.json") if grid.has_corpus else [],
        world=stage_inputs("world", "world/manifest.json") if cfg.experiment.world else [],
    output:
        "<results>{home}/baselines/{task}.json",
    log:
        "<results>{home}/logs/baselines/{task}.log",
    benchmark:
        "<results>{home}/benchmarks/baselines/{task}.tsv"
    wildcard_constraints:
        home=home_pattern(plan.names("tasks")),
    resources:
        **data_job(4000),
    params:
        degrees=lambda _, input: [
            path.replace("manifest.json", "degrees.csv") for path in input.world
        ],
        code=code.digest("tasks.baselines"),
    shell:
        "python -m tasks baselines {wildcards.task} --examples {input.examples}"
        " --word-classes {input.classes} --degrees {params.degrees} --out {output} &> {log}"


rule encode:
    input:
        vocabulary,
        examples=stage_inputs("tasks", "examples/{task}"),
    output:
        encoded=directory("<results>{home}/encoded/{task}"),
        facts="<results>{home}/encoded/{task}.json",
    log:
        "<results>{home}/logs/encode/{task}.log",
    benchmark:
        "<results>{home}/benchmarks/encode/{task}.tsv"
    wildcard_constraints:
        home=home_pattern(plan.names("encoded")),
    priority: 20
    resources:
        **data_job(4000),
    params:
        tokenizer=tokenizer_folder,
        contents=contents(vocabulary),
        code=code.digest("gpt1.encode"),
    shell:
        "python -m gpt1 encode {wildcards.task} --examples {input.examples}"
        " --tokenizer {params.tokenizer:q} --out {output.encoded}"
        " &> {log}"
