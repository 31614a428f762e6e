"""Majority and bag of words on rows whose answer is known."""

import hashlib
from itertools import product

import numpy as np
import pytest
from datasets import Dataset

from tasks import TASKS, baselines, task, word_classes
from tasks.baselines import (
    affix_bigrams,
    bag,
    one_text,
    word_orders,
    word_overlap,
    word_pairs,
    word_runs,
)
from tasks.common.arrow import split_names
from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json
from tasks.common.hf_datasets import save
from tasks.examples import read
from tasks.prepare import main as prepare_main
from tasks.prepare import prepare
from tasks.settings import PrepareSettings
from tasks.spec import Example
from tests.facts import DOCUMENT, DOCUMENTS
from tests.support.programs import call


def rows(split, labels, texts, choices=()):
    """Examples with these labels; `texts` has the first or both texts of each label."""
    found = []
    for k, label in enumerate(labels):
        first, second = texts[label] if isinstance(texts[label], tuple) else (texts[label], "")
        found.append(Example(f"{split}/{k}", first, second, choices, label))
    return {split: found}


def scored(name, splits, classes=None):
    """The main score of each baseline on dev."""
    scores = baselines.baselines(task(name), splits, classes)
    return {baseline: of["dev"][task(name).metric] for baseline, of in scores.items()}


@pytest.mark.parametrize("name", [each.name for each in TASKS])
def test_every_task_is_scored_on_every_split_but_train(name, published):
    each = task(name)
    splits, _ = prepare(each, published(name), PrepareSettings(published=False))
    scores = baselines.baselines(each, splits)
    expected = {"select", *each.report}
    if each.groups:
        expected |= {f"{split}_{group}" for split in each.report for group in each.groups}
        expected |= {f"select_{e.group}" for e in splits["select"]}
    of_family = {"word_overlap", "one_text", "word_pairs"}
    of_family = {"affix_bigrams"} if each.family == "classification" else of_family
    assert set(scores) == {"majority", "bag_of_words", *of_family}
    for by_split in scores.values():
        assert set(by_split) == expected
        assert all(set(values) == set(each.metrics) for values in by_split.values())


FILMS = ["the film was dull", "the film was fine"]
CLASSES = {word: k for k, words in enumerate(("red blue", "sad glum")) for word in words.split()}
TURNS = [(f"{a} {b}", f"{b} {a}") for a, b in (("red", "sad"), ("blue", "glum"))]
CHOICES = ("red", "sad"), ("blue", "glum")
# Of each label the texts that train and those on dev, and the choices of both; and the scores.
LEARNT = {
    "a telling word, wherever it stands": (
        *("sst2", FILMS, ["dull was the film", "fine the was film"], ((), ())),
        {"bag_of_words": 100},
    ),
    "of the training rows alone": ("sst2", FILMS, FILMS[::-1], ((), ()), {"bag_of_words": 0}),
    "the class of a word": (
        *("sst2", ["a red car", "a sad car"], ["a blue car", "a glum car"], ((), ())),
        {"word_classes": 100, "bag_of_words": 50},
    ),
    "the order of classes": (
        *("sst2", *TURNS, ((), ())),
        {"class_orders": 100, "nearest_neighbours": 100, "word_classes": 50},
    ),
    "the choice that shares words, or is a near row's": (
        *("race", [("red", "?"), ("sad", "?")], [("blue", "?"), ("glum", "?")], CHOICES),
        {"bag_of_words": 100, "nearest_neighbours": 100, "majority": 50},
    ),
    "scores of near rows": (
        *("stsb", {0.0: ("sad", "x"), 1.0: ("red", "x")}, {0.0: ("glum", "x"), 1.0: ("blue", "x")}),
        *(((), ()), {"nearest_neighbours": 100}),
    ),
    "the first text": ("rte", *[[("no", "x"), ("yes", "x")]] * 2, ((), ()), {"one_text": 100}),
    "the second text": ("rte", *[[("x", "no"), ("x", "yes")]] * 2, ((), ()), {"one_text": 100}),
}


@pytest.mark.parametrize("what", LEARNT)
def test_a_baseline_learns_what_it_is_for_and_no_more(what, monkeypatch):
    monkeypatch.setattr(baselines, "AT_ONCE", 3)  # the neighbours of so many texts at a time
    name, train, dev, choices, expected = LEARNT[what]
    splits = rows("train", [0, 1, 1, 0] * 5, train, choices[0])
    found = scored(name, splits | rows("dev", [0, 1] * 5, dev, choices[1]), CLASSES)
    assert {baseline: found[baseline] for baseline in expected} == pytest.approx(expected)


def test_examples_without_training_rows_are_an_error():
    with pytest.raises(InputError, match="no train rows"):
        baselines.baselines(task("cola"), rows("dev", [1, 0], "xx"))


@pytest.fixture
def made(published, tmp_path):
    """RACE's examples and their facts, as `tasks.prepare` writes them."""
    folder = tmp_path / "made"
    words = ("race", "--folder", published("race"), "--out", folder, "--facts", f"{folder}.json")
    assert call(prepare_main, *words, "--settings", '{"published": false}').returncode == 0
    return folder


def test_the_program_writes_the_scores_as_json(made, tmp_path):
    done = call(baselines.main, "race", "--examples", made, "--out", tmp_path / "b.json")
    assert done.returncode == 0, done.stderr
    written = read_json(tmp_path / "b.json")
    assert written.pop("task") == "race"
    examples = {split: read(made, split) for split in split_names(made)}
    scores = {name: of for name, of in written.items() if of}
    assert scores == baselines.baselines(task("race"), examples)
    assert {"dev", "dev_middle", "dev_high", "test_high"} <= set(written["majority"])


def test_examples_that_changed_after_they_were_prepared_are_refused(made, tmp_path):
    (path,) = (made / "train").glob("*.arrow")
    content = path.read_bytes()
    place = content.index(b"story")  # of a text
    path.write_bytes(content[:place] + b"stork" + content[place + 5 :])
    arguments = ("race", "--examples", made, "--out", tmp_path / "b.json")
    done = call(baselines.main, *arguments)
    line = f"error: {made}/train: not what {made}.json describes; prepare race again\n"
    assert (done.returncode, done.stderr) == (1, line)
    path.write_bytes(content)
    write_json(f"{made}.json", {"task": "race", "sha256": [], "unlabelled": []})
    done = call(baselines.main, *arguments)
    assert done.stderr.startswith(f"error: {made}.json: train_from: missing; ")
    assert not (tmp_path / "b.json").exists()


def seen(features, name, first, second="", choices=(), **given):
    """The features of an example, for each choice if it has some."""
    example = Example("x", first, second, choices, 0)
    each = task(name)
    return [{*features(p, each.family, **given)} for p in baselines.texts(each, example)]


@pytest.mark.parametrize(
    ("name", "labels", "answer"),
    [
        ("snli", [1, 0, 2, 2, 1], 1),  # the smaller one of two as frequent
        ("qqp", [0, 0, 0], 1),  # by F1 that is yes
        ("cola", [0, 0, 0], 0),
        ("stsb", [1.0, 2.0, 4.5], 2.5),
    ],
)
def test_the_constant_answer_is_the_most_frequent_one_or_what_scores_best(name, labels, answer):
    texts = dict.fromkeys([*labels, 0, 1], ("x", "y"))
    train = rows("train", labels, texts)
    assert list(baselines.majority(task(name), train["train"], train["train"][:2])) == [answer] * 2
    found = scored(name, train | rows("dev", [0, 0, 0, 1], texts))
    assert found["majority"] == {"snli": 25.0, "qqp": 40.0, "cola": 0.0, "stsb": 0.0}[name]
    if len({*labels}) == 1:  # no regression can be fitted to it
        assert found["bag_of_words"] == (0.0 if name == "qqp" else found["majority"])


def test_words_with_the_same_neighbours_are_of_one_class():
    animals, tools = ("cat", "dog", "cow"), ("saw", "axe", "drill")
    draw = np.random.default_rng(0).choice
    pairs = zip(draw(animals, 300), draw(tools, 300), strict=True)
    text = " ".join(f"the {a} sleeps at night . we mend an old {t} by day ." for a, t in pairs)
    classes = word_classes.word_classes([text])
    assert len({classes[word] for word in animals}) == len({classes[word] for word in tools}) == 1
    assert classes["cat"] != classes["saw"]
    assert classes == word_classes.word_classes([text])
    with pytest.raises(InputError, match="2 words that occur 5 times"):
        word_classes.word_classes(["yes no " * 5])


def test_word_classes_of_damaged_documents_and_damaged_classes_are_refused(made, tmp_path):
    text = " ".join(f"{word} " * 5 for word in ("red", "blue", "sad"))
    documents, classes = tmp_path / "documents", tmp_path / "classes.json"
    save(documents, {"train": Dataset.from_dict({"name": ["a.txt"], "text": [text]})})
    digest = hashlib.sha256(text.encode()).hexdigest()
    described = [{**DOCUMENT, "name": "a.txt", "sha256": digest}]
    write_json(f"{documents}.json", {**DOCUMENTS, "documents": described})
    words = ("--documents", documents, "--out", classes)
    assert call(word_classes.main, *words).stdout == "1 classes of 3 words\n"
    classes.write_bytes(classes.read_bytes().replace(b"sad", b"mad"))
    given = ("race", "--examples", made, "--word-classes", classes, "--out", tmp_path / "b.json")
    assert "classes.json: damaged or edited" in call(baselines.main, *given).stderr
    (arrow,) = documents.glob("train/*.arrow")
    arrow.write_bytes(arrow.read_bytes().replace(b"sad", b"mad"))
    assert "a.txt is not the document described" in call(word_classes.main, *words).stderr


def test_the_order_of_classes_across_two_texts_is_learnt():
    made = {
        split: [
            Example(f"{split}/{i}", a, b, (), int(a == b))
            for i, (a, b) in enumerate([*product(of, of)] * 6)
        ]
        for split, of in zip(("train", "dev"), TURNS, strict=True)
    }
    found = scored("rte", made, CLASSES)
    assert found["class_orders"] == 100.0 and found["word_classes"] <= 50.0


def test_each_baseline_sees_what_it_is_named_after():
    both = {"both red", "first a", "first ,", "first car", "second the", "second bus", "overlap 3"}
    assert seen(bag, "rte", "A red, car", "the red bus") == [both]
    # Of a pair without an order only the overlap's share of the second tells which came first.
    assert seen(bag, "mrpc", "a", "b c") == [{"only a", "only b", "only c", "overlap 0"}]
    each = [{"both b", "choice d", "overlap 5"}, {"overlap 0"}]
    assert seen(bag, "race", "a b", "c", ("b d", "")) == each
    (pairs,) = seen(word_pairs, "rte", "a b", "b c")
    assert pairs >= {"0 a b", "0 a c", "0 b b", "0 b c", "both b"} and "0 b a" not in pairs
    assert seen(word_pairs, "mrpc", "b", "a") == seen(word_pairs, "mrpc", "a", "b")
    of_choice = seen(word_pairs, "race", "story", "who", ("he", "she"))
    assert [{found for found in each if found[0] in "01"} for each in of_choice] == [
        {"0 story he", "1 who he"},
        {"0 story she", "1 who she"},
    ]
    assert seen(word_overlap, "rte", "a b", "b c") == [{"both", "first", "second", "a 5", "b 5"}]
    assert seen(word_overlap, "race", "a", "b", ("a", "c")) == [
        {"both", "a 5", "b 10"},
        {"second", "a 0", "b 0"},
    ]
    assert seen(one_text, "rte", "a b", "c", place=0) == [{"a", "b"}]
    assert seen(one_text, "race", "a", "b", ("c", "d e"), place=-1) == [{"c"}, {"d", "e"}]
    (orders,) = seen(word_orders, "rte", "a b", "c d")
    assert {"last c>d", "0 a>b", "0 a>b c>d", "0 ^>a d>$"} < orders and "last d>c" not in orders
    (orders,) = seen(word_orders, "cola", "a b c d e")
    assert orders >= {"last a>d", "a>b d>e"} and "last a>e" not in orders
    (orders,) = seen(word_orders, "mrpc", "b a", "a b")
    assert "0 a>b b>a" in orders and "0 b>a a>b" not in orders
    assert seen(word_runs, "rte", "a", "b") == [
        {
            f"{n} {run}"
            for n, w in enumerate("ab")
            for run in ("^", w, "$", f"^ {w}", f"{w} $", f"^ {w} $")
        }
    ]
    (bigrams,) = seen(affix_bigrams, "cola", "An eel")
    assert bigrams >= {"an eel", "an e-", "-n -el", "^ an", "eel $"}


def test_rows_of_the_world_are_scored_by_degree_as_well():
    texts = [("w0", "b"), ("w1", "b")]
    splits = {"train": rows("rte/train", [0, 1] * 4, texts)["rte/train"]}
    splits |= {"dev": rows("rte/dev", [0, 1, 1, 0], texts)["rte/dev"]}
    degrees = {"lexical": {"rte/dev/0", "rte/dev/1"}, "compositional": {"rte/dev/2", "rte/dev/3"}}
    scores = baselines.baselines(task("rte"), splits, degrees=degrees)["bag_of_words"]
    assert set(scores) == {"dev", "dev_lexical", "dev_compositional"}
    assert scores["dev_lexical"]["accuracy"] == 100


def test_of_long_texts_no_pairs_of_pairs_are_counted_and_of_many_rows_some_are_drawn(monkeypatch):
    splits = rows("train", [0, 1] * 10, CHOICES[0]) | rows("dev", [0, 1], CHOICES[0])
    fitted = []

    def linear(task, train, rows, *_, **__):
        fitted.append(len(train))
        return np.zeros(len(rows), dtype=int)

    monkeypatch.setattr(baselines, "MAX_ROWS", 7)
    monkeypatch.setattr(baselines, "linear", linear)
    assert "class_orders" in scored("sst2", splits, CLASSES) and fitted == [20, 7, 7, 7]
    monkeypatch.setattr(baselines, "LONG", 0)
    assert "class_orders" not in scored("sst2", splits, CLASSES)
