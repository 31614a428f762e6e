"""Snakemake's own judgement of the workflow, and no trace of one machine in the project."""

import re

from tests.workflow.configs import ROOT

LEFT_OUT = {".git", ".venv", ".slurm", ".snakemake", "results", "__pycache__"}
LEFT_OUT |= {"mutants", ".pytest_cache", ".ruff_cache", ".hypothesis"}
TEXT = {".py", ".smk", ".yaml", ".yml", ".toml", ".md", ".rst", ".lock", ".csv", ""}


def test_no_rule_runs_python_inside_snakemake_and_none_imports_torch():
    for path in [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(run|script|notebook):", text, re.MULTILINE), path
        assert not re.search(r"^\s*(import|from) (torch|pandas|numpy)", text, re.M), path


def test_no_path_of_one_machine_is_in_the_project():
    private = re.compile(rf"(?<![\w.])/(?:{'|'.join(['work', 'root', 'home', 'Users', 'tmp'])})/\w")
    found = []
    places = [place for place in ROOT.iterdir() if place.name not in LEFT_OUT]
    files = [path for place in places for path in [place, *place.rglob("*")] if path.is_file()]
    for path in files:
        inside = path.relative_to(ROOT)
        if LEFT_OUT & set(inside.parts) or path.suffix not in TEXT:
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if private.search(line):
                found.append(f"{inside}:{number}: {line.strip()[:80]}")
    assert not found


def test_every_job_that_a_cluster_may_run_takes_its_limits_from_the_config():
    found = 0
    for path in (ROOT / "workflow" / "rules").glob("*.smk"):
        text = path.read_text(encoding="utf-8")
        for rule in re.split(r"^ *(?=rule\b.*:$)", text, flags=re.M)[1:]:
            rule = rule.partition("use rule")[0]  # which inherits
            own = bool(re.search(r"\*\*(data|training)_job\(", rule))
            assert own != ("localrule: True" in rule), rule
            found += own
    assert found > 12
