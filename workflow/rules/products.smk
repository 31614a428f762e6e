# Tables are made from the scores of the cells and other small files, figures from the tables, the
# page from both. One process makes all that needs the same models and scores, so a target that is
# asked for by name trains and scores nothing that it does not need.

from workflow.analysis import figures
from workflow.analysis.report import module_of
from workflow.grid import PagePlan

CAPTIONS = PROJECT / "workflow" / "report"
FACTS, ENCODED = "<results>/examples/{task}.json", "<results>/encoded/{task}.json"
BASELINES = expand("<results>/baselines/{task}.json", task=grid.tasks)
CELLS = [cell.path("<results>") for cell in grid.cells()]
CONTAMINATION = rules.contamination.output if grid.has_corpus else []
SCORED = [(model, task) for model in grid.models() for task in grid.zero_shot.tasks]
ZERO_SHOT = [
    *(model.zero_shot("<results>", task, at) for model, task in SCORED for at in grid.updates),
    *(model.zero_shot_rows("<results>", task) for model, task in SCORED),
]
ABLATION = grid.studies["ablation"].cells()
CURVES = grid.studies["layer_transfer"].cells() if "layer_transfer" in grid.studies else []
WORLD = ["<results>/world/manifest.json"] if cfg.experiment.world else []


def samples(cells):
    """What the samples of these cells are drawn from."""
    files = [file("<results>") for cell in cells for file in (cell.path, cell.predictions)]
    return [*dict.fromkeys(files), *WORLD]


is_known = cfg.experiment.world and not grid.own  # what its rows ask for
has_paper = not {*grid.tasks} <= {*grid.own}  # which has numbers of tasks of this run
PRETRAINED = [m.facts("<results>", update) for m in grid.models() for update in grid.updates]
# What each table is made from, but for that of costs; nothing where the run has none. A table comes
# after those that it reads.
TABLES = {
    "data": expand([FACTS, ENCODED], task=grid.examples),
    "pretraining": grid.has_corpus and PRETRAINED,
    "cost_pretraining": grid.has_corpus and PRETRAINED,
    "zero_shot": [*ZERO_SHOT, *expand(FACTS, task=grid.zero_shot.tasks)],
    "cloze": paths.cloze_file(cfg)
    and [m.cloze("<results>", update) for m in grid.all_models() for update in grid.updates],
    "ablation": [*samples(ABLATION), *expand(FACTS, task=grid.tasks), *BASELINES],
    "degrees": is_known and samples(ABLATION),
    "contamination": grid.has_corpus
    and [
        *samples(grid.full_transformer()),
        *CONTAMINATION,
        *expand(FACTS, task=grid.examples),
    ],
    "main": has_paper and [*samples(ABLATION), *CONTAMINATION, *expand(FACTS, task=grid.tasks)],
    "layer_transfer": CURVES and [*samples(ABLATION + CURVES), *expand(FACTS, task=grid.tasks)],
    "cells": [*samples(grid.cells()), *expand(FACTS, task=grid.tasks)],
    "confusion": grid.own_cells() and samples(grid.own_cells()),
    "claims": has_paper
    and [
        *samples(grid.cells()),
        *ZERO_SHOT,
        *BASELINES,
        *expand([FACTS, ENCODED], task=grid.tasks),
    ],
}
if is_known and grid.has_corpus and CURVES and grid.find(n_transfer="none"):
    read = ("ablation", "degrees", "layer_transfer", "zero_shot")
    TABLES["positive_control"] = BASELINES + [
        f"<results>/{table}.csv" for table in read if TABLES[table]
    ]
TABLES = {table: files for table, files in TABLES.items() if files}
FIGURES = [name for name, shown in figures.TABLES.items() if {*shown} <= {*TABLES}]
if len(grid.studies["ablation"].lines) == 1:  # the full model alone
    FIGURES.remove("differences")

PRODUCTS = {f"{table}.csv": files for table, files in TABLES.items()} | {
    f"figures/{figure}.png": expand("<results>/{table}.csv", table=figures.TABLES[figure])
    for figure in FIGURES
}
# The benchmarks of jobs are not declared outputs, so the table of costs waits for all but the page.
# `ancient` would not do: Snakemake does not look for changes in what depends on such an input.
WAITING = ("cost.csv", "index.html")
PRODUCTS["cost.csv"] = [
    *CELLS,
    *ZERO_SHOT,
    *expand(ENCODED, task=grid.tasks),
    *(model.facts("<results>", grid.updates[-1]) for model in grid.all_models()),
    *expand("<results>/{table}.csv", table=TABLES),
    *expand("<results>/figures/{figure}.svg", figure=FIGURES),
]
TABLES = sorted([*TABLES, "cost"])
PRODUCTS["index.html"] = [
    *expand("<results>/{table}.{form}", table=TABLES, form=["csv", "md"]),
    *expand("<results>/figures/{figure}.svg", figure=FIGURES),
    # And the studies that exist when the run is planned; the run keeps them up to date.
    *studies.made(plan),
]


def in_report(path, category, caption, **labels):
    """An output shown in the report, with the caption workflow/report/CAPTION.rst if there is one."""
    file = CAPTIONS / f"{caption}.rst"
    caption = str(file) if file.is_file() else None
    return report(path, caption=caption, category=category, labels=labels)


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
PREPARED = {*WORLD, *expand([FACTS, ENCODED], task=grid.examples), *BASELINES}


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


def grid_file(_):
    """A param: the file of the grid.

    In a file, as is all text of the config that a report's params would show: as markup.
    """
    return in_file(grid.to_json())


def page_option(_):
    """A param: the option that tells what the page shows."""
    shown = PagePlan(tables=TABLES, figures=FIGURES, studies=studies.heads(plan))
    return ["--page", in_file(shown.to_json())]


def captions():
    """A digest of the captions, which the page shows as well."""
    return sha256_json({path.name: path.read_text("utf-8") for path in CAPTIONS.glob("*.rst")})


def submitted(wildcards):
    """The predictions to submit. The run ends here if the config does not ask for them."""
    if not grid.unlabelled:
        sys.exit(
            f"error: {cfg.results}/glue_submission.zip: experiment.submission is false or the run "
            "has no task of GLUE; set it to true in the config"
        )
    return [cell.predictions("<results>") for cell in grid.submitted()]


def study(wildcards):
    """The plan of the requested study; the run ends here if it cannot be made."""
    known, name = cfg.experiment.studies, wildcards.study
    try:
        if name in studies.OF_THE_PAPER:
            raise ConfigError([f"experiment.studies.{name}: its table is {cfg.results}/{name}.csv"])
        if name not in known:
            names = ", ".join(known) or "none"
            raise ConfigError([f"experiment.studies.{name}: no such study; known here: {names}"])
        return studies.checked(plan, name)
    except ConfigError as error:
        sys.exit(str(error))


def study_inputs(wildcards):
    """All that a study reads: its cells, the cells pooled with them, facts and other files."""
    found = study(wildcards)
    own = dict.fromkeys([*found.cells(), *grid.pooled(found)])
    cells = [file("<results>") for cell in own for file in (cell.path, cell.predictions)]
    facts = expand(FACTS, task=found.tasks)
    return [*cells, *facts, *studies.inputs(plan, found)]
