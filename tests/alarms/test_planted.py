"""Every fault, planted into a copy of the suite, is stopped by the test that it names.

make test-alarms
python -m pytest tests/alarms -m alarms -k NAME
"""

import shutil

import pytest

from tests.alarms.faults import read_all
from tests.alarms.planting import Outcome, copy_suite, run_tests

FAULTS = read_all()


@pytest.fixture(scope="session")
def suite(tmp_path_factory):
    """A copy of the suite, which every fault leaves as it was."""
    folder = copy_suite(tmp_path_factory.mktemp("planted") / "suite")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def sound(suite, request) -> Outcome:
    """What the named tests do without any fault, those of the chosen faults alone."""
    parts = [getattr(item, "callspec", None) for item in request.session.items]
    chosen = {part.params["fault"].test for part in parts if part and "fault" in part.params}
    return run_tests(suite, *sorted(chosen))


@pytest.mark.alarms
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_stopped_by_the_test_that_it_names(fault, suite, sound):
    assert sound.holds(fault.test), f"without the fault: {sound.failed} {sound.broken}"
    fault.apply(suite)
    try:
        found = run_tests(suite, fault.test, stop=True)
    finally:
        fault.apply(suite, "--reverse")
    assert found.stops(fault.alarm), f"with the fault: {found}"


REPORT = """<testsuites><testsuite>
<testcase classname="tests.gpt1.test_a" name="test_x[one]" />
<testcase classname="tests.gpt1.test_a" name="test_x[two]"><failure message="{}" /></testcase>
<testcase classname="tests.gpt1.test_a" name="test_xy"><skipped /></testcase>
<testcase classname="tests.gpt1.test_b" name="test_y" />{}
</testsuite></testsuites>"""
ERROR = '<testcase classname="tests.x" name="" ><error message="collection failure" /></testcase>'


@pytest.mark.parametrize(
    ("message", "more", "stopped"),
    [
        ("AssertionError: assert ['not_fitted'] == []", "", True),
        ("Failed: DID NOT RAISE InputError", "", True),
        ("AttributeError: no attribute", "", False),
        ("AssertionError: assert 1 == 2", ERROR, False),
    ],
)
def test_a_fault_is_stopped_by_what_a_test_sees_and_not_by_a_broken_suite(
    tmp_path, message, more, stopped
):
    (tmp_path / "report.xml").write_text(REPORT.format(message, more))
    found = Outcome.read(tmp_path / "report.xml")
    assert found.stops() == stopped
    assert found.stops("not_fitted") == ("not_fitted" in message)
    assert found.holds("tests/gpt1/test_b.py::test_y")
    assert found.holds("tests/gpt1/test_a.py::test_x[one]")
    assert not found.holds("tests/gpt1/test_a.py::test_x[two]")
    for name in ("test_x", "test_xy", "test_z"):
        assert not found.holds(f"tests/gpt1/test_a.py::{name}")


def test_with_no_failed_test_a_fault_is_not_stopped():
    assert not Outcome(passed=["tests.gpt1.test_a::test_x"]).stops()
