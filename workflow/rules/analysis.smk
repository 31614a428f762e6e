# From the cells to tables, figures, studies, the page and the submission.
include: "products.smk"


for made in GROUPS.values():
    has_page, outputs = "index.html" in made, [file for product in made for file in forms(product)]
    job = "page" if has_page else f"tables_{Path(made[0]).stem}"

    rule:
        name:
            job
        input:
            list(dict.fromkeys(f for p in made for f in PRODUCTS[p] if f not in outputs)),
        output:
            outputs,
        log:
            f"<results>/logs/{job}.log",
        benchmark:
            f"<results>/benchmarks/{job}.tsv"
        localrule: True
        params:
            products=made,
            results=subpath(output[0], ancestor=1 + made[0].count("/")),
            grid=grid_file,
            page=page_option if has_page else "",
            captions=captions() if has_page else "",
            code=code.digest("workflow.analysis.report", *map(module_of, made)),
        shell:
            "python -m workflow.analysis report {params.products} --results {params.results:q}"
            " --grid {params.grid:q} {params.page:q} &> {log}"


rule glue_submission:
    input:
        predictions=submitted,
        cells=[cell.path("<results>") for cell in grid.submitted()],
        facts=expand(ENCODED, task=grid.unlabelled),
        notes=expand(FACTS, task=grid.unlabelled),
    output:
        zip="<results>/glue_submission.zip",
        facts="<results>/glue_submission.json",
    log:
        "<results>/logs/glue_submission.log",
    benchmark:
        "<results>/benchmarks/glue_submission.tsv"
    localrule: True
    params:
        results=subpath(output.zip, parent=True),
        grid=grid_file,
        code=code.digest("workflow.analysis.report", "workflow.analysis.submission"),
    shell:
        "python -m workflow.analysis report glue_submission.zip --results {params.results:q}"
        " --grid {params.grid:q} &> {log}"


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
        grid=grid_file,
        study=lambda wildcards: in_file(study(wildcards).to_json()),
        code=code.digest("workflow.analysis.report", "workflow.analysis.study"),
    shell:
        "python -m workflow.analysis report studies/{wildcards.study}.csv"
        " --results {params.results:q} --grid {params.grid:q} --study {params.study:q} &> {log}"
