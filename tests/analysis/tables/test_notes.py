"""Every table says beside the number where the rows are not all of the published ones."""

from pathlib import Path

import pytest

from tests.analysis.conftest import LAYERS, build, make_grid, write_examples
from workflow.analysis.rows import Notes, single_control

RTE = "train: 300 of 2,490 rows"
SNLI = "trained on dev; dev: 800 of 9,842 rows"
TABLES = ["cells", "main", "ablation", "layer_transfer"]


def note(results: Path, **notes: str) -> None:
    for name, text in notes.items():
        write_examples(results, name, note=text)


@pytest.mark.parametrize("module", TABLES)
def test_a_task_with_fewer_rows_has_a_dagger_and_its_numbers_below_the_table(module, run_of):
    results, grid = run_of("rte", "snli", "cola")
    note(results, rte=RTE, snli=SNLI)
    table, text = build(module, results, grid)
    below = f"† not all of the published rows. RTE: {RTE}. SNLI: {SNLI}."
    assert below in text.split("\n\n")
    shown = [line for line in text.splitlines() if line.startswith("|")]
    assert any("RTE†" in line for line in shown) and any("SNLI†" in line for line in shown)
    assert "CoLA†" not in text
    ours = table[table["note"].notna()]
    assert set(ours.loc[ours["task"] == "rte", "note"]) == {RTE}
    assert set(ours.loc[ours["task"] == "cola", "note"]) == {""}


def test_tasks_with_the_same_note_share_a_sentence():
    notes = Notes({"rte": "made", "snli": RTE, "cola": "made"})
    assert notes.footnote() == [f"† not all of the published rows. RTE, CoLA: made. SNLI: {RTE}."]
    assert Notes({"rte": "", "cola": ""}).footnote() == []


def test_an_average_names_the_tasks_that_lack_rows(run_of):
    results, grid = run_of("rte", "snli", "cola")
    note(results, rte=RTE, snli=SNLI)
    table, _ = build("ablation", results, grid)
    assert set(table.loc[table["task"] == "avg", "note"]) == {f"rte ({RTE})"}
    assert set(table.loc[table["task"] == "avg_all", "note"]) == {f"rte ({RTE}); snli ({SNLI})"}
    table, _ = build("layer_transfer", results, grid)
    assert set(table.loc[table["task"] == "mean", "note"]) == {f"rte ({RTE}); snli ({SNLI})"}


def test_zero_shot_tells_how_many_rows_were_scored(run_of):
    results, grid = run_of("cola")
    note(results, cola="dev: 400 of 1,043 rows")
    table, text = build("zero_shot", results, grid)
    scored = {name: set(table.loc[table["task"] == name, "note"]) for name in ("cola", "dprd")}
    # The made run scores 1,000 rows; DPRD's test has 564.
    assert scored == {"cola": {"dev: 400 of 1,043 rows; scored on 1,000 rows"}, "dprd": {""}}
    assert "CoLA† (Matthews)" in text and "RACE† (accuracy)" in text
    assert "RACE, SNLI, QQP: scored on 1,000 rows." in text


@pytest.mark.parametrize(
    ("finetune", "control", "others"),
    [
        ([0, 1], [0], "2"),
        ([0, 1, 2], [0], "3"),
        ([0, 1, 2], [0, 1], ""),
        ([0, 1], None, ""),
        ([0], [0], ""),  # no cell starts from the others
    ],
)
def test_a_single_control_is_told_beside_several_models(finetune, control, others):
    seeds = {"pretrain": [0, 1, 2][: max(2, len(finetune))], "finetune": finetune}
    own = {"of_controls": control and tuple(control), "seeds": seeds}
    grid = make_grid("rte", controls=("shuffled",), **own)
    told = single_control(grid)
    assert len(told) == bool(others)
    assert not others or f"compared with {others}:" in told[0]
    assert single_control(make_grid("rte", seeds=seeds)) == []


@pytest.mark.parametrize("module", ["ablation", "claims"])
def test_tables_that_compare_with_the_control_tell_how_many_seeds_it_has(module, run_of):
    results, _ = run_of("rte", "snli", controls=("shuffled",))
    one, two = (
        make_grid("rte", "snli", layers=LAYERS, controls=("shuffled",), of_controls=seeds)
        for seeds in ((0,), (0, 1))
    )
    (line,) = single_control(one)
    for grid, is_told in ((one, True), (two, False)):
        _, text = build(module, results, grid)
        assert (line in text.split("\n\n")) == is_told
