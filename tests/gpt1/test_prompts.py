"""Tasks told in words: the likelihood of answers against sums written out by hand."""

import re

import numpy as np
import pytest
import torch

from gpt1 import finetune, prompts
from gpt1.cell import Cell
from gpt1.prompts import PROMPTS, Prompt, predict
from gpt1.settings import FinetuneMethod
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.weights.checkpoint import build
from tasks import PAPER_TASKS, task
from tasks.common.files import read_json, sha256_file
from tests.gpt1 import toy
from tests.gpt1.kept_cells import finetune_words, write_checkpoint, write_task
from tests.gpt1.test_zero_shot import NEWLINE, by_hand
from tests.support.programs import call


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
    write_task(tmp_path, "rte", reported=8)
    for seed in (5, 6):
        write_checkpoint(tmp_path, str(seed), seed=seed)
    return tmp_path


def program(files, tokenizer):
    """What the program says of a cell that is told in words."""
    cell = Cell("transformer", "rte", "off", 2, variant="prompted-true")
    method = FinetuneMethod(prompted=True)
    settings = {"rte": toy.settings("transformer", lm_coef=0.0, method=method)}
    given = finetune_words(files, [cell], settings, checkpoints="56", seeds=(0, 1, 2))
    return cell, call(finetune.main, *given, *tokenizer)


def test_the_program_writes_a_cell_that_was_not_trained(files):
    cell, done = program(files, ["--tokenizer", files / "tokenizer"])
    assert done.returncode == 0, done.stderr
    found = read_json(cell.path(files))
    assert found["variant"] == "prompted-true"
    assert [(s["seed"], s["pretrain_seed"]) for s in found["seeds"]] == [(0, 5), (1, 6), (2, 5)]
    assert all(s["train_tokens"] == 0 and set(s["scores"]) == {"dev"} for s in found["seeds"])
    assert found["seeds"][0]["scores"] == found["seeds"][2]["scores"]
    assert found["digests"]["predictions"] == sha256_file(cell.predictions(files))


def test_without_a_tokenizer_no_word_can_be_told(files):
    _, done = program(files, [])
    assert done.returncode == 1 and "--tokenizer: missing" in done.stderr


@pytest.mark.parametrize(
    ("answers", "constant"),
    [([0, 1], False), ([1, 1], True)],
)
def test_one_answer_to_all_rows_of_a_split_is_constant(answers, constant, monkeypatch):
    monkeypatch.setattr(prompts, "predict", lambda *_: np.array(answers))
    source, encoded = toy.source("transformer"), toy.encoded(task("rte"), dev=2)
    found = prompts.answer(0, source, encoded, encode, NEWLINE, Runtime())
    assert found.constant == constant
