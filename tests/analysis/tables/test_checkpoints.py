"""The tables along pre-training recompute hand-made numbers."""

import json
import math

import pandas as pd
import pytest

from gpt1.cell import PretrainedModel
from tests.analysis.conftest import build, make_grid, skill_score, write
from workflow.analysis import report
from workflow.analysis.table import read_csv
from workflow.analysis.tables import checkpoints

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
    table = report.build("cloze", results, grid).frame
    assert list(table.columns) == checkpoints.CLOZE
    assert (
        len(table) == 5 * 4 and not table.duplicated(["skill", *checkpoints.MODEL, "update"]).any()
    )
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
    markdown = report.build("cloze", results, grid).markdown
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
    assert checkpoints.above_chance_from(points)["update"] == 100
    assert checkpoints.above_chance_from(points[::-1])["update"] == 100
    assert checkpoints.above_chance_from(points.assign(ci_low=[51.0, 52, 53, 50])) is None


def test_what_was_not_scored_is_empty_and_missing(results, grid):
    TRANSFORMER.cloze(results, 1000).unlink()
    table = report.build("cloze", results, grid)
    gone = table.frame[table.frame["accuracy"].isna()]
    assert gone[["skill", *checkpoints.MODEL, "update"]].values.tolist() == [
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
    write_correct(tmp_path, TRANSFORMER, [100, 118, 101, 190], tokens=False)
    markdown = report.build("cloze", tmp_path, grid).markdown
    (row,) = lines(markdown, "Tokens of pre-training")
    assert row == {"skill": "mood", "transformer": "unknown"}


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
    table, text = build("zero_shot", results, grid)
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
        table, text = build("zero_shot", results, grid)
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
    table, text = build("pretraining", results, grid)
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
    assert "Update 1 changes nothing" in report.build("pretraining", results, grid).markdown
    write(model.facts(results, 1), {**facts, "update": 1, "heldout_perplexity": 7.5})
    assert "Update 1 changes nothing" not in report.build("pretraining", results, grid).markdown
