"""The cloze items: the likeliest continuation, counted by skill, and a file that is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from gpt1 import cloze
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from tasks.common.files import read_json, sha256_file
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import write_checkpoint
from tests.gpt1.examples import write_tokenizer
from tests.gpt1.test_zero_shot import by_hand
from tests.support.programs import call, refusal

ITEMS = [
    {"skill": "mood", "context": "A play.", "choices": ["He was glad.", "He was sad."], "label": 0},
    {"skill": "mood", "context": "A bad play.", "choices": ["A glad man.", "Sad."], "label": 1},
    {"skill": "mood", "context": "", "choices": ["The man is.", "The man are."], "label": 0},
    {"skill": "copy", "context": "Ann saw.", "choices": ["a", "b then c", "d"], "label": 2},
]


def write_items(folder, items=ITEMS, name="cloze.jsonl"):
    """A file of cloze items, an item a line."""
    path = folder / name
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return path


@pytest.fixture
def tokenizer(tmp_path):
    write_tokenizer(tmp_path / "tokenizer")
    return Tokenizer.load(tmp_path / "tokenizer")


@pytest.fixture(params=toy.ARCHS)
def scorer(request, tokenizer):
    model = toy.random_model(request.param, 3, tokenizer.n_vocab, init_std=0.3)
    return Scorer(model, tokenizer.newline_id, Runtime())


def test_the_prediction_is_the_choice_with_the_best_mean_over_its_own_tokens(
    scorer, tokenizer, tmp_path
):
    found = cloze.ask(scorer, cloze.read_items(write_items(tmp_path), tokenizer))
    for item, row in zip(ITEMS, found.to_dict("records"), strict=True):
        means, sums = [], []
        for choice in item["choices"]:
            scored = tokenizer.encode(choice)
            ids = [tokenizer.newline_id, *tokenizer.encode(item["context"]), *scored]
            ids = ids[:1] + ids[1:][-(toy.N_CTX - 1) :]
            values = by_hand(scorer, ids)[-len(scored) :]
            means.append(np.mean(values))
            sums.append(np.sum(values))
        assert (row["prediction"], row["by_sum"]) == (np.argmax(means), np.argmax(sums))
        right = means.pop(item["label"])
        assert row["log_probability"] == pytest.approx(right, rel=1e-4)
        assert row["margin"] == pytest.approx(right - max(means), rel=1e-3, abs=1e-4)


def test_scores_count_the_right_choices_of_each_skill(scorer, tokenizer, tmp_path):
    items = cloze.read_items(write_items(tmp_path), tokenizer)
    first = cloze.ask(scorer, items)
    predictions = first["prediction"].tolist()
    labels = [*predictions[:2], 1 - predictions[2], (predictions[3] + 1) % 3]
    told = [{**item, "label": int(label)} for item, label in zip(ITEMS, labels, strict=True)]
    rows = cloze.ask(scorer, cloze.read_items(write_items(tmp_path, told), tokenizer))
    found = cloze.scores(rows)
    assert list(found) == ["mood", "copy"]
    by_sum = sum(rows["by_sum"][:3] == rows["label"][:3])
    assert found["mood"].accuracy_by_sum == pytest.approx(100 * by_sum / 3)
    assert found["mood"].margin == pytest.approx(rows["margin"][:3].mean())
    names = ("n", "correct", "choices", "accuracy", "chance")
    for skill, numbers in (("mood", (3, 2, 2, 200 / 3, 50)), ("copy", (1, 0, 3, 0, 100 / 3))):
        numbers = dict(zip(names, numbers, strict=True))
        assert found[skill].model_dump(include={*names}) == pytest.approx(numbers)


WRONG = {
    "no JSON": ('{"skill"', "invalid json"),
    "label too high": (json.dumps(ITEMS[0] | {"label": 2}), "label 2 of 2; count them"),
    "another number": (
        json.dumps(ITEMS[0] | {"choices": ["a", "b", "c"]}),
        "3 choices, but the items before it of the skill 'mood' have 2",
    ),
    "equal choices": (
        json.dumps(ITEMS[0] | {"choices": ["He ran.", "he  ran ."]}),
        "to the tokenizer 'he  ran .' is the same as 'He ran.'",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_item_is_one_line_that_names_file_and_line(wrong, tokenizer, tmp_path):
    line, fault = WRONG[wrong]
    path = write_items(tmp_path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], line, *lines[3:]]) + "\n")
    said = refusal(cloze.read_items, path, tokenizer)
    assert said.startswith(f"{path}: line 3: ") and fault in said


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_the_program_writes_a_file_and_prints_a_line_for_each_checkpoint(arch, tokenizer, tmp_path):
    checkpoints = [tmp_path / f"update-{update}.safetensors" for update in (0, 8)]
    for update in (0, 8):
        facts = {"seed": 3, "update": update, "tokens": update * 96, "corpus": "shuffled"}
        write_checkpoint(tmp_path, f"update-{update}", arch, **facts)
    path, out = write_items(tmp_path), tmp_path / "out"
    arguments = [arch, "--items", path, "--tokenizer", tmp_path / "tokenizer", "--out", out]
    arguments += ["--settings", toy.model(arch).to_json(), "--checkpoints", *checkpoints]
    printed = call(cloze.main, *arguments).stdout.splitlines()
    assert len(printed) == 2
    rows = pd.read_parquet(out / "rows.parquet")
    assert [*rows.groupby("update").size()] == [len(ITEMS)] * 2
    assert rows["skill"].tolist() == [item["skill"] for item in ITEMS] * 2
    assert rows.dtypes[["item", "label", "prediction"]].eq("int64").all()
    for update, line in zip((0, 8), printed, strict=True):
        record = read_json(out / f"update-{update}.json")
        assert [record[key] for key in ("arch", "corpus", "seed")] == [arch, "shuffled", 3]
        assert (record["update"], record["tokens"]) == (update, update * 96)
        assert record["digests"]["items"] == sha256_file(path)
        mood = record["skills"]["mood"]
        assert (mood["n"], mood["choices"], mood["chance"]) == (3, 2, 50.0)
        assert mood["accuracy"] == pytest.approx(100 * mood["correct"] / 3)
        copy = record["skills"]["copy"]["accuracy"]
        assert line == (
            f"{arch} seed 3 update-{update}: mood {mood['accuracy']:.1f}, copy {copy:.1f}"
        )
