"""Every table says beside the number where the rows are not all of the published ones."""

import json
from pathlib import Path

import pytest

from tasks.common.errors import InputError
from workflow.analysis import ablation, cells, layer_transfer, main, subsets, zero_shot

RTE = "train: 300 of 2,490 rows"
SNLI = "trained on dev; dev: 800 of 9,842 rows"
TABLES = [cells, main, ablation, layer_transfer]


def note(results: Path, **notes: str) -> None:
    for name, text in notes.items():
        (results / "examples" / f"{name}.json").write_text(json.dumps({"note": text}))


@pytest.mark.parametrize("module", TABLES)
def test_a_task_with_fewer_rows_has_a_dagger_and_its_numbers_below_the_table(module, run_of):
    results, settings = run_of("rte", "snli", "cola")
    note(results, rte=RTE, snli=SNLI)
    table, text = module.build(results, settings)
    below = f"† not all of the published rows. RTE: {RTE}. SNLI: {SNLI}."
    assert below in text.split("\n\n")
    shown = [line for line in text.splitlines() if line.startswith("|")]
    assert any("RTE†" in line for line in shown) and any("SNLI†" in line for line in shown)
    assert "CoLA†" not in text
    ours = table[table["note"].notna()]
    assert set(ours.loc[ours["task"] == "rte", "note"]) == {RTE}
    assert set(ours.loc[ours["task"] == "cola", "note"]) == {""}


@pytest.mark.parametrize("module", TABLES)
def test_with_all_published_rows_nothing_is_said(module, run_of):
    results, settings = run_of("rte", "cola")
    table, text = module.build(results, settings)
    assert "†" not in text and "published rows" not in text
    assert set(table["note"].dropna()) == {""}


@pytest.mark.parametrize("module", TABLES)
def test_made_data_is_told_once_for_all_tasks(module, run_of):
    results, settings = run_of("rte", "cola")
    made = "made data, not the published set"
    note(results, rte=made, cola=made)
    table, text = module.build(results, settings)
    assert f"Rows of every task: {made}." in text.split("\n\n") and "†" not in text
    assert made in set(table["note"])


def test_an_average_names_the_tasks_that_lack_rows(run_of):
    results, settings = run_of("rte", "snli", "cola")
    note(results, rte=RTE, snli=SNLI)
    table, _ = ablation.build(results, settings)
    assert set(table.loc[table["task"] == "avg", "note"]) == {f"rte ({RTE})"}
    assert set(table.loc[table["task"] == "avg_all", "note"]) == {f"rte ({RTE}); snli ({SNLI})"}
    table, _ = layer_transfer.build(results, settings)
    assert set(table.loc[table["task"] == "mean", "note"]) == {f"rte ({RTE}); snli ({SNLI})"}


def test_zero_shot_tells_how_many_rows_were_scored(run_of):
    results, settings = run_of("cola")
    note(results, cola="dev: 400 of 1,043 rows")
    table, text = zero_shot.build(results, settings)
    scored = {name: set(table.loc[table["task"] == name, "note"]) for name in ("cola", "dprd")}
    # The made run scores 1,000 rows; DPRD's test has 564.
    assert scored == {"cola": {"dev: 400 of 1,043 rows; scored on 1,000 rows"}, "dprd": {""}}
    assert "CoLA† (Matthews)" in text and "RACE† (accuracy)" in text
    assert "RACE: scored on 1,000 rows." in text


def test_a_damaged_note_is_told(run_of):
    results, _ = run_of("rte")
    (results / "examples" / "rte.json").write_text('{"note": 3}')
    with pytest.raises(InputError, match="'note' is 3, not a text"):
        subsets.notes(results, ["rte"])
    (results / "examples" / "rte.json").write_text("{}")
    with pytest.raises(InputError, match="'note' is missing"):
        subsets.notes(results, ["rte"])
