"""Verdicts of a small and of a large run, line by line."""

import pandas as pd
import pytest

from bench import small_and_large
from tasks.common.errors import InputError

VERDICTS = [
    ("holds", "holds", "same"),
    ("equal", "equal", "same"),
    ("holds", "does not hold", "reversed"),
    ("equal", "does not hold", "a difference in one, none in the other"),
    ("undecided", "holds", "decided in large"),
    ("equal", "undecided", "decided in small"),
    ("undecided", "undecided", "undecided in both"),
    ("not run", "holds", None),
]


def write(folder, verdicts, ours):
    folder.mkdir()
    lines = [
        {"statement": f"claim {i}", "tasks": "RTE", "contrast": "a − b", "ours": ours}
        | {"ci_low": 1.0, "ci_high": 3.0, "verdict": verdict}
        for i, verdict in enumerate(verdicts)
    ]
    pd.DataFrame(lines).to_csv(folder / "claims.csv", index=False)


@pytest.fixture
def runs(tmp_path):
    """Two worlds, of which the second has the verdicts of the first."""
    small, large, _ = zip(*VERDICTS, strict=True)
    for world in "01":
        write(tmp_path / f"small{world}", small, 2.0)
        write(tmp_path / f"large{world}", large, 2.5 if world == "0" else 4.0)
    return [[tmp_path / f"{size}{world}" for world in "01"] for size in ("small", "large")]


def test_each_line_that_both_have_is_the_same_reversed_or_undecided(runs):
    table = small_and_large.both(*runs)
    expected = [what for _, _, what in VERDICTS if what]
    assert table["found"].tolist() == 2 * expected


def test_shares_are_counted_over_all_worlds(runs, tmp_path):
    (small, large), out = runs, tmp_path / "out.csv"
    small_and_large.main(
        [*("--small", *map(str, small)), *("--large", *map(str, large)), "--out", str(out)]
    )
    told = out.with_suffix(".md").read_text()
    assert "with the same verdict: 4 of 8: 50 % [22, 78]" in told
    assert "with the same sign: 2 of 4: 50 %" in told
    assert "decided otherwise by the large one: 4 of 10" in told
    assert "within the small one's interval: 7 of 14" in told


def test_runs_that_do_not_pair_are_refused_in_one_line(runs, tmp_path):
    with pytest.raises(InputError, match="--large: 1 of 2 runs; give as many"):
        given = ["--small", "a", "b", "--large", "c"]
        small_and_large.main([*given, "--out", str(tmp_path / "out.csv")])
    with pytest.raises(InputError, match=r"no claims.csv; give the folder of a finished run"):
        small_and_large.both([tmp_path], [tmp_path])
