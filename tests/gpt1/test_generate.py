"""Texts that a pre-trained language model continues."""

import shutil

import numpy as np
import pandas as pd
import pytest
import torch

from gpt1 import generate as program
from gpt1.generate import Sampling, generate, next_logits
from gpt1.text.tokenizer import Tokenizer
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import load_checkpoint, read_facts
from tasks.common.errors import InputError
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import write_checkpoint
from tests.gpt1.examples import write_tokenizer
from tests.support.programs import call, refused

IDS = [39, 5, 8, 13]


def language_model(arch):
    return toy.random_model(arch, 1, init_std=0.3).eval()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A tokenizer and a checkpoint of each architecture, as a run leaves them."""
    folder = tmp_path_factory.mktemp("results")
    write_tokenizer(folder / "tokenizer")
    for arch in toy.ARCHS:
        write_checkpoint(folder, f"pretrain/{arch}/seed-0/update-8", arch, 0, update=8)
    return folder


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_greedy_takes_the_likeliest_text_token_at_each_position(arch):
    model = language_model(arch)
    found = generate(model, IDS, Sampling(tokens=40, temperature=0))
    text = IDS + found
    with torch.no_grad():
        hidden, _ = model(torch.tensor([text[: toy.N_CTX]]))
        likeliest = model.logits(hidden[0])[:, : toy.N_VOCAB].argmax(-1).tolist()
    assert text[len(IDS) : toy.N_CTX + 1] == likeliest[len(IDS) - 1 :]
    for end in range(toy.N_CTX + 1, len(text)):  # the window slides
        with torch.no_grad():
            hidden, _ = model(torch.tensor([text[end - toy.N_CTX : end]]))
            assert text[end] == int(model.logits(hidden[0, -1])[: toy.N_VOCAB].argmax())
    assert len(found) == 40 and len(set(found)) > 1


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_seed_gives_the_same_text_twice_and_another_seed_another(arch):
    model = language_model(arch)
    texts = [generate(model, IDS, Sampling(seed=seed)) for seed in (3, 3, 4)]
    assert texts[0] == texts[1] != texts[2]


def test_top_k_draws_from_the_likeliest_tokens_alone():
    model = language_model("transformer")
    found = generate(model, IDS, Sampling(tokens=30, top_k=3, temperature=2.0))
    for i, token in enumerate(found):
        assert token in next_logits(model, IDS + found[:i]).topk(3).indices.tolist()
    greedy = generate(model, IDS, Sampling(temperature=0))
    assert generate(model, IDS, Sampling(top_k=1)) == greedy != found[:40]
    assert generate(model, IDS, Sampling(temperature=1e-300)) == greedy
    everything = Sampling(top_k=10**6, seed=3)
    assert generate(model, IDS, everything) == generate(model, IDS, Sampling(seed=3))


def test_tokens_are_drawn_by_their_probabilities_at_the_temperature():
    logits, temperature = torch.tensor([0.0, 1.0, 2.0, -50.0], dtype=torch.float64), 0.7
    generator = torch.Generator().manual_seed(0)
    own = Sampling(temperature=temperature)
    drawn = [program.draw(logits, own, generator) for _ in range(4000)]
    shares = np.bincount(drawn, minlength=4) / len(drawn)
    assert shares == pytest.approx((logits / temperature).softmax(-1).numpy(), abs=0.03)


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_the_program_prints_prompt_and_continuation(results, arch):
    checkpoint = results / "pretrain" / arch / "seed-0" / "update-8.safetensors"
    options = ["--prompt", "abba bad", "--tokens", 30, "--temperature", 0]
    done = call(program.main, checkpoint, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("abba bad") and len(done.stdout) > len("abba bad\n")
    tokenizer = Tokenizer.load(results / "tokenizer")
    prompt = tokenizer.encode("abba bad")
    facts = read_facts(checkpoint)
    loaded = load_checkpoint(checkpoint, arch, facts.model, tokenizer.digest)
    model = loaded.language_model(Runtime())
    found = generate(model, [tokenizer.newline_id, *prompt], Sampling(tokens=30, temperature=0))
    assert done.stdout == tokenizer.decode([*prompt, *found]) + "\n"


def test_a_variants_model_is_of_the_runs_tokenizer(results):
    own = results / "variants" / "world.exclude-forms" / "pretrain" / "lstm" / "seed-0"
    shutil.copytree(results / "pretrain" / "lstm" / "seed-0", own)
    done = call(program.main, own / "update-8.safetensors", "--prompt", "a", "--tokens", 3)
    assert done.returncode == 0 and done.stdout.startswith("a"), done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--temperature", "-1"], "temperature: found -1.0; "),
        (["--tokens", "0"], "tokens: found 0; "),
        (["--device", "tpu"], "device: found 'tpu'; "),
        (["--tokenizer", "none"], "none: no tokenizer in it"),
    ],
)
def test_a_mistake_is_one_line(results, options, told):
    checkpoint = results / "pretrain/lstm/seed-0/update-8.safetensors"
    assert told in refused(program.main, checkpoint, "--prompt", "a", *options)


def test_a_checkpoint_that_is_not_there_and_another_tokenizer_are_told(results, tmp_path):
    done = call(program.main, tmp_path / "update-9.safetensors", "--prompt", "a")
    assert done.returncode == 1 and "update-9.json: no such file" in done.stderr
    write_tokenizer(tmp_path / "other")
    tokenizer = tmp_path / "other" / "encoder.json"
    tokenizer.write_text(tokenizer.read_text() + "\n")
    checkpoint = results / "pretrain/lstm/seed-0/update-8.safetensors"
    done = call(program.main, checkpoint, "--prompt", "a", "--tokenizer", tmp_path / "other")
    assert done.returncode == 1 and "its tokenizer is" in done.stderr


def test_only_texts_are_scored(results):
    model = program.TextModel(results / "pretrain/lstm/seed-0/update-8.safetensors")
    frame = pd.DataFrame({"text": ["abba", "bad"], "b": ["a", "b"]})
    pd.testing.assert_frame_equal(model.score(frame["text"]), model.score(["abba", "bad"]))
    for given, told in (
        (frame, "texts: found a DataFrame; give a list of texts, such as one column"),
        ({"text": "abba"}, "texts: found a dict; give a list of texts"),
        (["abba", 3], "text 2: found 3; give a text"),
        ([{"text": "abba"}], "text 1: found {'text': 'abba'}; give a text"),
    ):
        with pytest.raises(InputError, match=told):
            model.score(given)
