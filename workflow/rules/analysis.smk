# Tables from the scores of the cells and other small files, figures from the tables: a rule for
# each module of workflow/analysis/tables and workflow/analysis/figures, so that adding a table
# takes one file.

PARTS = {  # of the grid, each collected into a CSV, so a table depends only on its own cells
    "cells": cfg.grid,
    "cells_endpoints": grid.endpoints,
    "cells_full": grid.full,
    "cells_submitted": grid.submitted,
}
PART_OF = {"ablation": "cells_endpoints", "main": "cells_full", "contamination": "cells_full"}
FACTS = "<results>/examples/{task}.json"
DECONTAMINATED = []  # published weights have no corpus to look for the examples in
if grid.has_corpus:
    DECONTAMINATED = [*rules.contamination.output]
ZERO_SHOT = [
    model.zero_shot("<results>", task, update)
    for model in grid.models()
    for task in grid.zero_shot.tasks
    for update in grid.updates
]
CHECKPOINT_FACTS = [
    model.facts("<results>", update) for model in grid.models() for update in grid.updates
]
TABLE_INPUTS = {  # of the tables that read something else than all cells
    "ablation": [
        "<results>/cells_endpoints.csv",
        *predictions(grid.endpoints()),
        *expand(FACTS, task=grid.tasks),
    ],
    "layer_transfer": ["<results>/cells.csv", *predictions(grid)],
    "claims": [
        "<results>/cells.csv",
        *predictions(grid),
        *ZERO_SHOT,
        *expand(FACTS, task=grid.tasks),
    ],
    "main": [
        "<results>/cells_full.csv",
        *predictions(grid.full()),
        *DECONTAMINATED,
        *expand(FACTS, task=grid.tasks),
    ],
    "positive_control": [
        *expand("<results>/{t}.csv", t=["cells", "ablation", "layer_transfer", "zero_shot"]),
        *predictions(grid.endpoints()),
    ],
    "degrees": [
        "<results>/world/manifest.json",
        "<results>/cells.csv",
        *predictions(grid.endpoints()),
    ],
    "contamination": [
        "<results>/cells_full.csv",
        *predictions(grid.full()),
        *DECONTAMINATED,
        *expand(FACTS, task=grid.examples),
    ],
    "zero_shot": [
        *ZERO_SHOT,
        *expand(FACTS, task=grid.zero_shot.tasks),
    ],
    "pretraining": CHECKPOINT_FACTS,
    "cost_pretraining": CHECKPOINT_FACTS,
    "cost": [  # and those below
        *[cell.path("<results>") for cell in grid.cells()],
        *[
            model.facts("<results>", grid.updates[-1])
            for model in (*grid.models(), *grid.models("shuffled"))
        ],
        *expand("<results>/encoded/{task}.json", task=grid.tasks),
        *ZERO_SHOT,
    ],
    "probes": [
        model.probes("<results>", update)
        for model in (*grid.models(), *grid.models("shuffled"))
        for update in grid.updates
    ],
}
FIGURE_TABLES = {  # of the figures that show something else than the table of their name
    "pretraining": ["pretraining", "cost_pretraining"],
    "differences": ["ablation"],
    "aux_gain": ["ablation"],
    "heat_map": ["layer_transfer"],
    "cost_score": ["cost", "ablation", "zero_shot"],
}
NOT_MADE = set()  # tables of what this run does not have
if not grid.has_corpus:
    NOT_MADE |= {"pretraining", "cost_pretraining", "contamination"}
if not (cfg.experiment.world and grid.has_corpus and "transformer" in grid.arch):
    NOT_MADE |= {"positive_control"}
if not cfg.experiment.world:
    NOT_MADE |= {"degrees"}
if not paths.probes_file(cfg):
    NOT_MADE |= {"probes"}
TABLES = [table for table in modules("tables") if table not in NOT_MADE]
FIGURES = [f for f in modules("figures") if {*FIGURE_TABLES.get(f, [f])} <= {*TABLES}]
# The benchmarks of jobs are no declared outputs, so the table of costs waits for all but the page.
# Not by `ancient`: Snakemake does not look for changes in what depends on such an input.
COSTED = [*expand("<results>/{t}.csv", t=[t for t in TABLES if t != "cost"])]
COSTED += expand(
    "<results>/figures/{figure}.svg",
    figure=[f for f in FIGURES if "cost" not in FIGURE_TABLES.get(f, [f])],
)
TABLE_INPUTS["cost"] += [*COSTED, "<results>/data_cards.md"]


for part, part_grid in PARTS.items():

    rule:
        name:
            f"collect_{part}"
        input:
            [cell.path("<results>") for cell in part_grid().cells()],
            expand(FACTS, task=part_grid().tasks),
        output:
            csv=in_report(f"<results>/{part}.csv", "Tables", "table_cells", table=part),
            md=f"<results>/{part}.md",
        log:
            f"<results>/logs/collect_{part}.log",
        benchmark:
            f"<results>/benchmarks/collect_{part}.tsv"
        localrule: True
        params:
            results=subpath(output.csv, parent=True),
            grid=settings(part_grid),
            code=code.digest("workflow.analysis.collect"),
        message:
            f"collect {part}: the scores of its cells"
        shell:
            "python -m workflow.analysis.collect --results {params.results:q}"
            " --grid {params.grid:q} --out {output.csv} &> {log}"


for name in TABLES:

    rule:
        name:
            f"table_{name}"
        input:
            TABLE_INPUTS.get(name, ["<results>/cells.csv"]),
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
            grid=settings(PARTS[PART_OF.get(name, "cells")]),
            module=code.digest(f"workflow.analysis.tables.{name}"),
            code=code.digest("workflow.analysis.tables"),
        message:
            f"table {name}"
        shell:
            "python -m workflow.analysis.tables {params.name} --results {params.results:q}"
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
        log:
            f"<results>/logs/figure_{name}.log",
        benchmark:
            f"<results>/benchmarks/figure_{name}.tsv"
        localrule: True
        params:
            name=name,
            grid=settings(cfg.grid),
            module=code.digest(f"workflow.analysis.figures.{name}"),
            code=code.digest("workflow.analysis.figures"),
        message:
            f"figure {name}"
        shell:
            "python -m workflow.analysis.figures {params.name} --tables {input}"
            " --grid {params.grid:q} --out {output.png} &> {log}"


rule cards:
    input:
        facts=expand(
            "<results>/{stage}/{task}.json",
            stage=["examples", "encoded"],
            task=grid.examples,
        ),
        examples=expand("<results>/examples/{task}", task=grid.examples),
    output:
        md="<results>/data_cards.md",
        figures=[
            in_report(f"<results>/cards/{task}.png", "Data", "card", task=task)
            for task in grid.examples
        ],
        parts=expand("<results>/cards/{task}.{form}", task=grid.examples, form=["md", "svg"]),
    log:
        "<results>/logs/cards.log",
    benchmark:
        "<results>/benchmarks/cards.tsv"
    resources:
        mem_mb=4000,
        runtime=per_attempt(cfg.runtime.minutes, "data"),
    params:
        results=subpath(output.md, parent=True),
        grid=settings(cfg.grid),
        n_ctx=cfg.experiment.model.n_ctx,
        code=code.digest("workflow.analysis.cards"),
    message:
        "cards: a data card for each task"
    shell:
        "python -m workflow.analysis.cards --results {params.results:q} --grid {params.grid:q}"
        " --n-ctx {params.n_ctx} --out {output.md} &> {log}"


rule page:
    input:
        expand("<results>/{table}.{form}", table=["cells", *TABLES], form=["csv", "md"]),
        expand("<results>/figures/{figure}.svg", figure=FIGURES),
        "<results>/data_cards.md",
        expand("<results>/cards/{task}.svg", task=grid.examples),
        # Those that are there when the run is planned; it keeps them up to date.
        studies.made(cfg),
    output:
        html="<results>/index.html",
    log:
        "<results>/logs/page.log",
    benchmark:
        "<results>/benchmarks/page.tsv"
    localrule: True
    params:
        results=subpath(output.html, parent=True),
        grid=settings(cfg.grid),
        tables=["cells", *TABLES],
        figures=FIGURES,
        studies=settings(functools.partial(studies.heads, cfg)),
        module=code.digest("workflow.analysis.page"),
        code=code.digest("workflow.analysis.page"),
    message:
        "page: every table and figure on one page"
    shell:
        "python -m workflow.analysis.page --results {params.results:q} --grid {params.grid:q}"
        " --tables {params.tables} --figures {params.figures} --studies {params.studies:q}"
        " --out {output.html} &> {log}"


rule glue_submission:
    input:
        predictions=submitted,
        cells="<results>/cells_submitted.csv",
        facts=expand("<results>/encoded/{task}.json", task=grid.unlabelled),
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
        grid=settings(grid.submitted),
        code=code.digest("workflow.analysis.submission"),
    message:
        "submission: the eleven files for the GLUE server"
    shell:
        "python -m workflow.analysis.submission --results {params.results:q}"
        " --grid {params.grid:q} --out {output.zip} &> {log}"
