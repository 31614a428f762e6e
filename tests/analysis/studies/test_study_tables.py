"""The table and the figure of a study: what is compared with what, and what is drawn."""

import random
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gpt1.cell import Cell
from tests.analysis.conftest import (
    build,
    is_noted_as_not_run,
    make_cell,
    make_grid,
    write,
    write_answers,
    write_cell_answers,
    write_examples,
)
from tests.support.variants import variant as a_variant
from workflow.analysis import study
from workflow.analysis.claims.evidence import Evidence, minus
from workflow.analysis.claims.judges import Claim, mean
from workflow.analysis.figures import lines, style
from workflow.analysis.paper import FULL, LSTM, NO_AUX
from workflow.analysis.stats.estimates import SeedPool
from workflow.analysis.stats.samples import Samples
from workflow.analysis.table import Table
from workflow.grid import Point, StudyPlan

TASKS = ["sst2", "qnli", "rte"]
SCORE = ["mean", "ci_low", "ci_high"]
DIFF = ("diff", "diff_low", "diff_high")
GRID = make_grid(*TASKS, seeds={"pretrain": [0, 1], "finetune": [0, 1]})


def plan_of(axis="lm_coef", lines=("full",), values=("0", "0.5", "2"), references=(), tasks=TASKS):
    """A study whose cells are told apart by their variants."""

    def point(line: str, value: str) -> Point:
        variant = f"finetune.checkpoint-{value}" if axis == "checkpoint" else f"of-{line}{value}"
        own = {"name": variant, "plain": False}
        at = {"axis": axis, "value": value} if value else {}
        return Point(line=line, **at, variant=a_variant().model_copy(update=own))

    points = [point(line, "") for line in references]
    points += [point(line, value) for line in lines for value in (values if axis else [""])]
    own = {"axis": axis, "order": list(values) if axis else []}
    own |= {"references": list(references), "points": points}
    return StudyPlan(title="A study of mine", tasks=list(tasks), **own)


def cells_of(plan: StudyPlan, place: int) -> list[Cell]:
    """The cells of a study's point."""
    return [Cell(plan.points[place].variant.name, task) for task in plan.tasks]


def made(results: Path, plan: StudyPlan) -> Table:
    """The study's table, of cells whose skill rises from point to point."""
    rng, luck = np.random.default_rng(3), random.Random(3)
    for i in range(len(plan.points)):
        for cell in cells_of(plan, i):
            write(cell.path(results), make_cell(luck, GRID, cell))
            write_cell_answers(results, cell, rng, 0.4 + 0.05 * i)
    for task in plan.tasks:
        write_examples(results, task)
    return study.build(results, GRID, plan)


def mean_of(frame: pd.DataFrame, line: str, value: str, task: str = "mean") -> pd.Series:
    rows = frame[(frame["line"] == line) & (frame["value"] == value) & (frame["task"] == task)]
    (row,) = (row for _, row in rows.iterrows())
    return row


def test_a_cell_that_was_not_run_is_missing_and_takes_the_mean_with_it(tmp_path):
    plan = plan_of()
    made(tmp_path, plan)
    gone = cells_of(plan, 1)[0]
    gone.path(tmp_path).unlink()
    gone.predictions(tmp_path).unlink()
    again = study.build(tmp_path, GRID, plan)
    for task in ("sst2", "mean"):
        row = mean_of(again.frame, "full", "0.5", task)
        assert row["n_seeds"] == 0 and pd.isna(row["mean"]) and pd.isna(row["diff"])
    assert mean_of(again.frame, "full", "0.5", "rte")["n_seeds"] == 2
    assert "missing" in again.markdown


def drawn(plan: StudyPlan, results: Path) -> tuple[Figure, pd.DataFrame]:
    """A study's figure, and its table."""
    frame = made(results, plan).frame
    with matplotlib.rc_context(fname=style.STYLE):
        return lines.draw(frame, plan), frame


def like(ax: Axes, shown: Line2D) -> list[Line2D]:
    """What a panel has of that colour, marker and stroke."""

    def look(line: Line2D) -> tuple[str, str, str]:
        return to_hex(line.get_color()), line.get_marker(), line.get_linestyle()

    return [line for line in ax.lines if look(line) == look(shown)]


@pytest.mark.parametrize("axis", ["", "lm_coef"], ids=["no axis", "an axis"])
def test_what_was_not_run_is_told(axis, tmp_path):
    plan = plan_of(axis, lines=("a", "b"))
    nothing = dict.fromkeys(["mean", "ci_low", "ci_high", *DIFF], np.nan)
    picture = lines.draw(made(tmp_path, plan).frame.assign(**nothing), plan)
    assert all(is_noted_as_not_run(ax) for ax in picture.axes[: 4 if axis else 1])


def test_references_cross_the_panel_as_the_legend_says(tmp_path):
    picture, frame = drawn(plan_of(lines=("a", "b"), references=("all", "none")), tmp_path)
    shown = {line.get_label(): line for line in picture.legends[0].legend_handles}
    for ax, task in zip(picture.axes[:4], ["mean", *TASKS], strict=True):
        for line in ("all", "none"):
            row = mean_of(frame, line, "", task)
            assert row["mean"] in [across.get_ydata()[0] for across in like(ax, shown[line])]


def test_beside_a_reference_each_line_is_also_compared_with_its_own_first_value(tmp_path):
    result = made(tmp_path, plan_of(lines=("a", "b"), references=("all",)))
    for line in ("a", "b"):
        for task in [*TASKS, "mean"]:
            start, half, end = (mean_of(result.frame, line, v, task) for v in ("0", "0.5", "2"))
            assert pd.isna(start["along"])
            for row in (half, end):
                assert row["along"] == pytest.approx(row["mean"] - start["mean"])
                assert row["along_low"] < row["along"] < row["along_high"]
    assert result.frame.loc[result.frame["line"] == "all", "along"].isna().all()
    section = result.markdown.partition("## Difference of each variant to its own lm_coef 0")[2]
    assert " a, lm_coef 2 |" in section and " b, lm_coef 0.5 |" in section


def test_differences_to_another_line_and_to_the_same_stand_apart(tmp_path):
    plan = plan_of("n_transfer", lines=("full", "LSTM"), values=("none", "0", "1", "12"))
    own = {"full": ("0", "12"), "LSTM": ("none", "0", "1")}
    points = [point for point in plan.points if point.value in own[point.line]]
    text = made(tmp_path, plan.model_copy(update={"points": points})).markdown
    assert text.startswith("# A study of mine\n") and "| bag of words " in text.partition("##")[0]
    for head, mine, other in (
        ("full at the same n_transfer", "LSTM, n_transfer 0", "LSTM, n_transfer 1"),
        ("its own n_transfer none", "LSTM, n_transfer 1", "LSTM, n_transfer 0"),
    ):
        section = text.partition(f"## Difference to {head}\n")[2].partition("\n## ")[0]
        assert f" {mine} " in section and f" {other} " not in section


def test_a_line_along_an_axis_of_its_own_is_told_by_that(tmp_path):
    plan = plan_of(lines=("a", "b"), values=("0", "2"))
    points = [p if p.line == "a" else p.model_copy(update={"axis": "depth"}) for p in plan.points]
    picture, frame = drawn(plan.model_copy(update={"points": points}), tmp_path)
    assert picture.get_supxlabel() == "lm_coef or depth"
    text = study.build(tmp_path, GRID, plan.model_copy(update={"points": points})).markdown
    assert "| b, depth 2 " in text and "b, lm_coef" not in text
    assert "## Difference to a at the same value\n" in text
    away = points[:2] + [p.model_copy(update={"value": f"1{p.value}"}) for p in points[2:]]
    text = study.build(tmp_path, GRID, plan.model_copy(update={"points": away})).markdown
    assert "## Difference to its own depth 10\n" in text


def test_a_line_whose_own_values_are_in_another_order_is_drawn_from_left_to_right(tmp_path):
    plan = plan_of(values=("2", "0", "0.5"), tasks=["rte"])
    plan = plan.model_copy(update={"order": ["0", "0.5", "2"]})
    picture, frame = drawn(plan, tmp_path)
    assert [*picture.axes[0].lines[0].get_xdata()] == [0, 1, 2]
    rising = [mean_of(frame, "full", value, "rte")["mean"] for value in plan.values]
    assert [*picture.axes[0].lines[0].get_ydata()] == pytest.approx(rising)


@pytest.mark.parametrize("arch", ["transformer", "lstm"])
def test_a_contrast_of_the_same_cells_has_one_interval_in_every_table(arch, run_of):
    results, grid = run_of("sst2", "rte")
    write_answers(results, grid)
    rows, _ = build("ablation", results, grid)
    layers, _ = build("layer_transfer", results, grid)
    other = NO_AUX if arch == "transformer" else LSTM
    mine = a_variant(arch).model_copy(update={"name": "mine", "plain": False})
    of = {"a": grid.find(), "b": grid.find(other.arch, other.aux), "mine": mine}
    points = [Point(line=title, variant=variant) for title, variant in of.items()]
    for cell in (Cell("mine", task) for task in grid.tasks):
        record = make_cell(random.Random(1), grid, cell)
        write(cell.path(results), record | {"arch": arch})
        write_cell_answers(results, cell, np.random.default_rng(1), 0.5)
    plan = StudyPlan(title="Mine", tasks=grid.tasks, points=points)
    frame = study.build(results, grid, plan).frame
    run = Evidence(results, grid, Samples.of_cells(results, grid, grid.studies["ablation"].cells()))
    (claim,) = mean(run, Claim("", "", minus(FULL, other), mean))
    for task, name in (("rte", "rte"), ("sst2", "sst2"), ("avg_all", "mean")):
        one = rows[(rows["variant"] == other.title) & (rows["task"] == task)].iloc[0]
        own = mean_of(frame, "b", "", name)
        assert list(own[[*SCORE, *DIFF]]) == pytest.approx(list(one[[*SCORE, *DIFF]]))
        swept = layers[
            (layers["line"] == other.title) & (layers["n_transfer"] == one["n_transfer"])
        ]
        swept = swept[(swept["task"] == name) & (swept["split"] != "train")].iloc[0]
        assert list(swept[SCORE]) == pytest.approx(list(one[SCORE]))
    assert claim.found.interval == pytest.approx((-one["diff_high"], -one["diff_low"]))


def test_lines_of_a_kind_that_the_run_lacks_are_pooled_with_each_other(tmp_path):
    plan, samples = plan_of("", lines=("a", "b", "c"), tasks=["rte"]), Samples()
    row = mean_of(made(tmp_path, plan).frame, "a", "", "rte")
    lines = []
    for (cell,) in (cells_of(plan, place) for place in range(3)):
        samples.add(cell, tmp_path, GRID.seeds.finetune)
        lines.append({"rte": samples.headline(cell)})
    pooled, alone = (
        SeedPool(pool).estimate([(1.0, lines[0])], {"rte": 1.0}).interval
        for pool in (dict(enumerate(lines)), {})
    )
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(pooled)
    assert pooled != pytest.approx(alone)


def the_same_at_both_ends() -> StudyPlan:
    """Two lines that differ in the middle alone."""
    plan = plan_of("n_transfer", lines=("a", "b"), values=("0", "6", "12"))
    ends = {point.value: point.variant for point in plan.points if point.line == "a"}
    points = [
        p if p.value == "6" else p.model_copy(update={"variant": ends[p.value]})
        for p in plan.points
    ]
    return plan.model_copy(update={"points": points})


@pytest.mark.parametrize(
    ("plan", "has_own"),  # whether each line is compared with itself
    [
        (the_same_at_both_ends(), True),
        (plan_of(), False),
        (plan_of("", lines=("a", "b")), False),
        (plan_of(lines=("a", "b"), references=("all",)), True),
    ],
    ids=["the same at both ends", "one line", "no axis", "a reference"],
)
def test_other_studies_have_no_difference_of_differences(plan, has_own, tmp_path):
    found = made(tmp_path, plan.model_copy(update={"seeds": GRID.seeds.finetune}))
    assert "change" not in found.frame and "Change of the difference" not in found.markdown
    assert study.SPREAD_TITLE not in found.markdown  # each model was fine-tuned once
    assert ("along" in found.frame) == ("its own" in found.markdown) == has_own


@pytest.mark.parametrize(("last", "n"), [("8", 4), ("eight", 8)], ids=["numbers", "words"])
def test_of_many_numbers_some_are_named_and_of_words_each(last, n, tmp_path):
    picture, _ = drawn(plan_of(values=(*map(str, range(1, 8)), last), tasks=["rte"]), tmp_path)
    names = [tick.get_text() for tick in picture.axes[0].get_xticklabels()]
    assert len(names) == n and names[-1] == last


@pytest.mark.parametrize("values", [("12", "8", "0", "none"), ("0", "none", "8", "12")])
def test_every_value_is_within_the_panel_whatever_their_order(values, tmp_path):
    picture, _ = drawn(plan_of("n_transfer", values=values, tasks=["rte"]), tmp_path)
    (left, right), ticks = picture.axes[0].get_xlim(), picture.axes[0].get_xticks()
    names = [tick.get_text() for tick in picture.axes[0].get_xticklabels()]
    assert {*names} == {*values} and left < min(ticks) < max(ticks) < right
