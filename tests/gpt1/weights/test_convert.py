"""Published weights in and out, bit for bit."""

import hashlib
import json
import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from gpt1 import convert
from gpt1.settings import LSTMShape
from gpt1.streams import torch_seed
from gpt1.text.tokenizer import Tokenizer
from gpt1.weights import conversion
from gpt1.weights.checkpoint import (
    build,
    load_checkpoint,
    read_facts,
    save_checkpoint,
    sidecar,
)
from gpt1.weights.files import RELEASE
from gpt1.weights.published import check_release, git_id, released_shapes
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tests.gpt1.weights import published_files as files
from tests.gpt1.weights.published_files import BPE_FOLDER, FORMATS, bring_in, needs_bpe
from tests.gpt1.weights.published_files import SMALL as MODEL
from tests.support.programs import call, refused

torch.set_num_threads(1)


@pytest.fixture
def published(tmp_path):
    """A folder with the same random weights in both formats and a tokenizer of 11 pieces."""
    return files.write_small(tmp_path)


@pytest.fixture
def vocabulary(published):
    """The folder of its tokenizer."""
    return published / "vocabulary"


def test_the_order_and_shapes_are_those_of_the_published_shapes_file():
    stored = json.dumps(files.PUBLISHED_SHAPES).encode()
    digest = "3bff3faa381e06d81c60f44520eb82c673d14a8ae61d821c63167f59acc6a768"
    assert hashlib.sha256(stored).hexdigest() == digest  # of the authors' own file
    own = released_shapes(40478, conversion.GPT1)
    assert len(own) == len(files.PUBLISHED_SHAPES) == 146
    for i, (shape, published) in enumerate(zip(own.values(), files.PUBLISHED_SHAPES, strict=True)):
        assert ([1, *shape] if i > 1 and len(shape) == 2 else shape) == published


def test_the_arrays_begin_where_the_authors_loader_cuts_them():
    shapes = released_shapes(40478, conversion.GPT1)
    sizes = [math.prod(shape) for shape in shapes.values()]
    starts = dict(zip(shapes, np.cumsum([0, *sizes[:-1]]), strict=True))
    assert starts["positions_embed.weight"] == 0
    assert starts["tokens_embed.weight"] == 512 * 768 == 393_216
    first, block = 393_216 + 31_087_104, 7_087_872
    for i in range(12):
        assert starts[f"h.{i}.attn.c_attn.weight"] == first + i * block
        assert starts[f"h.{i}.ln_2.bias"] == first + (i + 1) * block - 768
    assert sum(sizes) == first + 12 * block == 116_534_784
    # Cut in ten, the chunks end within arrays.
    assert not {sum(sizes) * i // 10 for i in range(1, 10)} & set(starts.values())


@pytest.mark.parametrize("kind", FORMATS)
def test_every_published_array_lands_where_it_belongs(published, kind):
    tensors = bring_in(published, kind)
    arrays = files.hub_tensors(files.openai_arrays(11, 12, 3, 16))
    embed = tensors.pop("embed").numpy()
    assert np.array_equal(embed[:11], arrays.pop("tokens_embed.weight"))
    assert np.array_equal(embed[14:], arrays.pop("positions_embed.weight"))
    assert tensors.keys() == arrays.keys()
    for name, tensor in tensors.items():
        assert np.array_equal(tensor.numpy(), arrays[name]), name


def test_both_formats_give_the_same_checkpoint_whose_special_rows_are_fresh(published):
    one, two = (bring_in(published, kind, name=kind) for kind in FORMATS)
    assert all(torch.equal(one[name], two[name]) for name in one)
    seed = torch_seed("special tokens of published weights", conversion.SPECIAL_SEED)
    expected = torch.empty(3, 16).normal_(std=0.02, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(one["embed"][11:14], expected)


def test_a_round_trip_through_the_suite_gives_the_published_files_again(published, vocabulary):
    bring_in(published, "openai")
    out, hub = published / "out", published / "huggingface"
    conversion.export_weights(published / "in.safetensors", out, vocabulary)
    one, two = (load_file(folder / "model.safetensors") for folder in (hub, out))
    assert one.keys() == two.keys()
    assert all(one[n].numpy().tobytes() == two[n].numpy().tobytes() for n in one)
    config, stored = (json.loads((folder / "config.json").read_text()) for folder in (out, hub))
    assert {k: v for k, v in stored.items() if config.get(k) != v} == {"n_ctx": 12}


def test_a_round_trip_of_our_own_weights_is_exact_but_for_the_special_rows(tmp_path, vocabulary):
    model = build("transformer", MODEL, 11)
    model.reset(torch.Generator().manual_seed(3))
    path, back, out = tmp_path / "own.safetensors", tmp_path / "back.safetensors", tmp_path / "out"
    digest = Tokenizer.load(vocabulary).digest
    save_checkpoint(path, model, tokenizer=digest, update=7)
    conversion.export_weights(path, out, vocabulary)
    # The folder alone suffices: the vocabulary stands beside the weights, the shape in config.json.
    conversion.import_weights("huggingface", out, out, back)
    one, two = load_file(path), load_file(back)
    special = slice(11, 14)
    assert not torch.equal(one["embed"][special], two["embed"][special])
    two["embed"][special] = one["embed"][special]
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert read_facts(back).model == MODEL and read_facts(back).tokenizer == digest


def test_an_import_is_a_checkpoint_that_fine_tuning_accepts(published, vocabulary):
    bring_in(published, "openai")
    path, digest = published / "in.safetensors", Tokenizer.load(vocabulary).digest
    checkpoint = load_checkpoint(path, "transformer", MODEL, digest)
    tensors, facts = checkpoint.tensors, checkpoint.facts
    assert facts.n_vocab == 11 and facts.update == 0 and facts.tokens is None
    stored = read_json(sidecar(path))
    assert stored["released_values"] == sum(t.numel() for t in tensors.values()) - 3 * 16
    assert set(stored["source"]["sha256"]) == {"params_shapes.json"} | {
        f"params_{i}.npy" for i in range(10)
    }
    model = build("transformer", MODEL, 11)
    model.reset(torch.Generator().manual_seed(0))
    assert len(model.transfer(tensors, 3)) == 1 + 12 * 3


@pytest.mark.parametrize("kind", FORMATS)
def test_a_smaller_context_keeps_the_first_positions(published, kind):
    whole = bring_in(published, kind)
    short = bring_in(published, kind, MODEL.model_copy(update={"n_ctx": 5}), "short")
    assert torch.equal(short["embed"], whole["embed"][: 14 + 5])


def test_a_head_and_its_prefix_and_the_hubs_masks_are_understood(published):
    expected = bring_in(published, "huggingface")
    arrays = files.openai_arrays(11, 12, 3, 16)
    mask = np.tril(np.ones((1, 1, 12, 12), dtype=np.float32))
    extra = {f"transformer.h.{i}.attn.bias": mask for i in range(3)}
    extra["lm_head.weight"] = arrays["tokens"]
    folder = published / "huggingface"
    files.write_huggingface(folder, arrays, 4, "transformer.", extra, tie_word_embeddings=False)
    found = bring_in(published, "huggingface")
    assert all(torch.equal(found[name], expected[name]) for name in expected)


def test_a_checkpoint_that_no_format_can_hold_is_not_exported(tmp_path, vocabulary):
    digest = Tokenizer.load(vocabulary).digest
    lstm = MODEL.model_copy(update={"shape": LSTMShape(n_layer=1, n_embd=8, n_hidden=8)})
    narrow = MODEL.model_copy(update={"shape": files.SHAPE.model_copy(update={"n_ff": 32})})
    for arch, settings, told in (
        ("lstm", lstm, "expected GPT-1's blocks, found lstm of"),
        ("transformer", narrow, "n_ff: expected 64"),
    ):
        model = build(arch, settings, 11)
        model.reset(torch.Generator().manual_seed(0))
        path = tmp_path / f"{arch}.safetensors"
        save_checkpoint(path, model, tokenizer=digest)
        with pytest.raises(InputError, match=told):
            conversion.export_weights(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_command_line_imports_and_exports_and_tells_a_fault_in_one_line(published, vocabulary):
    checkpoint, out = published / "c.safetensors", published / "out"
    into = ["import", "--format", "openai", "--from", published / "openai"]
    into += ["--tokenizer", vocabulary, "--out", checkpoint]
    done = call(convert.main, *into, "--settings", MODEL.to_json())
    assert "only --release can tell whether each file is OpenAI's, in its" in done.stdout
    assert "10,208 released values" in done.stdout and sidecar(checkpoint).is_file()
    said = refused(convert.main, *into, "--settings", MODEL.to_json(), "--release")
    assert "params_shapes.json: expected OpenAI's file, git's id 29fac299ae84" in said
    done = call(convert.main, "export", checkpoint, "--out", out)
    assert done.stdout == f"{out}: to share it, run hf upload NAME/out {out}\n"
    assert sorted(p.name for p in out.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
    ]
    card = (out / "README.md").read_text()
    assert card.startswith("---\nlibrary_name: transformers\n") and "'format': 'openai'" in card
    assert f"--out {out}: has files" in refused(convert.main, "export", checkpoint, "--out", out)
    done = call(convert.main, "export", checkpoint, "--out", out, "--overwrite")
    assert done.returncode == 0, done.stderr
    said = refused(convert.main, *into)  # GPT-1's own size, and a vocabulary of 11
    assert "expected 146 shapes" in said and "found 38" in said


def test_a_release_with_another_or_a_missing_file_is_refused(published, tmp_path, monkeypatch):
    (tmp_path / "empty").touch()
    assert git_id(tmp_path / "empty") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    folder = published / "openai"
    assert len(RELEASE) == 11
    with pytest.raises(InputError, match="params_shapes.json: expected .* found no such file"):
        check_release(tmp_path)
    monkeypatch.setattr("gpt1.weights.published.RELEASE", {n: git_id(folder / n) for n in RELEASE})
    check_release(folder)
    (folder / "params_3.npy").write_bytes(b"")
    with pytest.raises(InputError, match="params_3.npy: expected .* found e69de29bb2d1; download"):
        check_release(folder)


@needs_bpe
def test_the_released_shapes_have_the_digest_of_the_release():
    path = BPE_FOLDER / "params_shapes.json"
    if not path.is_file():
        pytest.skip("params_shapes.json is not beside OpenAI's vocabulary")
    assert git_id(path) == RELEASE["params_shapes.json"]
