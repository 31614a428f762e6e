"""The bounds of the fuzzing hold while a reader runs."""

import contextlib
import time

import pytest
from hypothesis import strategies as st

from tests.fuzz import mutations
from tests.fuzz.mutations import only_our_errors, repeat


def test_a_reader_that_does_not_end_is_stopped_while_it_runs(monkeypatch):
    monkeypatch.setattr(mutations, "SECONDS", 0.2)
    begun = time.process_time()
    with pytest.raises(AssertionError, match=r"more than 0\.2 s of the processor"):
        repeat(read_for_ever, st.none())
    assert time.process_time() - begun < 5


def read_for_ever(_: object) -> None:
    with only_our_errors():
        while True:
            with contextlib.suppress(Exception):
                time.process_time()


def test_a_property_whose_time_is_up_says_how_much_it_tried(monkeypatch):
    monkeypatch.setenv("GPT1_FUZZ_SECONDS", "0.1")
    with pytest.warns(UserWarning, match=r"^2 of \d+ values in 0\.1 s"):
        repeat(lambda value: spin(0.06), st.integers())


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
