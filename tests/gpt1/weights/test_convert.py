"""Published weights in and out, bit for bit; files that do not fit are refused in one line."""

import json
import math
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from gpt1 import convert
from gpt1.convert import export_checkpoint
from gpt1.settings import LSTMShape, ModelSettings
from gpt1.streams import torch_seed
from gpt1.text.tokenizer import Tokenizer
from gpt1.weights.checkpoint import build, load_checkpoint, read_facts, save_checkpoint, sidecar
from gpt1.weights.files import RELEASE
from gpt1.weights.published import (
    SPECIAL_SEED,
    check_release,
    git_id,
    import_weights,
    released_shapes,
)
from tasks.common.errors import InputError
from tasks.common.files import read_json
from tests.gpt1.weights import published_files as files
from tests.gpt1.weights.published_files import FORMATS, bring_in
from tests.gpt1.weights.published_files import SMALL as MODEL
from tests.support.programs import call, refusal, refused

torch.set_num_threads(1)


@pytest.fixture
def published(tmp_path):
    """A folder with the same random weights in both formats and a tokenizer of 11 pieces."""
    return files.write_small(tmp_path)


@pytest.fixture
def vocabulary(published):
    """The folder of its tokenizer."""
    return published / "vocabulary"


def test_the_order_and_shapes_are_those_of_the_published_shapes_file(tmp_path):
    (tmp_path / "shapes").write_text(json.dumps(files.PUBLISHED_SHAPES))
    assert git_id(tmp_path / "shapes") == RELEASE["params_shapes.json"]  # the authors' own file
    own = released_shapes(40478, ModelSettings())
    assert len(own) == len(files.PUBLISHED_SHAPES) == 146
    for i, (shape, published) in enumerate(zip(own.values(), files.PUBLISHED_SHAPES, strict=True)):
        assert ([1, *shape] if i > 1 and len(shape) == 2 else shape) == published


def test_the_arrays_begin_where_the_authors_loader_cuts_them():
    shapes = released_shapes(40478, ModelSettings())
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
    seed = torch_seed("special tokens of published weights", SPECIAL_SEED)
    expected = torch.empty(3, 16).normal_(std=0.02, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(one["embed"][11:14], expected)


def test_a_round_trip_through_the_suite_gives_the_published_files_again(published, vocabulary):
    bring_in(published, "openai")
    out, hub = published / "out", published / "huggingface"
    export_checkpoint(published / "in.safetensors", out, vocabulary)
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
    export_checkpoint(path, out, vocabulary)
    # The folder alone suffices: the vocabulary stands beside the weights, the shape in config.json.
    import_weights("huggingface", out, out, back)
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
            export_checkpoint(path, tmp_path / "out")
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


def refused_import(folder, kind, model=MODEL):
    """The one line of a refused import; nothing may have been written."""
    said = refusal(bring_in, folder, kind, model, "refused")
    assert not list(folder.glob("refused*"))
    return said


def truncate(name):
    """A change that cuts a file in half."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:50])


def chunk(name, values):
    """A change that replaces a chunk; `values` may be a function of the old one."""

    def change(folder):
        new = values(np.load(folder / name)) if callable(values) else values
        np.save(folder / name, new, allow_pickle=True)

    return change


def rewritten(name, change):
    """A change of a JSON file, in place or by what is returned."""

    def apply(folder):
        value = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(change(value) or value))

    return apply


def shapes(change):
    return rewritten("params_shapes.json", change)


def config(**changes):
    return rewritten("config.json", lambda found: found.update(changes))


def tensors(change):
    """A change of the tensors of `model.safetensors`."""

    def apply(folder):
        path = folder / "model.safetensors"
        found = load_file(path)
        change(found)
        save_file(found, path)

    return apply


def extended(old):
    return np.append(old, np.float32(0))


def poisoned(old):
    return np.append(np.float32(np.nan), old[1:])


VECTOR = "expected a vector of float32, found"
OPENAI = [
    (lambda f: (f / "params_3.npy").unlink(), f"params_3.npy: {VECTOR} no such file; there are 10"),
    (truncate("params_7.npy"), f"params_7.npy: {VECTOR} no whole .npy"),
    (chunk("params_2.npy", np.array([{}])), f"params_2.npy: {VECTOR} no whole .npy"),
    (chunk("params_2.npy", np.zeros(5)), f"params_2.npy: {VECTOR} float64 [5]"),
    (chunk("params_9.npy", extended), "expected 10,208 values in all, found 10,209"),
    (chunk("params_4.npy", poisoned), "expected finite values, found NaN"),
    (
        lambda f: shutil.copy(f / "params_5.npy", f / "params_6.npy"),
        "params_6.npy: the same values as params_5.npy; copy both again",
    ),
    (lambda f: (f / "params_shapes.json").unlink(), "params_shapes.json: no such file"),
    (shapes(lambda s: s.insert(0, s.pop(1))), "positions_embed.weight: expected [12, 16], found"),
    (shapes(lambda s: s.insert(2, s.pop(3))), "attn.c_attn.bias: expected [48], found [16, 48]"),
    (shapes(lambda s: s[:-12]), "shapes (2 and 12 for each of 3 layers), found 26 shapes"),
    (shapes(lambda s: {"a": 1}), "found no list of shapes"),
]
HUGGINGFACE = [
    (config(afn="relu"), "config.json: afn: expected 'gelu', found 'relu'"),
    (config(n_layer=2), "config.json: n_layer: expected 3, found 2"),
    (config(vocab_size=13), "vocab_size: expected 11, found 13"),
    (config(vocab_size=40481), "vocab_size: expected 11, found 40481"),
    (lambda f: (f / "config.json").write_text("[]"), "expected a JSON object, found []"),
    (lambda f: (f / "model.safetensors").unlink(), "model.safetensors: no such file; expected"),
    (truncate("model.safetensors"), "model.safetensors: not a whole"),
    (tensors(lambda t: t.pop("h.2.ln_1.bias")), "ln_1.bias: expected [16], found no tensor"),
    (tensors(lambda t: t.update({"x": torch.zeros(16)})), "x: expected no tensor, found [16]"),
    (
        tensors(lambda t: t.update({"h.0.attn.c_attn.weight": torch.zeros(48, 16)})),
        "h.0.attn.c_attn.weight: expected [16, 48], found [48, 16]",
    ),
    (
        tensors(lambda t: t.update({"lm_head.weight": t["tokens_embed.weight"] + 1})),
        "lm_head.weight: expected tokens_embed.weight again (tied), found other",
    ),
]


@pytest.mark.parametrize(
    ("kind", "change", "told"),
    [("openai", *fault) for fault in OPENAI] + [("huggingface", *fault) for fault in HUGGINGFACE],
)
def test_a_fault_in_published_files_is_told_with_file_expected_and_found(
    published, kind, change, told
):
    change(published / kind)
    assert told in refused_import(published, kind)


def test_chunks_in_the_wrong_order_are_refused(published):
    folder, arrays = published / "openai", files.openai_arrays(11, 12, 3, 16)
    files.write_openai(folder, arrays, range(1019, 9172, 1019))  # of one length
    bring_in(published, "openai")
    one, two = folder / "params_3.npy", folder / "params_6.npy"
    one.rename(folder / "other")
    two.rename(one)
    (folder / "other").rename(two)
    assert "are the 10 files in order?" in refused_import(published, "openai")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_vocabulary_of_another_size_is_refused(published, kind):
    vocabulary = published / "vocabulary"
    shutil.rmtree(vocabulary)
    assert files.write_tokenizer(vocabulary, 3, 5) == 13
    assert "expected" in (message := refused_import(published, kind)) and "13" in message


@pytest.mark.parametrize("change", [{"n_head": 3}, {"n_embd": "16"}, {"n_layer": None}])
def test_a_config_of_no_gpt_1_is_refused_where_no_settings_are_given(published, change):
    config(**change)(published / "huggingface")
    message = refused_import(published, "huggingface", model=None)
    assert "config.json: n_positions 12 and {" in message and "not the shape of a GPT-1" in message
