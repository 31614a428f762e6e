"""Sides of a comparison take turns, and a side that fails says why."""

import textwrap
import time

import pytest

from bench.report import Row, compared, limited, line, table
from bench.rows import Batches
from bench.sides import Ratio, Side, Turn, WorkerError, alternate

WORKER = """
    import sys, time
    from bench.job import Job
    from bench.turns import Turns
    name, seconds = sys.argv[1], float(sys.argv[2])
    turns = Turns()
    print("a library chats")
    def work(steps):
        with open("order.txt", "a") as file:
            file.write(name * steps)
        time.sleep(seconds)
        return 10
    for rows in turns.each(sys.argv[3:]):
        with open("order.txt", "a") as file:
            file.write(name.upper())
        turns.take(Job([], {}, 0, {}, rounds=3, warm_up=0), work, "warm")
"""


@pytest.fixture
def workers(tmp_path):
    """A folder with a worker that needs no torch."""
    (tmp_path / "worker.py").write_text(textwrap.dedent(WORKER))
    (tmp_path / "broken.py").write_text("raise ValueError('no such model')\n")
    return tmp_path


def test_sides_prepare_and_work_in_turns_and_the_order_turns_round(workers):
    files = ("first", "second")
    with (
        Side("worker", "a", 0.02, *files, code=workers) as a,
        Side("worker", "b", 0.1, *files, code=workers) as b,
    ):
        (ours, other), notes = alternate([a, b], 3)
        time.sleep(0.1)  # in which a side that does not wait would prepare for the second file
        assert (workers / "order.txt").read_text() == "ABabbaab"
        alternate([a, b], 3)
    assert (workers / "order.txt").read_text() == "ABabbaab" * 2
    assert notes == ["warm", "warm"]
    assert all(turn.work == 10 and turn.seconds >= 0.02 and turn.peak_mb > 1 for turn in ours)
    assert Ratio.of(ours, other).low > 1


def test_a_worker_that_fails_says_why(workers):
    with pytest.raises(WorkerError, match="no such model"):
        Side("broken", code=workers)


def test_a_ratio_is_the_median_of_neighbouring_turns():
    ours = [Turn(seconds, 10, 0) for seconds in (1, 2, 4)]
    other = [Turn(seconds, 10, 0) for seconds in (3, 4, 4)]
    ratio = Ratio.of(ours, other)
    assert (ratio.median, ratio.low, ratio.high) == (2, 1, 3)
    assert (ratio.ours, ratio.other) == (5, 2.5)
    assert compared(3, "x", "rows/s", ratio, 1.0).met == "yes"
    assert compared(3, "x", "rows/s", ratio, 3.1).met == "no"


def test_a_bar_between_the_measurements_is_undecided():
    def met(least, median=2.0):
        return compared(3, "x", "rows/s", Ratio(5, 2.5, median, 1, 3), least).met

    assert [met(bar) for bar in (1.0, 1.5, 2.0, 2.5, 3.0, 3.1)] == [
        *("yes", "undecided", "undecided", "undecided", "no", "no")
    ]
    assert met(3.0, median=3.0) == "yes"
    assert compared(3, "x", "rows/s", Ratio(5, 2.5, 2, 1, 3), None).met == ""
    values = {most: limited(9, "x", "s", [9, 8, 11], most) for most in (7, 10, 11)}
    assert {most: row.met for most, row in values.items()} == {7: "no", 10: "undecided", 11: "yes"}
    assert values[7].ours == 9 and values[7].note == "median of 3, 8 to 11 s"


UNTIMED = """
    import time
    from bench.job import Job
    from bench.turns import Turns
    turns = Turns()
    def work(steps):
        print("work", steps, flush=True)
        time.sleep(0.2 * (steps == 1))
        return steps
    job = Job([], {}, 0, {}, rounds=2, warm_up=5, untimed=1, steps=3)
    for rows in turns.each(["rows"]):
        turns.take(job, work)
    time.sleep(9)
"""


def test_a_turn_begins_with_steps_that_are_not_timed(tmp_path):
    (tmp_path / "untimed.py").write_text(textwrap.dedent(UNTIMED))
    with Side("untimed", code=tmp_path) as side:
        (turns,), _ = alternate([side], 2)
        side._errors.seek(0)
        assert side._errors.read() == "work 5\nwork 1\nwork 3\nwork 1\nwork 3\n"
    assert all(turn.work == 3 and turn.seconds < 0.2 for turn in turns)


def test_the_table_has_what_was_not_measured(tmp_path):
    ratio = Ratio(5, 2.5, 2, 1, 3)
    rows = [compared(3, "items", "rows/s", ratio, 1.5), Row(7, "run", "s", "<= 1.4x", note="later")]
    assert (
        line(rows[0])
        == "bar 3: items: 5 rows/s, against 2.5: 2.00 (1.00 to 3.00); >= 1.5x: undecided"
    )
    assert "not measured" in line(rows[1])
    table(rows, "A machine.").write(tmp_path / "bench.csv")
    written = (tmp_path / "bench.csv").read_text().splitlines()
    assert len(written) == 3 and "later" in written[2]
    assert "A machine." in (tmp_path / "bench.md").read_text()


def test_all_sides_see_the_same_rows():
    batches = Batches(5, 2)
    assert [batches.next().tolist() for _ in range(3)] == [[0, 1], [2, 3], [4, 0]]
    assert batches.first().tolist() == [0, 1]
