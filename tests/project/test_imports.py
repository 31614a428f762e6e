"""Libraries that take long to import are left out wherever they are not needed."""

import re
import subprocess
import sys

import pytest

from tests.workflow.configs import ROOT


def of_rules() -> str:
    """All that the graph imports to be planned."""
    paths = [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
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
    "from workflow.analysis.tables import ablation": "scipy.stats",
}


@pytest.mark.parametrize("code", CASES)
def test_a_module_imports_no_library_that_it_does_not_need(code):
    libraries = {*CASES[code].split()}
    program = f"{code}\nimport sys; print(*{libraries} & sys.modules.keys())"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
