"""Where the gain by pre-training is lost, beside what was predicted: from hand-made scores."""

import json
import random
from dataclasses import replace
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.patches import Rectangle

from gpt1.cell import Cell, PretrainedModel
from tests.analysis.conftest import (
    is_noted_as_not_run,
    make_cell,
    make_grid,
    skill_score,
    write,
    write_cell_answers,
)
from tests.analysis.test_formulas import seeds_of as sample
from workflow.analysis.figures import style
from workflow.analysis.studies import heat_map, knockout, table
from workflow.analysis.studies.__main__ import main
from workflow.analysis.table import Table
from workflow.study_plan import Point, StudyPlan

TASKS = ["sst2", "qnli", "rte", "snli"]
GRID = make_grid(*TASKS, seeds={"pretrain": [0, 1], "finetune": [0, 1]})
PREDICTED = {"no remarks": ["sst2"], "no kinds": ["rte", "snli"]}
SKILL = {  # about the share of right answers: (line, task) where it is not the first
    **{("all books", ""): 0.75, ("none", ""): 0.35, ("no remarks", ""): 0.74},
    **{("no kinds", ""): 0.74, ("no remarks", "sst2"): 0.36, ("no kinds", "rte"): 0.36},
}


def judged(full, none, line, predicted=()) -> pd.DataFrame:
    """Of one task."""
    found = knockout.judge({"rte": full}, {"rte": none}, {"rte": line}, list(predicted))
    return pd.DataFrame(found.values(), columns=knockout.COLUMNS)


@pytest.mark.parametrize(
    ("scores", "lost", "found", "decided"),
    [
        ((50.0, 50.4), 0.9975, "lost", "yes"),
        ((90.0, 90.4), -0.0025, "kept", "yes"),
        ((62.0, 62.4), 0.6975, "lost", "yes"),
        ((40.0, 90.0), 0.6278, "lost", "no"),
        ((60.0, 95.0), 0.3151, "kept", "no"),
    ],
)
def test_half_of_the_gain_or_more_is_lost_or_not(scores, lost, found, decided):
    row = judged(sample(90.0, 90.2), sample(50.0, 50.2), sample(*scores)).iloc[0]
    assert row["lost"] == pytest.approx(lost, abs=0.005)
    assert (row["found"], row["decided"]) == (found, decided)
    assert row["beyond"] == pytest.approx(70.1 - np.mean(scores))
    assert row["beyond_low"] <= row["beyond"] <= row["beyond_high"]


def test_seeds_that_lose_exactly_alike_have_a_share_and_decide_nothing():
    row = judged(sample(90.0, 90.2), sample(50.0, 50.2), sample(50.0, 50.2)).iloc[0]
    assert (row["lost"], row["found"], row["decided"]) == (pytest.approx(1.0), "lost", "no")
    assert np.isnan([row["beyond_low"], row["beyond_high"]]).all()


def test_where_pre_training_gains_little_there_is_no_verdict():
    row = judged(sample(54.0, 54.1), sample(50.0, 50.1), sample(50.0, 50.1), ["rte"]).iloc[0]
    assert pd.isna(row["found"]) and pd.isna(row["lost"]) and row["predicted"] == "lost"
    assert knockout._shown(row) == "–"


def test_a_single_seed_has_a_share_and_decides_nothing():
    row = judged(sample(90.0), sample(50.0), sample(50.0)).iloc[0]
    assert (row["lost"], row["found"], row["decided"]) == (1.0, "lost", "no")
    assert np.isnan(row["beyond_low"])


CELLS = pd.DataFrame(
    [
        ("lost", "lost", "yes"),
        ("lost", "lost", "no"),
        ("lost", "kept", "yes"),
        ("kept", "kept", "yes"),
        ("kept", "kept", "yes"),
        ("kept", "lost", "no"),
        ("kept", np.nan, np.nan),
    ],
    columns=["predicted", "found", "decided"],
)


def test_hits_and_misses_are_counted_where_there_is_a_gain():
    counts = knockout.count(CELLS)
    assert list(counts.columns) == ["cells", "hits", "misses", "hits decided", "misses decided"]
    assert counts.loc["to be lost"].tolist() == [3, 2, 1, 1, 1]
    assert counts.loc["to be kept"].tolist() == [3, 2, 1, 2, 0]
    assert counts.loc["all"].tolist() == [6, 4, 2, 3, 1]


def test_the_tasks_in_which_the_predicted_lines_cost_more_are_counted_once_each():
    shares = {"sst2": (0.9, 0.1), "rte": (0.8, 0.4), "snli": (0.6, 0.5), "qnli": (0.2, 0.3)}
    rows = [
        {"task": task, "predicted": side, "lost": lost}
        for task, of in shares.items()
        for side, lost in zip(("lost", "kept"), of, strict=True)
    ]
    rows.append({"task": "mrpc", "predicted": "kept", "lost": 0.1})  # predicted in no line
    rows.append({"task": "cola", "predicted": "lost", "lost": np.nan})  # no gain
    assert knockout.ranked(pd.DataFrame(rows)) == (3, 4, pytest.approx(5 / 16))
    nothing = knockout.ranked(pd.DataFrame(rows[-1:]))
    assert nothing[:2] == (0, 0) and np.isnan(nothing[2])


def plan() -> StudyPlan:
    lines = {"all books": (12, ""), "none": ("none", "")}
    lines |= {line: (12, "without-" + line.removeprefix("no ")) for line in PREDICTED}
    points = [
        Point(
            line=line,
            model=variant,
            cells=[Cell("transformer", t, "on", n, variant=variant) for t in TASKS],
        )
        for line, (n, variant) in lines.items()
    ]
    own = {"lines": list(PREDICTED), "references": ["all books", "none"], "predicted": PREDICTED}
    return StudyPlan(title="Left out", tasks=TASKS, points=points, kind="prediction", **own)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Cells of the run and of two books of the study's own, and their probes."""
    results, study = tmp_path_factory.mktemp("results"), plan()
    rng, luck = np.random.default_rng(3), random.Random(3)
    for point in study.points:
        for cell in point.cells:
            skill = SKILL.get((point.line, cell.task), SKILL[point.line, ""])
            write(cell.path(results), make_cell(luck, GRID, cell))
            write_cell_answers(results, cell, rng, skill, n=400)
        for seed in (0, 1) if point.line != "none" else ():
            model = PretrainedModel("transformer", seed, variant=point.model)
            score = skill_score(len(point.model) + seed, 30, 2)
            value = {**vars(model), "update": 3000, "tokens": 9.0, "skills": {"mood": score}}
            write(model.probes(results, 3000), value)
    for task in TASKS:
        write(results / f"examples/{task}.json", {"note": "", "sha256": {}})
    return results


@pytest.fixture(scope="module")
def made(results) -> Table:
    return table.build(results, GRID, plan())


def test_the_table_judges_every_line_and_task(made):
    frame = made.frame.set_index(["line", "task"])
    assert frame.loc[("no remarks", "sst2"), "found"] == "lost"
    assert frame.loc[("no remarks", "rte"), "found"] == "kept"
    assert frame.loc[("no kinds", "rte"), "found"] == "lost"
    assert frame.loc[("no kinds", "snli"), ["predicted", "found"]].tolist() == ["lost", "kept"]
    row = frame.loc[("no remarks", "sst2")]
    gain = -frame.loc[("none", "sst2"), "diff"]
    assert row["lost"] == pytest.approx(-row["diff"] / gain)
    assert pd.isna(frame.loc[("all books", "sst2"), "found"])
    assert row["cell"] == "variants/without-remarks/transformer/sst2/aux-on/layers-12"
    text = made.markdown
    matrix = text.partition("that is lost\n")[2].partition("## The prediction")[0]
    (line,) = (line for line in matrix.splitlines() if line.startswith("| no kinds"))
    cells = [cell.strip() for cell in line.split("|")[2:-1]]
    assert cells[2].startswith("**") and " hit" in cells[2] and " miss" in cells[3]
    below = {"yes": "‡", "no": ""}
    heads = {t: below[frame.loc[("no kinds", t), "below_constant"]] for t in TASKS}
    none = frame.loc["none"]
    assert heads == {t: "‡" * bool(none["mean"][t] < none["majority"][t]) for t in TASKS}
    assert any(heads.values()) and f" SNLI{heads['snli']} |" in matrix
    counted = text.partition("## The prediction")[2]
    (total,) = (line for line in counted.splitlines() if line.startswith("| all "))
    assert [cell.strip() for cell in total.split("|")[2:5]] == ["8", "7", "1"]


def test_the_probes_of_each_language_model_stand_side_by_side(results):
    _, frame, told = knockout.probes(results, GRID, plan())
    assert list(frame.columns) == ["all books", "no remarks", "no kinds", "chance"]
    shares = [
        " / ".join(f"{100 * (len(name) + seed) / 30:.0f}" for seed in (0, 1))
        for name in ("", "without-remarks", "without-kinds")
    ]
    assert frame.loc["mood"].tolist() == [*shares, "50"] and "seed 0 / 1." in told
    assert knockout.probes(results / "nowhere", GRID, plan()) == []


def test_probes_of_one_seed_leave_the_other_missing(results, tmp_path):
    model = PretrainedModel("transformer", 1)
    write(model.probes(tmp_path, 3000), json.loads(model.probes(results, 3000).read_text()))
    _, frame, _ = knockout.probes(tmp_path, GRID, plan())
    assert frame.loc["mood"].tolist() == ["missing / 3", "50"]


def test_the_heat_map_has_the_shares_marks_the_undecided_and_frames_the_predicted(made):
    frame = made.frame.assign(decided="yes")
    unsure = (frame["line"] == "no kinds") & frame["task"].isin(["rte", "sst2"])
    frame.loc[unsure, "decided"] = "no"
    with matplotlib.rc_context(fname=style.STYLE):
        figure = heat_map.draw(frame, plan())
    (ax,) = figure.axes
    frames = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    places = {(int(frame.get_y()), int(frame.get_x())) for frame in frames}
    assert places == {(0, 0), (1, 2), (1, 3)}
    shown = {text.get_position(): text for text in ax.texts}
    lost = frame.set_index(["line", "task"])["lost"]
    (mesh,) = (c for c in ax.collections if isinstance(c, QuadMesh))
    shares = np.array([[100 * lost[line, task] for task in TASKS] for line in PREDICTED])
    np.testing.assert_allclose(np.ma.filled(mesh.get_array(), np.nan), shares)
    assert mesh.get_clim() == (-20, 100)
    for (i, j), share in np.ndenumerate(shares):
        mark = "?" if i == 1 and TASKS[j] in ("rte", "sst2") else ""
        assert shown[j + 0.5, i + 0.5].get_text() == f"{round(share)}{mark}"
    assert [tick.get_text() for tick in ax.get_yticklabels()] == list(PREDICTED)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["SST-2", "QNLI", "RTE", "SNLI"]


def test_where_there_was_no_gain_the_heat_map_has_a_dash_and_no_colour(made):
    frame = made.frame.copy()
    none = (frame["line"] == "no kinds") & (frame["task"] == "qnli")
    frame.loc[none, ["lost", "found", "decided"]] = np.nan
    (ax,) = heat_map.draw(frame, plan()).axes
    assert {text.get_position(): text.get_text() for text in ax.texts}[1.5, 1.5] == "–"
    assert np.argwhere(np.ma.getmaskarray(ax.collections[0].get_array())).tolist() == [[1, 1]]
    (ax,) = heat_map.draw(frame.assign(lost=np.nan), plan()).axes
    assert is_noted_as_not_run(ax)


def test_a_line_that_was_not_run_is_missing_and_the_others_are_judged(results):
    study = plan()
    *points, last = study.points
    cells = [replace(cell, variant="gone") for cell in last.cells]
    points.append(last.model_copy(update={"cells": cells}))
    gone = study.model_copy(update={"points": points})
    frame = table.build(results, GRID, gone).frame.set_index(["line", "task"])
    assert frame.loc[("no kinds", "rte"), "n_seeds"] == 0
    assert pd.isna(frame.loc[("no kinds", "rte"), "found"])
    assert frame.loc[("no remarks", "sst2"), "found"] == "lost"


def test_the_program_writes_the_study(results, tmp_path):
    out = tmp_path / "knockout.csv"
    arguments = ["--results", str(results), "--grid", GRID.to_json(), "--study", plan().to_json()]
    main([*arguments, "--out", str(out)])
    assert "predicted" in out.read_text().partition("\n")[0]
    picture = out.with_suffix(".svg").read_text()
    assert "no remarks" in picture and "share of the gain by pre-training that is lost" in picture
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
