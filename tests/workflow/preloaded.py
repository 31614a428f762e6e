"""What the server of `running` does once, before it forks: heavy imports, digests of the code."""

import re
from pathlib import Path

import pandas  # noqa: F401
import snakemake.cli
import snakemake.report.html_reporter  # noqa: F401

from workflow import code, provenance, results_folder, studies  # noqa: F401

for rules in (code.ROOT / "workflow" / "rules").glob("*.smk"):
    for program in re.findall(r'"((?:tasks|gpt1|workflow)\.[\w.]+)"', rules.read_text("utf-8")):
        code.digest(program)
for package in ("tables", "figures"):
    for path in Path(code.ROOT, "workflow", "analysis", package).glob("[!_]*.py"):
        code.digest(f"workflow.analysis.{package}.{path.stem}")
