"""Tasks told in words: the likelihood of answers against sums written out by hand."""

import re
import subprocess
import sys

import numpy as np
import pytest
import torch

from gpt1.cell import Cell
from gpt1.prompted import Answers
from gpt1.prompts import PROMPTS, Prompt, predict
from gpt1.training.encoded import load as load_encoded
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.weights.checkpoint import CheckpointFacts, build, save_checkpoint
from tasks import PAPER_TASKS, task
from tasks.common.files import read_json, sha256_file, write_json
from tests.gpt1 import toy
from tests.gpt1.examples import write_tokenizer
from tests.gpt1.test_cells import write_task
from tests.gpt1.test_zero_shot import NEWLINE, by_hand


@pytest.fixture
def scorer():
    model = build("transformer", toy.model("transformer", init_std=0.3, n_ctx=64), toy.N_VOCAB)
    model.reset(torch.Generator().manual_seed(3))
    return Scorer(model, NEWLINE, Runtime())


def encode(text):
    """A token for each word, the same every time."""
    return [1 + sum(map(ord, word)) % 37 for word in text.split()]


def total(scorer, context, answer):
    """The log-probability of the answer's tokens after the context."""
    return sum(by_hand(scorer, [NEWLINE, *context, *answer])[-len(answer) :])


def test_every_task_of_the_paper_has_a_prompt_with_an_answer_for_each_class():
    assert set(PROMPTS) == {one.name for one in PAPER_TASKS}
    for one in PAPER_TASKS:
        prompt = PROMPTS[one.name]
        n = {"multiple_choice": 0}.get(one.family, 2 if one.name == "stsb" else len(one.labels))
        assert len(prompt.answers) == len(set(prompt.answers)) == n, one.name
        assert prompt.template == prompt.template.lower() and "{first}" in prompt.template


@pytest.mark.parametrize("name", ["rte", "scitail", "qnli", "mnli", "sst2", "cola", "stsb"])
def test_the_answer_is_the_one_that_the_texts_make_likelier(scorer, name):
    split, prompt = toy.Rows(task(name)).split(9, "dev"), PROMPTS[name]
    words = re.split(r"({first}|{second})", prompt.template)
    plain = [token for word in words if "{" not in word for token in encode(word)]
    found = predict(scorer, encode, name, split)
    for i, prediction in enumerate(found):
        texts = {"{first}": split.first[i].tolist(), "{second}": split.second[i].tolist()}
        context = [t for word in words for t in (texts.get(word) or encode(word))]
        gains = [
            total(scorer, context, encode(answer)) - total(scorer, plain, encode(answer))
            for answer in prompt.answers
        ]
        if name == "stsb":
            assert prediction == pytest.approx(gains[1] - gains[0], abs=1e-4)
        else:
            assert prediction == int(np.argmax(gains))


def test_a_choice_is_the_one_with_the_best_mean(scorer):
    split = toy.Rows(task("race")).split(6, "dev")
    for i, prediction in enumerate(predict(scorer, encode, "race", split)):
        context = [*split.first[i], *encode("question:"), *split.second[i], *encode("answer:")]
        means = [total(scorer, context, c) / len(c) for c in split.choices[i]]
        assert prediction == int(np.argmax(means))


def test_an_answer_that_is_likely_whatever_the_texts_say_does_not_win(scorer, monkeypatch):
    monkeypatch.setitem(PROMPTS, "rte", Prompt("{first} {second} so:", ("yes", "no")))
    split = toy.Rows(task("rte")).split(40, "dev")
    assert set(predict(scorer, encode, "rte", split).tolist()) == {0, 1}


@pytest.fixture
def files(tmp_path):
    """Encoded task, tokenizer, baselines and two checkpoints."""
    n_vocab = write_tokenizer(tmp_path / "tokenizer")
    write_task(tmp_path)
    scores = {split: {"accuracy": 50.0} for split in ("train", "select", "dev")}
    write_json(
        tmp_path / "baselines.json", {"task": "rte", "majority": scores, "bag_of_words": scores}
    )
    tokenizer = load_encoded(tmp_path / "encoded/rte").tokenizer
    for seed in (5, 6):
        model = build("transformer", toy.model("transformer", init_std=0.3), n_vocab)
        model.reset(torch.Generator().manual_seed(seed))
        facts = {"model": toy.model("transformer"), "tokenizer": tokenizer, "seed": seed}
        save_checkpoint(tmp_path / f"{seed}.safetensors", model, CheckpointFacts(**facts))
    return tmp_path


def program(files, variant):
    cell = Cell("transformer", "rte", "off", 2, variant=variant)
    given = {"encoded": files / "encoded/rte", "baselines": files / "baselines.json"}
    given |= {"tokenizer": files / "tokenizer", "settings": toy.model("transformer").to_json()}
    options = [str(x) for name, value in given.items() for x in (f"--{name}", value)]
    options += ["--seeds", "0", "1", "2", "--checkpoints"]
    options += [str(files / "5.safetensors"), str(files / "6.safetensors")]
    command = [sys.executable, "-m", "gpt1.prompted", str(cell.path(files)), *options]
    return cell, subprocess.run(command, capture_output=True, text=True)


def test_the_program_writes_a_cell_that_was_not_trained(files):
    cell, done = program(files, "prompted-true")
    assert done.returncode == 0, done.stderr
    found = read_json(cell.path(files))
    assert found["variant"] == "prompted-true"
    assert [(s["seed"], s["pretrain_seed"]) for s in found["seeds"]] == [(0, 5), (1, 6), (2, 5)]
    assert all(s["train_tokens"] == 0 and set(s["scores"]) == {"dev"} for s in found["seeds"])
    assert found["seeds"][0]["scores"] == found["seeds"][2]["scores"]
    assert found["digests"]["predictions"] == sha256_file(cell.predictions(files))


@pytest.mark.parametrize(
    ("splits", "constant"),
    [
        (([0.0, 1.0], [1.0, 0.0]), False),
        (([0.2, 0.3], [0.5, 0.50001]), False),
        (([1.0, 1.0], [0.0, 1.0]), True),
        (([0.0, 1.0], [1.0, 1.0]), True),  # the last one alone
        (([0.0, 1.0], [3.1, 3.1 + 1e-9]), True),  # but for rounding
    ],
)
def test_one_answer_to_all_rows_of_a_split_is_constant(splits, constant):
    predictions = dict(zip(("dev_matched", "dev_mismatched"), splits, strict=True))
    assert Answers(0, predictions, {}).constant == constant


def test_a_cell_that_is_trained_is_refused(files):
    _, done = program(files, "lr-0.1")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "not a cell that is prompted; give its path to gpt1.cells" in done.stderr
