"""The zero-shot scores that count as 0 are those of a random guess, in every shipped config."""

import pytest

from tasks import task
from tests.workflow.configs import NAMES, complete


@pytest.mark.parametrize("config", NAMES)
def test_0_is_a_random_guess_and_1_lies_above_it(config):
    for name, limits in complete(config).experiment.zero_shot.scores().items():
        kind = task(name)
        chance = 0.0 if kind.metric == "matthews" else 100 / len(kind.labels)
        assert limits.random == chance < limits.best <= 100, name
