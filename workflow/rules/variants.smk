# The studies other than ablation and layer_transfer: a table and a figure each. Those that are not
# in experiment.all are asked for by name.


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
        study=lambda wildcards: arguments(study(wildcards).to_json(), most=0),
        code=code.digest("workflow.analysis.make_study"),
    shell:
        "python -m workflow.analysis study --results {params.results:q} --grid {params.grid:q}"
        " --study {params.study:q} --out {output.csv} &> {log}"
