"""Examples to arrays: contents, layout, equal bytes, and files that are no good."""

import json

import numpy as np
import pytest

from gpt1.encode import encode
from gpt1.text import tokenizer as bpe
from gpt1.text import vocabulary
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.encoded import load
from tasks import task
from tasks.common.errors import InputError
from tasks.common.files import sha256_file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tokenizer")
    words = ["the", "dog", "cat", "did", "n't", "bark", ".", "?", "a", "b", "why", "who"]
    counts = dict.fromkeys(words, 5)
    vocabulary.save(folder, *bpe.train(counts, 15))
    return folder


def row(task, split, i, **values):
    empty = {"first": "", "second": "", "choices": [], "label": 0, "group": ""}
    return {**empty, "split": split, "guid": f"{task}/{split}/{i}", **values}


RACE = [
    row("race", "train", 0, first="The dog didn't bark.", second="Why?", label=1, group="high")
    | {"choices": ["a", "b cat", "the", "who?"]},
    row("race", "dev", 7, first="A\n\ncat", second="Who?", choices=["a"] * 4, group="middle"),
]


def write(path, rows):
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def test_every_text_label_and_name_comes_back(folder, tmp_path):
    examples = write(tmp_path / "race.jsonl", RACE)
    encode("race", examples, folder, tmp_path / "race.npz")
    found = load(tmp_path / "race.npz")
    tokenizer = Tokenizer.load(folder)
    assert (found.kind, found.tokenizer) == (task("race").kind, tokenizer.digest)
    assert found.data == sha256_file(examples)
    assert list(found.splits) == ["train", "dev"]
    for example in RACE:
        split = found.splits[example["split"]]
        assert split.guids == [example["guid"]] and split.groups == [example["group"]]
        assert split.labels.dtype == np.int64 and split.labels.tolist() == [example["label"]]
        assert split.first[0].dtype == np.int32
        assert split.first[0].tolist() == tokenizer.encode(example["first"])
        assert split.second[0].tolist() == tokenizer.encode(example["second"])
        choices = [ids.tolist() for ids in split.choices[0]]
        assert choices == [tokenizer.encode(choice) for choice in example["choices"]]
    assert tokenizer.newline_id in found.splits["dev"].first[0]


def test_scores_stay_floats_and_absent_texts_stay_empty(folder, tmp_path):
    rows = [row("stsb", "dev", i, first="cat", second="dog", label=i * 0.7) for i in range(3)]
    encode("stsb", write(tmp_path / "s.jsonl", rows), folder, tmp_path / "s.npz")
    split = load(tmp_path / "s.npz").splits["dev"]
    assert split.labels.dtype == np.float64 and split.labels.tolist() == [0.0, 0.7, 1.4]
    rows = [row("cola", "dev", i, first="the cat") for i in range(3)]
    encode("cola", write(tmp_path / "c.jsonl", rows), folder, tmp_path / "c.npz")
    split = load(tmp_path / "c.npz").splits["dev"]
    assert [len(ids) for ids in split.second] == [0, 0, 0] and split.choices == [[], [], []]


def test_equal_input_gives_equal_bytes(folder, tmp_path, monkeypatch):
    examples = write(tmp_path / "race.jsonl", RACE)
    found = []
    for when in (1.0e9, 1.7e9):
        monkeypatch.setattr("time.time", lambda when=when: when)
        encode("race", examples, folder, tmp_path / f"{when}.npz")
        found.append((tmp_path / f"{when}.npz").read_bytes())
    assert found[0] == found[1]


@pytest.mark.parametrize("key", ["first", "second", "choices"])
def test_a_text_of_which_cleaning_leaves_nothing_is_named(folder, tmp_path, key):
    blank = {"first": " \u00a0", "second": "\n", "choices": ["a", "\t"]}
    rows = [RACE[0], RACE[1] | {key: blank[key]}]
    with pytest.raises(InputError, match=f"line 2: race/dev/7: nothing is left of '{key}'"):
        encode("race", write(tmp_path / "r.jsonl", rows), folder, tmp_path / "r.npz")
    assert not (tmp_path / "r.npz").exists()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"split": ', "line 2: not JSON"),
        ("[]", "line 2: not an object"),
        (json.dumps(RACE[0] | {"first": None}), "'first' is None, expected a text"),
        (json.dumps(RACE[0] | {"choices": "abcd"}), "'choices' is 'abcd', expected a list"),
        (json.dumps(RACE[0] | {"guid": "rte/dev/0"}), "'rte/dev/0' is no example of race"),
        (json.dumps(RACE[0] | {"label": "b"}), "'label' is 'b', expected an index"),
        (json.dumps(RACE[0] | {"label": 1.0}), "'label' is 1.0, expected an index"),
    ],
)
def test_a_line_that_is_no_example_is_named(folder, tmp_path, line, message):
    path = write(tmp_path / "r.jsonl", RACE[:1])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match=message) as error:
        encode("race", path, folder, tmp_path / "r.npz")
    assert "\n" not in str(error.value) and not (tmp_path / "r.npz").exists()


def test_no_examples_no_file_and_an_unknown_task_are_refused(folder, tmp_path):
    empty = write(tmp_path / "e.jsonl", [])
    with pytest.raises(InputError, match="e.jsonl: no examples"):
        encode("race", empty, folder, tmp_path / "r.npz")
    with pytest.raises(InputError, match="no such file"):
        encode("race", tmp_path / "none.jsonl", folder, tmp_path / "r.npz")
    with pytest.raises(InputError, match="no task 'squad'"):
        encode("squad", empty, folder, tmp_path / "r.npz")


def test_a_damaged_file_is_refused(folder, tmp_path):
    path = tmp_path / "r.npz"
    encode("race", write(tmp_path / "r.jsonl", RACE), folder, path)
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[whole.index("tokenizer".encode("utf-32-le"))] ^= 1
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    contents = [bytes(damaged), b"", b"text", whole[:100], whole[:-50], whole[len(whole) // 2 :]]
    contents += [(tmp_path / name).read_bytes() for name in ("array.npy", "other.npz")]
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(InputError, match="r.npz: cut off or not of encoded examples"):
            load(path)
    path.unlink()
    with pytest.raises(InputError, match="no such file; encode the task first"):
        load(path)
