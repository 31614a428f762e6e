"""Tables 2 to 4, zero-shot and pre-training recompute hand-made numbers."""

import json
import math

import pytest

from gpt1.cell import PretrainedModel
from tests.analysis.conftest import (
    build,
    table_of,
    write,
)
from tests.analysis.tables.test_tables import row, set_scores
from tests.support.lines import cell as cell_of
from workflow.analysis.paper import FULL, NUMBERS, OURS
from workflow.analysis.tables import (
    main,
    pretraining,
    zero_shot,
)


def test_main_calls_dev_dev_and_puts_published_numbers_by_the_test_split(finished, grid):
    table, text = table_of(main, finished, grid)
    heads = [line for line in text.splitlines() if line.startswith("| model")]
    for name in ("MNLI-m (dev)", "SNLI (test)", "RACE-h (test)", "RACE-h (dev)", "RTE (dev)"):
        assert sum(name in head for head in heads) == 1, name
    assert "STS-B (Pearson, dev)" in heads[2] and "STS-B (Spearman, dev)" in heads[3]
    ours = table[(table["source"] == "this run") & (table["aux"] == "on")]
    assert set(ours["n_transfer"]) == {"12"}
    assert row(ours, column="RACE-h", split="test_high")["paper"] == 57.4
    assert math.isnan(row(ours, column="RACE-h", split="dev_high")["paper"])
    assert row(ours, column="MNLI-mm")["paper"] == 81.4
    printed = table[table["source"] != "this run"]
    assert row(printed, variant=OURS, column="GLUE")["paper"] == 72.8
    assert set(printed["split"]) == {"test"} and printed["mean"].isna().all()
    assert "| *CAFE*" in text and "test server" in text


def test_zero_shot_is_normalised_between_random_and_best_of_the_config(run_of):
    ranges = {"sst2": {"random": 50, "best": 90}, "cola": {"random": 0, "best": 40}}
    changed = {"tasks": ["sst2", "cola"], "normalise": ranges}
    results, grid = run_of("cola", zero_shot=changed)
    for seed, scores in enumerate([{"sst2": 80, "cola": 5}, {"sst2": 70, "cola": 20}]):
        for name, score in scores.items():
            path = PretrainedModel("lstm", seed).zero_shot(results, name, 30)
            found = json.loads(path.read_text())
            found["by_scoring"]["heuristic"] = score
            path.write_text(json.dumps({**found, "score": score, "relative": 99}))
    table, text = build(zero_shot, results, grid)
    table = table[table["scoring"] == "heuristic"]
    at = table[(table["arch"] == "lstm") & (table["update"] == 30)].set_index("task")
    relative = at[["relative", "relative_low", "relative_high"]]
    assert list(relative.loc["sst2"]) == pytest.approx([0.625, 0.5, 0.75])
    assert list(relative.loc["cola"]) == pytest.approx([0.3125, 0.125, 0.5])
    # within each seed first: 0.4375 and 0.5
    assert list(relative.loc["mean"]) == pytest.approx([0.46875, 0.4375, 0.5])
    assert list(at["n_seeds"]) == [2, 2, 2] and at.loc["sst2", "sd"] == pytest.approx(50**0.5)
    assert "75.0 ± 7.1 (0.625)" in text and "SST-2 50 to 90" in text


def test_zero_shot_mean_that_lacks_a_task_is_missing(run_of):
    results, grid = run_of("cola")
    first, second = (PretrainedModel("transformer", seed) for seed in (0, 1))
    first.zero_shot(results, "dprd", 0).unlink()

    def at_0():
        table, text = build(zero_shot, results, grid)
        table = table[table["scoring"] == "heuristic"]
        at = table[(table["arch"] == "transformer") & (table["update"] == 0)]
        return at.set_index("task"), text

    at, text = at_0()  # the other seed has both
    assert list(at.loc[["mean", "dprd", "cola"], "n_seeds"]) == [1, 1, 2]
    assert at.loc["mean", "relative"] == at.loc["mean", "relative_low"]
    second.zero_shot(results, "dprd", 0).unlink()
    at, text = at_0()
    assert math.isnan(at.loc["mean", "relative"]) and at.loc["dprd", "n_seeds"] == 0
    assert not math.isnan(at.loc["cola", "relative"])
    assert text.count("missing") == 3  # the score, the mean, and the note that explains the word


def test_pretraining_gives_perplexity_and_tokens_of_every_checkpoint(run_of):
    results, grid = run_of("cola")
    for seed in (0, 1):
        PretrainedModel("lstm", seed).facts(results, 367).unlink()
    PretrainedModel("lstm", 1).facts(results, 30).unlink()
    table, text = build(pretraining, results, grid)
    first = table[(table["arch"] == "transformer") & (table["update"] == 0)].iloc[0]
    low, high = math.exp(7.2), math.exp(7.2 + 1 / 8)  # the two seeds
    assert list(first[["low", "mean", "high"]]) == pytest.approx([low, (low + high) / 2, high])
    assert first["sd"] == pytest.approx((high - low) / 2**0.5)
    assert first["n_seeds"] == 2 and first["train_tokens"] == 0
    made = table[table["n_seeds"] > 0]
    assert list(made["train_tokens"]) == list(2560 * made["update"])
    assert list(table.loc[table["n_seeds"] == 1, ["arch", "update"]].iloc[0]) == ["lstm", 30]
    assert list(table.loc[table["n_seeds"] == 0, ["arch", "update"]].iloc[0]) == ["lstm", 367]
    assert next(line for line in text.splitlines() if "| 367" in line).count("missing") == 2


def test_perplexities_that_the_first_update_leaves_as_they_are_have_a_note(run_of):
    results, grid = run_of("cola")
    grid = grid.model_copy(update={"updates": [0, 1, 30]})
    for model in grid.models():
        facts = json.loads(model.facts(results, 0).read_text())
        write(model.facts(results, 1), {**facts, "update": 1})
    assert "Update 1 changes nothing" in pretraining.build(results, grid).markdown
    write(model.facts(results, 1), {**facts, "update": 1, "heldout_perplexity": 7.5})
    assert "Update 1 changes nothing" not in pretraining.build(results, grid).markdown


def test_tables_2_to_4_put_every_model_and_split_where_the_paper_has_it(run_of, change):
    results, grid = run_of("mnli", "race", "rte")
    wanted = {
        ("MNLI-m", "dev_matched", "on"): 41.0,
        ("MNLI-mm", "dev_mismatched", "on"): 42.0,
        ("RACE-m", "test_middle", "on"): 43.0,
        ("RACE-h", "test_high", "on"): 44.0,
        ("RACE", "test", "on"): 45.0,
        ("RTE", "dev", "on"): 71.25,
        ("RTE", "dev", "off"): 62.5,
    }
    names = {"MNLI-m": "mnli", "MNLI-mm": "mnli", "RTE": "rte"}
    for (column, split, aux), value in wanted.items():
        cell = cell_of("transformer", names.get(column, "race"), aux, 12)
        change(results, cell, set_scores(split, "accuracy", [value] * 3))
    table, text = build(main, results, grid)
    ours = table[table["source"] == "this run"]
    found = ours.set_index(["column", "split", "aux"])["mean"].to_dict()
    assert {place: found.get(place) for place in wanted} == wanted
    titles = {aux: mine["variant"].unique().tolist() for aux, mine in ours.groupby("aux")}
    model = "Finetuned Transformer LM"
    assert titles == {"on": [f"{model} (this run)"], "off": [f"{model} w/o aux LM (this run)"]}
    for value, title in ((71.2, titles["on"][0]), (62.5, titles["off"][0])):
        assert str(value) in next(line for line in text.splitlines() if f"| {title} " in line)
    metrics = table[(table["table"] == "Table 4") & (table["column"] != "GLUE")]
    ends = {"acc": "accuracy", "f1": "f1", "mcc": "matthews", "pearson": "pearson"}
    assert list(metrics["metric"]) == [ends[name.rpartition("_")[2]] for name in metrics["column"]]
    assert set(table.loc[table["table"].isin(["Table 2", "Table 3"]), "metric"]) == {"accuracy"}


def test_baselines_stand_under_their_own_names(run_of, change):
    results, grid = run_of("rte")

    def edit(cell: dict) -> None:
        cell["baselines"]["majority"]["dev"]["accuracy"] = 51.5
        cell["baselines"]["bag_of_words"]["dev"]["accuracy"] = 59.5

    for aux in ("on", "off"):
        change(results, cell_of("transformer", "rte", aux, 12), edit)
    lines = build(main, results, grid)[1].splitlines()
    constant = next(line for line in lines if line.startswith("| constant answer, best on tr"))
    bag = next(line for line in lines if line.startswith("| bag of words "))
    assert "51.5" in constant and "59.5" in bag and "59.5" not in constant


def test_the_full_model_of_table_5_has_the_scores_of_tables_2_to_4():
    ours = NUMBERS[NUMBERS["method"] == OURS].groupby("task")["value"].mean()
    whole = NUMBERS[(NUMBERS["method"] == FULL.title) & (NUMBERS["task"] != "avg")]
    for task, value in whole[["task", "value"]].itertuples(index=False):
        assert value == pytest.approx(ours[task], abs=0.051), task
