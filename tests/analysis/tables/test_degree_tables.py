"""Scores by degree of difficulty: on the rows of a degree, by the task's own metric."""

from pathlib import Path

import pytest

from tasks.common.errors import InputError
from tasks.common.files import sha256_file, write_json
from tasks.world import read_degrees
from tasks.world.settings import DEGREES
from tests.analysis.conftest import make_grid, write_all, write_predictions, write_samples
from workflow.analysis.paper import FULL, NO_PRETRAINING
from workflow.analysis.tables import cells, degrees


def write_degrees(results: Path, rows: list[str]) -> None:
    (results / "world").mkdir(exist_ok=True)
    path = results / "world" / "degrees.csv"
    path.write_text("\n".join(["task,split,row,degree", *rows]) + "\n")
    files = {path.name: {"sha256": sha256_file(path)}}
    write_json(path.with_name("manifest.json"), {"files": files})


def rows_of(right: dict[int, bool], seeds: tuple[int, ...] = (0, 1)) -> list[tuple]:
    """Predictions of RTE's rows, by their number whether they are right."""
    return [
        (seed, "dev", f"rte/dev/{row}", "", row % 2, row % 2 if is_right else 1 - row % 2)
        for seed in seeds
        for row, is_right in right.items()
    ]


def test_each_degree_has_the_score_of_its_own_rows(tmp_path):
    layers, seeds = {"transformer": ["none", 12]}, {"pretrain": [0, 1], "finetune": [0, 1]}
    grid = make_grid("rte", layers=layers, arch=("transformer",), seeds=seeds)
    write_all(tmp_path, grid)
    names = ("lexical",) * 4 + ("relational",) * 4 + ("compositional",) * 2
    write_degrees(tmp_path, [f"rte,dev,{row},{degree}" for row, degree in enumerate(names)])
    right = {row: row < 5 for row in range(10)}  # every lexical row, one relational, no other
    for cell in grid.cells():
        full = grid.line(cell).n_transfer == 12
        write_predictions(tmp_path, cell, rows_of(right if full else dict.fromkeys(right, False)))
    write_samples(tmp_path, grid)
    table = degrees.build(tmp_path, grid)
    scores = table.frame.set_index(["variant", "task", "degree"])
    assert [scores.loc[(FULL.title, "rte", d), "mean"] for d in DEGREES] == [100.0, 25.0, 0.0]
    assert scores.loc[(FULL.title, "rte", "relational"), "rows"] == 4
    assert scores.loc[(NO_PRETRAINING.title, "avg_all", "lexical"), "mean"] == 0
    assert scores.loc[(FULL.title, "avg_all", "lexical"), "mean"] == 100
    assert "Scores by degree" in table.markdown and "nan" not in table.markdown
    listed = cells.build(tmp_path, grid).frame  # of whole splits alone
    assert len(listed) and not listed.duplicated(["n_transfer", "aux", "split", "seed"]).any()


def test_a_file_of_degrees_that_was_cut_at_a_line_is_refused(tmp_path):
    write_degrees(tmp_path, ["rte,dev,0,lexical", "rte,dev,1,lexical"])
    path = tmp_path / "world" / "degrees.csv"
    assert read_degrees(path)["lexical"] == {"rte/dev/0", "rte/dev/1"}
    path.write_text("".join(path.read_text().splitlines(True)[:-1]))
    with pytest.raises(InputError, match=r"degrees\.csv: not the file that manifest\.json"):
        read_degrees(path)
    write_json(path.with_name("manifest.json"), {"files": {}})
    with pytest.raises(InputError, match=r"degrees\.csv: not the file that manifest\.json"):
        read_degrees(path)
    path.with_name("manifest.json").unlink()
    with pytest.raises(InputError, match=r"manifest\.json: no such file; run the step"):
        read_degrees(path)


def test_the_best_baseline_of_each_task_and_degree_stands_beside_the_scores(tmp_path):
    layers, seeds = {"transformer": [12]}, {"pretrain": [0], "finetune": [0]}
    grid = make_grid("rte", layers=layers, arch=("transformer",), seeds=seeds)
    write_all(tmp_path, grid)
    write_degrees(tmp_path, ["rte,dev,0,lexical", "rte,dev,1,compositional"])
    for cell in grid.cells():
        write_predictions(tmp_path, cell, rows_of({0: True, 1: True}, (0,)))
    write_samples(tmp_path, grid)
    scores = {"bag_of_words": (90.0, 40.0), "class_orders": (70.0, 55.0), "majority": (50.0, 58.0)}
    by_split = {
        name: {"dev_lexical": {"accuracy": one}, "dev_compositional": {"accuracy": two}}
        for name, (one, two) in scores.items()
    }
    write_json(tmp_path / "baselines" / "rte.json", {"task": "rte", **by_split})
    table = degrees.build(tmp_path, grid)
    best = table.frame.query("variant == @FULL.title").set_index(["task", "degree"])[
        "best_baseline"
    ]
    assert best["rte", "lexical"] == best["avg_all", "lexical"] == 90
    assert best["rte", "compositional"] == 58  # the constant answer counts
    assert "| best baseline" in table.markdown
