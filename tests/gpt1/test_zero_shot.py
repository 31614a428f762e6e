"""The zero-shot heuristics, against sums written out by hand."""

import numpy as np
import pytest
import torch
from sklearn.metrics import matthews_corrcoef

from gpt1 import zero_shot
from gpt1.cell import PretrainedModel
from gpt1.data.batching import sample
from gpt1.data.encoded import load as load_encoded
from gpt1.settings import ZeroShotSettings
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer
from gpt1.zero_shot import (
    best_threshold,
    choice_predictions,
    predict,
    score_task,
    sentence_scores,
    sentiment_words,
)
from tasks import task
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file
from tests.gpt1 import toy
from tests.gpt1.examples import write_tokenizer
from tests.gpt1.kept_cells import rows_of, write_checkpoint, write_encoded
from tests.support.programs import call

NEWLINE = 39


@pytest.fixture(params=toy.ARCHS)
def scorer(request):
    return Scorer(toy.random_model(request.param, 3, init_std=0.3), NEWLINE, Runtime())


def by_hand(scorer, ids):
    """Log-probabilities of every token of `ids` but the first, over the BPE rows alone."""
    model = scorer.model
    with torch.no_grad():
        hidden, _ = model(torch.tensor([ids]))
        logits = model.lm_features(hidden[0]) @ model.embed[: model.n_vocab].T
    table = logits.log_softmax(-1)
    return [float(table[i, token]) for i, token in enumerate(ids[1:])]


def test_a_sentence_scores_the_mean_log_probability_of_all_its_tokens(scorer):
    split = toy.Rows(task("cola")).split(12, "dev")
    found = sentence_scores(scorer, split)
    for value, text in zip(found, split.first, strict=True):
        assert value == pytest.approx(np.mean(by_hand(scorer, [NEWLINE, *text])), rel=1e-4)


def test_race_picks_the_answer_with_the_best_mean_over_the_answers_tokens(scorer):
    split = toy.Rows(task("race")).split(12, "dev")
    found = choice_predictions(scorer, split, "race")
    for i, prediction in enumerate(found):
        context = [NEWLINE, *split.first[i], *split.second[i]]
        means = [np.mean(by_hand(scorer, [*context, *c])[-len(c) :]) for c in split.choices[i]]
        assert prediction == int(np.argmax(means))


def test_dprd_scores_the_rest_of_the_sentence_after_each_candidate(scorer):
    rows = toy.Rows(task("dprd"))
    split = rows.split(12, "test")
    split.second[:] = [np.array([3, 4, 5 + i], dtype=np.int32) for i in range(12)]
    found = choice_predictions(scorer, split, "dprd")
    for i, prediction in enumerate(found):
        means = [
            np.mean(by_hand(scorer, [NEWLINE, *split.first[i], *c, *split.second[i]])[-3:])
            for c in split.choices[i]
        ]
        assert prediction == int(np.argmax(means))


def test_sst2_compares_the_words_positive_and_negative_after_very(scorer):
    splits = {"dev": toy.Rows(task("sst2")).split(12, "dev")}
    words = {"very": np.array([5]), "positive": np.array([6]), "negative": np.array([7, 8])}
    found, threshold = predict(scorer, "sst2", splits, "dev", words)
    assert threshold is None
    for text, prediction in zip(splits["dev"].first, found, strict=True):
        ids = [NEWLINE, *text, 5]
        positive = by_hand(scorer, [*ids, 6])[-1]
        negative = sum(by_hand(scorer, [*ids, 7, 8])[-2:])
        assert prediction == int(positive > negative)


def test_the_threshold_is_the_best_of_all_midpoints():
    rng = np.random.default_rng(0)
    for _ in range(30):
        scores = np.round(rng.normal(size=25), 1)  # with ties
        labels = rng.integers(0, 2, 25)
        best = max(
            matthews_corrcoef(labels, (scores > t).astype(int))
            for t in (np.unique(scores)[1:] + np.unique(scores)[:-1]) / 2
        )
        found = matthews_corrcoef(labels, scores > best_threshold(scores, labels))
        assert found == pytest.approx(best)


def test_a_long_context_loses_its_left_end_and_keeps_all_that_is_scored(scorer):
    context, scored = np.arange(1, 36, dtype=np.int32), np.array([7, 8, 9], dtype=np.int32)
    ids, start = scorer.sequence([context], scored)
    assert len(ids) == toy.N_CTX and ids[0] == NEWLINE
    assert ids[start:].tolist() == [7, 8, 9] and ids[start - 1] == 35


def test_a_shared_prefix_changes_no_log_probability(scorer):
    rng, items = np.random.default_rng(4), []
    for size in (1, 4, 2, 4, 3, 2):
        context = rng.integers(0, toy.N_VOCAB, rng.integers(1, 30))  # some lose their left end
        start = rng.integers(0, toy.N_VOCAB, 2)
        # Answers that begin alike, so that the prefix is scored as well.
        ends = [rng.integers(0, toy.N_VOCAB, rng.integers(1, 6)) for _ in range(size)]
        items.append([scorer.sequence([context], np.concatenate([start, end])) for end in ends])
    for item, values in zip(items, scorer.log_probabilities(items), strict=True):
        alone = scorer.log_probabilities([[sequence] for sequence in item])
        for (ids, start), shared, (single,) in zip(item, values, alone, strict=True):
            assert shared == pytest.approx(by_hand(scorer, ids.tolist())[start - 1 :], rel=1e-4)
            assert np.allclose(shared, single, rtol=1e-4)


def test_a_sentence_above_colas_threshold_is_acceptable(scorer):
    rows = toy.Rows(task("cola"))
    splits = {"train": rows.split(30, "train"), "dev": rows.split(20, "dev")}
    values = sentence_scores(scorer, splits["train"])
    splits["train"].labels[:] = values > np.median(values)
    found, threshold = predict(scorer, "cola", splits, "dev", {})
    assert threshold == best_threshold(values, splits["train"].labels)
    means = [np.mean(by_hand(scorer, [NEWLINE, *text])) for text in splits["dev"].first]
    assert found.tolist() == [int(mean > threshold) for mean in means]
    assert set(found) == {0, 1}


def test_the_words_of_sst2_are_spelled_by_the_tokenizer_or_refused(tmp_path):
    letters = sorted({*"verypositivenegative"})
    write_tokenizer(tmp_path, letters)
    tokenizer = Tokenizer.load(tmp_path)
    found = sentiment_words(tokenizer)
    assert list(found) == ["very", "positive", "negative"]
    for word, ids in found.items():
        assert [tokenizer.tokens[i] for i in ids] == [*word[:-1], word[-1] + "</w>"]
    letters.remove("g")
    write_tokenizer(tmp_path, letters)
    with pytest.raises(InputError, match="zero-shot sst2: the tokenizer cannot spell 'negative'"):
        sentiment_words(Tokenizer.load(tmp_path))


def settings(name, limit=None, random=10, best=50):
    normalise = {name: {"random": random, "best": best}}
    model = toy.model("transformer")
    return ZeroShotSettings(limit=limit, normalise=normalise, model=model)


def test_a_limit_scores_a_sample_and_not_the_first_rows(scorer, monkeypatch):
    encoded, seen = toy.encoded(task("cola"), train=40, dev=40), {}

    def answers(scorer, name, splits, split, words):
        seen.update(splits)
        return np.zeros(len(splits[split]), dtype=int), None

    monkeypatch.setattr(zero_shot, "predict", answers)
    assert score_task(scorer, encoded, settings("cola", limit=10), {})["n"] == 10
    for name in ("train", "dev"):
        guids = encoded.splits[name].guids
        assert seen[name].guids == [guids[i] for i in sample(40, 10)] != guids[:10]


def test_a_relative_score_is_0_by_chance_and_1_at_the_best(scorer, monkeypatch):
    encoded = toy.encoded(task("sst2"), train=4, dev=8)
    labels = encoded.splits["dev"].labels
    for right, relative in ((2, 0.0), (6, 1.0), (3, 0.25)):
        said = np.where(np.arange(8) < right, labels, 1 - labels)
        monkeypatch.setattr(zero_shot, "predict", lambda *_, said=said: (said, None))
        record = score_task(scorer, encoded, settings("sst2", random=25, best=75), {})
        assert (record["score"], record["relative"]) == (12.5 * right, relative)


@pytest.fixture
def files(tmp_path):
    """CoLA encoded by a tokenizer, another tokenizer, and two checkpoints of the first."""
    write_tokenizer(tmp_path / "tokenizer")
    write_tokenizer(tmp_path / "other", "a")
    splits = ("train", "select", "dev")
    write_encoded(tmp_path, "cola", {name: rows_of("cola", 8, i) for i, name in enumerate(splits)})
    for update in (3, 8):
        facts = {"seed": 4, "update": update, "tokens": 96 * update}
        write_checkpoint(tmp_path, f"update-{update}", "lstm", **facts)
    return tmp_path


def program(files, tokenizer):
    own = settings("cola", random=0, best=35).model_copy(update={"model": toy.model("lstm")})
    options = ["--encoded", files / "encoded/cola", "--tokenizer", files / tokenizer]
    options += ["--settings", own.to_json(), "--results", files, "--code", "12ab"]
    weights = [files / f"update-{update}.safetensors" for update in (3, 8)]
    return call(zero_shot.main, "lstm", *options, "--checkpoints", *weights)


def test_the_program_scores_each_checkpoint_and_says_what_they_are_of(files):
    done = program(files, "tokenizer")
    assert done.returncode == 0, done.stderr
    task = load_encoded(files / "encoded/cola")
    for update in (3, 8):
        found = read_json(PretrainedModel("lstm", 4).zero_shot(files, "cola", update))
        source = {"arch": "lstm", "corpus": "books", "seed": 4, "update": update}
        of_task = {"task": "cola", "split": "dev", "metric": "matthews", "n": 8}
        assert {**source, "tokens": 96 * update, **of_task}.items() <= found.items()
        assert found["relative"] == pytest.approx(found["score"] / 35)
        assert found["digests"] == {
            "checkpoint": sha256_file(files / f"update-{update}.safetensors"),
            **{"tokenizer": task.tokenizer, "code": "12ab", "data": task.labelled_digest},
        }
    said = [f"lstm seed 4 update-{update}: scored cola" for update in (3, 8)]
    assert done.stdout.splitlines() == said


def test_a_task_that_was_encoded_by_another_tokenizer_is_refused(files):
    done = program(files, "other")
    assert done.returncode == 1 and done.stderr == (
        f"error: {files}/encoded/cola: encoded by another tokenizer than {files}/other; encode it "
        "again\n"
    )


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_checkpoints_scorer_has_its_weights(arch):
    source = toy.source(arch)
    scorer = Scorer.of(source, NEWLINE, Runtime())
    for name, parameter in scorer.model.named_parameters():
        assert torch.equal(parameter, source.tensors[name]), name
    assert not scorer.model.training
