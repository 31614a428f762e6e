"""Scores by how often a row stood in the books, and the detectors: from hand-made predictions."""

from dataclasses import replace
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
from tasks.common.errors import InputError
from tests.analysis.conftest import make_grid, write, write_predictions
from workflow.analysis.figures import style
from workflow.analysis.studies import planted, planted_figure
from workflow.analysis.studies.__main__ import main
from workflow.analysis.studies.detectors import DETECTORS, Manifest, detection, marked_rows, shares
from workflow.study_plan import Point, StudyPlan

TASKS = {"sst2": "dev", "race": "test", "snli": "test"}
GRID = make_grid(*TASKS, seeds={"pretrain": [0, 1], "finetune": [0, 1]})
BOOKS = "planted-1-16"
N = 60
ROWS = {0: range(40), 1: range(40, 50), 16: range(50, 60)}  # by how often they were planted
RIGHT = {  # of ten rows each seed answers so many: by model and count
    **{("own", 0): 5, ("own", 1): 6, ("own", 16): 4},
    **{("planted", 0): 6, ("planted", 1): 8, ("planted", 16): 10},
}


def plan(tasks=tuple(TASKS)) -> StudyPlan:
    points = [
        Point(
            line=line,
            value="",
            cells=[Cell("transformer", task, "on", 12, variant=variant) for task in tasks],
            model=variant,
        )
        for line, variant in (("own", ""), ("planted", BOOKS))
    ]
    own = {"lines": ["planted"], "references": ["own"], "points": points, "kind": "planted"}
    return StudyPlan(name="c", title="Rows planted", axis="", tasks=list(tasks), **own)


def write_cell(folder: Path, cell: Cell, model: str, luck: int = 0) -> None:
    """Predictions of two seeds; the second has `luck` right answers more of the ten."""
    rows = []
    for seed in (0, 1):
        for count, places in ROWS.items():
            for i in places:
                right = i % 10 < RIGHT[model, count] + seed * luck
                guid = f"{cell.task}/{i}/0" if cell.task == "race" else str(i)
                rows.append(
                    (seed, TASKS[cell.task], guid, "", float(i % 2), float((i + (not right)) % 2))
                )
    rows.sort(key=lambda row: row[0])
    write_predictions(folder, cell, rows, {TASKS[cell.task]: "rows"})


def write_marks(folder: Path, task: str, examples: str = "rows") -> None:
    """Rows planted 16 times share 13 words; those planted once their 9; of others one shares 13."""
    split = TASKS[task]
    words = [9 if i in ROWS[1] else 20 for i in range(N)]
    match = [9 if i in ROWS[1] else 20 if i in ROWS[16] else 13 * (i == 3) for i in range(N)]
    found = {"task": task, "examples": {split: examples}}
    found["splits"] = {split: {"words": words, "match": match}}
    write(folder / "contamination" / f"{task}.json", found)


@pytest.fixture
def results(tmp_path) -> Path:
    folder = tmp_path / "variants" / BOOKS
    of = {str(count): list(places) for count, places in ROWS.items() if count}
    rows = {t: {"split": split, "examples": "rows", "rows": of} for t, split in TASKS.items()}
    write(folder / "world" / "manifest.json", {"counts": [1, 16], "planted": rows})
    for task in TASKS:
        write(tmp_path / f"examples/{task}.json", {"note": "", "sha256": {}})
        write_marks(folder, task)
        for cell in plan().points[0].cells:
            if cell.task == task:
                write_cell(tmp_path, cell, "own")
                write_cell(tmp_path, replace(cell, variant=BOOKS), "planted", luck=0)
    return tmp_path


def built(results: Path, study: StudyPlan | None = None) -> pd.DataFrame:
    return planted.build(results, GRID, study or plan()).frame.set_index(["task", "count"])


def test_scores_are_of_the_rows_of_each_count(results):
    frame = built(results)
    assert len(frame) == 4 * 3
    for task in [*TASKS, "mean"]:
        for count in ROWS:
            row = frame.loc[task, count]
            assert row["mean"] == pytest.approx(10 * RIGHT["planted", count])
            assert row["own"] == pytest.approx(10 * RIGHT["own", count])
            is_sure = row["mean"] > 99.9  # all rows right in all seeds: nothing varies
            assert is_sure or row["ci_low"] < row["mean"] < row["ci_high"] <= 100
            assert pd.isna(row["ci_low"]) == is_sure


def test_what_planting_adds_is_the_difference_of_both_models_differences(results):
    frame = built(results)
    for task in [*TASKS, "mean"]:
        assert pd.isna(frame.loc[(task, 0), "diff"]) and pd.isna(frame.loc[(task, 0), "gain"])
        assert frame.loc[(task, 1), ["diff", "gain"]].tolist() == pytest.approx([20.0, 10.0])
        assert frame.loc[(task, 16), ["diff", "gain"]].tolist() == pytest.approx([40.0, 50.0])
        for name in ("diff", "gain"):
            low, high = frame.loc[(task, 16), [f"{name}_low", f"{name}_high"]]
            assert low < frame.loc[(task, 16), name] < high


def test_rows_are_counted_with_what_marks_them(results):
    frame = built(results)
    columns = ["rows", "share_words", "share_whole", "short"]
    assert frame.loc[("sst2", 0), columns].tolist() == [40, 2.5, 0, 0]
    assert frame.loc[("sst2", 1), columns].tolist() == [10, 0, 100, 100]
    assert frame.loc[("sst2", 16), columns].tolist() == [10, 100, 100, 0]
    assert frame.loc["mean", "rows"].isna().all()


def test_recall_and_precision_count_rows():
    frame = pd.DataFrame(
        [
            {"task": "sst2", "count": 0, "rows": 40, "share_words": 2.5},
            {"task": "sst2", "count": 1, "rows": 10, "share_words": 50.0},
            {"task": "sst2", "count": 16, "rows": 10, "share_words": 100.0},
            {"task": "rte", "count": 0, "rows": 30, "share_words": 0.0},
            {"task": "rte", "count": 1, "rows": 10, "share_words": 0.0},
        ]
    ).assign(share_whole=100.0)
    found = detection(frame).set_index("detector", append=True)
    words, whole = DETECTORS.values()
    assert found.loc[("SST-2", words), "recall"].startswith("75 [")
    assert found.loc[("SST-2", words), "recall"].endswith("of 20")
    assert found.loc[("SST-2", words), "precision"].startswith("94 [")
    assert found.loc[("RTE", words)].tolist()[0].startswith("0 [")
    assert found.loc[("RTE", words), "precision"] == "–"
    assert found.loc[("all", words), "recall"].endswith("of 30")
    assert found.loc[("all", whole), "precision"].startswith("30 [")


def test_a_share_of_the_rows_has_wilsons_interval():
    n, share, z = 20, 0.75, 1.959964
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    rows = {"task": "sst2", "count": 1, "rows": 20, "share_words": 75.0, "share_whole": 100.0}
    frame = pd.DataFrame([rows])
    found = detection(frame).set_index("detector", append=True)["recall"]
    shown = f"75 [{100 * (middle - half):.0f}, {100 * (middle + half):.0f}] of 20"
    assert found["SST-2", DETECTORS["words"]] == shown == "75 [53, 89] of 20"
    assert found["SST-2", DETECTORS["whole"]] == "100 [84, 100] of 20"


def test_a_model_of_planted_books_has_the_pre_training_seeds_of_the_runs_own(results):
    study, folder = plan(), results / "variants" / BOOKS
    manifest = Manifest.read(folder / "world" / "manifest.json")
    rows = marked_rows(folder, "snli", manifest)
    found = {}
    for point in study.points:
        cell = next(cell for cell in point.cells if cell.task == "snli")
        of = manifest.planted["snli"]
        found[point.line] = planted.sample(cell, GRID, results, of, rows, 16)
    assert found["own"].pretrain == found["planted"].pretrain == (0, 1)
    assert found["planted"].n_rows == 10 and found["planted"].seeds == (0, 1)
    assert shares(rows, 16)["rows"] == 10


def test_a_cell_that_was_not_run_is_missing(results):
    cell = plan().points[1].cells[0]
    cell.predictions(results).unlink()
    frame = built(results)
    assert frame.loc["sst2", "mean"].isna().all() and frame.loc["sst2", "own"].notna().all()
    assert frame.loc["mean", "gain"].isna().all() and frame.loc[("race", 16), "gain"] == 50.0
    assert "missing" in planted.build(results, GRID, plan()).markdown


def test_marks_of_other_examples_are_one_line(results):
    write_marks(results / "variants" / BOOKS, "sst2", examples="others")
    with pytest.raises(InputError, match="its dev rows are not those of"):
        built(results)


def picture(results: Path) -> tuple[Figure, pd.DataFrame]:
    """The figure, and its table with intervals of a width of its own in every row and column."""
    frame = planted.build(results, GRID, plan()).frame
    for column, low, high, i in (("mean", "ci_low", "ci_high", 0), ("own", *LIMITS, 50)):
        half = 1 + (i + np.arange(len(frame))) / 10
        frame = frame.assign(**{low: frame[column] - half, high: frame[column] + half / 2})
    with matplotlib.rc_context(fname=style.STYLE):
        return planted_figure.draw(frame, plan()), frame


LIMITS = ("own_low", "own_high")


def shown_as(figure: Figure, start: str) -> Line2D:
    """The line that the legend shows beside the name that starts so."""
    (box,) = figure.legends
    names = [text.get_text() for text in box.get_texts()]
    (handle,) = (h for h, name in zip(box.legend_handles, names, strict=True) if name[:20] == start)
    return handle


def curve(ax: Axes, like: Line2D) -> Line2D:
    """The curve that looks like the line in the legend."""
    look = (to_hex(like.get_color()), like.get_marker(), like.get_linestyle())
    (own,) = (
        line
        for line in ax.lines
        if (to_hex(line.get_color()), line.get_marker(), line.get_linestyle()) == look
    )
    return own


def bars(ax: Axes, colour: str) -> list[list[float]]:
    """Lower and upper ends of the upright lines of a colour, from left to right."""
    own = [c for c in ax.collections if to_hex(c.get_colors()[0]) == to_hex(colour)]
    return [list(segment[:, 1]) for c in own for segment in c.get_segments()]


def test_the_figure_draws_each_models_scores_and_intervals_as_its_legend_says(results):
    figure, frame = picture(results)
    panels = figure.axes
    titles = ["mean of 3 tasks", "SST-2", "RACE", "SNLI"]
    assert [ax.get_title() for ax in panels[:4]] == titles
    looks = {
        "mean": (shown_as(figure, "read the planted boo"), "ci_low", "ci_high"),
        "own": (shown_as(figure, "read the run's own b"), *LIMITS),
    }
    for ax, task in zip(panels, ["mean", *TASKS], strict=False):
        of_task = frame[frame["task"] == task]
        for column, (look, low, high) in looks.items():
            line = curve(ax, look)
            assert list(line.get_ydata()) == list(of_task[column]), (task, column)
            assert list(np.round(line.get_xdata())) == [0, 1, 2]
            np.testing.assert_allclose(bars(ax, look.get_color()), of_task[[low, high]])
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0", "1", "16"]


def test_the_figure_draws_what_each_detector_finds_as_its_legend_says(results):
    figure, _ = picture(results)
    (ax,) = (ax for ax in figure.axes if ax.get_title().startswith("rows that are found"))
    for name, found in (
        ("13 words in a row", [2.5, 0, 100]),
        ("longest match: a whole text"[:20], [0, 100, 100]),
    ):
        line = curve(ax, shown_as(figure, name))
        assert list(np.round(line.get_ydata(), 1)) == found, name
        assert list(np.round(line.get_xdata())) == [0, 1, 2]


def test_the_figure_has_what_planting_adds_with_its_interval_about_0(results):
    frame = planted.build(results, GRID, plan()).frame
    with matplotlib.rc_context(fname=style.STYLE):
        panels = planted_figure.draw(frame, plan()).axes
    gain, beside = panels[5:7]
    assert gain.get_title() == "what planting adds, points"
    *lines, zero = gain.lines
    assert list(zero.get_ydata()) == [0, 0]
    frame = frame[frame["count"] > 0]
    for line, bars, task in zip(lines, gain.collections, ["mean", *TASKS], strict=True):
        mine = frame[frame["task"] == task]
        assert list(line.get_ydata()) == list(mine["gain"])
        limits = [list(path.vertices[:, 1]) for path in bars.get_paths()]
        assert limits == mine[["gain_low", "gain_high"]].to_numpy().tolist()
        assert to_hex(bars.get_colors()[0]) == to_hex(line.get_color())
    assert [tick.get_text() for tick in gain.get_xticklabels()] == ["1", "16"]
    named = {h.get_color(): h.get_label() for h in beside.get_legend().legend_handles}
    assert [named[line.get_color()] for line in lines] == [
        "mean of 3 tasks",
        "SST-2",
        "RACE",
        "SNLI",
    ]


@pytest.mark.parametrize(("names", "beside"), [(("race", "snli"), 5), (("race",), 3)])
def test_fewer_tasks_leave_a_panel_for_their_names(results, names, beside):
    study = plan(names)
    with matplotlib.rc_context(fname=style.STYLE):
        panels = planted_figure.draw(planted.build(results, GRID, study).frame, study).axes
    titles = [text.get_text() for text in panels[beside].get_legend().get_texts()]
    assert titles == [ax.get_title() for ax in panels[: beside - 2]]


def test_the_program_writes_the_study_of_one_task_without_a_mean(results):
    study, out = plan(("race",)), results / "studies" / "c.csv"
    arguments = ["--results", str(results), "--grid", GRID.to_json(), "--study", study.to_json()]
    main([*arguments, "--out", str(out)])
    lines = out.read_text().splitlines()
    assert len(lines) == 1 + 3 and out.with_suffix(".png").exists()
    assert "rows that are found" in out.with_suffix(".svg").read_text()
    text = out.with_suffix(".md").read_text()
    assert text.startswith("# Rows planted\n") and "## Who finds the planted rows" in text
    assert "mean of" not in text
