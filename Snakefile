# GPT-1 (Radford et al. 2018) as one graph, from raw text to the paper's tables and figures.
#
#   snakemake --cores 8 all                                     everything, on the embedded world
#   snakemake --cores 8 results/ablation.csv                    one table and what it needs
#   snakemake --cores 8 all --configfile workflow/config/smoke.yaml
#
# The config is read and checked in workflow/rules/common.smk, which makes the names that the rules
# share, too.
from snakemake.utils import min_version

min_version("9.27")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"


pathvars:
    results=cfg.results,


include: "workflow/rules/data.smk"


if grid.has_corpus:

    include: "workflow/rules/corpus.smk"
    include: "workflow/rules/pretrain.smk"
    include: "workflow/rules/contamination.smk"

else:

    include: "workflow/rules/pretrained.smk"


include: "workflow/rules/finetune.smk"
include: "workflow/rules/zero_shot.smk"


if paths.probes_file(cfg):

    include: "workflow/rules/probes.smk"


include: "workflow/rules/analysis.smk"
include: "workflow/rules/variants.smk"


rule all:
    default_target: True
    input:
        expand("<results>/{table}.{form}", table=["cells", *TABLES], form=["csv", "md"]),
        expand("<results>/figures/{figure}.{form}", figure=FIGURES, form=["png", "svg"]),
        [cell.kept("<results>") for cell in cfg.kept()],
        "<results>/index.html",


# Of every rule: the environment of its program, which --software-deployment-method conda makes, and
# what is said of its jobs, where Snakemake would list all files of each.
for rule_ in workflow.rules:
    rule_.conda_env = str(Path(workflow.basedir) / "environment.yml")
    rule_.message = "{rule} {log}"
