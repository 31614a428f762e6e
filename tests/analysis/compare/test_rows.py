"""Data frames compared: rows agree with SciPy, and faults are one line."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import f1_score

import gpt1
from tasks.common.errors import InputError
from workflow.analysis import compare
from workflow.analysis.stats.estimates import Estimate
from workflow.analysis.stats.scores import Score

N = 300
RNG = np.random.default_rng(0)
HARD, LABELS = RNG.normal(size=N), RNG.integers(0, 2, N)


def rows(right, labels=LABELS, **columns):
    """A seed's predictions, right in some rows."""
    said = np.where(right, labels, 1 - labels)
    frame = {"row": np.arange(len(labels)), "label": labels, "prediction": said}
    return pd.DataFrame(frame | columns)


A, B = (rows(skill + HARD + RNG.normal(size=N) > 0) for skill in (0.2, 0.5))


def test_a_comparison_is_written_to_a_path_given_as_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gpt1.compare(A, B).write("x.csv")
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".md", ".png", ".svg", ".pdf"}


def test_of_one_seed_it_is_the_paired_test_over_rows():
    found = gpt1.compare(A, B).frame.iloc[0]
    hits = [100.0 * (of["prediction"] == of["label"]) for of in (B, A)]
    expected = stats.ttest_rel(*hits)
    interval = expected.confidence_interval()
    assert [found["a"], found["b"]] == pytest.approx([hits[1].mean(), hits[0].mean()])
    assert found["diff"] == pytest.approx(found["b"] - found["a"])
    assert [found["diff_low"], found["diff_high"]] == pytest.approx([*interval], abs=0.3)
    assert found["p"] == pytest.approx(expected.pvalue, rel=0.2)
    assert found["over"] == "rows" and found["n_seeds"] == 1
    assert "**Of one seed**" in gpt1.compare(A, B).markdown
    n = int(gpt1.compare(A, rows(A["prediction"] == LABELS)[::-1]).frame["rows"][0])
    assert n == N  # whatever their order


def test_of_one_seed_it_says_how_often_seeds_alone_differ_as_much_and_how_many_would_decide():
    far = rows(3 + HARD + RNG.normal(size=N) > 0)
    near, wide = (gpt1.compare(A, of).frame.iloc[0] for of in (B, far))
    assert 0 <= wide["seeds_alone"] < near["seeds_alone"] <= 100
    n_near, n_wide = (int(of["needs_seeds"].split()[-2]) for of in (near, wide))
    assert 2 <= n_wide < n_near
    assert "by seeds alone" in gpt1.compare(A, B).markdown
    of_two = gpt1.compare(*(pd.concat([of.assign(seed=k) for k in (0, 1)]) for of in (A, B)))
    assert np.isnan(of_two.frame["seeds_alone"][0]) and not of_two.frame["needs_seeds"][0]
    assert "by seeds alone" not in of_two.markdown


def test_by_seeds_alone_is_a_share_of_the_pools_pairs_that_grows_with_the_rows_error():
    points = compare._pool(is_mean=False)["points"].to_numpy()

    def said(value, n):
        drawn = np.linspace(-1, 1, 9)[None] * 50 / np.sqrt(n)
        of = Score((0,), (0,), np.array([value]), value + drawn, n)
        return compare.seeds_alone(Estimate(of, ()), is_mean=False)

    for of in points[[10, 50, 90]]:
        assert said(of, 4000) == pytest.approx(100 * (points >= of).mean())
    assert said(99.0, 4000) < 0.5 and said(0.0, 4000) == pytest.approx(100)
    assert said(20.0, 4000) == said(20.0, 1000) < said(20.0, 30)


def test_the_needed_rows_show_the_difference_four_times_in_five():
    found = gpt1.compare(A[:60], B[:60]).frame.iloc[0]
    assert found["verdict"] == "undecided" and found["needs"].endswith(" rows a task")
    n = int(found["needs"].split()[0].replace(",", ""))
    error = (found["diff_high"] - found["diff"]) / stats.t.ppf(0.975, 59) * np.sqrt(60 / n)
    assert stats.norm.cdf(abs(found["diff"]) / error - 1.96) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    ("metric", "of"),
    [("f1", f1_score), ("pearson", lambda labels, said: np.corrcoef(labels, said)[0, 1])],
)
def test_other_metrics_have_the_interval_of_scipys_paired_bootstrap(metric, of):
    def statistic(labels, one, other):
        return 100 * (of(labels, other) - of(labels, one))

    data = LABELS, A["prediction"].to_numpy(), B["prediction"].to_numpy()
    options = {"paired": True, "vectorized": False, "n_resamples": 300, "method": "basic"}
    expected = stats.bootstrap(data, statistic, rng=np.random.default_rng(1), **options)
    found = gpt1.compare(A, B, metric=metric).frame.iloc[0]
    assert found["diff"] == pytest.approx(statistic(*data))
    half = (found["diff_high"] - found["diff_low"]) / 2
    assert half == pytest.approx(1.97 * expected.standard_error, rel=0.15)


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_correlations_do_not_depend_on_unit_or_offset(metric):
    def scored(scale, offset):
        rng = np.random.default_rng(2)
        labels = rng.integers(0, 50, N)
        a, b = ((labels + rng.integers(0, noise, N)) * scale + offset for noise in (90, 40))
        given = [rows(True, labels * scale + offset, prediction=said) for said in (a, b)]
        return gpt1.compare(*given, metric=metric).frame.iloc[0]

    of = ["a", "b", "diff_low", "diff_high", "p"]
    expected = scored(1, 0)
    assert 40 < expected["a"] < expected["b"] < 95 and expected["verdict"] == "b higher"
    for unit in ((1e-7, 0), (1e-150, 0), (1, 10**9), (1e12, 0)):
        found = scored(*unit)
        assert found["verdict"] == "b higher"
        assert found[of].tolist() == pytest.approx(expected[of].tolist(), rel=1e-5)
    same = rows(True, np.full(N, 0.1), prediction=np.full(N, 0.1))
    assert gpt1.compare(same, same, metric=metric).frame["a"].tolist() == [0.0]


def test_tasks_are_judged_after_holms_correction():
    frames = [pd.concat([of.assign(task=f"t{i}") for i in range(20)]) for of in (A, B)]
    found = gpt1.compare(*frames).frame.set_index("task")
    single = gpt1.compare(A, B).frame.iloc[0]
    assert single["p"] < 0.05 < found["p_holm"]["t3"] <= 20 * found["p"].max()
    assert single["verdict"] == "b higher" and found["verdict"]["t3"] == "undecided"
    assert found["verdict"]["mean"] == "b higher" and found["needs"]["t3"]


@pytest.mark.parametrize(("n", "title"), [(2, "mean of 2 tasks"), (3, "mean")])
def test_an_average_over_other_tasks_in_each_panel_is_called_a_mean(n, title):
    def lines(of):
        names = [("x", 0), ("x", 1), *(("y", i) for i in range(n))]
        return pd.concat(of.assign(line=line, task=f"t{i}") for line, i in names)

    ticks = gpt1.compare(lines(A), lines(B)).figure().axes[0].get_yticklabels()
    assert [tick.get_text() for tick in ticks][0] == title


FAULTS = {
    "has no 'row'": (A.drop(columns="row"), "no accuracy of columns label, prediction"),
    "has a row twice": (pd.concat([A, A[:1]]), "row 0 is missing or there twice"),
    "lacks a row of a seed": (
        pd.concat([A.assign(seed=0), A[1:].assign(seed=1)]),
        "row 0 is missing or there twice",
    ),
    "has other rows": (A[:-1], "other rows, 1 in one alone, such as 299"),
    "has other labels": (
        A.assign(label=A["label"].where(A["row"] > 0, 5)),
        "another version of the data, 1 differ, such as 0",
    ),
    "has another metric": (
        A.assign(metric="f1", line="accuracy"),
        "another metric, accuracy and f1",
    ),
    "has two metrics of a line": (
        pd.concat(A.assign(line="mine", metric=name) for name in ("accuracy", "f1")),
        "all: mine has the metrics accuracy, f1; give each a line of its own",
    ),
    "has another task": (A.assign(task="x"), "a has accuracy on all, b has accuracy on x"),
    "has other seeds": (A.assign(seed=7), "no seed in common"),
    "has scores of 0 to 100": (A.assign(score=99.0), "mean is of 99 to 99; give 0 to 1"),
    "has words for F1": (A.assign(prediction="yes", metric="f1"), "f1 is of numbers"),
    "has an unknown metric": (A.assign(metric="bleu"), "one of accuracy, f1"),
    "has no rows": (A[:0], "no score in common"),
    "is called like an average": (A.assign(task="mean"), "mean is the name of an average"),
    "is called like a formula": (A.assign(line="=A1"), "'=A1' begins like a formula"),
    "is called by another number": (A.assign(task=1.5), "b has accuracy on 1.5"),
    **{
        f"has rows without {name}": (
            A.assign(
                **{"task": "x", "line": "y", "seed": 0.0, name: [None, None, *[1.0] * (N - 2)]}
            ),
            f"{name}: 2 of {N} rows have no {name}; give each row one",
        )
        for name in ("task", "line", "seed", "row", "prediction", "label")
    },
    "has words beside numbers": (A.assign(prediction="yes"), "text in one of prediction and label"),
}


def test_numbers_as_text_are_the_numbers_that_they_are():
    texts = A.astype({"prediction": str}), B.astype({"label": "category", "prediction": object})
    expected = gpt1.compare(A, B).frame
    pd.testing.assert_frame_equal(gpt1.compare(*texts).frame, expected)
    words = [
        of.replace({"prediction": {0: "no", 1: "yes"}, "label": {0: "no", 1: "yes"}})
        for of in (A, B)
    ]
    assert gpt1.compare(*words).frame["diff"].tolist() == expected["diff"].tolist()


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_of_a_frame_is_one_line(what):
    frame, said = FAULTS[what]
    with pytest.raises(InputError) as error:
        gpt1.compare(A, frame)
    assert said in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("source", [3, [pd.DataFrame(), pd.DataFrame()]])
def test_what_is_neither_folder_nor_frame_is_one_line(source):
    with pytest.raises(InputError, match="no folder, folders or data frame; seeds of a data frame"):
        gpt1.compare(pd.DataFrame({"row": [1], "score": [0]}), source)


def test_a_run_without_cells_is_told_as_such(tmp_path):
    (tmp_path / "provenance.json").touch()
    with pytest.raises(InputError, match="a run without cells; make some of them first"):
        gpt1.compare(tmp_path, tmp_path)
