"""Tables of lines and cells recompute hand-made numbers, and say missing where one is."""

import json
import math

import numpy as np
import pandas as pd
import pytest

import tasks
from gpt1.cell import Cell
from tasks.common.errors import InputError
from tasks.common.files import write_json
from tasks.world import read_degrees
from tasks.world.settings import DEGREES
from tests.analysis.conftest import (
    LAYERS,
    build,
    make_grid,
    set_scores,
    table_of,
    the,
    write,
    write_all,
    write_answers,
    write_degrees,
    write_examples,
    write_predictions,
    write_samples,
)
from tests.support.lines import PAPER_VARIANTS, line
from tests.support.lines import cell as cell_of
from workflow.analysis import report
from workflow.analysis.paper import FULL, NO_PRETRAINING, NUMBERS, PERMUTED, SHUFFLED
from workflow.analysis.stats.samples import shared_texts
from workflow.analysis.stats.scores import is_marked
from workflow.analysis.table import read_csv
from workflow.grid import Point

EIGHT = ["cola", "sst2", "mrpc", "stsb", "qqp", "mnli", "qnli", "rte"]


def full(name: str) -> Cell:
    """The paper's main cell of a task, for `change`."""
    return cell_of("transformer", name, "on", 12)


def test_mean_and_sd_of_three_seeds_are_those_worked_out_by_hand(run_of, change):
    results, grid = run_of("rte")
    for split, more in (("dev", 0), ("select", 3), ("train", 20)):
        scores = [60 + more, 62 + more, 67 + more]
        change(results, full("rte"), set_scores(split, "accuracy", scores))
    table, _ = build("layer_transfer", results, grid)
    at = {"arch": "transformer", "aux": "on", "n_transfer": "12"}
    train = [the(table, task=task, split="train", **at)["mean"] for task in ("rte", "mean")]
    assert train == pytest.approx([83, 83])
    cell = the(table, split="dev", **at)
    assert cell["n_seeds"] == 3
    assert cell["mean"] == pytest.approx(63)
    assert cell["sd"] == pytest.approx(math.sqrt(13))  # (9 + 1 + 16) / 2
    assert cell[["ci_low", "ci_high"]].isna().all()  # no predictions, so no chance from rows


def test_intervals_end_where_the_metric_does(run_of):
    results, grid = run_of("rte", "snli", "qnli")
    write_answers(results, grid, gain=0.5)
    at = {"arch": "transformer", "aux": "on", "n_transfer": "12", "split": "dev"}
    high = the(build("layer_transfer", results, grid)[0], task="rte", **at)
    assert high["mean"] + (high["mean"] - high["ci_low"]) > 100 == high["ci_high"]
    table, _ = build("ablation", results, grid)
    assert table["ci_low"].min() >= -100 and table["ci_high"].max() <= 100
    assert table["diff_low"].min() >= -100 and table["diff_high"].max() <= 100


def test_the_values_by_seed_are_written_and_read_again_or_refused(run_of):
    results, grid = run_of("rte", "cola", "sst2")
    write_answers(results, grid)
    path = results / "ablation.csv"
    write_samples(results, grid, ["ablation"])
    report.build("ablation", results, grid).write(path)
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


def test_the_ablation_has_the_training_rows_and_their_scores_under_heads_of_their_own(run_of):
    results, grid = run_of("cola")
    write_examples(results, "cola", rows={"train": 321})
    table, text = build("ablation", results, grid)
    rows = table.set_index("task")["train_rows"]
    assert set(rows["cola"]) == {321} and rows["avg_all"].isna().all()
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
        build("ablation", results, grid)


def test_of_the_one_seed_that_the_config_has_there_is_a_mean_but_neither_sd_nor_interval(run_of):
    results, grid = run_of("rte", seeds={"pretrain": [0], "finetune": [1]})
    assert set(build("cells", results, grid)[0]["seed"]) == {1}
    table, _ = build("layer_transfer", results, grid)
    cell = the(table, arch="transformer", aux="on", n_transfer="6", split="dev")
    assert cell["n_seeds"] == 1 and not math.isnan(cell["mean"])
    assert cell[["sd", "ci_low", "ci_high"]].isna().all()


def test_mnli_of_table_5_is_the_mean_of_matched_and_mismatched_of_each_seed(run_of, change):
    results, grid = run_of("mnli")
    cell = full("mnli")
    change(results, cell, set_scores("dev_matched", "accuracy", [70, 72, 80]))
    change(results, cell, set_scores("dev_mismatched", "accuracy", [60, 80, 70]))
    table, _ = build("ablation", results, grid)
    mnli = the(table, variant="Transformer w/ aux LM (full)", task="mnli")
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
    table, _ = build("ablation", results, grid)
    average = the(table, variant="Transformer w/ aux LM (full)", task="avg")
    assert (average["mean"], average["sd"]) == pytest.approx((50, 0))
    assert average["n_seeds"] == 3 and average["split"] == "dev"
    cola = the(table, variant="Transformer w/ aux LM (full)", task="cola")
    assert cola["sd"] == pytest.approx(10)
    assert average["train_tokens"] == 8 * cola["train_tokens"]
    change(results, cell_of("lstm", "rte", "on", 1), lambda cell: cell["seeds"].pop())
    table, _ = build("ablation", results, grid)  # a seed that one task lacks is in no average
    assert the(table, variant="LSTM w/ aux LM", task="avg")["n_seeds"] == 2
    assert the(table, variant="LSTM w/ aux LM", task="cola")["n_seeds"] == 3


def test_ablation_stands_beside_the_papers_numbers_and_both_baselines(finished, grid):
    table, text = table_of("ablation", finished, grid)
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
    cola = the(table, variant="LSTM w/ aux LM", task="cola")
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
    table, _ = build("ablation", results, grid)
    for score, name in enumerate(place, start=11):
        assert the(table, variant=name, task="rte")["mean"] == score


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
    every, _ = build("cells", results, grid)
    assert set(every.loc[every["corpus"] == variant.corpus, "n_transfer"]) == {"12"}
    table, text = build("ablation", results, grid)
    names = list(table["variant"].unique())
    assert names.index(variant.title) == len(PAPER_VARIANTS)
    assert the(table, variant=variant.title, task="rte")["mean"] == 11
    assert the(table, variant=variant.title, task="rte")["corpus"] == variant.corpus
    assert the(table, variant="Transformer w/ aux LM (full)", task="rte")["mean"] == 81
    assert f"| {variant.title}" in text
    without = make_grid("rte", layers=LAYERS)
    assert variant.title not in set(build("ablation", results, without)[0]["variant"])

    for module in ("layer_transfer", "main", "contamination", "zero_shot", "pretraining"):
        with_control, text = build(module, results, grid)
        assert variant.name not in text
        plain, _ = build(module, results, without)
        pd.testing.assert_frame_equal(with_control, plain)


def test_layers_have_a_line_with_aux_off_where_they_are_run_so(run_of):
    results, grid = run_of("rte", without_aux=[0])
    table, _ = build("layer_transfer", results, grid)
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
    for module in ("main", "contamination"):
        table, text = build(module, results, grid)
        assert {*table["aux"].dropna()} == {"on"} and "w/o aux LM" not in text
        assert "aux off" not in text and table.loc[table["aux"] == "on", "mean"].notna().any()


def test_the_inventory_shows_the_mean_train_score_of_each_sweep(run_of, change):
    results, grid = run_of("rte", "mnli")
    for cell in grid.cells():
        of = grid.line(cell)
        if (of.arch, cell.task, of.aux) == ("lstm", "rte", "on"):
            change(results, cell, set_scores("train", "accuracy", [50, 60, 73]))
    _, text = build("cells", results, grid)
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
    table, text = build("ablation", results, grid)
    rte = the(table, variant="Transformer w/o pre-training", task="rte")
    assert rte["alarms"] == "below_bag_of_words:3/3;majority_rate:2/3"
    cola = the(table, variant="Transformer w/o pre-training", task="cola")
    assert cola["alarms"] == "below_bag_of_words:3/3"
    both = the(table, variant="Transformer w/o pre-training", task="avg_all")
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
    table, text = build("cells", results, grid)
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
    table, text = build("ablation", results, grid)
    titles = [FULL.title, "Transformer w/o pre-training", "Three layers"]
    assert list(table["variant"].unique()) == titles
    found = the(table, variant="Three layers", task="rte")
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
    frame, _ = build("cells", results, grid)
    of_table_5 = {point.of.name for point in grid.studies["ablation"].points}
    assert {*frame["line"]} == {cell.line for cell in grid.cells()} > of_table_5


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


def test_each_degree_has_the_score_of_its_own_rows_and_the_best_baseline_on_them(tmp_path):
    layers, seeds = {"transformer": ["none", 12]}, {"pretrain": [0, 1], "finetune": [0, 1]}
    grid = make_grid("rte", layers=layers, arch=("transformer",), seeds=seeds)
    write_all(tmp_path, grid)
    names = ("lexical",) * 4 + ("relational",) * 4 + ("compositional",) * 2
    write_degrees(tmp_path, [f"rte,dev,{row},{degree}" for row, degree in enumerate(names)])
    for cell in grid.cells():  # the full model knows every lexical row, one relational, no other
        known = 5 if grid.line(cell).n_transfer == 12 else 0
        said = [(row % 2, row % 2 if row < known else 1 - row % 2) for row in range(10)]
        rows = [
            (s, "dev", f"rte/dev/{i}", "", *pair) for s in (0, 1) for i, pair in enumerate(said)
        ]
        write_predictions(tmp_path, cell, rows)
    write_samples(tmp_path, grid)
    scores = {"bag_of_words": (90.0, 40.0), "class_orders": (70.0, 55.0), "majority": (50.0, 58.0)}
    by_split = {
        name: {"dev_lexical": {"accuracy": one}, "dev_compositional": {"accuracy": two}}
        for name, (one, two) in scores.items()
    }
    write_json(tmp_path / "baselines" / "rte.json", {"task": "rte", **by_split})
    table = report.build("degrees", tmp_path, grid)
    scores = table.frame.set_index(["variant", "task", "degree"])
    assert [scores.loc[(FULL.title, "rte", d), "mean"] for d in DEGREES] == [100.0, 25.0, 0.0]
    assert scores.loc[(FULL.title, "rte", "relational"), "rows"] == 4
    assert scores.loc[(NO_PRETRAINING.title, "avg_all", "lexical"), "mean"] == 0
    assert scores.loc[(FULL.title, "avg_all", "lexical"), "mean"] == 100
    assert "Scores by degree" in table.markdown and "nan" not in table.markdown
    best = scores["best_baseline"][FULL.title]
    assert best["rte", "lexical"] == best["avg_all", "lexical"] == 90
    assert best["rte", "compositional"] == 58  # the constant answer counts
    assert "| best baseline" in table.markdown
    listed = report.build("cells", tmp_path, grid).frame  # of whole splits alone
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
