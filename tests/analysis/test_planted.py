"""Scores by how often a row stood in the books, and the detectors: from hand-made predictions."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from gpt1.cell import Cell
from tasks.common.errors import InputError
from tests.analysis.conftest import make_grid, write, write_predictions
from workflow.analysis.studies import planted
from workflow.analysis.studies.__main__ import main
from workflow.analysis.studies.planted import DETECTORS, Manifest, detection, marked_rows
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
            cells=[Cell("transformer", task, "on", 12, variant=variant) for task in tasks],
            model=variant,
        )
        for line, variant in (("own", ""), ("planted", BOOKS))
    ]
    own = {"lines": ["planted"], "references": ["own"], "kind": "planted"}
    return StudyPlan(title="Rows planted", tasks=list(tasks), points=points, **own)


def write_cell(folder: Path, cell: Cell, model: str) -> None:
    """Predictions of two seeds, which are equal."""
    rows = []
    for seed in (0, 1):
        for count, places in ROWS.items():
            for i in places:
                right = i % 10 < RIGHT[model, count]
                guid = f"{cell.task}/{i}/0" if cell.task == "race" else str(i)
                rows.append(
                    (seed, TASKS[cell.task], guid, "", float(i % 2), float((i + (not right)) % 2))
                )
    write_predictions(folder, cell, rows, {TASKS[cell.task]: "rows"})


def write_marks(folder: Path, task: str, examples: str = "rows") -> None:
    """Rows planted 16 times share their 13 words, once their 9; of the other rows one shares 13."""
    split = TASKS[task]
    words = [9 if i in ROWS[1] else 13 if i in ROWS[16] else 20 for i in range(N)]
    match = [9 if i in ROWS[1] else 13 * (i in ROWS[16] or i == 3) for i in range(N)]
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
                write_cell(tmp_path, replace(cell, variant=BOOKS), "planted")
    return tmp_path


def built(results: Path) -> pd.DataFrame:
    """The table, by line, task and number of times in the books."""
    _, table = planted.build(results, GRID, plan())
    return table.frame.set_index(["line", "task", "value"]).sort_index()


def test_scores_are_of_the_rows_of_each_count(results):
    frame = built(results)
    assert len(frame) == 2 * 4 * 3
    for (line, count), right in RIGHT.items():
        for task in [*TASKS, "mean"]:
            row = frame.loc[line, task, str(count)]
            assert row["mean"] == pytest.approx(10 * right)
            is_sure = row["mean"] > 99.9  # all rows right in all seeds: nothing varies
            assert is_sure or row["ci_low"] < row["mean"] < row["ci_high"] <= 100
            assert pd.isna(row["ci_low"]) == is_sure


def test_what_planting_adds_is_the_difference_of_both_models_differences(results):
    frame = built(results)
    assert frame.loc["own", "change"].isna().all()
    for task in [*TASKS, "mean"]:
        assert pd.isna(frame.loc[("planted", task, "0"), ["diff", "change"]]).all()
        for count, adds in (("1", [20.0, 10.0]), ("16", [40.0, 50.0])):
            row = frame.loc["planted", task, count]
            assert row[["diff", "change"]].tolist() == pytest.approx(adds)
            for name in ("diff", "change"):
                assert count == "1" or row[f"{name}_low"] < row[name] < row[f"{name}_high"]


def test_rows_are_counted_with_what_marks_them(results):
    frame = built(results).loc["planted"]
    columns = ["rows", "share_words", "share_whole", "short"]
    assert frame.loc[("sst2", "0"), columns].tolist() == [40, 2.5, 0, 0]
    assert frame.loc[("sst2", "1"), columns].tolist() == [10, 0, 100, 100]
    assert frame.loc[("sst2", "16"), columns].tolist() == [10, 100, 100, 0]
    assert frame.loc["mean", "rows"].isna().all()


def test_recall_and_precision_count_rows():
    counts = [("sst2", 0, 40, 1), ("sst2", 1, 10, 5), ("sst2", 16, 10, 10)]
    counts += [("rte", 0, 30, 0), ("rte", 1, 10, 0)]  # task, times in the books, rows, marked
    rows = [(task, n, i < hits, True) for task, n, total, hits in counts for i in range(total)]
    found = detection(pd.DataFrame(rows, columns=["task", "count", "words", "whole"]))
    found = found.set_index("detector", append=True)
    words, whole = DETECTORS.values()
    assert found.loc[("SST-2", words), "recall"] == "75 [53, 89] of 20"  # Wilson's interval
    assert found.loc[("SST-2", words), "precision"].startswith("94 [")
    assert found.loc[("RTE", words)].tolist()[0].startswith("0 [")
    assert found.loc[("RTE", words), "precision"] == "–"
    assert found.loc[("all", words), "recall"].endswith("of 30")
    assert found.loc[("all", whole), "precision"].startswith("30 [")


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
    assert (rows["count"] == 16).sum() == 10


def test_a_cell_that_was_not_run_is_missing(results):
    cell = plan().points[1].cells[0]
    cell.predictions(results).unlink()
    frame = built(results)
    assert frame.loc[("planted", "sst2"), "mean"].isna().all()
    assert frame.loc[("own", "sst2"), "mean"].notna().all()
    assert frame.loc[("planted", "mean"), "change"].isna().all()
    assert frame.loc[("planted", "race", "16"), "change"] == 50.0
    assert "missing" in planted.build(results, GRID, plan())[1].markdown


def test_marks_of_other_examples_are_one_line(results):
    write_marks(results / "variants" / BOOKS, "sst2", examples="others")
    with pytest.raises(InputError, match="its dev rows are not those of"):
        built(results)


def test_the_program_writes_the_study_of_one_task_without_a_mean(results):
    study, out = plan(("race",)), results / "studies" / "c.csv"
    arguments = ["--results", str(results), "--grid", GRID.to_json(), "--study", study.to_json()]
    main([*arguments, "--out", str(out)])
    lines = out.read_text().splitlines()
    assert len(lines) == 1 + 2 * 3 and out.with_suffix(".png").exists()
    assert "times in the books" in out.with_suffix(".svg").read_text()
    text = out.with_suffix(".md").read_text()
    assert text.startswith("# Rows planted\n") and "## Who finds the planted rows" in text
    assert "mean of" not in text.partition("## Rows too short")[0]
