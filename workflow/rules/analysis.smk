# Tables are made from the scores of the cells and other small files, figures from the tables. Each
# module of workflow/analysis/tables and workflow/analysis/figures has a rule, so that adding a table
# takes one file.
# Each part of the grid is resampled once; tables and claims are made from these samples.

FACTS = "<results>/examples/{task}.json"
SAMPLES = {part: f"<results>/samples/{part}.parquet" for part in grid.parts()}
INPUTS = {  # files by the names that tables give them; see `table_inputs`
    "facts": expand(FACTS, task=grid.tasks),
    "facts of zero-shot tasks": expand(FACTS, task=grid.zero_shot.tasks),
    "facts of all examples": expand(FACTS, task=grid.examples),
    "baselines": expand("<results>/baselines/{task}.json", task=grid.tasks),
    "contamination": rules.contamination.output if grid.has_corpus else [],
    "zero_shot": [
        model.zero_shot("<results>", task, update)
        for model in grid.models()
        for task in grid.zero_shot.tasks
        for update in grid.updates
    ],
    "checkpoints": [m.facts("<results>", update) for m in grid.models() for update in grid.updates],
    "last checkpoints": [model.facts("<results>", grid.updates[-1]) for model in grid.all_models()],
    "cloze": [m.cloze("<results>", update) for m in grid.all_models() for update in grid.updates],
    "cells": [cell.path("<results>") for cell in grid.cells()],
    "predictions of own tasks": [
        file("<results>") for cell in grid.own_cells() for file in (cell.path, cell.predictions)
    ],
    "encoded": expand("<results>/encoded/{task}.json", task=grid.tasks),
    "encoded of all examples": expand("<results>/encoded/{task}.json", task=grid.examples),
}
FIGURE_TABLES = {  # of the figures that show something else than the table of their name
    "figure2": ["layer_transfer", "zero_shot"],
    "pretraining": ["pretraining", "cost_pretraining"],
    "differences": ["ablation"],
}
NOT_MADE = set()  # tables of what this run does not have
if not grid.has_corpus:
    NOT_MADE |= {"pretraining", "cost_pretraining", "contamination"}
if not (cfg.experiment.world and grid.has_corpus and grid.find(n_transfer="none")) or grid.own:
    NOT_MADE |= {"positive_control"}
if not cfg.experiment.world or grid.own:
    NOT_MADE |= {"degrees"}
if not grid.zero_shot.tasks:
    NOT_MADE |= {"zero_shot"}
if {*grid.tasks} <= {*grid.own}:  # nothing that the paper has numbers of
    NOT_MADE |= {"main", "claims"}
if not grid.own_cells():
    NOT_MADE |= {"confusion"}
if not paths.cloze_file(cfg):
    NOT_MADE |= {"cloze"}
if "layer_transfer" not in grid.studies:
    NOT_MADE |= {"layer_transfer", "positive_control"}
TABLES = [table for table in tables.names() if table not in NOT_MADE]
FIGURES = [f for f in figures.names() if {*FIGURE_TABLES.get(f, [f])} <= {*TABLES}]
if len(grid.studies["ablation"].lines) == 1:  # the full model alone
    FIGURES.remove("differences")
# The benchmarks of jobs are not declared outputs, so the table of costs waits for all but the page.
# `ancient` would not do: Snakemake does not look for changes in what depends on such an input.
COSTED = [*expand("<results>/{t}.csv", t=[t for t in TABLES if t != "cost"])]
COSTED += expand("<results>/figures/{figure}.svg", figure=FIGURES)
INPUTS["all but costs"] = COSTED


for part, cells in grid.parts().items():

    rule:
        name:
            f"samples_{part}"
        input:
            cells=[cell.path("<results>") for cell in cells],
            predictions=[cell.predictions("<results>") for cell in cells],
            world="<results>/world/manifest.json" if cfg.experiment.world else [],
        output:
            SAMPLES[part],
        log:
            f"<results>/logs/samples_{part}.log",
        benchmark:
            f"<results>/benchmarks/samples_{part}.tsv"
        localrule: True
        params:
            results=subpath(output[0], ancestor=2),
            seeds=grid.seeds.finetune,
            cells=lambda _, input: arguments(*input.cells),
            lines=sorted({cell.line for cell in cells}),
            degrees="--degrees" if cfg.experiment.world else "",
            code=code.digest("workflow.analysis.stats.samples"),
        shell:
            "python -m workflow.analysis samples {params.cells:q} --results {params.results:q}"
            " --seeds {params.seeds} {params.degrees} --out {output} &> {log}"


for name in TABLES:

    rule:
        name:
            f"table_{name}"
        input:
            table_inputs(name),
        output:
            csv=in_report(f"<results>/{name}.csv", "Tables", f"table_{name}", table=name),
            md=f"<results>/{name}.md",
        log:
            f"<results>/logs/table_{name}.log",
        benchmark:
            f"<results>/benchmarks/table_{name}.tsv"
        localrule: True
        params:
            name=name,
            results=subpath(output.csv, parent=True),
            grid=grid_json,
            module=code.digest(f"workflow.analysis.tables.{name}"),
            code=code.digest("workflow.analysis.make_table"),
        shell:
            "python -m workflow.analysis table {params.name} --results {params.results:q}"
            " --grid {params.grid:q} --out {output.csv} &> {log}"


for name in FIGURES:

    rule:
        name:
            f"figure_{name}"
        input:
            expand("<results>/{table}.csv", table=FIGURE_TABLES.get(name, [name])),
        output:
            **{
                form: in_report(
                    f"<results>/figures/{name}.{form}", "Figures", name, figure=name, format=form
                )
                for form in ("png", "svg")
            },
            pdf=f"<results>/figures/{name}.pdf",
        log:
            f"<results>/logs/figure_{name}.log",
        benchmark:
            f"<results>/benchmarks/figure_{name}.tsv"
        localrule: True
        params:
            name=name,
            grid=grid_json,
            module=code.digest(f"workflow.analysis.figures.{name}"),
            code=code.digest("workflow.analysis.make_figure"),
        shell:
            "python -m workflow.analysis figure {params.name} --tables {input}"
            " --grid {params.grid:q} --out {output.png} &> {log}"


rule page:
    input:
        expand("<results>/{table}.{form}", table=TABLES, form=["csv", "md"]),
        expand("<results>/figures/{figure}.svg", figure=FIGURES),
        # And the studies that exist when the run is planned; the run keeps them up to date.
        studies.made(lines),
    output:
        html="<results>/index.html",
    log:
        "<results>/logs/page.log",
    benchmark:
        "<results>/benchmarks/page.tsv"
    localrule: True
    params:
        results=subpath(output.html, parent=True),
        grid=grid_json,
        tables=TABLES,
        figures=FIGURES,
        studies=lambda _: arguments(*(study.to_json() for study in studies.heads(lines)), most=0),
        captions=sha256_json(
            {path.name: path.read_text("utf-8") for path in CAPTIONS.glob("*.rst")}
        ),
        code=code.digest("workflow.analysis.page.write"),
    shell:
        "python -m workflow.analysis page --results {params.results:q} --grid {params.grid:q}"
        " --tables {params.tables} --figures {params.figures} --studies {params.studies:q}"
        " --out {output.html} &> {log}"


rule glue_submission:
    input:
        predictions=submitted,
        cells=[cell.path("<results>") for cell in grid.submitted()],
        facts=expand("<results>/encoded/{task}.json", task=grid.unlabelled),
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
        grid=grid_json,
        code=code.digest("workflow.analysis.submission"),
    shell:
        "python -m workflow.analysis submission --results {params.results:q}"
        " --grid {params.grid:q} --out {output.zip} &> {log}"
