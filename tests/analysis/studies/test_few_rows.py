"""A study over shares of the training rows: the bag of words beside it has the same rows."""

import matplotlib
import numpy as np
import pytest

from gpt1.streams import drawn_rows
from tasks import baselines, task
from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json
from tasks.examples import read
from tests.analysis.studies.test_study_tables import GRID, like, made, mean_of, named, study
from tests.gpt1.examples import write_examples
from workflow.analysis.figures import lines, style
from workflow.analysis.studies import few_rows, table

SHARES = "0.125", "0.5", "1"
SEEDS = tuple(GRID.seeds.finetune)


@pytest.fixture
def results(tmp_path):
    """A run of a study over SHARES of sixteen rows, whose telling word is another in each pair."""
    rng = np.random.default_rng(0)
    words = ["dull", "fine"]

    def rows(n):
        labels = [i % 2 for i in range(n)]
        return [{"first": f"{words[k]}{rng.integers(8)} film", "label": k} for k in labels]

    made(tmp_path, study("lm_coef", ("full", "other"), SHARES, tasks=["sst2"]))  # the same cells
    write_examples(tmp_path / "examples/sst2", "sst2", {"train": rows(16), "dev": rows(40)})
    facts = tmp_path / "examples/sst2.json"
    write_json(facts, read_json(facts) | {"rows": {"train": 16, "dev": 40}})
    few_rows.bag_of_words.cache_clear()
    return tmp_path


def alone(folder, share, seed) -> float:
    """The score of a bag of words on the rows of a seed."""
    train, dev = (read(folder, split) for split in ("train", "dev"))
    few = [train[i] for i in drawn_rows(len(train), share, seed)]
    found = baselines.bag_of_words(task("sst2"), few, dev)
    return 100 * float(np.mean(found == [row.label for row in dev]))


def test_it_is_fitted_to_the_rows_of_each_seed_and_the_scores_are_averaged(results):
    frame = table.build(
        results, GRID, study("train_share", ("full", "other"), SHARES, tasks=["sst2"])
    )
    for line in ("full", "other"):
        for value in SHARES[:2]:
            each = [alone(results / "examples/sst2", float(value), seed) for seed in SEEDS]
            own = mean_of(frame.frame, line, value, "sst2")["bag_of_words"]
            assert own == pytest.approx(np.mean(each))
    scores = [mean_of(frame.frame, "full", value, "sst2")["bag_of_words"] for value in SHARES]
    assert scores[2] == 57  # that of the cell, which has all rows
    assert len({*scores}) == 3
    text = frame.markdown.partition("##")[0]
    lines = [line.split("|")[1:4:2] for line in text.splitlines() if "bag of words" in line]
    assert [[cell.strip() for cell in line] for line in lines] == [
        [f"bag of words, train_share {value}", f"{score:.1f}"]
        for value, score in zip(SHARES, scores, strict=True)
    ]


def test_the_figure_draws_it_along_the_shares(results):
    plan = study("train_share", ("full", "other"), SHARES, tasks=["sst2"])
    frame = table.build(results, GRID, plan).frame
    with matplotlib.rc_context(fname=style.STYLE):
        picture = lines.draw(frame, plan)
    (curve,) = like(picture.axes[0], named(picture)["bag of words"])
    assert list(curve.get_xdata()) == [0, 1, 2]
    ticks = [tick.get_text() for tick in picture.axes[0].get_xticklabels()]
    assert ticks == ["2", "8", "16"] and picture.get_supxlabel() == "training rows"
    scores = [mean_of(frame, "full", value, "sst2")["bag_of_words"] for value in SHARES]
    assert list(curve.get_ydata()) == scores


def test_rows_that_are_not_those_of_the_run_are_refused(results):
    write_examples(results / "other", "sst2", {"train": [{"first": "fine film", "label": 1}]})
    (results / "examples/sst2.json").write_text((results / "other.json").read_text())
    few_rows.bag_of_words.cache_clear()
    with pytest.raises(InputError, match="prepare sst2 again"):
        few_rows.bag_of_words(results / "examples/sst2", "sst2", 0.5, SEEDS)


def test_other_studies_read_no_rows():
    assert few_rows.shares(study("lm_coef", values=("0.5", "1"))) == {}
