"""Three or more compared: pairs as two are, Holm's family, ranks, and what is shown of them."""

import numpy as np
import pandas as pd
import pytest

import gpt1
from tasks.common.errors import InputError
from workflow.analysis.stats.estimates import holm


def answers(shares: dict[str, float], seeds: int = 4, n: int = 400) -> pd.DataFrame:
    """Right and wrong answers of some seeds on each task, on rows that are alike hard for all."""
    frames = []
    for task, share in shares.items():
        rng = np.random.default_rng(len(task))
        hard = rng.random(n)
        for seed in range(seeds):
            noise = np.random.default_rng([seed, int(1e4 * share)]).normal(0, 0.05, n)
            score = (hard + noise < share) * 1.0
            frames.append(
                pd.DataFrame({"task": task, "seed": seed, "row": range(n), "score": score})
            )
    return pd.concat(frames, ignore_index=True)


RUNS = [answers({"one": a, "two": b}) for a, b in ((0.6, 0.7), (0.8, 0.7), (0.62, 0.71))]


@pytest.fixture(scope="module")
def found():
    return gpt1.compare(*RUNS)


def test_each_pair_is_as_if_compared_alone_but_for_the_correction(found):
    assert len(found.frame) == 3 * 3  # pairs; the mean and two tasks
    frame = found.frame.set_index(["a", "b", "task"])
    names = [f"a data frame ({i})" for i in (1, 2, 3)]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        alone = gpt1.compare(RUNS[i], RUNS[j]).frame.set_index("task")
        for task in ("mean", "one", "two"):
            pair = frame.loc[names[i], names[j], task]
            for name in ("diff", "diff_low", "diff_high", "p"):
                assert pair[name] == pytest.approx(alone.loc[task, name])
            assert pair["b_score"] - pair["a_score"] == pytest.approx(pair["diff"])
    of_tasks = found.frame[found.frame["task"] != "mean"]
    assert of_tasks["p_holm"].to_numpy() == pytest.approx(holm(of_tasks["p"]))
    of_mean = found.frame[found.frame["task"] == "mean"]
    assert of_mean["p_holm"].to_numpy() == pytest.approx(holm(of_mean["p"]))


def test_a_rank_counts_those_decided_to_be_better_and_worse(found):
    ranks = found.ranks.set_index(["task", "run"])[["rank_low", "rank_high"]]
    first, second, third = (f"a data frame ({i})" for i in (1, 2, 3))
    assert ranks.loc[("one", second)].tolist() == [1, 1]
    assert ranks.loc[("one", third)].tolist()[0] == 2
    assert ranks.loc[("two", first)].tolist() == [1, 3]  # nothing is decided
    for (task, run), (low, high) in ranks.iterrows():
        pairs = found.frame[(found.frame["task"] == task) & (found.frame["p_holm"] < 0.05)]
        above = sum(run in (p.a, p.b) and (p.diff > 0) == (p.a == run) for p in pairs.itertuples())
        below = sum(run in (p.a, p.b) and (p.diff > 0) == (p.b == run) for p in pairs.itertuples())
        assert (low, high) == (1 + above, 3 - below)


def test_what_is_shown_has_a_matrix_and_the_ranks_on_each_task(found, tmp_path):
    assert "# 3 runs compared" in found.markdown
    lines = [line for line in found.markdown.splitlines() if line.startswith("|")]
    (head,) = (line for line in lines if "score (ranks)" in line)
    assert [cell.strip() for cell in head.strip("|").split("|")] == ["run", "score (ranks)", *"123"]
    (row,) = (line for line in lines if line.startswith("| 2") and "[" in line)
    best = found.frame.set_index(["a", "task"]).loc["a data frame (1)"].loc["mean"]
    assert f"{best['diff'].iloc[0]:.1f} [" in row and "*" in row and "(1)" in row
    assert any(line.startswith("| one") for line in lines)
    found.write(tmp_path / "many.csv")
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f"many.{form}" for form in ("csv", "md", "png", "svg", "pdf")),
        "many_ranks.csv",
    }
    (ax,) = found.figure().axes
    assert [tick.get_text().split("  ")[0] for tick in ax.get_yticklabels()][
        -1
    ] == "a data frame (2)"


def test_equal_runs_differ_by_0_and_have_all_ranks():
    found = gpt1.compare(RUNS[0], RUNS[0], RUNS[0])
    assert "| 0.0 [" in found.markdown.replace("  ", " ") and "-0.0 [" not in found.markdown
    assert {*found.ranks["rank_low"]} == {1} and {*found.ranks["rank_high"]} == {3}


def test_one_seed_each_is_judged_by_the_rows_and_said_so():
    runs = [frame[frame["seed"] == 0].drop(columns="seed") for frame in RUNS]
    found = gpt1.compare(*runs)
    assert {*found.frame["over"]} == {"rows"} and "**Of one seed**" in found.markdown


def test_what_has_no_row_or_seed_in_common_is_refused():
    with pytest.raises(InputError, match="no score in common: .*, 3 has mean on three"):
        gpt1.compare(RUNS[0], RUNS[1], RUNS[2][RUNS[2]["task"] == "one"].assign(task="three"))
    with pytest.raises(InputError, match="no seed in common"):
        gpt1.compare(RUNS[0], RUNS[1], RUNS[2].assign(seed=RUNS[2]["seed"] + 9))


def test_nine_tasks_that_are_not_the_papers_have_one_mean():
    nine = [
        answers({f"t{i}": share + 0.02 * i for i in range(9)}, seeds=2, n=50)
        for share in (0.3, 0.5, 0.6)
    ]
    frame = gpt1.compare(*nine).frame
    assert [*frame["task"].unique()] == ["mean", *(f"t{i}" for i in range(9))]
    assert {*gpt1.compare(*nine[:2]).frame["task"]} == {*frame["task"]}


def test_what_a_pair_shares_no_seed_on_is_left_out_and_scores_are_of_all_seeds_of_a_run():
    runs = [
        RUNS[0],
        *(
            frame[frame["seed"].isin(seeds)]
            for frame, seeds in zip(RUNS[1:], ([0, 1], [1, 2, 3]), strict=True)
        ),
    ]
    found = gpt1.compare(*runs)
    own = [100 * run["score"].mean() for run in runs]
    ranks = found.ranks[found.ranks["task"] == "mean"].set_index("run")
    assert ranks["score"].to_numpy() == pytest.approx(own)
    split = [
        frame[
            (frame["task"] == "one") & frame["seed"].isin([0, 1])
            | (frame["task"] == "two") & frame["seed"].isin([2, 3])
        ]
        for frame in RUNS
    ]
    assert {*gpt1.compare(*split).frame["task"]} == {"one", "two"}
