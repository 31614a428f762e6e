# The workflow is in workflow/, where other workflows and Snakemake's catalogue look for it.
include: "workflow/Snakefile"


workflow.default_target = "all"  # an included file sets none
