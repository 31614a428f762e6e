"""Lines that are compared with others than the first: differences, by degree, and the figure."""

import matplotlib
import pytest

from tasks.world.settings import DEGREES
from tests.analysis.conftest import is_noted_as_not_run
from tests.analysis.studies.test_study_tables import GRID, TASKS, made, mean_of, study
from tests.analysis.tables.test_degree_tables import write_degrees
from workflow.analysis.figures import style
from workflow.analysis.studies import parts, table
from workflow.grid import StudyPlan

MINUS = {"b": "a", "c": "b", "d": "b"}


def compared() -> StudyPlan:
    """Lines a to d, of which all but the first are compared with one of them."""
    plan = study("", lines=("a", *MINUS))
    points = [p.model_copy(update={"minus": MINUS.get(p.line, "")}) for p in plan.points]
    return plan.model_copy(update={"points": points, "expected": ["b helps.", "c does not."]})


def by_degree(results, plan: StudyPlan) -> table.Table:
    """The study's table, each third row of another degree."""
    made(results, plan)
    rows = [f"{task},dev,{i},{DEGREES[i % 3]}" for task in TASKS for i in range(40)]
    write_degrees(results, rows)
    return table.build(results, GRID, plan)


@pytest.mark.parametrize("degree", ["", *DEGREES])
def test_each_line_is_compared_with_its_own_on_all_rows_and_on_those_of_a_degree(degree, tmp_path):
    frame = by_degree(tmp_path, compared()).frame
    frame = frame[frame["degree"] == degree]
    for line, minus in MINUS.items():
        for task in [*TASKS, "mean"]:
            row, other = (mean_of(frame, one, "", task) for one in (line, minus))
            assert row["minus"] == minus
            assert row["diff"] == pytest.approx(row["mean"] - other["mean"])
            assert row["diff_low"] < row["diff"] < row["diff_high"]
    assert frame.loc[frame["line"] == "a", "diff"].isna().all()


def test_what_a_degree_adds_is_of_its_own_rows(tmp_path):
    frame = by_degree(tmp_path, compared()).frame
    means = frame[(frame["line"] == "c") & (frame["task"] == "rte")].set_index("degree")
    assert means.loc[[*DEGREES], "rows"].tolist() == [14, 13, 13] and means.loc["", "rows"] == 40
    assert means["diff"].nunique() > 1


def test_without_degrees_there_are_the_rows_of_all_alone(tmp_path):
    found = made(tmp_path, compared())
    assert set(found.frame["degree"]) == {""} and len(found.frame) == 4 * 4
    assert "lexical" not in found.markdown and "nan" not in found.markdown


def test_the_table_has_the_expectations_and_names_both_lines_of_a_difference(tmp_path):
    text = by_degree(tmp_path, compared()).markdown
    text, _, trained = text.partition("## Scores on the training rows")
    first, _, added = text.partition("## What each adds")
    assert "Expected: b helps.\n\nExpected: c does not." in first and "Difference to" not in text
    heads = added.splitlines()[2]
    assert [f" {line} minus {minus} " in heads for line, minus in MINUS.items()] == [True] * 3
    rows = [line.split("|")[1].strip() for line in added.splitlines() if line.startswith("| ")]
    assert rows == ["", "mean of 3 tasks", *DEGREES, "SST-2", "QNLI", "RTE"]
    (of_b,) = (line.split("|")[2:] for line in trained.splitlines() if line.startswith("| b "))
    frame = table.build(tmp_path, GRID, compared()).frame
    means = [mean_of(frame[frame["degree"] == ""], "b", "", of) for of in ("mean", "sst2")]
    assert [float(of) for of in of_b[:2]] == [round(row["train"], 1) for row in means]


def test_the_figure_has_a_panel_for_each_difference_with_its_interval(tmp_path):
    frame = by_degree(tmp_path, compared()).frame
    with matplotlib.rc_context(fname=style.STYLE):
        figure = parts.draw(frame, compared())
    steps, *panels = figure.axes
    whole = frame[frame["degree"] == ""]
    means = {line: mean_of(whole, line, "", "mean")["mean"] for line in ("a", *MINUS)}
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in steps.patches]
    ends = [(0.0, means["a"])] + [(means[minus], means[line]) for line, minus in MINUS.items()]
    assert [sorted(of) for of in bars] == [pytest.approx(sorted(of)) for of in ends]
    assert [of.get_text() for of in steps.texts] == [f"{mean:.1f}" for mean in means.values()]
    assert [label.get_text() for label in steps.get_yticklabels()] == [*means]
    titles = [ax.get_title().replace("\n", " ") for ax in panels]
    for title, (line, minus) in zip(titles, MINUS.items(), strict=True):
        row = mean_of(frame[frame["degree"] == ""], line, "", "mean")
        assert title.startswith(f"{line} minus {minus} {row['diff']:.1f} [")
    named = [label.get_text() for label in panels[0].get_yticklabels()]
    assert named == ["mean of 3 tasks", *DEGREES, "SST-2", "QNLI", "RTE"]


def test_a_difference_that_was_not_run_has_no_panel_and_without_any_the_figure_says_so(tmp_path):
    frame = by_degree(tmp_path, compared()).frame
    gone = frame.assign(diff=frame["diff"].where(frame["line"] == "c"))
    assert [ax.get_title()[:9] for ax in parts.draw(gone, compared()).axes] == ["", "c minus b"]
    (ax,) = parts.draw(frame.assign(diff=float("nan")), compared()).axes
    assert is_noted_as_not_run(ax)
