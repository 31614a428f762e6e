"""The JSON files of a run: written and read by one class, without torch."""

import json

import pytest

from gpt1.records import EncodedFacts, ZeroShotScore
from tasks import task
from tests.facts import SCORED, SPLIT
from tests.support.programs import refusal


def test_a_record_is_read_as_it_was_written(tmp_path):
    split = {**SPLIT, "lengths": {7: 2, 12: 1}, "n_ctx_needed": {16: 3}}
    facts = EncodedFacts(spec=task("stsb").spec, tokenizer="t", n_vocab=9, splits={"train": split})
    facts.write(tmp_path / "stsb.json")
    assert EncodedFacts.read(tmp_path / "stsb.json") == facts
    assert json.loads((tmp_path / "stsb.json").read_text())["spec"]["family"] == "similarity"
    assert facts.spec == task("stsb").spec and facts.mean_length == 26 / 3


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": "0"}, "seed: found '0'; input should be a valid integer"),
        ({"score": float("nan")}, "score: found nan; input should be a finite number"),
        ({"score": 101}, "score: found 101"),
        ({"seed": 1}, "'seed' is 1, its path says 0; delete the file and run its job again"),
    ],
)
def test_a_record_of_another_type_value_or_place_is_refused(tmp_path, changed, message):
    place = {"arch": "lstm", "task": "rte", "metric": "accuracy", "split": "dev", "seed": 0}
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({**SCORED, **place, "score": 50.0, **changed}))
    assert message in refusal(lambda: ZeroShotScore.read(path, seed=0))
