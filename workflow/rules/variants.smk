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
            its_probes(raw_probes),
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
