"""The tasks as data: their sources, their prompts, and the examples of every layout."""

import re
from pathlib import Path

import pytest

from tasks import PAPER_TASKS, TASKS, paper, task
from tasks.fetch import source_named
from tasks.hub import COMMIT, CORPORA, corpus, fault, pinned
from tasks.layouts import pronoun_span, race_question
from tasks.prompt import Prompt, parts
from tasks.read import Row
from tests.support.programs import refusal
from tests.tasks.hub_files import PIN


def test_tasks_are_the_twelve_of_the_paper_in_its_order():
    names = "snli mnli qnli rte scitail race story_cloze mrpc qqp stsb sst2 cola"
    assert " ".join(each.name for each in PAPER_TASKS) == names
    assert TASKS[: len(PAPER_TASKS)] == PAPER_TASKS and task("dprd").main == "test"


# Layout, split, place; both texts, choices and label; the guid, without its task.
EXAMPLES = [
    ("snli", "train", 0, ("train premise 0", "guess 0", (), 1), "train/0"),
    ("snli", "train", 1, ("train premise 2", "guess 2", (), 0), "train/2"),
    ("snli_txt", "train", 2, ("train premise 3", "guess 3", (), 2), "train/3"),
    ("scitail", "dev", 2, ('dev "premise 2', "guess 2", (), 0), "dev/2"),
    ("scitail_snli", "test", 1, ('test "premise 1', "guess 1", (), 1), "test/1"),
    # By names of columns, of which the training file has fewer.
    ("mnli", "train", 1, ("train premise 1", "guess 1", (), 1), "train/1"),
    ("mnli", "dev_mismatched", 1, ("dev_mismatched premise 1", "guess 1", (), 1), None),
    ("qnli", "dev", 1, ("dev who 1", "he 1", (), 1), "dev/1"),  # the question first
    # With a byte order mark and CRLF.
    ("mrpc", "train", 1, ("train one 1", "other 1", (), 1), "train/1"),
    ("stsb", "dev", 7, ("dev one 7", "other 7", (), 3.5), "dev/7"),
    (
        *("race", "dev", 1),
        ("dev high story 0\nwith two lines", "why 1 ?", ("a 1", "b 1", "c 1", "d 1"), 3),
        "dev/high/0/1",
    ),
    (
        *("story_cloze", "val", 1),
        (
            "Ann woke. She ate, then ran. It rained. She fell 1.",
            *("", ('She said "ow".', "She flew."), 1),
        ),
        "val/val-1",
    ),
    (
        *("dprd", "test", 2),
        ("The cat saw the dog 2 because", "was big.", ("The cat", "the dog 2"), 0),
        "test/2",
    ),
]


@pytest.mark.parametrize(("layout", "split", "place", "content", "guid"), EXAMPLES)
def test_a_row_becomes_the_example_that_stands_in_it(
    layout, split, place, content, guid, published
):
    name = layout.removesuffix("_txt").removesuffix("_snli")
    found = task(name).read(published(layout), split)[place]
    assert (found.first, found.second, found.choices, found.label) == content
    assert guid is None or found.guid == f"{name}/{guid}"


def test_dot_twins_of_files_are_not_read(published):
    folder = published("race")
    (folder / "dev" / "high" / "._1.txt").write_bytes(b"\x00\x05\x16\x07")
    assert len(task("race").read(folder, "dev")) == 12


@pytest.mark.parametrize(
    ("sentence", "candidates", "before"),
    [
        ("The bee sat there because it had pollen.", ("The bee", "there"), 1),
        # The first "they" stands before the connective, in the clause of the candidates.
        ("The priests read for the witches they found, since they knew.", ("The priests",), 2),
        ("The men were told they were fired by Acme, because they cost.", ("The men", "Acme"), 2),
        # Behind both candidates, but after no connective: the first one there.
        ("Dan told Ross that they met someone they knew.", ("Dan", "Ross"), 1),
        ("They know they may ask them, but they do not.", ("no such name",), 2),
        # Behind the whole of a candidate that holds the word itself.
        ("A book and the one they fell, then they broke.", ("A book", "the one they"), 2),
    ],
)
def test_the_pronoun_behind_the_connective_is_meant(sentence, candidates, before):
    pronoun = "it" if " it " in sentence else "they"
    start, end = pronoun_span(sentence, pronoun, candidates)
    assert sentence[start:end] == pronoun
    assert f" {sentence[:end]}".count(f" {pronoun}") == before


@pytest.mark.parametrize(
    ("texts", "flaw"),
    [
        (("text", "Why?", ["a", "b", "c"], "A"), "question 3: expected 4 options, found 3"),
        (("text", "Why?", "abcd", "A"), "question 3: expected 4 options, found str"),
        (("text", "Why?", ["a", "b", "c", 4], "A"), "question 3: question, options, answer"),
        (("text", "Why?", ["a", "b", "c", "d"], 1), "question 3: question, options, answer"),
        (("text", " ", ["a", "b", "c", "d"], "A"), "question 3 is empty"),
    ],
)
def test_a_flaw_of_race_is_told_with_the_number_of_its_question(texts, flaw):
    row = race_question(Row(Path("x"), 1), ("high", "high12.txt", 2), *texts)
    assert row.flaw.startswith(flaw) and row.key == "high/12/2"


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
    page = Path(__file__).parents[2] / "docs" / "adding-a-task.md"
    _, snippet, *_ = page.read_text(encoding="utf-8").split("```")
    exec(snippet.removeprefix("python"), of_page := {**vars(paper)})
    for of in (*TASKS, task("dprd"), of_page["wnli"]):
        prompt = of.prompt
        assert len(prompt.scorings) == scorings.get(of.name, 2), of.name
        is_asked = of.family != "multiple_choice" and of.name != "cola"
        n = 2 if of.soft_labels else len(of.labels)
        assert len(prompt.choices) == (n if is_asked else 0), of.name


def test_a_random_guess_scores_what_needs_no_reading():
    found = {name: round(task(name).random_score, 1) for name in ("snli", "race", "qqp", "stsb")}
    assert found == {"snli": 33.3, "race": 25.0, "qqp": 54.0, "stsb": 0.0}


SOURCES = [*(each.hub for each in (*TASKS, task("dprd"))), *CORPORA]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_source_has_the_splits_and_labels_of_its_task_or_a_way_to_obtain_them(
    source,
):
    assert source.licence and source_named(source.name) is source
    if source in CORPORA:
        assert set(source.rows) == (set() if source.lines else set(source.files))
    else:
        of, is_labelled = task(source.name), source.name != "stsb" and not source.by_hand
        assert set(source.files) == {*of.rows, *of.unlabelled} or source.by_hand
        assert set(source.labels.values()) == (set(of.labels) if is_labelled else set())
        assert len(of.shares) == len(of.labels) and sum(of.shares) == pytest.approx(1, abs=0.011)
    if source.repo:
        assert re.fullmatch(r"[\w-]+/[\w-]+", source.repo)
        assert set(source.unlabelled) <= set(source.files)
        assert source.revision is None or COMMIT.fullmatch(source.revision)
        assert source.lines or source.texts
    else:
        assert f"set {{folder: {task(source.name).folder}}}" in source.by_hand


@pytest.mark.parametrize(
    ("name", "revision", "message"),
    [
        ("cola", PIN.upper(), "is not a commit"),
        ("dprd", None, "begins with 0fdf659); look it up on the hub and give revision:"),
        ("story_cloze", PIN, "fill in the form at cs.rochester.edu/nlp/rocstories"),
    ],
)
def test_what_is_no_pin_is_refused_with_the_remedy(name, revision, message):
    assert message in (fault(task(name).hub, revision) or "")
    assert message in refusal(pinned, task(name).hub, revision)
    assert pinned(task("cola").hub).startswith("bcdcba79") and fault(task("cola").hub) is None
    assert pinned(task("cola").hub, PIN) == pinned(task("dprd").hub, PIN) == PIN


def test_unknown_names_are_refused_with_the_known_ones():
    assert "no data set 'glue' to fetch; there are snli mnli" in refusal(source_named, "glue")
    assert "no corpus 'pile' of the hub; the corpora are bookcorpus" in refusal(corpus, "pile")
