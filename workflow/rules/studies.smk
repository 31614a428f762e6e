# The studies: a table and a figure each, asked for by name.


rule study:
    input:
        study_inputs,
    output:
        csv=in_report("<results>/studies/{study}.csv", "Studies", "study", study="{study}"),
        md="<results>/studies/{study}.md",
        png=in_report("<results>/studies/{study}.png", "Studies", "study", study="{study}"),
        svg="<results>/studies/{study}.svg",
    log:
        "<results>/logs/study/{study}.log",
    benchmark:
        "<results>/benchmarks/study/{study}.tsv"
    wildcard_constraints:
        study="[a-z0-9_]+",
    localrule: True
    params:
        results=subpath(output.csv, ancestor=2),
        grid=settings(cfg.grid),
        study=lambda wildcards: study(wildcards).to_json(),
        code=code.digest("workflow.analysis.studies"),
    message:
        "study {wildcards.study}: its table and its figure"
    shell:
        "python -m workflow.analysis.studies --results {params.results:q} --grid {params.grid:q}"
        " --study {params.study:q} --out {output.csv} &> {log}"
