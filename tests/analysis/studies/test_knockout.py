"""Where the gain by pre-training is lost, beside what was predicted: from hand-made scores."""

import json
import random
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gpt1.cell import Cell, PretrainedModel
from tests.analysis.conftest import (
    is_noted_as_not_run,
    make_cell,
    make_grid,
    skill_score,
    write,
    write_cell_answers,
    write_examples,
)
from tests.support.lines import line as a_line
from workflow.analysis.figures import style
from workflow.analysis.make_study import main
from workflow.analysis.studies import heat_map, knockout, table
from workflow.analysis.table import Table
from workflow.study_plan import Point, StudyPlan

TASKS = ["sst2", "qnli", "rte", "snli"]
GRID = make_grid(*TASKS, seeds={"pretrain": [0, 1], "finetune": [0, 1]})
PREDICTED = {"no remarks": ["sst2"], "no kinds": ["rte", "snli"]}
SKILL = {  # about the share of right answers: (line, task) where it is not the first
    **{("all books", ""): 0.75, ("none", ""): 0.35, ("no remarks", ""): 0.74},
    **{("no kinds", ""): 0.74, ("no remarks", "sst2"): 0.36, ("no kinds", "rte"): 0.36},
}


def plan() -> StudyPlan:
    lines = {"all books": (12, ""), "none": ("none", "")}
    lines |= {line: (12, "without-" + line.removeprefix("no ")) for line in PREDICTED}
    points = [
        Point(
            line=line,
            of=a_line(n_transfer=n).model_copy(
                update={"model": variant} | ({"name": variant} if variant else {})
            ),
        )
        for line, (n, variant) in lines.items()
    ]
    own = {"references": ["all books", "none"], "predicted": PREDICTED}
    return StudyPlan(title="Left out", tasks=TASKS, points=points, **own)


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Cells of the run and of two books of the study's own, and their cloze items."""
    results, study = tmp_path_factory.mktemp("results"), plan()
    rng, luck = np.random.default_rng(3), random.Random(3)
    for point in study.points:
        for cell in (Cell(point.of.name, task) for task in TASKS):
            skill = SKILL.get((point.line, cell.task), SKILL[point.line, ""])
            write(cell.path(results), make_cell(luck, GRID, cell))
            write_cell_answers(results, cell, rng, skill, n=400)
        for seed in (0, 1) if point.line != "none" else ():
            model = PretrainedModel("transformer", seed, variant=point.of.model)
            score = skill_score(len(point.of.model) + seed, 30, 2)
            value = {"arch": "transformer", "corpus": "books", "seed": seed, "update": 3000}
            value |= {"tokens": 9, "skills": {"mood": score}, "digests": {}}
            write(model.cloze(results, 3000), value)
    for task in TASKS:
        write_examples(results, task)
    return results


@pytest.fixture(scope="module")
def made(results) -> Table:
    return table.build(results, GRID, plan())


def test_the_table_has_the_share_of_the_gain_that_is_lost_and_the_loss_beyond_half(made):
    frame = made.frame.set_index(["line", "task"])
    for line, task in [("no remarks", "sst2"), ("no kinds", "rte"), ("no kinds", "mean")]:
        full, none, own = (frame.loc[(of, task), "mean"] for of in ("all books", "none", line))
        row = frame.loc[(line, task)]
        assert row["lost"] == pytest.approx((full - own) / (full - none))
        assert row["beyond"] == pytest.approx((full + none) / 2 - own)
        assert row["beyond_low"] < row["beyond"] < row["beyond_high"]
    assert frame.loc[("no kinds", ["sst2", "rte", "snli"]), "predicted"].tolist() == [
        *("kept", "lost", "lost")
    ]
    row = frame.loc[("no remarks", "sst2")]
    assert row["cell"] == "without-remarks/sst2"
    assert frame.loc[["all books", "none"], ["lost", "predicted", "beyond"]].isna().all(axis=None)


def test_the_matrix_marks_what_was_predicted_and_what_is_undecided(made):
    frame = made.frame.set_index(["line", "task"])
    matrix = made.markdown.partition("that is lost\n")[2].partition("Share of the gain")[0]
    (line,) = (line for line in matrix.splitlines() if line.startswith("| no kinds"))
    for task, cell in zip(TASKS, (cell.strip() for cell in line.split("|")[2:-1]), strict=True):
        row = frame.loc[("no kinds", task)]
        bold = "**" if task in PREDICTED["no kinds"] else ""
        undecided = "?" if row["beyond_low"] <= 0 <= row["beyond_high"] else ""
        assert cell == f"{bold}{round(100 * row['lost'])}{bold}{undecided}"
    below = {"yes": "‡", "no": ""}
    heads = {t: below[frame.loc[("no kinds", t), "below_constant"]] for t in TASKS}
    none = frame.loc["none"]
    assert heads == {t: "‡" * bool(none["mean"][t] < none["majority"][t]) for t in TASKS}
    assert any(heads.values()) and f" SNLI{heads['snli']} |" in matrix


def test_of_a_line_that_learns_by_chance_the_shares_of_its_seeds_stand_in_the_matrix(made):
    frame = made.frame.drop(columns=["lost", "lost_by_seed", "predicted", "below_constant"])
    is_one = (frame["line"] == "no kinds") & (frame["task"] == "qnli")
    frame.loc[is_one, "alarms"] = "seeds_disagree:1/2"
    again, (_, matrix, _) = knockout.add(frame, plan())
    full, none, own = (
        frame.set_index(["line", "task"]).loc[(of, "qnli"), "by_seed"]
        for of in ("all books", "none", "no kinds")
    )
    shares = [(a - c) / (a - b) for a, b, c in zip(full, none, own, strict=True)]
    assert again.loc[is_one, "lost_by_seed"].item() == pytest.approx(tuple(shares))
    shown = f" ({' / '.join(f'{100 * share:.0f}' for share in shares)})"
    assert matrix.loc["no kinds"].str.endswith(shown).sum() == 1
    assert not matrix.loc["no remarks"].str.contains("/").any()


@pytest.mark.parametrize(
    ("low", "high", "text"), [(1.0, 3.0, "75"), (-1.0, 3.0, "75?"), (np.nan, np.nan, "75?")]
)
def test_an_interval_that_does_not_exclude_half_decides_nothing(low, high, text):
    row = {"predicted": "kept", "lost": 0.75, "beyond_low": low, "beyond_high": high}
    assert knockout.shares(pd.DataFrame([row])) == [text]


def test_where_pre_training_gains_little_nothing_can_be_lost(made):
    frame = made.frame.drop(columns=["lost", "predicted", "below_constant"])
    frame.loc[(frame["line"] == "none") & (frame["task"] == "rte"), "diff"] = -4.9
    again, _ = knockout.add(frame, plan())
    lost = again.set_index(["line", "task"])["lost"]
    assert lost[:, "rte"].isna().all() and lost["no kinds", "snli"] > -1
    assert knockout.shares(again[again["line"] == "no kinds"])[TASKS.index("rte") + 1] == "–"


def test_the_cloze_items_of_each_language_model_stand_side_by_side(results):
    _, frame, told = knockout.cloze(results, GRID, plan())
    assert list(frame.columns) == ["all books", "no remarks", "no kinds", "chance"]
    shares = [
        " / ".join(f"{100 * (len(name) + seed) / 30:.0f}" for seed in (0, 1))
        for name in ("", "without-remarks", "without-kinds")
    ]
    assert frame.loc["mood"].tolist() == [*shares, "50"] and "seed 0 / 1." in told
    assert knockout.cloze(results / "nowhere", GRID, plan()) == []


def test_cloze_items_of_one_seed_leave_the_other_missing(results, tmp_path):
    model = PretrainedModel("transformer", 1)
    write(model.cloze(tmp_path, 3000), json.loads(model.cloze(results, 3000).read_text()))
    _, frame, _ = knockout.cloze(tmp_path, GRID, plan())
    assert frame.loc["mood"].tolist() == ["missing / 3", "50"]


def test_the_heat_map_has_the_shares_marks_the_undecided_and_frames_the_predicted(made):
    frame = made.frame.assign(beyond_low=1.0, beyond_high=2.0)
    unsure = (frame["line"] == "no kinds") & frame["task"].isin(["rte", "sst2"])
    frame.loc[unsure, "beyond_low"] = -1.0
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
    frame.loc[none, "lost"] = np.nan
    (ax,) = heat_map.draw(frame, plan()).axes
    assert {text.get_position(): text.get_text() for text in ax.texts}[1.5, 1.5] == "–"
    assert np.argwhere(np.ma.getmaskarray(ax.collections[0].get_array())).tolist() == [[1, 1]]
    (ax,) = heat_map.draw(frame.assign(lost=np.nan), plan()).axes
    assert is_noted_as_not_run(ax)


def test_a_line_that_was_not_run_is_missing_and_the_others_are_shown(results):
    study = plan()
    *points, last = study.points
    points.append(last.model_copy(update={"of": last.of.model_copy(update={"name": "gone"})}))
    gone = study.model_copy(update={"points": points})
    frame = table.build(results, GRID, gone).frame.set_index(["line", "task"])
    assert frame.loc[("no kinds", "rte"), "n_seeds"] == 0
    assert pd.isna(frame.loc[("no kinds", "rte"), "lost"])
    assert frame.loc[("no remarks", "sst2"), "lost"] > 0.5


def test_the_program_writes_the_study(results, tmp_path):
    out = tmp_path / "knockout.csv"
    arguments = ["--results", str(results), "--grid", GRID.to_json(), "--study", plan().to_json()]
    main([*arguments, "--out", str(out)])
    assert "predicted" in out.read_text().partition("\n")[0]
    picture = out.with_suffix(".svg").read_text()
    assert "no remarks" in picture and "share of the gain by pre-training that is lost" in picture
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_the_heat_maps_numbers_can_be_read_on_every_colour():
    """Their contrast is at least 4.5, by the Web Content Accessibility Guidelines 2.2."""
    scores = np.arange(-20, 100.1, 0.5)
    ax = Figure().add_subplot()
    heat_map.matrix(
        ax, pd.DataFrame(scores), pd.DataFrame([""] * len(scores)), [""] * len(scores), [""]
    )
    (mesh,) = ax.collections

    def luminance(colour):
        rgb = np.array(to_rgb(colour))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        return linear @ (0.2126, 0.7152, 0.0722) + 0.05

    for score, text in zip(scores, ax.texts, strict=True):
        both = luminance(mesh.to_rgba(score)[:3]), luminance(text.get_color())
        assert max(both) / min(both) >= 4.5, score
        assert (text.get_color() == "black") == (score <= 66)
