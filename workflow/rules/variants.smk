# What only studies have: a table and a figure each, asked for by name, and those jobs of their
# variants that differ from the run's own.


rule study:
    input:
        study_inputs,
    output:
        csv=in_report("<results>/studies/{study}.csv", "Studies", "study", study="{study}"),
        md="<results>/studies/{study}.md",
        png=in_report("<results>/studies/{study}.png", "Studies", "study", study="{study}"),
        svg="<results>/studies/{study}.svg",
        pdf="<results>/studies/{study}.pdf",
    log:
        "<results>/logs/study/{study}.log",
    benchmark:
        "<results>/benchmarks/study/{study}.tsv"
    wildcard_constraints:
        study="[a-z0-9_]+",
    localrule: True
    params:
        results=subpath(output.csv, ancestor=2),
        grid=grid_json,
        study=lambda wildcards: study(wildcards).to_json(),
        code=code.digest("workflow.analysis.studies"),
    shell:
        "python -m workflow.analysis.studies --results {params.results:q} --grid {params.grid:q}"
        " --study {params.study:q} --out {output.csv} &> {log}"


if paths.probes_file(cfg):

    use rule probes as probes_variant with:
        input:
            vocabulary,
            its_probes(paths.raw_probes),
            MODEL.facts("<results>{home}", "{step}"),
            checkpoints=MODEL.checkpoint("<results>{home}", "{step}"),
        output:
            MODEL.probes("<results>{home}", "{step}"),
        log:
            "<results>{home}/logs/probes/{arch}/seed-{seed}/{step}.log",
        benchmark:
            "<results>{home}/benchmarks/probes/{arch}/seed-{seed}/{step}.tsv"
        wildcard_constraints:
            home=homes(variants.names("model")[1:]),


if PLANTED:

    rule world_planted:
        input:
            lambda wildcards: below(variant_of(wildcards), "tokenizer", "world/manifest.json"),
            documents=of("tokenizer", "corpus/documents.json"),
            examples=of("tasks", *(f"examples/{task}" for task in PLANTED_TASKS)),
        output:
            "<results>{home}/world/manifest.json",
        log:
            "<results>{home}/logs/world.log",
        benchmark:
            "<results>{home}/benchmarks/world.tsv"
        wildcard_constraints:
            home=homes(PLANTED),
        priority: 10
        resources:
            **data_job(2000),
        params:
            tasks=PLANTED_TASKS,
            counts=its(lambda config, _: sorted(config.experiment.world.planted)),
            folder=lambda wildcards, input: os.path.join(os.path.dirname(input[0]), "books"),
            examples=lambda wildcards, input: os.path.dirname(input.examples[0]),
            out=subpath(output[0], parent=True),
            code=code.digest("tasks.world.planting"),
        shell:
            "python -m tasks.world.planting {params.tasks} --counts {params.counts}"
            " --books {params.folder:q} --documents {input.documents}"
            " --examples {params.examples:q} --out {params.out:q} &> {log}"

    use rule contamination as contamination_variant with:
        input:
            documents=of("books", "corpus/documents"),
            facts=of("books", "corpus/documents.json"),
            examples=of("tasks", *(f"examples/{task}" for task in PLANTED_TASKS)),
        output:
            [f"<results>{{home}}/contamination/{task}.json" for task in PLANTED_TASKS],
        log:
            "<results>{home}/logs/contamination.log",
        benchmark:
            "<results>{home}/benchmarks/contamination.tsv"
        wildcard_constraints:
            home=homes(PLANTED),
        params:
            tasks=PLANTED_TASKS,
            lengths="--every-length",
