"""The table and the figure of a study: what is compared with what, and what is drawn."""

import json
import random
import re
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from gpt1.cell import Cell, PretrainedModel
from tests.analysis.conftest import (
    is_noted_as_not_run,
    make_cell,
    make_grid,
    write,
    write_cell_answers,
)
from workflow.analysis.figures import style
from workflow.analysis.stats.estimate import Sample
from workflow.analysis.studies import differences, figure, table, zero_shot_correlation
from workflow.analysis.studies.__main__ import main
from workflow.analysis.studies.zero_shot_correlation import (
    correlation_of_changes,
    rank_correlation,
)
from workflow.analysis.table import read_csv
from workflow.study_plan import Point, StudyPlan

TASKS = ["sst2", "qnli", "rte"]
GRID = make_grid(*TASKS, seeds={"pretrain": [0, 1], "finetune": [0, 1]})


def study(axis="lm_coef", lines=("full",), values=("0", "0.5", "2"), references=(), tasks=TASKS):
    """A study whose cells are told apart by their variants."""

    def point(line: str, value: str) -> Point:
        variant = f"finetune.checkpoint-{value}" if axis == "checkpoint" else f"of-{line}{value}"
        cells = [Cell("transformer", task, "on", 12, variant=variant) for task in tasks]
        return Point(line=line, value=value, cells=cells)

    points = [point(line, "") for line in references]
    points += [point(line, value) for line in lines for value in (values if axis else [""])]
    own = {"axis": axis, "lines": list(lines), "references": list(references), "points": points}
    return StudyPlan(name="mine", title="A study of mine", tasks=list(tasks), **own)


def made(results: Path, plan: StudyPlan) -> table.Table:
    """The study's table, of cells whose skill rises from point to point."""
    rng, luck = np.random.default_rng(3), random.Random(3)
    for i, point in enumerate(plan.points):
        for cell in point.cells:
            write(cell.path(results), make_cell(luck, GRID, cell))
            write_cell_answers(results, cell, rng, 0.4 + 0.05 * i)
    for task in plan.tasks:
        write(results / f"examples/{task}.json", {"note": "", "sha256": {}})
    return table.build(results, GRID, plan)


def mean_of(frame: pd.DataFrame, line: str, value: str, task: str = "mean") -> pd.Series:
    rows = frame[(frame["line"] == line) & (frame["value"] == value) & (frame["task"] == task)]
    (row,) = (row for _, row in rows.iterrows())
    return row


PLANS = {
    "one line: its first value": (study(), lambda line, value: ("full", "0")),
    "lines: the first at the same value": (
        study(lines=("a", "b")),
        lambda line, value: ("a", value),
    ),
    "beside: whatever the value": (study(references=("all",)), lambda line, value: ("all", "")),
    "no axis: the first line": (study("", lines=("a", "b", "c")), lambda line, value: ("a", "")),
}


@pytest.mark.parametrize("case", PLANS)
def test_a_difference_is_to_what_the_study_compares_with(case, tmp_path):
    plan, base = PLANS[case]
    frame = made(tmp_path, plan).frame
    assert len(frame) == len(plan.points) * (len(TASKS) + 1)
    for point in plan.points:
        for task in [*TASKS, "mean"]:
            row = mean_of(frame, point.line, point.value, task)
            other = base(point.line, point.value)
            assert row["n_seeds"] == 2 and row["ci_low"] < row["mean"] < row["ci_high"]
            if other == (point.line, point.value):
                assert pd.isna(row["diff"]) and pd.isna(row["diff_low"])
            else:
                assert row["diff"] == pytest.approx(
                    row["mean"] - mean_of(frame, *other, task)["mean"]
                )
                assert row["diff_low"] < row["diff"] < row["diff_high"]


def test_the_mean_is_that_of_the_tasks_and_each_row_names_its_cell(tmp_path):
    plan = study()
    frame = made(tmp_path, plan).frame
    rows = frame[(frame["value"] == "2") & (frame["task"] != "mean")]
    assert mean_of(frame, "full", "2")["mean"] == pytest.approx(rows["mean"].mean())
    assert list(rows["cell"]) == [cell.place for cell in plan.points[2].cells]


def test_a_cell_that_was_not_run_is_missing_and_takes_the_mean_with_it(tmp_path):
    plan = study()
    made(tmp_path, plan)
    gone = plan.points[1].cells[0]
    gone.path(tmp_path).unlink()
    gone.predictions(tmp_path).unlink()
    again = table.build(tmp_path, GRID, plan)
    for task in ("sst2", "mean"):
        row = mean_of(again.frame, "full", "0.5", task)
        assert row["n_seeds"] == 0 and pd.isna(row["mean"]) and pd.isna(row["diff"])
    assert mean_of(again.frame, "full", "0.5", "rte")["n_seeds"] == 2
    assert "missing" in again.markdown


def test_the_markdown_has_the_scores_the_differences_and_the_baselines(tmp_path):
    text = made(tmp_path, study(lines=("a", "b"))).markdown
    assert text.startswith("# A study of mine\n") and "| a, lm_coef 0.5 " in text
    assert "## Difference to a at the same lm_coef" in text
    against = text.partition("## Difference")[2]
    assert "| b, lm_coef 2 " in against and "| a, lm_coef 2 " not in against
    assert "| bag of words " in text.partition("## Difference")[0]


def drawn(plan: StudyPlan, results: Path):
    """The panels of a study's figure, and its table."""
    frame = made(results, plan).frame
    with matplotlib.rc_context(fname=style.STYLE):
        return figure.draw(frame, plan), frame


def test_the_curves_are_those_of_the_table_with_its_intervals(tmp_path):
    plan = study(lines=("a", "b"))
    picture, frame = drawn(plan, tmp_path)
    panels = picture.axes
    assert [ax.get_title() for ax in panels[:4]] == [
        *("mean of 3 tasks", "SST-2 (accuracy)", "QNLI (accuracy)", "RTE (accuracy)")
    ]
    for ax, task in zip(panels, ["mean", *TASKS], strict=False):
        of_task = frame[frame["task"] == task]
        curves = [line for line in ax.lines if line.get_marker() in ("o", "s")]
        for line, name, colour in zip(curves, "ab", (style.BLUE, style.VERMILLION), strict=True):
            own = of_task[of_task["line"] == name]
            assert list(line.get_ydata()) == list(own["mean"]) and line.get_color() == colour
            assert list(np.round(line.get_xdata())) == [0, 1, 2]
        middle = np.mean([line.get_xdata() for line in curves], axis=0)
        np.testing.assert_allclose(middle, [0, 1, 2], atol=1e-9)
        assert -0.3 < curves[0].get_xdata()[0] < 0  # the first line on the left
        stems = [bar.lines[2][0] for bar in ax.containers]
        colours = [to_hex(stem.get_colors()[0]) for stem in stems]
        assert colours == [to_hex(style.BLUE), to_hex(style.VERMILLION)]
        bars = [stem.get_segments() for stem in stems]
        ends = [[(low[1], high[1]) for low, high in segments] for segments in bars]
        expected = [
            list(zip(of["ci_low"], of["ci_high"], strict=True))
            for _, of in of_task.groupby("line", sort=False)
        ]
        np.testing.assert_allclose(ends, expected)
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "0.5", "2"]


@pytest.mark.parametrize(("n", "slanted"), [(7, False), (8, True)])
def test_the_names_of_many_values_are_slanted_beside_each_other(n, slanted, tmp_path):
    picture, _ = drawn(study(values=[str(10**i) for i in range(n)], tasks=["rte"]), tmp_path)
    labels = picture.axes[0].get_xticklabels()
    assert len(labels) == n and all((label.get_rotation() > 0) == slanted for label in labels)


def test_lines_without_an_axis_are_dots_and_what_stands_beside_crosses_the_panel(tmp_path):
    picture, frame = drawn(study("", lines=("a", "b", "c")), tmp_path / "dots")
    dots = [line for line in picture.axes[0].lines if line.get_marker() in ("o", "s", "D")]
    assert [float(dot.get_ydata()[0]) for dot in dots] == [
        mean_of(frame, line, "")["mean"] for line in "abc"
    ]
    assert [float(dot.get_xdata()[0]) for dot in dots] == [0, 1, 2]
    picture, frame = drawn(study(references=("all",)), tmp_path / "beside")
    across = picture.axes[0].lines[0]
    assert list(across.get_ydata()) == [mean_of(frame, "all", "")["mean"]] * 2
    names = [text.get_text() for text in picture.legends[0].get_texts()]
    assert names[:2] == ["full", "all"] and "bag of words" in names


def test_zero_shot_scores_stand_beside_those_of_their_checkpoints(tmp_path):
    plan = study("checkpoint", values=("0", "30", "300", "3000"), tasks=["sst2", "qnli", "rte"])
    place = {"arch": "transformer", "task": "sst2", "metric": "accuracy", "split": "dev"}
    for seed in (0, 1):
        for update, score in ((0, 50.0), (30, 55.0), (300, 60.0 + seed), (3000, 70.0)):
            path = PretrainedModel("transformer", seed).zero_shot(tmp_path, "sst2", update)
            write(path, {**place, "seed": seed, "update": update, "score": score})
    found = made(tmp_path, plan)
    assert mean_of(found.frame, "full", "300", "sst2")["zero_shot"] == 60.5
    assert pd.isna(mean_of(found.frame, "full", "300", "rte")["zero_shot"])
    assert pd.isna(mean_of(found.frame, "full", "300")["zero_shot"])  # that of three tasks
    section = found.markdown.partition("## Rank correlation with the paper's zero-shot heur")[2]
    assert "SST-2" in section and "QNLI" not in section
    section = found.markdown.partition("## The same checkpoints by the paper's zero-shot heur")[2]
    lines = [line for line in section.partition("##")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert cells[0] == ["", "SST-2"]
    assert cells[2:] == [
        *(["checkpoint 0", "50.0"], ["checkpoint 30", "55.0"], ["checkpoint 300", "60.5"]),
        ["checkpoint 3000", "70.0"],
    ]


def test_the_figure_has_the_zero_shot_scores_of_the_checkpoints(tmp_path):
    plan = study("checkpoint", values=("0", "30", "300"), tasks=["sst2", "rte"])
    for task, scores in {"sst2": (50.0, 55.0, 60.0), "rte": (1.0, 2.0, 9.0)}.items():
        place = {"arch": "transformer", "task": task, "metric": "accuracy", "split": "dev"}
        for update, score in zip((0, 30, 300), scores, strict=True):
            for seed in (0, 1):
                path = PretrainedModel("transformer", seed).zero_shot(tmp_path, task, update)
                write(path, {**place, "seed": seed, "update": update, "score": score + seed})
    picture, _ = drawn(plan, tmp_path)
    name, expected = "zero-shot, by the paper's heuristic", [[26, 29, 35], [50.5, 55.5, 60.5]]
    for ax, scores in zip(picture.axes, [*expected, [1.5, 2.5, 9.5]], strict=False):
        (curve,) = (line for line in ax.lines if name in str(line.get_label()))
        assert list(curve.get_xdata()) == [0, 1, 2]
        np.testing.assert_allclose(curve.get_ydata(), scores)
    assert any(name in text.get_text() for text in picture.legends[0].get_texts())
    without, _ = drawn(study(), tmp_path / "without")
    assert not any(name in text.get_text() for text in without.legends[0].get_texts())


def test_the_legend_of_a_study_has_the_looks_of_its_curves(tmp_path):
    picture, frame = drawn(study(lines=("a", "b"), references=("all", "none")), tmp_path)
    shown = {line.get_label(): line for line in picture.legends[0].legend_handles}
    curves = [line for line in picture.axes[0].lines if line.get_marker() in ("o", "s")]
    for name, curve in zip("ab", curves, strict=True):
        assert shown[name].get_color() == curve.get_color()
        assert shown[name].get_marker() == curve.get_marker()
    for name, across in zip(("all", "none"), picture.axes[0].lines, strict=False):
        assert shown[name].get_color() == across.get_color()
        assert shown[name].get_linestyle() == across.get_linestyle()
        assert across.get_ydata()[0] == mean_of(frame, name, "")["mean"]
    bands = picture.axes[0].patches
    for name, band in zip(("all", "none"), bands, strict=True):
        row = mean_of(frame, name, "")
        ends = (band.get_y(), band.get_y() + band.get_height())
        assert ends == pytest.approx((row["ci_low"], row["ci_high"]))
        assert to_hex(band.get_facecolor()) == to_hex(shown[name].get_color())


def test_each_baseline_crosses_the_panel_at_its_score_as_its_legend_says(tmp_path):
    picture, frame = drawn(study(), tmp_path)
    shown = {line.get_label(): line for line in picture.legends[0].legend_handles}
    for name, column in (("constant", "majority"), ("bag of words", "bag_of_words")):
        (label,) = (one for one in shown if name in one)
        look = (to_hex(shown[label].get_color()), shown[label].get_linestyle())
        for ax, task in zip(picture.axes, ["mean", *TASKS], strict=False):
            across = [
                line.get_ydata()[0]
                for line in ax.lines
                if (to_hex(line.get_color()), line.get_linestyle()) == look
                and line.get_marker() == "None"
            ]
            assert across == [frame[frame["task"] == task][column].iloc[0]], (name, task)


def test_the_rank_correlation_is_of_the_order_alone():
    assert rank_correlation([(1, 10), (2, 100), (9, 101)]) == pytest.approx(1)
    assert rank_correlation([(1, 3), (2, 2), (9, 1)]) == pytest.approx(-1)
    assert np.isnan(rank_correlation([(1, 3), (2, 2)]))
    assert np.isnan(rank_correlation([(1, 3), (1, 2), (1, 5)]))


def test_the_correlation_is_taken_within_each_pre_training_seed(tmp_path):
    plan = study("checkpoint", values=("0", "30", "300"), tasks=["sst2"])
    zero_shot = {0: (10.0, 20.0, 30.0), 1: (40.0, 50.0, 60.0)}
    tuned = {0: (50.0, 60.0, 70.0), 1: (1.0, 3.0, 2.0)}  # 1 and 0.5, but -0.6 over all six points
    place = {"arch": "transformer", "task": "sst2", "metric": "accuracy", "split": "dev"}
    heads = {}
    for i, point in enumerate(plan.points):
        update = int(point.value)
        for seed, scores in zero_shot.items():
            path = PretrainedModel("transformer", seed).zero_shot(tmp_path, "sst2", update)
            write(path, {**place, "seed": seed, "update": update, "score": scores[i]})
        score = np.array([tuned[seed][i] for seed in (0, 1)])
        sample = Sample((0, 1), (0, 1), score, np.zeros((2, 2)), 9)
        heads[point.line, point.value] = {"sst2": sample}
    table = pd.DataFrame([{"line": "full", "value": "30", "task": "sst2"}])
    table, (*_, found, _) = zero_shot_correlation.add(table, tmp_path, plan, heads)
    assert list(table["zero_shot"]) == [35.0]
    assert found.loc["SST-2", "of the curves"].startswith("0.75 [")


def test_the_correlation_of_changes_tells_curves_that_only_both_rise():
    same = [[(1.0, 10.0), (2.0, 11.0), (9.0, 30.0)], [(0.0, 5.0), (4.0, 8.0), (5.0, 9.0)]]
    assert correlation_of_changes(same)[0] == pytest.approx(1)
    other = [[(0.0, 0.0), (1.0, 9.0), (5.0, 12.0), (9.0, 13.0), (18.0, 13.5), (40.0, 13.6)]]
    assert rank_correlation(other[0]) == pytest.approx(1)
    value, low, high = correlation_of_changes(other)
    assert value < 0 and low < value < high
    assert np.isnan(correlation_of_changes([])[0])
    value, low, _ = correlation_of_changes([same[0]])
    assert np.isnan(value) and np.isnan(low)


@pytest.mark.parametrize("wanders", [False, True])
def test_curves_that_know_nothing_of_each_other_correlate_in_5_of_100_pairs(wanders):
    rng, found = np.random.default_rng(0), []
    for _ in range(500):
        curves = rng.normal(size=(2, 9, 2))  # two seeds, nine checkpoints
        curves = curves.cumsum(axis=1) if wanders else curves
        found.append(correlation_of_changes([list(map(tuple, curve)) for curve in curves]))
    alarms = np.mean([low > 0 or high < 0 for _, low, high in found])
    assert 0.005 <= alarms <= 0.06


def test_the_program_writes_a_table_and_a_figure_the_same_each_time(tmp_path):
    plan = study(lines=("a", "b"))
    made(tmp_path, plan)
    out = tmp_path / "studies" / "mine.csv"
    arguments = ["--results", str(tmp_path), "--grid", GRID.to_json(), "--study", plan.to_json()]
    files = [out.with_suffix(f".{form}") for form in ("csv", "md", "png", "svg")]
    main([*arguments, "--out", str(out)])
    first = [path.read_bytes() for path in files]
    main([*arguments, "--out", str(out)])
    assert [path.read_bytes() for path in files] == first
    frame = read_csv(out)
    assert len(frame) == 6 * 4 and {"line", "value", "diff_low", "cell"} <= set(frame.columns)
    assert json.loads(plan.to_json())["axis"] == "lm_coef"


def test_a_single_task_has_no_mean(tmp_path):
    plan = study(tasks=["rte"])
    picture, frame = drawn(plan, tmp_path)
    assert set(frame["task"]) == {"rte"} and len(picture.axes) == 1
    assert "mean of" not in table.build(tmp_path, GRID, plan).markdown.partition("`a [b, c]`")[0]


def test_a_single_pre_training_seed_has_a_correlation_without_an_interval(tmp_path):
    plan = study("checkpoint", values=("0", "30", "300"))
    for update, score in ((0, 50.0), (30, 55.0), (300, 60.0)):
        place = {"arch": "transformer", "task": "sst2", "metric": "accuracy", "split": "dev"}
        path = PretrainedModel("transformer", 0).zero_shot(tmp_path, "sst2", update)
        write(path, {**place, "seed": 0, "update": update, "score": score})
    section = made(tmp_path, plan).markdown.partition("zero-shot heuristics")[2]
    (line,) = (line for line in section.splitlines() if line.startswith("| SST-2"))
    assert "[" not in line


@pytest.mark.parametrize("between", [(), ("0.25", "0.5")])
def test_lines_along_an_axis_have_the_change_of_their_difference(between, tmp_path):
    plan = study("block", lines=("a", "b", "c"), values=("gpt1", *between, "modern"))
    result = made(tmp_path, plan)

    def mean(line, value, task):
        return mean_of(result.frame, line, value, task)["mean"]

    section = result.markdown.partition("## Change of the difference to a: block modern less gpt1")
    (row,) = (line for line in section[2].splitlines() if line.startswith("| c "))
    shown = [cell.strip() for cell in row.strip("|").split("|")[1:]]
    for text, task in zip(shown, [*TASKS, "mean"], strict=True):
        gains = [mean("c", value, task) - mean("a", value, task) for value in ("gpt1", "modern")]
        value, low, high = (float(part) for part in re.findall(r"-?\d+\.\d", text))
        assert value == pytest.approx(gains[1] - gains[0], abs=0.051)
        assert low < value < high
    titles = next(line for line in section[2].splitlines() if "RTE" in line)
    assert titles.index("SST-2") < titles.index("RTE") < titles.index("mean of 3")


def the_same_at_both_ends() -> StudyPlan:
    """Two lines that differ in the middle alone, as those of `transfer_from_top` do."""
    plan = study("n_transfer", lines=("a", "b"), values=("0", "6", "12"))
    ends = {point.value: point.cells for point in plan.points if point.line == "a"}
    points = [
        p if p.value == "6" else p.model_copy(update={"cells": ends[p.value]}) for p in plan.points
    ]
    return plan.model_copy(update={"points": points})


@pytest.mark.parametrize(
    "plan",
    [the_same_at_both_ends(), study(values=("0", "1")), study("", lines=("a", "b"))],
    ids=["the same at both ends", "one line", "no axis"],
)
def test_other_studies_have_no_difference_of_differences(plan, tmp_path):
    assert "Change of the difference" not in made(tmp_path, plan).markdown


def test_a_figure_of_differences_has_those_of_the_table_with_their_intervals(tmp_path):
    plan = study("n_transfer", lines=("a", "b", "c"), values=("none", "12"))
    plan = plan.model_copy(update={"kind": "differences"})
    frame = made(tmp_path, plan).frame
    with matplotlib.rc_context(fname=style.STYLE):
        picture = differences.draw(frame, plan)
    assert [ax.get_title() for ax in picture.axes] == ["n_transfer none", "n_transfer 12"]
    names = [tick.get_text() for tick in picture.axes[0].get_yticklabels()]
    assert names == ["mean of 3 tasks", "SST-2", "QNLI", "RTE"]
    assert [text.get_text() for text in picture.legends[0].get_texts()] == ["b", "c"]
    for ax, value in zip(picture.axes, ("none", "12"), strict=True):
        marks = [line for line in ax.lines if line.get_marker() in ("o", "s")]
        for mark, bars, line in zip(marks, ax.collections, "bc", strict=True):
            rows = [mean_of(frame, line, value, task) for task in ["mean", *TASKS]]
            assert list(mark.get_xdata()) == [row["diff"] for row in rows]
            ends = [tuple(segment[:, 0]) for segment in bars.get_segments()]
            assert ends == [(row["diff_low"], row["diff_high"]) for row in rows]
            assert list(np.round(mark.get_ydata())) == [0, -1, -2, -3]
        heights = [mark.get_ydata() for mark in marks]
        np.testing.assert_allclose(np.mean(heights, axis=0), [0, -1, -2, -3], atol=1e-9)
        assert 0 < heights[0][0] < 0.3  # the first line above the second
        assert [line for line in ax.lines if list(line.get_xdata()) == [0, 0]]
        shown = {line.get_label(): line for line in picture.legends[0].legend_handles}
        for mark, bars, line in zip(marks, ax.collections, "bc", strict=True):
            colours = {to_hex(bars.get_colors()[0]), to_hex(mark.get_color())}
            assert colours == {to_hex(shown[line].get_color())}
            assert mark.get_marker() == shown[line].get_marker()


def test_the_program_draws_differences_where_the_study_asks_for_them(tmp_path, monkeypatch):
    plan = study(lines=("a", "b")).model_copy(update={"kind": "differences"})
    made(tmp_path, plan)
    drawn_by, draw = [], differences.draw
    monkeypatch.setattr(differences, "draw", lambda *a: drawn_by.append("differences") or draw(*a))
    arguments = ["--results", str(tmp_path), "--grid", GRID.to_json(), "--study", plan.to_json()]
    main([*arguments, "--out", str(tmp_path / "studies" / "mine.csv")])
    assert drawn_by == ["differences"] and (tmp_path / "studies" / "mine.svg").exists()


def test_differences_that_were_not_run_are_told(tmp_path):
    plan = study("", lines=("a", "b"))
    frame = made(tmp_path, plan).frame.assign(diff=np.nan, diff_low=np.nan, diff_high=np.nan)
    picture = differences.draw(frame, plan)
    assert is_noted_as_not_run(picture.axes[0])
