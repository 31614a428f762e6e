"""A bar that fails costs its own row alone, and what was measured before an end is written."""

from bench.measured import measured, summary
from bench.report import Row
from bench.sides import WorkerError


def good(given):
    """Bar 2: something quick."""
    yield Row(2, f"something of {given}", "s", "<= 1", 0.5, met="yes")


def bad(given):
    """Bar 5: something that fails half way.

    More about it.
    """
    yield Row(5, "the first half", "s", "<= 1", 2.0, met="no")
    raise WorkerError("bench.plain ended with 1:\nno room left")


def test_a_bar_that_fails_is_a_row_and_the_others_go_on(capsys):
    tables = []
    rows = measured({5: bad, 2: good}, [5, 2], "a bench", lambda rows: tables.append([*rows]))
    assert [row.bar for row in rows] == [5, 5, 2]
    assert rows[1].what == "something that fails half way"
    assert rows[1].note == "not measured: no room left" and rows[1].met == ""
    assert rows[2].what == "something of a bench"
    assert tables == [rows[:2], rows]
    assert "no room left" in capsys.readouterr().out
    assert summary(rows) == (
        "1 rows meet their bar, 1 do not, 0 are undecided; not measured: bar 5"
    )
