"""Tables of lines recompute hand-made numbers, and say missing where one would be another."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import tasks
from gpt1.cell import Cell
from tasks.common.errors import InputError
from tests.analysis.conftest import (
    LAYERS,
    build,
    make_grid,
    table_of,
    write,
    write_answers,
    write_examples,
    write_predictions,
    write_samples,
)
from tests.support.lines import PAPER_VARIANTS, line
from tests.support.lines import cell as cell_of
from workflow.analysis.paper import FULL, NUMBERS, PERMUTED, SHUFFLED
from workflow.analysis.stats.samples import shared_texts
from workflow.analysis.stats.scores import is_marked
from workflow.analysis.table import read_csv
from workflow.analysis.tables import (
    ablation,
    cells,
    contamination,
    layer_transfer,
    main,
    pretraining,
    zero_shot,
)
from workflow.grid import Point

EIGHT = ["cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "qnli", "rte"]


def row(table: pd.DataFrame, **where: str) -> pd.Series:
    for key, wanted in where.items():
        table = table[table[key] == wanted]
    assert len(table) == 1, f"{where}: {len(table)} rows"
    return table.iloc[0]


def full(name: str) -> Cell:
    """The paper's main cell of a task, for `change`."""
    return cell_of("transformer", name, "on", 12)


def set_scores(split: str, metric: str, values: list[float]):
    def edit(cell: dict) -> None:
        for run, value in zip(cell["seeds"], values, strict=True):
            run["scores"][split][metric] = value

    return edit


def test_mean_and_sd_of_three_seeds_are_those_worked_out_by_hand(run_of, change):
    results, grid = run_of("rte")
    for split, more in (("dev", 0), ("select", 3), ("train", 20)):
        scores = [60 + more, 62 + more, 67 + more]
        change(results, full("rte"), set_scores(split, "accuracy", scores))
    table, _ = build(layer_transfer, results, grid)
    at = {"arch": "transformer", "aux": "on", "n_transfer": "12"}
    train = [row(table, task=task, split="train", **at)["mean"] for task in ("rte", "mean")]
    assert train == pytest.approx([83, 83])
    cell = row(table, split="dev", **at)
    assert cell["n_seeds"] == 3
    assert cell["mean"] == pytest.approx(63)
    assert cell["sd"] == pytest.approx(math.sqrt(13))  # (9 + 1 + 16) / 2
    assert cell[["ci_low", "ci_high"]].isna().all()  # no predictions, so no chance from rows


def test_intervals_end_where_the_metric_does(run_of):
    results, grid = run_of("rte", "snli", "qnli")
    write_answers(results, grid, gain=0.5)
    at = {"arch": "transformer", "aux": "on", "n_transfer": "12", "split": "dev"}
    high = row(build(layer_transfer, results, grid)[0], task="rte", **at)
    assert high["mean"] + (high["mean"] - high["ci_low"]) > 100 == high["ci_high"]
    table, _ = build(ablation, results, grid)
    assert table["ci_low"].min() >= -100 and table["ci_high"].max() <= 100
    assert table["diff_low"].min() >= -100 and table["diff_high"].max() <= 100


def test_the_values_by_seed_are_written_and_read_again_or_refused(run_of):
    results, grid = run_of("rte", "cola", "sst2")
    write_answers(results, grid)
    path = results / "ablation.csv"
    write_samples(results, grid)
    ablation.build(results, grid).write(path)
    rows = read_csv(path).dropna(subset=["mean", "diff"])
    for value in ("mean", "diff"):
        by_seed = rows["by_seed" if value == "mean" else "diff_by_seed"]
        assert {*by_seed.map(len)} == {3}
        assert list(by_seed.map(np.mean)) == pytest.approx(list(rows[value]), abs=1e-4)
    text = path.read_text()
    numbers = ";".join(f"{one:.4f}" for one in rows["by_seed"].iloc[0])
    assert numbers in text
    path.write_text(text.replace(numbers, numbers.replace(";", "!")))
    with pytest.raises(InputError, match="ablation.csv: not a table"):
        read_csv(path)


def test_the_ablation_adds_the_training_rows_of_each_task(run_of):
    results, grid = run_of("rte")
    write_examples(results, "rte", rows={"train": 321})
    rows = build(ablation, results, grid)[0].set_index("task")["train_rows"]
    assert set(rows["rte"]) == {321} and rows["avg_all"].isna().all()


def test_scores_on_the_training_rows_are_not_headed_by_another_split(run_of):
    text = build(ablation, *run_of("cola"))[1]
    reported, trained = text.split("## Scores on the training rows")
    assert "CoLA (Matthews, dev)" in reported and "CoLA (Matthews, dev)" not in trained
    assert "| CoLA (Matthews, training rows) " in trained


def test_cells_with_other_rows_are_not_paired(run_of):
    results, grid = run_of("rte")
    write_answers(results, grid)
    cell = cell_of("transformer", "rte", "on", "none")
    rows = [(seed, "dev", f"rte/dev/{i}", "", 1.0, 1.0) for seed in (0, 1, 2) for i in range(5)]
    write_predictions(results, cell, rows, {"dev": "other rows"})
    with pytest.raises(InputError, match=r"parquet: its rows of rte/dev are not other cells'"):
        build(ablation, results, grid)


def test_one_seed_has_a_mean_but_neither_sd_nor_interval(run_of):
    results, grid = run_of("rte", seeds={"pretrain": [0], "finetune": [0]})
    table, _ = build(layer_transfer, results, grid)
    cell = row(table, arch="transformer", aux="on", n_transfer="6", split="dev")
    assert cell["n_seeds"] == 1 and not math.isnan(cell["mean"])
    assert cell[["sd", "ci_low", "ci_high"]].isna().all()


def test_mnli_of_table_5_is_the_mean_of_matched_and_mismatched_of_each_seed(run_of, change):
    results, grid = run_of("mnli")
    cell = full("mnli")
    change(results, cell, set_scores("dev_matched", "accuracy", [70, 72, 80]))
    change(results, cell, set_scores("dev_mismatched", "accuracy", [60, 80, 70]))
    table, _ = build(ablation, results, grid)
    mnli = row(table, variant="Transformer w/ aux LM (full)", task="mnli")
    assert mnli["mean"] == pytest.approx((65 + 76 + 75) / 3)
    assert mnli["sd"] == pytest.approx(pd.Series([65, 76, 75]).std())
    assert mnli["split"] == "dev_matched+dev_mismatched" and mnli["paper"] == 81.8


def test_average_is_taken_within_seeds_so_that_its_sd_is_its_own(run_of, change):
    results, grid = run_of(*EIGHT)
    for place, name in enumerate(EIGHT):
        # seeds 0 and 1 swap: each task varies by seed, the average of eight does not
        low, high = (40, 60) if place % 2 else (60, 40)
        for split in tasks.task(name).report[: 2 if name == "mnli" else 1]:
            metric = {"cola": "matthews", "stsb": "pearson", "mrpc": "f1", "qqp": "f1"}
            edit = set_scores(split, metric.get(name, "accuracy"), [low, high, 50])
            change(results, full(name), edit)
    table, _ = build(ablation, results, grid)
    average = row(table, variant="Transformer w/ aux LM (full)", task="avg")
    assert (average["mean"], average["sd"]) == pytest.approx((50, 0))
    assert average["n_seeds"] == 3 and average["split"] == "dev"
    cola = row(table, variant="Transformer w/ aux LM (full)", task="cola")
    assert cola["sd"] == pytest.approx(10)
    assert average["train_tokens"] == 8 * cola["train_tokens"]


def test_a_seed_that_one_task_lacks_is_in_no_average(run_of, change):
    results, grid = run_of(*EIGHT)
    change(results, cell_of("lstm", "rte", "on", 1), lambda cell: cell["seeds"].pop())
    table, _ = build(ablation, results, grid)
    assert row(table, variant="LSTM w/ aux LM", task="avg")["n_seeds"] == 2
    assert row(table, variant="LSTM w/ aux LM", task="cola")["n_seeds"] == 3


def test_seeds_that_the_config_does_not_ask_for_are_left_out(run_of):
    results, grid = run_of("rte", seeds={"pretrain": [0], "finetune": [1]})
    assert set(build(cells, results, grid)[0]["seed"]) == {1}
    assert set(build(layer_transfer, results, grid)[0]["n_seeds"]) == {1}


def test_ablation_stands_beside_the_papers_numbers_and_both_baselines(finished, grid):
    table, text = table_of(ablation, finished, grid)
    paper = table.set_index(["variant", "task"])["paper"]
    assert paper["Transformer w/ aux LM (full)", "avg"] == 74.7
    assert paper["Transformer w/o pre-training", "avg"] == 59.9
    assert paper["Transformer w/o aux LM", "mrpc"] == 84.9
    assert paper["LSTM w/ aux LM", "stsb"] == 71.8
    assert paper[:, "snli"].isna().all() and paper["LSTM w/o aux LM"].isna().all()
    printed = NUMBERS[NUMBERS["table"] == "Table 5"]
    for name, numbers in printed.pivot(index="method", columns="column", values="value").iterrows():
        assert f"| *paper: {name}*" in text
        mean = numbers.drop("Avg").sum() / 8
        assert mean == pytest.approx(numbers["Avg"], abs=0.07)  # the paper's own rounding
    cola = row(table, variant="LSTM w/ aux LM", task="cola")
    assert (cola["majority"], cola["bag_of_words"]) == (-3, 9)
    assert "| constant answer, best on training rows" in text and "| bag of words" in text


def test_variants_are_read_from_the_cells_that_their_names_promise(run_of, change):
    results, grid = run_of("rte")
    place = {
        "Transformer w/ aux LM (full)": cell_of("transformer", "rte", "on", 12),
        "Transformer w/o pre-training": cell_of("transformer", "rte", "on", "none"),
        "Transformer w/o aux LM": cell_of("transformer", "rte", "off", 12),
        "LSTM w/ aux LM": cell_of("lstm", "rte", "on", 1),
        "LSTM w/o pre-training, w/o aux LM": cell_of("lstm", "rte", "off", "none"),
    }
    for score, cell in enumerate(place.values(), start=11):
        change(results, cell, set_scores("dev", "accuracy", [score] * 3))
    table, _ = build(ablation, results, grid)
    for score, name in enumerate(place, start=11):
        assert row(table, variant=name, task="rte")["mean"] == score


@pytest.mark.parametrize(
    ("kind", "variant"), [("shuffled", SHUFFLED), ("permuted-embeddings", PERMUTED)]
)
def test_a_negative_control_is_a_row_of_the_ablation_and_in_no_other_table(
    kind, variant, run_of, change
):
    results, grid = run_of("rte", controls=(kind,))
    control, books = cell_of("transformer", "rte", "on", 12, variant.corpus), full("rte")
    change(results, books, set_scores("dev", "accuracy", [80, 81, 82]))
    change(results, books, lambda cell: write(control.path(results), {**cell, **vars(control)}))
    change(results, control, set_scores("dev", "accuracy", [10, 11, 12]))
    every, _ = build(cells, results, grid)
    assert set(every.loc[every["corpus"] == variant.corpus, "n_transfer"]) == {"12"}
    table, text = build(ablation, results, grid)
    names = list(table["variant"].unique())
    assert names.index(variant.title) == len(PAPER_VARIANTS)
    assert row(table, variant=variant.title, task="rte")["mean"] == 11
    assert row(table, variant=variant.title, task="rte")["corpus"] == variant.corpus
    assert row(table, variant="Transformer w/ aux LM (full)", task="rte")["mean"] == 81
    assert f"| {variant.title}" in text
    without = make_grid("rte", layers=LAYERS)
    assert variant.title not in set(build(ablation, results, without)[0]["variant"])

    for module in (layer_transfer, main, contamination, zero_shot, pretraining):
        with_control, text = build(module, results, grid)
        assert variant.name not in text
        plain, _ = build(module, results, without)
        pd.testing.assert_frame_equal(with_control, plain)


def test_layers_have_a_line_with_aux_off_where_they_are_run_so(run_of):
    results, grid = run_of("rte", without_aux=[0])
    table, _ = build(layer_transfer, results, grid)
    rows = table[(table["arch"] == "transformer") & (table["split"] == "dev")]
    layers = {
        aux: list(mine["n_transfer"]) for aux, mine in rows[rows["task"] == "rte"].groupby("aux")
    }
    assert layers == {"on": ["none", "0", "6", "12"], "off": ["none", "0", "12"]}
    assert (rows["n_seeds"] == 3).all()


def test_tables_2_to_4_leave_out_a_model_that_only_figure_2_has(run_of):
    results, grid = run_of("rte")
    points = [point for point in grid.studies["ablation"].points if point.of.aux == "on"]
    table_5 = grid.studies["ablation"].model_copy(update={"points": points})
    grid = grid.model_copy(update={"studies": {**grid.studies, "ablation": table_5}})
    assert grid.find(aux="off")
    for module in (main, contamination):
        table, text = build(module, results, grid)
        assert {*table["aux"].dropna()} == {"on"} and "w/o aux LM" not in text
        assert "aux off" not in text and table.loc[table["aux"] == "on", "mean"].notna().any()


def test_the_inventory_shows_the_mean_train_score_of_each_sweep(run_of, change):
    results, grid = run_of("rte", "mnli")
    for cell in grid.cells():
        of = grid.line(cell)
        if (of.arch, cell.task, of.aux) == ("lstm", "rte", "on"):
            change(results, cell, set_scores("train", "accuracy", [50, 60, 73]))
    _, text = build(cells, results, grid)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    head = [name.strip() for name in lines[0].split("|")]
    sweeps = [dict(zip(head, map(str.strip, line.split("|")), strict=True)) for line in lines[2:]]
    assert [(s["task"], s["arch"], s["aux"]) for s in sweeps[:2]] == [
        ("RTE", "transformer", "on"),
        ("RTE", "transformer", "off"),
    ]
    (lstm,) = [s for s in sweeps if (s["task"], s["arch"], s["aux"]) == ("RTE", "lstm", "on")]
    assert lstm["train"] == "61.0" and lstm["corpus"] == "books"


def test_alarms_are_carried_with_the_number_of_runs_that_raised_them(run_of):
    results, grid = run_of("rte", "cola")
    table, text = build(ablation, results, grid)
    rte = row(table, variant="Transformer w/o pre-training", task="rte")
    assert rte["alarms"] == "below_bag_of_words:3/3;majority_rate:2/3"
    cola = row(table, variant="Transformer w/o pre-training", task="cola")
    assert cola["alarms"] == "below_bag_of_words:3/3"
    both = row(table, variant="Transformer w/o pre-training", task="avg_all")
    assert both["alarms"] == "below_bag_of_words:6/6;majority_rate:2/6"
    line = next(line for line in text.splitlines() if line.startswith("| Transformer w/o pre"))
    assert line.rstrip(" |").endswith("!")
    assert is_marked(rte["alarms"]) and not is_marked(cola["alarms"])


def test_a_seed_far_below_the_best_one_bears_an_alarm(run_of, change):
    results, grid = run_of("rte", "mnli")
    spread = {"rte": [45.0, 65.1, 50.0], "mnli": [45.0, 65.0, 50.0]}
    for name, scores in spread.items():

        def edit(cell, scores=scores):
            for run, score in zip(cell["seeds"], scores, strict=True):
                for split in run["scores"]:
                    run["scores"][split] = {"accuracy": score}

        change(results, full(name), edit)
    table, text = build(cells, results, grid)
    mine = table[(table["arch"] == "transformer") & (table["n_transfer"] == "12")]
    mine = mine[mine["aux"] == "on"].groupby("task")["alarms"].unique()
    assert list(mine["rte"]) == ["below_bag_of_words;seeds_disagree", "below_bag_of_words"]
    assert list(mine["mnli"]) == ["below_bag_of_words"]


def test_table_5_has_the_lines_of_the_run_one_of_ones_own_among_them(run_of, change):
    results, grid = run_of("rte", arch=("transformer",), aux=("on",))
    own = line().model_copy(update={"name": "n_layer-3", "plain": False, "model": "n_layer-3"})
    mine, cell = Point(line="Three layers", of=own), Cell(own.name, "rte")
    record = json.loads(full("rte").path(results).read_text())
    write(cell.path(results), record | {"line": own.name})
    change(results, cell, set_scores("dev", "accuracy", [70, 71, 72]))
    change(results, full("rte"), set_scores("dev", "accuracy", [80, 81, 82]))
    points = [*grid.studies["ablation"].points, mine]
    study = grid.studies["ablation"].model_copy(update={"points": points})
    grid = grid.model_copy(update={"studies": {**grid.studies, "ablation": study}})
    table, text = build(ablation, results, grid)
    titles = [FULL.title, "Transformer w/o pre-training", "Three layers"]
    assert list(table["variant"].unique()) == titles
    found = row(table, variant="Three layers", task="rte")
    assert (found["mean"], found["diff"]) == pytest.approx((71, -10))
    assert "| Three layers " in text and (table["variant"] == FULL.title).any()


@pytest.mark.parametrize(
    ("name", "guids", "texts"),
    [
        ("race", ["race/dev/high/1/0", "race/dev/high/1/1", "race/dev/high/2/0"], [0, 0, 1]),
        ("rte", ["rte/dev/0", "rte/dev/1", "rte/dev/2"], [0, 1, 2]),
    ],
)
def test_questions_about_one_article_are_drawn_together(name, guids, texts):
    assert shared_texts(tasks.task(name), guids).tolist() == texts


def test_the_cells_of_every_study_of_the_run_are_listed(run_of):
    results, grid = run_of("rte")
    mine = grid.studies["layer_transfer"].model_copy(update={"title": "Mine"})
    studies = {"ablation": grid.studies["ablation"], "mine": mine}
    grid = grid.model_copy(update={"studies": studies})
    frame, _ = build(cells, results, grid)
    of_table_5 = {point.of.name for point in grid.studies["ablation"].points}
    assert {*frame["line"]} == {cell.line for cell in grid.cells()} > of_table_5
