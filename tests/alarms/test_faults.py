"""Every planted fault still fits the suite, names a test that there is, and stands on the page."""

import pytest

from tests.alarms.faults import ROOT, SEEN, Fault, page, read_all

FAULTS = read_all()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_patch_fits_the_suite_and_names_a_test(fault):
    fault.apply(ROOT, "--check")
    path, _, name = fault.test.partition("::")
    assert f"def {name.partition('[')[0]}(" in (ROOT / path).read_text(encoding="utf-8")
    assert fault.seen in SEEN and fault.says.endswith(".") and "|" not in fault.says
    lines = fault.path.read_text(encoding="utf-8").splitlines()
    changed = [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ ")]
    assert changed and all(c.startswith(("gpt1/", "tasks/", "workflow/")) for c in changed)


def test_the_page_is_that_of_the_patches():
    assert (ROOT / "docs/alarms.md").read_text(encoding="utf-8") == page(FAULTS) + "\n"
    assert {fault.seen for fault in FAULTS} == set(SEEN)


PATCH = """\
A number is wrong.

Seen: nowhere
Test: tests/test_x.py::test_y
--- a/gpt1/x.py
+++ b/gpt1/x.py
@@ -1,2 +1,2 @@
-x = 1
+x = 2
 y = 3
"""


def test_a_patch_is_applied_and_undone_and_refused_where_it_does_not_fit(tmp_path):
    path, source = tmp_path / "x-is-wrong.patch", tmp_path / "gpt1/x.py"
    path.write_text(PATCH)
    source.parent.mkdir()
    source.write_text("x = 1\ny = 3\n")
    fault = Fault.read(path)
    assert (fault.name, fault.says, fault.alarm) == ("x-is-wrong", "A number is wrong.", "")
    fault.apply(tmp_path)
    assert source.read_text() == "x = 2\ny = 3\n"
    with pytest.raises(ValueError, match="x-is-wrong.patch does not apply"):
        fault.apply(tmp_path, "--check")
    fault.apply(tmp_path, "--reverse")
    assert source.read_text() == "x = 1\ny = 3\n"


def test_a_patch_without_its_test_is_refused(tmp_path):
    path = tmp_path / "x.patch"
    path.write_text(PATCH.replace("Test: ", "Tests: "))
    with pytest.raises(ValueError, match="x.patch: expected a sentence, Seen, Test and a diff"):
        Fault.read(path)
