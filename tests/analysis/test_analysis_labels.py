"""A number stands under the name of what it is of: models, splits, baselines, n-grams, texts."""

import re

import pytest

from gpt1.cell import Cell
from tests.analysis.conftest import build
from workflow.analysis.paper import NUMBERS, OURS
from workflow.analysis.stats.samples import shared_texts
from workflow.analysis.tables import main


def score(split: str, value: float, metric: str = "accuracy"):
    """Gives every seed of a cell this score on a split."""

    def edit(cell: dict) -> None:
        for run in cell["seeds"]:
            run["scores"][split][metric] = value

    return edit


def line(text: str, start: str) -> str:
    """The first line of a Markdown table whose first cell is `start`."""
    cells = re.compile(rf"\| {re.escape(start)} +\|")
    return next(one for one in text.splitlines() if cells.match(one))


def test_tables_2_to_4_name_the_model_with_and_without_the_auxiliary_loss(run_of, change):
    results, grid = run_of("rte")
    for aux, value in (("on", 71.25), ("off", 62.5)):
        change(results, Cell("transformer", "rte", aux, 12), score("dev", value))
    table, text = build(main, results, grid)
    ours = table[(table["source"] == "this run") & (table["column"] == "RTE")]
    assert ours.set_index("variant")["mean"].to_dict() == {
        "Finetuned Transformer LM (this run)": 71.25,
        "Finetuned Transformer LM w/o aux LM (this run)": 62.5,
    }
    assert "71.2" in line(text, "Finetuned Transformer LM (this run)")
    assert "62.5" in line(text, "Finetuned Transformer LM w/o aux LM (this run)")


def test_tables_2_and_3_put_every_split_under_the_papers_column(run_of, change):
    results, grid = run_of("mnli", "race")
    wanted = {
        ("MNLI-m", "dev_matched"): 41.0,
        ("MNLI-mm", "dev_mismatched"): 42.0,
        ("RACE-m", "test_middle"): 43.0,
        ("RACE-h", "test_high"): 44.0,
        ("RACE", "test"): 45.0,
    }
    for (column, split), value in wanted.items():
        name = "mnli" if column.startswith("MNLI") else "race"
        change(results, Cell("transformer", name, "on", 12), score(split, value))
    table, _ = build(main, results, grid)
    ours = table[(table["source"] == "this run") & (table["aux"] == "on")]
    found = ours.set_index(["column", "split"])["mean"].to_dict()
    assert {place: found.get(place) for place in wanted} == wanted


def test_baselines_stand_under_their_own_names(run_of, change):
    results, grid = run_of("rte")

    def edit(cell: dict) -> None:
        cell["baselines"]["majority"]["dev"]["accuracy"] = 51.5
        cell["baselines"]["bag_of_words"]["dev"]["accuracy"] = 59.5

    for aux in ("on", "off"):
        change(results, Cell("transformer", "rte", aux, 12), edit)
    _, text = build(main, results, grid)
    constant = line(text, "constant answer, best on training rows")
    bag = line(text, "bag of words")
    assert "51.5" in constant and "59.5" in bag and "59.5" not in constant


@pytest.mark.parametrize(
    ("name", "guids", "texts"),
    [
        ("race", ["race/dev/high/1/0", "race/dev/high/1/1", "race/dev/high/2/0"], [0, 0, 1]),
        ("rte", ["rte/dev/0", "rte/dev/1", "rte/dev/2"], [0, 1, 2]),
    ],
)
def test_questions_about_one_article_are_drawn_together(name, guids, texts):
    assert shared_texts(name, guids).tolist() == texts


def test_every_column_of_table_4_is_in_the_metric_that_its_name_ends_in(run_of):
    table, _ = build(main, *run_of("rte"))
    found = table[(table["table"] == "Table 4") & (table["column"] != "GLUE")]
    ends = {"acc": "accuracy", "f1": "f1", "mcc": "matthews", "pearson": "pearson"}
    assert list(found["metric"]) == [ends[name.rpartition("_")[2]] for name in found["column"]]
    others = table[table["table"].isin(["Table 2", "Table 3"])]
    assert set(others["metric"]) == {"accuracy"}


def test_the_full_model_of_table_5_has_the_scores_of_tables_2_to_4():
    ours = NUMBERS[NUMBERS["method"] == OURS].set_index("column")["value"].to_dict()
    full = NUMBERS[NUMBERS["method"] == "Transformer w/ aux LM (full)"]
    again = full.set_index("column")["value"].drop("Avg")
    mnli = (ours["MNLI-m"] + ours["MNLI-mm"]) / 2
    for column, value in again.items():
        printed = ours.get(column, ours.get(column.removesuffix("_acc"), mnli))
        assert value == pytest.approx(printed, abs=0.051), column
