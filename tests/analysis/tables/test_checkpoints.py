"""The tables along pre-training recompute hand-made numbers."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from gpt1.cell import PretrainedModel
from tasks import task
from tasks.common.errors import InputError
from tests.analysis.conftest import build, make_grid, skill_score, write
from workflow.analysis import report
from workflow.analysis.stats.estimates import half_width
from workflow.analysis.stats.scores import Component
from workflow.analysis.table import read_csv
from workflow.analysis.tables import checkpoints, cloze

UPDATES = [0, 10, 100, 1000]
TRANSFORMER = PretrainedModel("transformer", 0)


@pytest.fixture
def grid():
    """Two transformers, an LSTM of two seeds, and one transformer on shuffled books."""
    seeds = {"pretrain": [0, 3], "finetune": [0, 1]}
    return make_grid(seeds=seeds, controls=("shuffled",), of_controls=(0,), updates=UPDATES)


def write_mood(results, model, corpus="books", tokens=512):
    """A model's scores on 200 items of the skill `mood` at each update."""
    for update, correct in zip(UPDATES, (100, 118, 101, 190), strict=True):
        value = {"arch": model.arch, "corpus": corpus, "seed": model.seed, "update": update}
        value |= {"skills": {"mood": skill_score(correct, 200, 2)}, "digests": {}}
        write(model.cloze(results, update), value | {"tokens": tokens and tokens * update})


def lines(markdown, heading):
    """The rows of the Markdown table below a heading, cells by column."""
    block = markdown.partition(f"## {heading}")[2].partition("\n\n")[2].partition("\n\n")[0]
    split = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.split("\n")]
    return [dict(zip(split[0], row, strict=True)) for row in split[2:]]


def test_a_skill_shows_from_the_first_of_the_checkpoints_that_stay_above_chance():
    points = pd.DataFrame({"update": UPDATES, "chance": 50.0, "ci_low": [51.0, 40, 52, 53]})
    assert cloze.above_chance_from(points)["update"] == 100
    assert cloze.above_chance_from(points[::-1])["update"] == 100
    assert cloze.above_chance_from(points.assign(ci_low=[51.0, 52, 53, 50])) is None


def test_what_was_not_scored_is_empty_and_missing(grid, tmp_path):
    for model, corpus in grid.all_models().items():
        write_mood(tmp_path, model, corpus)
    TRANSFORMER.cloze(tmp_path, 1000).unlink()
    table = report.build("cloze", tmp_path, grid)
    gone = table.frame[table.frame["accuracy"].isna()]
    assert gone[["skill", *cloze.MODEL, "update"]].values.tolist() == [
        ["mood", "transformer", "books", 0, 1000]
    ]
    for heading in ("Accuracy at the last", "Tokens of pre-training"):
        (row,) = lines(table.markdown, heading)
        assert row["transformer, seed 0"] == "missing" != row["transformer, seed 3"]


def test_with_nothing_scored_there_is_a_table_without_rows(grid, tmp_path):
    table = report.build("cloze", tmp_path, grid)
    table.write(tmp_path / "cloze.csv")
    assert "missing" in table.markdown
    assert list(read_csv(tmp_path / "cloze.csv").columns) and table.frame.empty


def test_published_weights_have_no_number_of_tokens(tmp_path):
    given = {"seeds": {"pretrain": [0]}, "updates": [1000]}
    grid = make_grid(arch=("transformer",), has_corpus=False, **given)
    write_mood(tmp_path, TRANSFORMER, tokens=None)
    markdown = report.build("cloze", tmp_path, grid).markdown
    (row,) = lines(markdown, "Tokens of pre-training")
    assert row == {"skill": "mood", "transformer": "unknown"}


def test_zero_shot_mean_that_lacks_a_task_is_missing(run_of):
    results, grid = run_of("cola")
    first, second = (PretrainedModel("transformer", seed) for seed in (0, 1))
    first.zero_shot(results, "dprd", 0).unlink()

    def at_0():
        table, text = build("zero_shot", results, grid)
        table = table[table["scoring"] == "heuristic"]
        at = table[(table["arch"] == "transformer") & (table["update"] == 0)]
        return at.set_index("task"), text

    at, text = at_0()  # the other seed has both
    assert list(at.loc[["mean", "dprd", "cola"], "n_seeds"]) == [1, 1, 2]
    assert at.loc["mean", "relative_low"] < at.loc["mean", "relative"]
    second.zero_shot(results, "dprd", 0).unlink()
    at, text = at_0()
    assert math.isnan(at.loc["mean", "relative"]) and at.loc["dprd", "n_seeds"] == 0
    assert not math.isnan(at.loc["cola", "relative"])
    assert text.count("missing") == 3  # the score, the mean, and the note that explains the word


def test_the_interval_of_a_relative_score_is_over_rows_and_models(run_of):
    results, grid = run_of("cola")

    def at_the_end():
        table, _ = build("zero_shot", results, grid)
        table = table[(table["arch"] == "transformer") & (table["update"] == 3000)]
        return table[table["scoring"] == "heuristic"].set_index("task")

    two = at_the_end()
    PretrainedModel("transformer", 1).zero_shot(results, "sst2", 3000).unlink()
    one = at_the_end().loc["sst2"]
    share = one["mean"] / 100  # of 120 rows right; from 50 to 93.2 points
    error = 100 * math.sqrt(share * (1 - share) / 120) / 43.2
    for end in ("relative_low", "relative_high"):
        assert abs(one[end] - one["relative"]) == pytest.approx(1.96 * error, rel=0.08)
    first, second = two.loc["sst2", "relative_by_seed"]
    parts = [Component((first - second) ** 2 / 4, 1), Component(error**2 / 2, 119)]
    below = two.loc["sst2", "relative"] - two.loc["sst2", "relative_low"]
    assert below == pytest.approx(half_width(parts, 0.95), rel=0.1)
    ends = two.loc["mean", ["relative_low", "relative_high"]]
    assert ends.iloc[0] < two.loc["mean", "relative"] < ends.iloc[1]
    assert one["margin"] == pytest.approx(share - 0.5 * (1 - share))
    assert one["relative_by_seed"] == (first,)


def test_rows_that_do_not_give_the_score_beside_them_are_refused(run_of):
    results, grid = run_of("cola")
    path = TRANSFORMER.zero_shot_rows(results, "sst2")
    rows = pd.read_parquet(path)
    at = (rows["update"] == 3000) & (rows["scoring"] == "prompt")
    rows[at].assign(prediction=rows["label"]).to_parquet(path)
    with pytest.raises(InputError, match="seed-0/rows.parquet: not the rows of update 0's score"):
        report.build("zero_shot", results, grid)
    path.write_bytes(b"no Parquet")
    with pytest.raises(InputError, match="seed-0/rows.parquet: no rows of scores"):
        report.build("zero_shot", results, grid)


def test_rounding_in_constant_predictions_of_a_correlation_is_no_score():
    said = 2.5 + 1e-9 * np.arange(40)
    rows = {"guid": [f"stsb/dev/{i}" for i in range(40)], "label": np.arange(40) % 6}
    score = checkpoints._score([pd.DataFrame(rows | {"prediction": said})], [0], task("stsb"))
    assert score.values.tolist() == [0.0]


def test_a_checkpoint_that_one_seed_or_none_has_made_says_so(run_of):
    results, grid = run_of("cola")
    for seed in (0, 1):
        PretrainedModel("lstm", seed).facts(results, 367).unlink()
    PretrainedModel("lstm", 1).facts(results, 30).unlink()
    table, text = build("pretraining", results, grid)
    assert list(table.loc[table["n_seeds"] == 1, ["arch", "update"]].iloc[0]) == ["lstm", 30]
    assert list(table.loc[table["n_seeds"] == 0, ["arch", "update"]].iloc[0]) == ["lstm", 367]
    assert next(line for line in text.splitlines() if "| 367" in line).count("missing") == 3


def test_perplexities_that_the_first_update_leaves_as_they_are_have_a_note(run_of):
    results, grid = run_of("cola")
    grid = grid.model_copy(update={"updates": [0, 1, 30]})
    for model in grid.models():
        facts = json.loads(model.facts(results, 0).read_text())
        write(model.facts(results, 1), {**facts, "update": 1})
    assert "Update 1 changes nothing" in report.build("pretraining", results, grid).markdown
    write(model.facts(results, 1), {**facts, "update": 1, "heldout_perplexity": 7.5})
    assert "Update 1 changes nothing" not in report.build("pretraining", results, grid).markdown
