"""Prompts: what a template may say, and what is asked by it."""

import pytest

from tasks import TASKS, task
from tasks.prompt import Prompt, parts


@pytest.mark.parametrize(
    ("template", "fault"),
    [
        ("{first} {label}", "no column 'label'; give first, second, choice"),
        ("{first}.", "a column touches a word; put a blank between them"),
        ("so:{first}", "a column touches a word"),
        ("{first}{second}", "a column touches a word"),
    ],
)
def test_a_template_that_cannot_be_encoded_is_refused(template, fault):
    with pytest.raises(ValueError, match=fault):
        Prompt(before=template)
    assert parts("So {first} very") == [("So ", "first"), (" very", None)]


def test_each_task_has_a_prompt_with_a_choice_for_each_label():
    scorings = {"sst2": 3, "race": 3, "cola": 1, "dprd": 1}
    for of in (*TASKS, task("dprd")):
        prompt = of.prompt
        assert len(prompt.scorings) == scorings.get(of.name, 2), of.name
        is_asked = of.family != "multiple_choice" and of.name != "cola"
        n = 2 if of.soft_labels else len(of.labels)
        assert len(prompt.choices) == (n if is_asked else 0), of.name


def test_a_random_guess_scores_what_needs_no_reading():
    found = {name: round(task(name).random_score, 1) for name in ("snli", "race", "qqp", "stsb")}
    assert found == {"snli": 33.3, "race": 25.0, "qqp": 54.0, "stsb": 0.0}
