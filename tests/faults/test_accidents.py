"""The page of accidents names tests that there are, with the command that runs them."""

import re

from tests.workflow.running import ROOT

NAMED = r"`(test_\w+)::(test_\w+)`(?: \((\w+)\))?"


def test_every_accident_of_the_page_has_a_test():
    rows = (ROOT / "docs/accidents.md").read_text(encoding="utf-8").splitlines()
    rows = [row.split(" | ") for row in rows if row.startswith("| ")][1:]
    assert len(rows) > 20
    for accident, *_, tests in rows:
        named = re.findall(NAMED, tests)
        assert named, accident
        for module, name, marker in named:
            (path,) = (ROOT / "tests").glob(f"*/{module}.py")
            text = path.read_text(encoding="utf-8")
            assert f"def {name}(" in text, f"{module}::{name}"
            marked = "pytestmark = pytest.mark.faults" in text or path.parent.name == "slurm"
            assert marked == bool(marker), f"{module}::{name}"
