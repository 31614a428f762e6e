"""Tables of lines and cells recompute hand-made numbers, and say missing where one is."""

import math

import pytest

from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, write_json
from tasks.world import read_degrees
from tests.analysis.conftest import build, the, write, write_answers, write_predictions
from tests.support.variants import cell as cell_of
from workflow.analysis.stats.samples import Samples


def test_mean_and_sd_of_three_seeds_are_those_worked_out_by_hand(run_of):
    results, grid = run_of("rte")
    path = cell_of("transformer", "rte", "on", 12).path(results)
    record = read_json(path)
    for run, score in zip(record["seeds"], (60.0, 62.0, 67.0), strict=True):
        run["scores"]["dev"]["accuracy"] = score
    write(path, record)
    table, _ = build("layer_transfer", results, grid)
    cell = the(table, arch="transformer", aux="on", n_transfer="12", split="dev")
    assert list(cell[["n_seeds", "mean", "sd"]]) == pytest.approx([3, 63, math.sqrt(13)])


def test_cells_with_other_rows_are_not_paired(run_of):
    results, grid = run_of("rte")
    write_answers(results, grid)
    cell = cell_of("transformer", "rte", "on", "none")
    rows = [(seed, "dev", f"rte/dev/{i}", "", 1.0, 1.0) for seed in (0, 1, 2) for i in range(5)]
    write_predictions(results, cell, rows, {"dev": "other rows"})
    with pytest.raises(InputError, match=r"parquet: its rows of rte/dev are not other cells'"):
        build("ablation", results, grid)


def test_of_the_one_seed_that_the_config_has_there_is_a_mean_but_neither_sd_nor_interval(run_of):
    results, grid = run_of("rte", seeds={"pretrain": [0], "finetune": [1]})
    assert set(build("cells", results, grid)[0]["seed"]) == {1}
    table, _ = build("layer_transfer", results, grid)
    cell = the(table, arch="transformer", aux="on", n_transfer="6", split="dev")
    assert cell["n_seeds"] == 1 and not math.isnan(cell["mean"])
    assert cell[["sd", "ci_low", "ci_high"]].isna().all()


def test_tables_2_to_4_leave_out_a_model_that_only_figure_2_has(run_of):
    results, grid = run_of("rte")
    points = [point for point in grid.studies["ablation"].points if point.variant.aux == "on"]
    table_5 = grid.studies["ablation"].model_copy(update={"points": points})
    grid = grid.model_copy(update={"studies": {**grid.studies, "ablation": table_5}})
    assert grid.find(aux="off")
    for module in ("main", "contamination"):
        table, text = build(module, results, grid)
        assert {*table["aux"].dropna()} == {"on"} and "w/o aux LM" not in text
        assert "aux off" not in text and table.loc[table["aux"] == "on", "mean"].notna().any()


def accuracy(**values: float) -> dict:
    return {name: {"dev": {"accuracy": value}} for name, value in values.items()}


@pytest.mark.parametrize("constant", [50.0, 59.5])
@pytest.mark.parametrize("classes", [{}, accuracy(word_classes=58.4)])
def test_shallow_baselines_stand_below_the_bag_of_words_with_the_best(run_of, classes, constant):
    results, grid = run_of("rte")
    scores = accuracy(majority=constant, bag_of_words=55.0, word_overlap=51.2, one_text=52.3)
    for name in ("rte", "qnli"):  # which a larger run left there
        write_json(results / "baselines" / f"{name}.json", {"task": name, **scores, **classes})
    text = build("ablation", results, grid)[1]
    cells = [[cell.strip() for cell in line.split("|")] for line in text.splitlines()]
    lines = {line[1]: line for line in cells if len(line) > 1}
    assert "51.2" in lines["word overlap"] and "52.3" in lines["one text alone"]
    assert ("word classes" in lines) == bool(classes) and "affix bigrams" not in lines
    assert text.count("52.3") == 2  # of RTE, and of the mean of the run's tasks, which it is
    best = "59.5" if constant > 58.4 else "58.4" if classes else "55.0"
    assert best in lines["best of all baselines"]


def test_a_file_of_degrees_that_was_cut_at_a_line_is_refused(tmp_path):
    path = tmp_path / "degrees.csv"
    path.write_text("task,split,row,degree\nrte,dev,0,lexical\nrte,dev,1,lexical\n")
    files = {path.name: {"sha256": sha256_file(path)}}
    write_json(path.with_name("manifest.json"), {"files": files})
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


@pytest.mark.parametrize("made", [["rows"], []])
def test_rows_of_a_world_alone_are_scored_by_degree(run_of, made):
    results, grid = run_of("rte")
    write_answers(results, grid)
    cell = cell_of("transformer", "rte", "on", 12)
    write(cell.path(results), read_json(cell.path(results)) | {"made": made})
    samples = Samples()
    samples.add(cell, results, grid.seeds.finetune, {"lexical": {"rte/dev/0", "rte/dev/1"}})
    score = samples.headline(cell, "lexical")
    assert (score is not None) == bool(made) and (not score or score.n_rows == 2)
