# Tables are made from the scores of the cells and other small files, figures from the tables, the
# page from both. One process makes all that needs the same models and scores, so a target that is
# asked for by name trains and scores nothing that it does not need.
# Each part of the grid is resampled once; tables and claims are made from these samples.

FACTS, ENCODED = "<results>/examples/{task}.json", "<results>/encoded/{task}.json"
BASELINES = expand("<results>/baselines/{task}.json", task=grid.tasks)
CELLS = [cell.path("<results>") for cell in grid.cells()]
CONTAMINATION = rules.contamination.output if grid.has_corpus else []
ZERO_SHOT = [
    model.zero_shot("<results>", task, update)
    for model in grid.models()
    for task in grid.zero_shot.tasks
    for update in grid.updates
]
SAMPLES = {part: f"<results>/samples/{part}.parquet" for part in grid.parts()}


def samples(*ends):
    """The samples of those parts of the grid whose names end so."""
    return [file for part, file in SAMPLES.items() if part.endswith(ends)]


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

# What each table is made from, but for that of costs; a table comes after those that it reads.
TABLES = {
    "data": expand([FACTS, ENCODED], task=grid.examples),
    "pretraining": [m.facts("<results>", update) for m in grid.models() for update in grid.updates],
    "zero_shot": [*ZERO_SHOT, *expand(FACTS, task=grid.zero_shot.tasks)],
    "cloze": [m.cloze("<results>", update) for m in grid.all_models() for update in grid.updates],
    "ablation": [*samples("ablation"), *expand(FACTS, task=grid.tasks), *BASELINES],
    "degrees": samples("ablation"),
    "contamination": [
        *(*samples("transformer_ablation"), *CONTAMINATION, *expand(FACTS, task=grid.examples))
    ],
    "main": [*samples("ablation"), *CONTAMINATION, *expand(FACTS, task=grid.tasks)],
    "layer_transfer": [*(*samples("ablation", "layer_transfer"), *expand(FACTS, task=grid.tasks))],
    "cells": [*samples(""), *expand(FACTS, task=grid.tasks)],
    "confusion": [
        file("<results>") for cell in grid.own_cells() for file in (cell.path, cell.predictions)
    ],
    "claims": [
        *(*samples(""), *ZERO_SHOT, *CELLS, *BASELINES),
        *expand([FACTS, ENCODED], task=grid.tasks),
    ],
}
TABLES["cost_pretraining"] = TABLES["pretraining"]
TABLES["positive_control"] = BASELINES + [
    f"<results>/{table}.csv"
    for table in ("ablation", "degrees", "layer_transfer", "zero_shot")
    if table not in NOT_MADE
]
TABLES = {table: files for table, files in TABLES.items() if table not in NOT_MADE}
FIGURES = [f for f in figures.names() if {*figures.tables_of(f)} <= {*TABLES}]
if len(grid.studies["ablation"].lines) == 1:  # the full model alone
    FIGURES.remove("differences")

PRODUCTS = {f"{table}.csv": files for table, files in TABLES.items()} | {
    f"figures/{figure}.png": expand("<results>/{table}.csv", table=figures.tables_of(figure))
    for figure in FIGURES
}
# The benchmarks of jobs are not declared outputs, so the table of costs waits for all but the page.
# `ancient` would not do: Snakemake does not look for changes in what depends on such an input.
WAITING = ("cost.csv", "index.html")
PRODUCTS["cost.csv"] = [
    *(*CELLS, *ZERO_SHOT, *expand(ENCODED, task=grid.tasks)),
    *(model.facts("<results>", grid.updates[-1]) for model in grid.all_models()),
    *expand("<results>/{table}.csv", table=TABLES),
    *expand("<results>/figures/{figure}.svg", figure=FIGURES),
]
TABLES = sorted([*TABLES, "cost"])
PRODUCTS["index.html"] = [
    *expand("<results>/{table}.{form}", table=TABLES, form=["csv", "md"]),
    *expand("<results>/figures/{figure}.svg", figure=FIGURES),
    # And the studies that exist when the run is planned; the run keeps them up to date.
    *studies.made(lines),
]


def forms(product):
    """The files in which a table, a figure or the page is written."""
    stem, name = f"<results>/{product.rpartition('.')[0]}", Path(product).stem
    if product == "index.html":
        return [f"{stem}.html"]
    if product in (f"{table}.csv" for table in TABLES):
        return [in_report(f"{stem}.csv", "Tables", f"table_{name}", table=name), f"{stem}.md"]
    return [f"{stem}.pdf"] + [
        in_report(f"{stem}.{form}", "Figures", name, figure=name, format=form)
        for form in ("png", "svg")
    ]


MADE_FROM = {file: inputs for product, inputs in PRODUCTS.items() for file in forms(product)}
MADE_FROM |= {SAMPLES[p]: [c.path("<results>") for c in cells] for p, cells in grid.parts().items()}
PREPARED = {*expand([FACTS, ENCODED], task=grid.examples), *BASELINES}


@functools.cache
def trained(file):
    """The files of models and their scores behind a file, which may be one itself."""
    if file not in MADE_FROM:
        return frozenset({file} - PREPARED)
    return frozenset().union(*(trained(str(one)) for one in MADE_FROM[file]))


GROUPS = {}  # what is made by one process
for product in PRODUCTS:
    key = product in WAITING, trained(str(forms(product)[0]))
    GROUPS.setdefault(key, []).append(product)


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
            results=cfg.results,
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
        code=code.digest("workflow.analysis.report", "workflow.analysis.studies.table"),
    shell:
        "python -m workflow.analysis report studies/{wildcards.study}.csv"
        " --results {params.results:q} --grid {params.grid:q} --study {params.study:q} &> {log}"
