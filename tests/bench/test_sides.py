"""Sides of a comparison take turns, and a side that fails says why."""

import textwrap

import pytest

from bench.sides import Side, Turn, WorkerError, alternate
from bench.table import compared

WORKER = """
    import sys, time
    from bench.turns import Turns
    from bench.work import Work
    name, seconds = sys.argv[1], float(sys.argv[2])
    work = Work(kind="finetune", data="", model={}, n_vocab=1, training={}, runtime={}, batch=1,
                precision="float32", rounds=3, steps=2)
    updates = 0
    def update():
        global updates
        with open(sys.argv[3], "a") as file:
            file.write(name)
        updates += 1
        time.sleep(0.3 if updates % 3 == 1 else seconds)  # the first of a turn is not timed
        print("a library chats")
        return 10
    Turns(work).repeat(update, "float32")
"""


@pytest.fixture
def workers(tmp_path, monkeypatch):
    """A folder with a worker that needs no model, and with one that fails."""
    (tmp_path / "worker.py").write_text(textwrap.dedent(WORKER))
    (tmp_path / "broken.py").write_text("raise ValueError('no such model')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return tmp_path


def test_sides_update_in_turns_whose_order_turns_round(workers):
    log = workers / "order.txt"
    with Side("worker", "a", 0.01, log) as a, Side("worker", "b", 0.1, log) as b:
        assert not log.exists()  # a side that is ready waits
        ours, other = alternate([a, b], 3)
    assert log.read_text() == "aaabbb" + "bbbaaa" + "aaabbb"
    assert a.precision == "float32" and all(turn.peak_mb > 1 for turn in ours)
    assert all(turn.rate < 100 for turn in other)
    assert all(100 < turn.rate < 1000 for turn in ours)  # without the first update's 0.3 s


def test_a_worker_that_fails_says_why(workers):
    with pytest.raises(WorkerError, match="broken ended with 1: .*no such model"):
        Side("broken")


def test_a_ratio_is_the_median_of_neighbouring_turns():
    ours = [Turn(rate, peak) for rate, peak in ((10, 1), (5, 2), (2.5, 3))]
    other = [Turn(rate, 7) for rate in (10 / 3, 2.5, 2.5)]
    row = compared(ours, other)
    assert [round(row[key], 9) for key in ("ratio", "low", "high")] == [2, 1, 3]
    assert [row[key] for key in ("ours", "other", "ours_mb", "other_mb")] == [5, 2.5, 3, 7]
