"""The sources import nothing slow that they do not need, and name no path of one machine."""

import re
import subprocess
import sys

import pytest

from tests.workflow.configs import ROOT

RULES = [  # the Snakefile first
    path.read_text(encoding="utf-8")
    for path in [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
]


def of_rules() -> str:
    """All that the graph imports to be planned."""
    text = "\n".join(RULES)
    found = re.findall(r"^(?:import|from (?:gpt1|tasks|workflow)\b).*", text, re.MULTILINE)
    assert len(found) > 8
    return "\n".join(found)


METRICS = "for name in ('rte', 'mrpc', 'cola', 'stsb'):\n"
METRICS += "    metrics.score(task(name).spec, [0, 1], [0, 0])"
CASES = {  # what is run, and the libraries that must not be imported then
    of_rules(): "torch numpy pandas datasets sklearn huggingface_hub",
    "import gpt1": "torch numpy pandas pydantic",
    "import gpt1.records": "torch pandas pyarrow",
    "from gpt1.text import normalise; normalise.words('A test.')": "torch",
    "import tasks, tasks.hub, tasks.read": (
        "datasets pandas torch huggingface_hub pyarrow sklearn"
    ),
    f"from tasks import metrics, task\n{METRICS}": "sklearn scipy",
    "from workflow.analysis.tables import lines": "scipy.stats",
}


@pytest.mark.parametrize("code", CASES)
def test_a_module_imports_no_library_that_it_does_not_need(code):
    libraries = {*CASES[code].split()}
    program = f"{code}\nimport sys; print(*{libraries} & sys.modules.keys())"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


FLOORS = {"tasks": 0, "gpt1": 1, "workflow": 2}


@pytest.mark.parametrize("room", FLOORS)
def test_imports_point_downwards(room):
    above = [other for other, floor in FLOORS.items() if floor > FLOORS[room]]
    wrong = re.compile(rf"^\s*(?:from|import) ({'|'.join(above)})\b", re.MULTILINE)
    files = [path for path in (ROOT / room).rglob("*.py") if path != ROOT / "gpt1/__init__.py"]
    found = [str(p) for p in files if above and wrong.search(p.read_text(encoding="utf-8"))]
    assert files and found == []  # gpt1's __init__ shows users the analysis


LEFT_OUT = {".git", ".venv", ".slurm", ".snakemake", "results", "__pycache__"}
LEFT_OUT |= {"mutants", ".pytest_cache", ".ruff_cache", ".hypothesis"}
TEXT = {".py", ".smk", ".yaml", ".yml", ".toml", ".md", ".rst", ".lock", ".csv", ""}


def test_no_rule_runs_python_inside_snakemake_and_none_imports_torch():
    for text in RULES:
        assert not re.search(r"^\s*(run|script|notebook):", text, re.MULTILINE), text
        assert not re.search(r"^\s*(import|from) (torch|pandas|numpy)", text, re.M), text


def test_no_path_of_one_machine_is_in_the_project():
    private = re.compile(rf"(?<![\w.])/(?:{'|'.join(['work', 'root', 'home', 'Users', 'tmp'])})/\w")
    places = [place for place in ROOT.iterdir() if place.name not in LEFT_OUT]
    files = [path for place in places for path in [place, *place.rglob("*")] if path.is_file()]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in files
        if not LEFT_OUT & {*path.relative_to(ROOT).parts} and path.suffix in TEXT
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if private.search(line)
    ]
    assert not found


def test_every_job_that_a_cluster_may_run_takes_its_limits_from_the_config():
    found = 0
    for text in RULES[1:]:
        for rule in re.split(r"^ *(?=rule\b.*:$)", text, flags=re.M)[1:]:
            rule = rule.partition("use rule")[0]  # which inherits
            own = bool(re.search(r"\*\*(data|training)_job\(", rule))
            assert own != ("localrule: True" in rule), rule
            found += own
    assert found > 12
