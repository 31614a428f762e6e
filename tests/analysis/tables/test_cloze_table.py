"""The table and the figure of the cloze items, from hand-made scores."""

import pandas as pd
import pytest

from gpt1.cell import PretrainedModel
from tests.analysis.conftest import make_grid, skill_score, write
from workflow.analysis.table import read_csv
from workflow.analysis.tables import cloze

UPDATES = [0, 10, 100, 1000]
TRANSFORMER = PretrainedModel("transformer", 0)


@pytest.fixture
def grid():
    """Two transformers, an LSTM of two seeds, and one transformer on shuffled books."""
    seeds = {"pretrain": [0, 3], "finetune": [0, 1]}
    return make_grid(seeds=seeds, controls=("shuffled",), of_controls=(0,), updates=UPDATES)


def write_correct(results, model, correct, tokens=True, n=200, choices=2, corpus="books"):
    """A model's scores on the skill `mood`: of `n` items `correct` ones at each update."""
    for update, number in zip(UPDATES, correct, strict=True):
        skills = {"mood": skill_score(number, n, choices)}
        value = {"arch": model.arch, "corpus": corpus, "seed": model.seed, "update": update}
        value |= {"skills": skills, "digests": {}}
        value["tokens"] = update * 512 if tokens else None
        write(model.cloze(results, update), value)


@pytest.fixture
def results(grid, tmp_path):
    for model in grid.models():
        write_correct(tmp_path, model, [100, 118, 101, 190 if model.seed else 180])
    write_correct(tmp_path, [*grid.all_models()][-1], [99, 100, 118, 101], corpus="shuffled")
    return tmp_path


def lines(markdown, heading):
    """The rows of the Markdown table below a heading, cells by column."""
    block = markdown.partition(f"## {heading}")[2].partition("\n\n")[2].partition("\n\n")[0]
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.split("\n")]
    return [dict(zip(split[0], row, strict=True)) for row in split[2:]]


def test_a_row_for_each_skill_model_and_checkpoint(results, grid):
    table = cloze.build(results, grid).frame
    assert list(table.columns) == cloze.COLUMNS
    assert len(table) == 5 * 4 and not table.duplicated(["skill", *cloze.POINT]).any()
    row = table[(table["arch"] == "lstm") & (table["seed"] == 3) & (table["update"] == 1000)]
    assert row[["corpus", "tokens", "n", "chance", "accuracy"]].values.tolist() == [
        ["books", 512_000, 200, 50.0, 95.0]
    ]
    # Wilson's interval by its formula, for 190 of 200
    z, p, n = 1.959964, 0.95, 200
    half = z * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    low, high = ((p + z**2 / (2 * n) + sign * half) / (1 + z**2 / n) for sign in (-1, 1))
    assert row["ci_low"].item() == pytest.approx(100 * low, abs=1e-3)
    assert row["ci_high"].item() == pytest.approx(100 * high, abs=1e-3)


def test_markdown_shows_the_last_checkpoint_and_when_each_skill_came(results, grid):
    markdown = cloze.build(results, grid).markdown
    (row,) = lines(markdown, "Accuracy at the last checkpoint (update 1000)")
    assert row == {
        **{"skill": "mood", "items": "200", "chance": "50.0"},
        **{"transformer, seed 0": "90.0 (85.1–93.4)", "transformer, seed 3": "95.0 (91.0–97.3)"},
        **{"lstm, seed 0": "90.0 (85.1–93.4)", "lstm, seed 3": "95.0 (91.0–97.3)"},
        "transformer, shuffled words": "50.5 (43.6–57.4)",
    }
    (row,) = lines(markdown, "Tokens of pre-training until the skill shows")
    assert row["transformer, seed 0"] == "512,000"  # 118 of 200 were right at update 10, by luck
    assert row["transformer, shuffled words"] == "–"
    assert "shuffled." in markdown


def test_a_skill_shows_from_the_first_of_the_checkpoints_that_stay_above_chance():
    points = pd.DataFrame({"update": UPDATES, "chance": 50.0, "ci_low": [51.0, 40, 52, 53]})
    assert cloze.above_chance_from(points)["update"] == 100
    assert cloze.above_chance_from(points[::-1])["update"] == 100
    assert cloze.above_chance_from(points.assign(ci_low=[51.0, 52, 53, 50])) is None


def test_what_was_not_scored_is_empty_and_missing(results, grid):
    TRANSFORMER.cloze(results, 1000).unlink()
    table = cloze.build(results, grid)
    gone = table.frame[table.frame["accuracy"].isna()]
    assert gone[["skill", *cloze.POINT]].values.tolist() == [
        ["mood", "transformer", "books", 0, 1000]
    ]
    for heading in ("Accuracy at the last", "Tokens of pre-training"):
        (row,) = lines(table.markdown, heading)
        assert row["transformer, seed 0"] == "missing" != row["transformer, seed 3"]


def test_with_nothing_scored_there_is_a_table_without_rows(grid, tmp_path):
    table = cloze.build(tmp_path, grid)
    table.write(tmp_path / "cloze.csv")
    assert "missing" in table.markdown
    assert list(read_csv(tmp_path / "cloze.csv").columns) and table.frame.empty


def test_published_weights_have_no_number_of_tokens(tmp_path):
    given = {"seeds": {"pretrain": [0]}, "updates": [1000]}
    grid = make_grid(arch=("transformer",), has_corpus=False, **given)
    write_correct(tmp_path, TRANSFORMER, [100, 118, 101, 190], tokens=False)
    markdown = cloze.build(tmp_path, grid).markdown
    (row,) = lines(markdown, "Tokens of pre-training")
    assert row == {"skill": "mood", "transformer": "unknown"}
