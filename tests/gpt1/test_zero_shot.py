"""The zero-shot prompts and heuristics, against sums written out by hand."""

import numpy as np
import pytest
import torch
from sklearn.metrics import matthews_corrcoef

from gpt1 import zero_shot
from gpt1.cell import PretrainedModel
from gpt1.data import load_task, sample
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.training.scorer import Scorer, margins
from gpt1.zero_shot import EMPTY, EncodedPrompt, ask, best_threshold, fill, predict, score_task
from gpt1.zero_shot_settings import ZeroShotSettings
from tasks import TASKS, task
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file
from tasks.metrics import score_split
from tasks.prompt import Prompt
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import rows_of, write_checkpoint, write_encoded
from tests.gpt1.examples import write_tokenizer
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


class Letters:
    """A tokenizer with a token for each letter, some of which are the same."""

    def encode(self, text):
        return [1 + ord(letter) % 30 for letter in text.lower() if letter.isalpha()]


def prompt_of(name):
    return EncodedPrompt.of(task(name).prompt, name, Letters())


def means(scorer, contexts, scored):
    """The mean log-probability of what is scored behind each context, which is cut at its left."""
    room = toy.N_CTX - 1 - len(scored)
    cut = [[NEWLINE, *context[max(0, len(context) - room) :]] for context in contexts]
    return [np.mean(by_hand(scorer, [*ids, *scored])[-len(scored) :]) for ids in cut]


def test_a_sentence_scores_the_mean_log_probability_of_all_its_tokens(scorer):
    split = toy.split(task("cola"), 12, "dev")
    found = ask(scorer, prompt_of("cola"), split)
    assert [*found] == ["heuristic"]
    for (value,), text in zip(found["heuristic"], split.first, strict=True):
        assert value == pytest.approx(means(scorer, [[]], text)[0], rel=1e-4)


@pytest.mark.parametrize("name", [t.name for t in TASKS if t.name not in ("cola", "sst2")])
def test_a_choice_scores_its_mean_behind_the_texts_and_calibrated_minus_that_without(name, scorer):
    split = toy.split(task(name), 6, "dev")
    split.first[0] = np.arange(1, 31, dtype=np.int32)  # longer than n_ctx
    found = ask(scorer, prompt_of(name), split)
    verdicts = [Letters().encode(choice) for choice in task(name).prompt.choices]
    claim = Letters().encode("Claim:") if verdicts else []  # what the verdicts are on
    for i, (first, second) in enumerate(zip(split.first, split.second, strict=True)):
        choices = verdicts or split.choices[i]
        texts = [*first, *claim, *second]
        expected = [means(scorer, (texts, claim), choice) for choice in choices]
        behind, alone = np.array(expected).T
        assert found["prompt"][i] == pytest.approx(behind, rel=1e-4)
        assert found["calibrated"][i] == pytest.approx(behind - alone, rel=1e-3, abs=1e-4)
        if name == "race":
            assert found["heuristic"][i].tolist() == found["prompt"][i].tolist()


def test_dprd_scores_the_rest_of_the_sentence_after_each_candidate(scorer):
    split = toy.split(task("dprd"), 12, "test")
    split.second[:] = [np.array([3, 4, 5 + i], dtype=np.int32) for i in range(12)]
    found = ask(scorer, prompt_of("dprd"), split)
    assert [*found] == ["heuristic"]
    for i, values in enumerate(found["heuristic"]):
        contexts = [[*split.first[i], *choice] for choice in split.choices[i]]
        assert values == pytest.approx(means(scorer, contexts, split.second[i]), rel=1e-4)


def test_sst2_compares_the_words_positive_and_negative_after_very(scorer):
    split = toy.split(task("sst2"), 12, "dev")
    found = ask(scorer, prompt_of("sst2"), split)
    very, words = Letters().encode("very"), [*map(Letters().encode, ("negative", "positive"))]
    alone = [means(scorer, [very], word)[0] for word in words]
    for i, text in enumerate(split.first):
        behind = np.array([means(scorer, [[*text, *very]], word)[0] for word in words])
        assert found["heuristic"][i] == pytest.approx(8 * behind, rel=1e-4)  # a token a letter
        assert found["calibrated"][i] == pytest.approx(behind - alone, rel=1e-3, abs=1e-4)


def test_the_best_choice_is_said_and_of_stsb_by_how_much_the_last_one_is_better():
    scores = np.array([[-2.0, -1.0, -3.0], [-1.0, -1.5, -1.25]])
    assert predict(task("snli").spec, scores).tolist() == [1, 0]
    assert predict(task("stsb").spec, scores).tolist() == [-1.0, -0.25]
    assert predict(task("cola").spec, scores, threshold=-1.5).tolist() == [0, 1]


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
    encoded, prompt = toy.encoded(task("cola"), train=30, dev=20), prompt_of("cola")
    train, dev = (ask(scorer, prompt, of)["heuristic"][:, 0] for of in encoded.splits.values())
    encoded.splits["train"].labels[:] = train > np.median(train)
    threshold = best_threshold(train, encoded.splits["train"].labels)
    encoded.splits["dev"].labels[:] = dev > threshold
    record, rows = score_task(scorer, encoded, settings("cola"), prompt)
    assert (record["threshold"], record["score"]) == (threshold, 100)
    assert rows["log_probability"].tolist() == dev.tolist()
    assert rows["margin"].tolist() == pytest.approx(
        abs(dev - threshold)
    )  # all are on the right side


def test_margins_are_over_the_best_wrong_choice():
    scores, labels = np.array([[-3.0, -1, -2], [-3.0, -1, -2], [-1.0, -5, -1]]), np.array([1, 2, 0])
    right, margin = margins(scores, labels)
    assert (right.tolist(), margin.tolist()) == ([-1, -2, -1], [1, -1, 0])


@pytest.mark.parametrize("name", ["race", "stsb", "mrpc"])
def test_the_rows_behind_a_score_give_it_again(scorer, name):
    encoded = toy.encoded(task(name), train=4, dev=30)
    record, rows = score_task(scorer, encoded, settings(name), prompt_of(name))
    assert [*rows["scoring"].unique()] == [*record["by_scoring"]]
    for scoring, part in rows.groupby("scoring"):
        spec = task(name).spec
        split, kind = encoded.splits[encoded.main], float if spec.soft_labels else int
        said, labels = (part[of].to_numpy().astype(kind) for of in ("prediction", "label"))
        found = score_split(spec, said, labels, split.groups, encoded.main)
        score = record["by_scoring"][scoring]
        assert found[encoded.main][spec.metric] == pytest.approx(score, abs=1e-4)
        assert part["guid"].tolist() == split.guids
        if name == "stsb":
            assert np.isnan(part["margin"]).all()
        else:
            assert ((part["margin"] > 0) == (said == labels)).all()


def test_the_ids_of_words_and_texts_are_those_of_the_whole_text(tmp_path):
    write_tokenizer(tmp_path, sorted({*"abcdefghijklmnopqrstuvwxyz.:?,'"}))
    tokenizer = Tokenizer.load(tmp_path)
    texts = {"first": "It's late, isn't it?", "second": "He can't.", "choice": "the cat's"}
    row = {name: np.array(tokenizer.encode(text)) for name, text in texts.items()}
    for of in (*TASKS, task("dprd")):
        encoded = EncodedPrompt.of(of.prompt, of.name, tokenizer)
        before, scored = (
            tokenizer.encode(template.format(**texts))
            for template in (of.prompt.before, of.prompt.scored)
        )
        assert np.concatenate([EMPTY, *fill(encoded.before, row)]).tolist() == before, of.name
        assert np.concatenate(fill(encoded.scored, row)).tolist() == scored, of.name


def test_the_words_of_a_prompt_are_spelled_by_the_tokenizer_or_refused(tmp_path):
    letters = sorted({*"verypositivenegative"} - {"g"})
    write_tokenizer(tmp_path, letters)
    with pytest.raises(InputError, match="zero-shot sst2: the tokenizer cannot spell 'negative'"):
        EncodedPrompt.of(task("sst2").prompt, "sst2", Tokenizer.load(tmp_path))


def settings(name, limit=None, random=10, best=50):
    normalise = {name: {"random": random, "best": best}}
    model = toy.model("transformer")
    prompts = {name: task(name).prompt}
    return ZeroShotSettings(limit=limit, normalise=normalise, prompts=prompts, model=model)


def test_a_limit_scores_a_sample_and_not_the_first_rows(scorer, monkeypatch):
    encoded, seen = toy.encoded(task("cola"), train=40, dev=40), []

    def scores(scorer, prompt, split):
        seen.append(split.guids)
        return {"heuristic": np.zeros((len(split), 1))}

    monkeypatch.setattr(zero_shot, "ask", scores)
    record, _ = score_task(scorer, encoded, settings("cola", limit=10), prompt_of("cola"))
    assert record["n"] == 10
    every = [encoded.splits[name].guids for name in ("train", "dev")]
    assert seen == [[guids[i] for i in sample(40, 10)] for guids in every]
    assert seen[0] != every[0][:10]


def test_a_relative_score_is_0_by_chance_and_1_at_the_best(scorer, monkeypatch):
    encoded = toy.encoded(task("sst2"), train=4, dev=8)
    labels = encoded.splits["dev"].labels
    for right, relative in ((2, 0.0), (6, 1.0), (3, 0.25)):
        said = np.eye(2)[np.where(np.arange(8) < right, labels, 1 - labels)]
        by_scoring = {"heuristic": said, "prompt": said[:, ::-1]}
        monkeypatch.setattr(zero_shot, "ask", lambda *_, of=by_scoring: of)
        own = settings("sst2", random=25, best=75)
        record, _ = score_task(scorer, encoded, own, prompt_of("sst2"))
        assert (record["score"], record["relative"]) == (12.5 * right, relative)
        assert record["by_scoring"] == {"heuristic": 12.5 * right, "prompt": 100 - 12.5 * right}


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
    task = load_task(files / "encoded/cola")
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
    scorer = Scorer(source.language_model(Runtime()), NEWLINE, Runtime())
    for name, parameter in scorer.model.named_parameters():
        assert torch.equal(parameter, source.tensors[name]), name
    assert not scorer.model.training


def test_choices_that_are_the_same_tokens_are_refused(tmp_path):
    write_tokenizer(tmp_path, sorted({*"yesno."}))
    choices = ("No. {second}", "yes {second}", "no {first}", "NO. {second}")
    prompt = Prompt("{first}", choices=choices)
    with pytest.raises(InputError, match=r"zero-shot x: to .* 'NO. {second}' is .* 'No. {second}'"):
        EncodedPrompt.of(prompt, "x", Tokenizer.load(tmp_path))
    fine = Prompt("{first}", choices=choices[:3])
    assert len(EncodedPrompt.of(fine, "x", Tokenizer.load(tmp_path)).choices) == 3
