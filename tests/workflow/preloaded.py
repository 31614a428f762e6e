"""What the server of `running` does once, before it forks: heavy imports, digests of the code."""

import importlib
import re

import pandas  # noqa: F401
import snakemake.cli
import snakemake.report.html_reporter  # noqa: F401

from workflow import code, provenance, results_folder, studies  # noqa: F401
from workflow.analysis import report

RULES = "".join(p.read_text("utf-8") for p in code.ROOT.glob("workflow/rules/*.smk"))
PROGRAMS = [
    *re.findall(r'"((?:tasks|gpt1|workflow)\.[\w.]+)"', RULES),
    *(f"workflow.analysis.{module}" for module in report.OTHERS.values()),
    *(report.module_of(f"{table}.csv") for table in report.TABLES),
]
for program in PROGRAMS:
    code.digest(program)
for late in ("requests", "rich.markdown"):  # which Snakemake imports when it is called
    importlib.import_module(late)
snakemake.cli.get_argument_parser()  # and its plugins
