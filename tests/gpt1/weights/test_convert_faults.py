"""Published files that do not fit: each is refused with one line, and nothing is written."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.gpt1.weights import published_files as files
from tests.gpt1.weights.published_files import FORMATS, SMALL, bring_in
from tests.support import programs

torch.set_num_threads(1)


@pytest.fixture
def published(tmp_path):
    """A folder with the same random weights in both formats and a tokenizer of 11 tokens."""
    return files.write_small(tmp_path)


def refusal(folder, kind, model=SMALL):
    """The one line of a refused import; nothing may have been written."""
    said = programs.refusal(bring_in, folder, kind, model, "refused")
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
    assert told in refusal(published, kind)


def test_chunks_in_the_wrong_order_are_refused(published):
    folder, arrays = published / "openai", files.openai_arrays(11, 12, 3, 16)
    files.write_openai(folder, arrays, range(1019, 9172, 1019))  # of one length
    bring_in(published, "openai")
    one, two = folder / "params_3.npy", folder / "params_6.npy"
    one.rename(folder / "other")
    two.rename(one)
    (folder / "other").rename(two)
    assert "are the 10 files in order?" in refusal(published, "openai")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_vocabulary_of_another_size_is_refused(published, kind):
    vocabulary = published / "vocabulary"
    shutil.rmtree(vocabulary)
    assert files.write_tokenizer(vocabulary, 3, 5) == 13
    assert "expected" in (message := refusal(published, kind)) and "13" in message


@pytest.mark.parametrize("change", [{"n_head": 3}, {"n_embd": "16"}, {"n_layer": None}])
def test_a_config_of_no_gpt_1_is_refused_where_no_settings_are_given(published, change):
    config(**change)(published / "huggingface")
    message = refusal(published, "huggingface", model=None)
    assert "config.json: n_positions 12 and {" in message and "not the shape of a GPT-1" in message
