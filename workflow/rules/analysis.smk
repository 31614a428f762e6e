# Tables from the small JSON files alone, figures from the tables.


CELLS = {
    "cells": plan.cells(config),
    "main": plan.fully_transferred(config),
    "ablation": plan.ends(config),
    "layer_transfer": plan.cells(config),
}
# What the scores on the clean rows are computed from; published weights have no corpus to be clean of.
CLEAN_SOURCES = []
if "contamination" in TABLES:
    CLEAN_SOURCES = [
        *rules.contamination.output,
        *expand(rules.examples.output.examples, task=plan.example_tasks(config)),
        *expand(rules.encode.output, task=config["experiment"]["tasks"]),
        *(cell.predictions(RESULTS) for cell in plan.fully_transferred(config)),
    ]
SOURCES = {
    **{
        name: [cell.path(RESULTS) for cell in cells]
        + facts_of(config["experiment"]["tasks"])
        + (CLEAN_SOURCES if name == "main" else [])
        for name, cells in CELLS.items()
    },
    "zero_shot": [
        *expand(rules.zero_shot.output, arch=ARCHITECTURES),
        *facts_of(config["experiment"]["zero_shot"]["tasks"]),
    ],
    "contamination": [cell.path(RESULTS) for cell in CELLS["main"]]
    + CLEAN_SOURCES
    + facts_of(plan.example_tasks(config)),
    "pretraining": expand(
        "{results}/pretrain/{arch}/update-{update}.json",
        results=RESULTS,
        arch=ARCHITECTURES,
        update=UPDATES,
    ),
}


for name in TABLES:

    rule:
        name:
            f"table_{name}"
        input:
            SOURCES[name],
        output:
            csv=report(
                f"{RESULTS}/{name}.csv",
                caption=f"../report/table_{name}.rst",
                category="Tables",
                labels={"table": name},
            ),
            md=f"{RESULTS}/{name}.md",
        log:
            f"{RESULTS}/logs/table_{name}.log",
        benchmark:
            f"{RESULTS}/benchmarks/table_{name}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=15,
        params:
            results=subpath(output.csv, parent=True),
            settings=as_json(settings.table(config, name)),
            program=f"workflow.analysis.{name}",
            code=code.digest(f"workflow.analysis.{name}"),
        message:
            f"table {name}"
        shell:
            '"$PYTHON" -m {params.program} --results {params.results:q} --settings {params.settings:q}'
            " --out {output.csv} 2>&1 | tee {log}"


for name in FIGURES:

    rule:
        name:
            f"figure_{name}"
        input:
            f"{RESULTS}/{name}.csv",
        output:
            png=report(
                f"{RESULTS}/figures/{name}.png",
                caption=f"../report/{name}.rst",
                category="Figures",
                labels={"figure": name, "format": "png"},
            ),
            svg=report(
                f"{RESULTS}/figures/{name}.svg",
                caption=f"../report/{name}.rst",
                category="Figures",
                labels={"figure": name, "format": "svg"},
            ),
        log:
            f"{RESULTS}/logs/figure_{name}.log",
        benchmark:
            f"{RESULTS}/benchmarks/figure_{name}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=15,
        params:
            name=name,
            settings=as_json(settings.table(config, name)),
            code=code.digest("workflow.analysis.figures"),
        message:
            f"figure {name}"
        shell:
            '"$PYTHON" -m workflow.analysis.figures {params.name} --table {input}'
            " --settings {params.settings:q} --out {output.png} 2>&1 | tee {log}"


CARDS = list(plan.example_tasks(config))


rule cards:
    input:
        examples=expand(rules.examples.output.examples, task=CARDS),
        meta=expand(rules.examples.output.meta, task=CARDS),
        encoded=expand(rules.encode.output, task=CARDS),
    output:
        md=f"{RESULTS}/data_cards.md",
        pages=[
            report(
                f"{RESULTS}/cards/{task}.html",
                caption="../report/card.rst",
                category="Data",
                labels={"task": task},
            )
            for task in CARDS
        ],
        parts=expand(
            "{results}/cards/{task}.{form}",
            results=RESULTS,
            task=CARDS,
            form=["json", "md", "png", "svg"],
        ),
    log:
        f"{RESULTS}/logs/cards.log",
    benchmark:
        f"{RESULTS}/benchmarks/cards.tsv"
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        results=subpath(output.md, parent=True),
        settings=as_json(settings.cards(config)),
        code=code.digest("workflow.analysis.cards"),
    message:
        "cards: a data card for each task"
    shell:
        '"$PYTHON" -m workflow.analysis.cards --results {params.results:q}'
        " --settings {params.settings:q} --out {output.md} 2>&1 | tee {log}"
