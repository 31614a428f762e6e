# Tables from cells.csv and other small files, figures from the tables: a rule for each module of
# workflow/analysis/tables and workflow/analysis/figures, so that adding a table takes one file.

DECONTAMINATED = []  # published weights have no corpus to look for the examples in
if grid.has_corpus:
    DECONTAMINATED = [
        *rules.contamination.output,
        *(cell.predictions("<results>") for cell in FULL),
    ]
TABLE_INPUTS = {  # of the tables that read more than cells.csv, or something else
    "main": ["<results>/cells.csv", *DECONTAMINATED],
    "contamination": ["<results>/cells.csv", *DECONTAMINATED],
    "zero_shot": [
        *expand(rules.zero_shot.output, arch=grid.arch),
        *expand("<results>/examples/{task}.json", task=grid.zero_shot.tasks),
    ],
    "pretraining": expand([f"{path}.json" for path in CHECKPOINTS], arch=grid.arch),
}
OF_A_CORPUS = {"pretraining", "contamination"}
TABLES = [t for t in modules("tables") if grid.has_corpus or t not in OF_A_CORPUS]
FIGURES = [f for f in modules("figures") if f in TABLES]


rule collect:
    input:
        [cell.path("<results>") for cell in grid.cells()],
        expand("<results>/examples/{task}.json", task=grid.tasks),
    output:
        csv=in_report("<results>/cells.csv", "Tables", "table_cells", table="cells"),
        md="<results>/cells.md",
    log:
        "<logs>/collect.log",
    benchmark:
        "<benchmarks>/collect.tsv"
    localrule: True
    params:
        results=subpath(output.csv, parent=True),
        grid=settings(cfg.grid),
        code=code.digest("workflow.analysis.collect"),
    message:
        "collect: every score of every cell"
    shell:
        "python -m workflow.analysis.collect --results {params.results:q}"
        " --grid {params.grid:q} --out {output.csv} 2>&1 | tee {log}"


for name in TABLES:

    rule:
        name:
            f"table_{name}"
        input:
            TABLE_INPUTS.get(name, "<results>/cells.csv"),
        output:
            csv=in_report(
                f"<results>/{name}.csv", "Tables", f"table_{name}", table=name
            ),
            md=f"<results>/{name}.md",
        log:
            f"<logs>/table_{name}.log",
        benchmark:
            f"<benchmarks>/table_{name}.tsv"
        localrule: True
        params:
            name=name,
            results=subpath(output.csv, parent=True),
            grid=settings(cfg.grid),
            code=code.digest(f"workflow.analysis.tables.{name}"),
            program=code.digest("workflow.analysis.tables"),
        message:
            f"table {name}"
        shell:
            "python -m workflow.analysis.tables {params.name} --results {params.results:q}"
            " --grid {params.grid:q} --out {output.csv} 2>&1 | tee {log}"


for name in FIGURES:

    rule:
        name:
            f"figure_{name}"
        input:
            f"<results>/{name}.csv",
        output:
            png=in_report(
                f"<results>/figures/{name}.png",
                "Figures",
                name,
                figure=name,
                format="png",
            ),
            svg=in_report(
                f"<results>/figures/{name}.svg",
                "Figures",
                name,
                figure=name,
                format="svg",
            ),
        log:
            f"<logs>/figure_{name}.log",
        benchmark:
            f"<benchmarks>/figure_{name}.tsv"
        localrule: True
        params:
            name=name,
            grid=settings(cfg.grid),
            code=code.digest(f"workflow.analysis.figures.{name}"),
            program=code.digest("workflow.analysis.figures"),
        message:
            f"figure {name}"
        shell:
            "python -m workflow.analysis.figures {params.name} --table {input}"
            " --grid {params.grid:q} --out {output.png} 2>&1 | tee {log}"


rule cards:
    input:
        facts=expand(
            "<results>/{stage}/{task}.json",
            stage=["examples", "encoded"],
            task=grid.examples,
        ),
        data=expand(
            "<results>/{stage}/{task}",
            stage=["examples", "encoded"],
            task=grid.examples,
        ),
    output:
        md="<results>/data_cards.md",
        pages=[
            in_report(f"<results>/cards/{task}.html", "Data", "card", task=task)
            for task in grid.examples
        ],
        parts=expand(
            "<results>/cards/{task}.{form}",
            task=grid.examples,
            form=["json", "md", "png", "svg"],
        ),
    log:
        "<logs>/cards.log",
    benchmark:
        "<benchmarks>/cards.tsv"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        results=subpath(output.md, parent=True),
        grid=settings(cfg.grid),
        n_ctx=cfg.experiment.model.n_ctx,
        code=code.digest("workflow.analysis.cards"),
    message:
        "cards: a data card for each task"
    shell:
        "python -m workflow.analysis.cards --results {params.results:q} --grid {params.grid:q}"
        " --n-ctx {params.n_ctx} --out {output.md} 2>&1 | tee {log}"


rule glue_submission:
    input:
        predictions=submitted,
        cells=[cell.path("<results>") for cell in SUBMITTED],
        facts=expand("<results>/examples/{task}.json", task=grid.unlabelled),
    output:
        zip="<results>/glue_submission.zip",
        facts="<results>/glue_submission.json",
    log:
        "<logs>/glue_submission.log",
    benchmark:
        "<benchmarks>/glue_submission.tsv"
    localrule: True
    params:
        results=subpath(output.zip, parent=True),
        grid=settings(cfg.grid),
        code=code.digest("workflow.analysis.submission"),
    message:
        "submission: the eleven files for the GLUE server"
    shell:
        "python -m workflow.analysis.submission --results {params.results:q}"
        " --grid {params.grid:q} --out {output.zip} 2>&1 | tee {log}"
