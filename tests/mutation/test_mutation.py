"""`make test-mutation`: sources and their tests, the sample, the ledger, the report."""

import re
from dataclasses import replace
from fnmatch import fnmatch

import pytest

from tests.alarms.faults import ROOT
from tests.alarms.planting import Outcome
from tests.mutation import __main__ as program
from tests.mutation import mutants
from tests.mutation.concerns import CONCERNS, concerned, sources
from tests.mutation.ledger import Ledger, Result
from tests.mutation.mutants import Mutant, idle_places, sample
from tests.mutation.report import change, explanations, report

A = Mutant("gpt1/a.py", 3, 4, "core/AddNot", 0)
SURVIVED = Result(A, "survived", "", "if x: -> if not x:", "s1", "t1", 2.0)
KILLED = Result(replace(A, line=9), "killed", "tests.x::test_y", "1 -> 2", "s1", "t1", 1.0)


def test_every_pattern_is_of_a_source_and_every_test_file_is_there():
    every = list(sources())
    assert len(every) > 80 and "gpt1/model/lstm.py" in every
    own = {next(one for one in CONCERNS if fnmatch(path, one)) for path in every}
    assert own == set(CONCERNS)
    for tests in map(concerned, every):
        assert tests and all((ROOT / test).is_file() for test in tests), tests


def test_sources_are_chosen_by_file_or_folder():
    assert list(sources(["tasks/metrics.py"])) == ["tasks/metrics.py"]
    assert set(sources(["gpt1/model/"])) > {"gpt1/model/lstm.py", "gpt1/model/layout.py"}
    with pytest.raises(ValueError, match="tasks/met: no source that is mutated"):
        list(sources(["tasks/met"]))


def test_the_first_pattern_that_fits_is_a_sources_own():
    assert concerned("gpt1/prompts.py")[0] == "tests/gpt1/test_zero_shot.py"
    assert concerned("workflow/analysis/figures/cost.py") == ("tests/analysis/test_cost.py",)
    assert concerned("gpt1/model/modern.py") == ("tests/gpt1/test_modern.py",)
    assert concerned("tasks/world/books.py") == ()


def test_command_lines_and_frozen_records_are_tried_by_their_own_tests_as_well():
    programs, frozen = (f"tests/workflow/test_{name}.py" for name in ("programs", "frozen"))
    assert concerned("gpt1/keep.py") == ("tests/gpt1/test_predict.py", programs)
    assert concerned("gpt1/probes.py")[-2:] == (programs, frozen)
    assert not {programs, frozen} & {*concerned("tasks/metrics.py")}


def test_every_module_of_a_study_is_tried_against_the_tests_that_import_it():
    for path in sources(["workflow/analysis/studies"]):
        name = f"{path.removesuffix('.py')}".rpartition("/")[2]
        for test in ("studies", "knockout", "planted"):
            file = f"tests/analysis/test_{test}.py"
            imports = re.findall(r"studies[.\w]* import (.+)", (ROOT / file).read_text())
            if any(re.search(rf"\b{name}\b", line) for line in imports):
                assert file in concerned(path), (path, file)


@pytest.mark.parametrize(
    "path",
    [
        *("gpt1/training/multi_task.py", "gpt1/weights/checkpoint.py", "gpt1/longest_match.py"),
        *("gpt1/text/shuffle.py", "tasks/task.py", "tasks/glue.py", "tasks/examples.py"),
        *("tasks/world/planting.py", "workflow/books.py", "workflow/screens.py"),
    ],
)
def test_what_trains_reads_or_shows_a_number_is_mutated(path):
    assert concerned(path) and list(sources([path])) == [path]


def test_annotations_looks_and_the_line_that_starts_a_program_are_left_out():
    source = """\
def f(a: int | None = 1 | 2) -> int | str:
    b: int | str = draw(3 + 4, linewidth=5 + 6, strict=False)
    return b | {"length": 7 + 8, "score": 9 + 10}


if TYPE_CHECKING:
    import g

if __name__ == "__main__":
    f(1)
"""
    left_out = {}
    for (line, first), (_, last) in idle_places(source):
        left_out.setdefault(line, set()).add(source.splitlines()[line - 1][first:last])
    assert left_out == {
        **{1: {"int | None", "int | str"}, 2: {"int | str", "5 + 6", "False"}, 3: {"7 + 8"}},
        **{6: {"if TYPE_CHEC"}, 9: {"if __nam"}},  # up to the column where its last line ends
    }


def test_a_sample_has_one_mutant_at_each_of_its_places_and_is_that_of_its_seed():
    every = [Mutant("a.py", i // 3, 0, "op", i) for i in range(30)]
    found = sample(every, 4, seed=1)
    assert found == sample(every, 4, seed=1) != sample(every, 4, seed=2)
    assert len({one.line for one in found}) == 4 and set(found) < set(every)
    assert len(sample(every, 99, seed=1)) == 10 and sample([], 3, 0) == []
    others = [replace(one, path="b.py") for one in every]
    assert [one.occurrence for one in sample(others, 4, 1)] != [one.occurrence for one in found]


def test_results_are_known_as_long_as_nothing_that_decides_them_changes(tmp_path):
    ledger = Ledger(tmp_path / "new" / "ledger.jsonl")
    for result in (KILLED, SURVIVED):
        ledger.add(result)
    again = Ledger(ledger.path)
    assert again.results == ledger.results
    assert again.recall(A, "s1", "t1") == SURVIVED
    assert again.recall(A, "s1", "t2") is None and again.recall(A, "s2", "t1") is None
    assert again.recall(KILLED.mutant, "s1", "t2") == KILLED
    assert again.recall(KILLED.mutant, "s2", "t1") is None
    assert again.recall(replace(A, line=1), "s1", "t1") is None


def test_the_report_counts_by_file_and_names_the_survivors_that_nothing_explains():
    hung = replace(KILLED, mutant=replace(A, path="gpt1/b.py"), outcome="timed out")
    text = report([SURVIVED, KILLED, hung], {})
    assert "| `gpt1/a.py` | 2 | 1 | 0 | 1 | 0 | 50% |" in text
    assert "| `gpt1/b.py` | 1 | 0 | 1 | 0 | 0 | 100% |" in text
    assert "| all | 3 | 1 | 1 | 1 | 0 | 67% |" in text
    assert "- `gpt1/a.py:3` `if x: -> if not x:`" in text
    explained = report([SURVIVED, KILLED, hung], {("gpt1/a.py", SURVIVED.change): "alike"})
    assert "| all | 3 | 1 | 1 | 0 | 1 | 100% |" in explained and "stops these" not in explained


def test_a_change_is_that_of_the_lines_that_differ():
    assert change("a\n  b\nc\n", "a\n  not b\nc\n") == "b -> not b"
    assert change("a\n\n  @b\n  c\n", "a\n  c\n") == "@b -> "
    assert (
        change("a\nfor x in (\n  1, 2\n):\n", "a\nfor x in []:\n")
        == "for x in ( 1, 2 ): -> for x in []:"
    )


def test_every_explanation_is_of_a_line_that_is_there():
    for (path, changed), why in explanations().items():
        before = changed.partition(" -> ")[0]
        source = " ".join((ROOT / path).read_text(encoding="utf-8").split())
        assert " ".join(before.split()) in source and why and concerned(path), (path, before)


@pytest.mark.parametrize(
    ("found", "outcome", "by"),
    [
        (Outcome(passed=["test_x"]), "survived", ""),
        (Outcome(failed={"test_x": "assert 1 == 2"}), "killed", "test_x"),
        (Outcome(broken=["test_x: NameError"]), "killed", "test_x: NameError"),
        (Outcome(timed_out=True), "timed out", ""),
    ],
)
def test_a_mutant_is_planted_tried_and_taken_out_again(tmp_path, monkeypatch, found, outcome, by):
    seen = []

    def run_tests(suite, *tests, stop=False, limit=0.0):
        seen.append((suite.joinpath("gpt1/keep.py").read_text(), stop, limit > 29))
        return found if stop else Outcome(passed=["test_x"])

    for path in ("gpt1/keep.py", *concerned("gpt1/keep.py")):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    monkeypatch.setattr(program, "run_tests", run_tests)
    monkeypatch.setattr(mutants, "mutate", lambda source, mutant: source.replace("1", "2"))
    result = program.Trials(tmp_path).run(Mutant("gpt1/keep.py", 1, 4, "core/NumberReplacer", 0))
    assert (result.outcome, result.by, result.change) == (outcome, by, "x = 1 -> x = 2")
    *without, planted = seen
    assert without == [("x = 1\n", False, False)] * 2 and planted == ("x = 2\n", True, True)
    assert (tmp_path / "gpt1/keep.py").read_text() == "x = 1\n"
    seen.clear()  # with a limit that is given, the tests are not run without the mutant
    program.Trials(tmp_path, fixed=60.0).run(Mutant("gpt1/keep.py", 1, 4, "core/AddNot", 0))
    assert len(seen) == 1


@pytest.mark.parametrize("mutated", ["x = {1: 2, -y}\n", None])
def test_a_change_that_is_no_python_or_cannot_be_made_is_no_mutant(tmp_path, monkeypatch, mutated):
    (tmp_path / "gpt1").mkdir()
    (tmp_path / "gpt1/keep.py").write_text("x = {1: 2, **y}\n")
    monkeypatch.setattr(mutants, "mutate", lambda source, mutant: mutated)
    monkeypatch.setattr(program, "run_tests", None)
    trials = program.Trials(tmp_path)
    assert trials.run(Mutant("gpt1/keep.py", 1, 4, "core/ReplaceBinaryOperator", 0)) is None
    assert (tmp_path / "gpt1/keep.py").read_text() == "x = {1: 2, **y}\n"


def test_the_operators_change_a_source_at_one_place():
    pytest.importorskip("cosmic_ray", reason="make test-mutation installs it")
    source = "def f(x: int | None):\n    return x + 1 if x else 0\n"
    found = mutants.find("a.py", source)
    assert {one.line for one in found} == {2}
    texts = {mutants.mutate(source, one).splitlines()[1].strip() for one in found}
    assert {"return x - 1 if x else 0", "return x + 1 if not x else 0"} <= texts
    source = "try:\n    f()\nexcept (OSError, json.JSONDecodeError):\n    pass\n"
    plain, dotted = (one for one in mutants.find("a.py", source) if "Exception" in one.operator)
    assert "OSError" not in mutants.mutate(source, plain) and mutants.mutate(source, dotted) is None
    with pytest.raises(ValueError, match="a.py has no place 9"):
        mutants.mutate(source, replace(found[0], occurrence=9))
