"""Published files that do not fit: each is refused with one line, and nothing is written."""

import json
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from gpt1.weights import params_npy
from tasks.common.errors import InputError
from tests.gpt1 import published_files as files
from tests.gpt1.published_files import FORMATS, SMALL, bring_in

torch.set_num_threads(1)


@pytest.fixture
def published(tmp_path):
    """A folder with the same random weights in both formats and a tokenizer of 11 tokens."""
    return files.write_small(tmp_path)


def refusal(folder, kind, model=SMALL):
    """The one line of a refused import; nothing may have been written."""
    with pytest.raises(InputError) as error:
        bring_in(folder, kind, model, "refused")
    assert not list(folder.glob("refused*"))
    assert "\n" not in str(error.value)
    return str(error.value)


def rewrite(path, change):
    """Change a JSON file."""
    value = json.loads(path.read_text())
    path.write_text(json.dumps(change(value) or value))


def truncate(path):
    """Cut a file in half."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def swap(folder, i, j):
    """Exchange two chunks of one length."""
    one, two = folder / f"params_{i}.npy", folder / f"params_{j}.npy"
    a, b = one.read_bytes(), two.read_bytes()
    one.write_bytes(b), two.write_bytes(a)


def save(name, values):
    """A change that replaces a chunk."""
    return lambda folder: np.save(folder / name, values, allow_pickle=True)


def lengthen(folder):
    np.save(folder / "params_9.npy", np.append(np.load(folder / "params_9.npy"), np.float32(0)))


def poison(folder):
    chunk = np.load(folder / "params_4.npy")
    chunk[0] = np.nan
    np.save(folder / "params_4.npy", chunk)


def shapes(change):
    return lambda folder: rewrite(folder / "params_shapes.json", change)


OPENAI_FAULTS = {
    "missing": (
        lambda f: (f / "params_3.npy").unlink(),
        ["params_3.npy: expected a vector of float32, found no such file; there are 10"],
    ),
    "cut off": (
        lambda f: truncate(f / "params_7.npy"),
        ["params_7.npy: expected", "no whole .npy file"],
    ),
    "pickle": (
        save("params_2.npy", np.array([{}])),
        ["params_2.npy: expected", "no whole .npy file"],
    ),
    "float64": (
        save("params_2.npy", np.zeros(5)),
        ["params_2.npy: expected a vector of float32, found float64 [5]"],
    ),
    "too long": (lengthen, ["expected 10,208 values in all, found 10,209"]),
    "nan": (poison, ["expected finite values, found NaN"]),
    "no shapes": (lambda f: (f / "params_shapes.json").unlink(), ["params_shapes.json: no such"]),
    "tokens first": (
        shapes(lambda s: s.insert(0, s.pop(1))),
        ["params_shapes.json: shape 0", "expected [12, 16] (or more rows), found [11, 16]"],
    ),
    "blocks out of order": (
        shapes(lambda s: s.insert(2, s.pop(3))),
        ["shape 2 (h.0.attn.c_attn.weight): expected [1, 16, 48], found [48]"],
    ),
    "a layer less": (
        shapes(lambda s: s[:-12]),
        ["expected 38 shapes (2 and 12 for each of 3 layers), found 26 shapes"],
    ),
    "not a list": (shapes(lambda s: {"a": 1}), ["found no list of shapes"]),
}


@pytest.mark.parametrize("fault", OPENAI_FAULTS)
def test_a_fault_in_openais_files_is_told_with_file_expected_and_found(published, fault):
    change, parts = OPENAI_FAULTS[fault]
    change(published / "openai")
    message = refusal(published, "openai")
    assert all(part in message for part in parts), message


def test_chunks_in_the_wrong_order_are_refused(published):
    files.write_openai(
        published / "openai", files.openai_arrays(11, 12, 3, 16), range(1019, 9172, 1019)
    )
    bring_in(published, "openai")
    swap(published / "openai", 3, 6)
    assert "are the 10 files in order?" in refusal(published, "openai")


def test_the_authors_own_chunks_are_known_and_refused_in_the_wrong_order(published, monkeypatch):
    arrays, folder = files.openai_arrays(200, 12, 3, 16), published / "openai"
    assert files.write_tokenizer(published / "vocabulary", 20, 158) == 200
    files.write_openai(folder, arrays)  # the first two chunks hold embeddings alone
    own = {name: params_npy.git_blob(folder / name) for name in params_npy.CHUNKS}
    monkeypatch.setattr(params_npy, "RELEASED", own)
    bring_in(published, "openai")
    swap(folder, 0, 1)
    expected = "params_0.npy: expected the authors' params_0.npy, found their params_1.npy"
    assert expected in refusal(published, "openai")


def config(**changes):
    return lambda folder: rewrite(folder / "config.json", lambda c: c.update(changes))


def tensors(change):
    """A change of the tensors of `model.safetensors`."""

    def apply(folder):
        path = folder / "model.safetensors"
        found = load_file(path)
        change(found)
        save_file(found, path)

    return apply


HUGGINGFACE_FAULTS = {
    "activation": (config(afn="relu"), ["config.json: afn: expected 'gelu', found 'relu'"]),
    "layers": (config(n_layer=2), ["config.json: n_layer: expected 3, found 2"]),
    "vocabulary": (config(vocab_size=40481), ["vocab_size: expected 11, found 40481"]),
    "eps": (config(layer_norm_epsilon=1e-12), ["layer_norm_epsilon: expected 1e-05, found 1e-12"]),
    "positions": (config(n_positions=8), ["n_positions", "[12, 16] (or more rows), found [8, 16]"]),
    "list": (
        lambda f: (f / "config.json").write_text("[]"),
        ["expected a JSON object, found a list"],
    ),
    "no weights": (
        lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
        ["model.safetensors: no such file; expected safetensors, a pickle is never read"],
    ),
    "cut off": (lambda f: truncate(f / "model.safetensors"), ["model.safetensors: not a whole"]),
    "missing tensor": (
        tensors(lambda t: t.pop("h.2.ln_1.bias")),
        ["model.safetensors: h.2.ln_1.bias: expected [16], found no tensor"],
    ),
    "extra layer": (
        tensors(lambda t: t.update({"h.3.ln_1.bias": torch.zeros(16)})),
        ["h.3.ln_1.bias: expected no tensor, found [16]"],
    ),
    "transposed": (
        tensors(lambda t: t.update({"h.0.attn.c_attn.weight": torch.zeros(48, 16)})),
        ["h.0.attn.c_attn.weight: expected [16, 48], found [48, 16]"],
    ),
    "integers": (
        tensors(lambda t: t.update({"h.0.ln_1.bias": torch.zeros(16, dtype=torch.int8)})),
        ["h.0.ln_1.bias: expected floats, found torch.int8"],
    ),
}


@pytest.mark.parametrize("fault", HUGGINGFACE_FAULTS)
def test_a_fault_in_a_transformers_folder_is_told_with_file_expected_and_found(published, fault):
    change, parts = HUGGINGFACE_FAULTS[fault]
    change(published / "huggingface")
    message = refusal(published, "huggingface")
    assert all(part in message for part in parts), message


@pytest.mark.parametrize("kind", FORMATS)
def test_a_vocabulary_of_another_size_is_refused(published, kind):
    vocabulary = published / "vocabulary"
    shutil.rmtree(vocabulary)
    assert files.write_tokenizer(vocabulary, 3, 5) == 13
    assert "expected" in (message := refusal(published, kind)) and "13" in message


def test_a_head_that_is_not_the_embedding_is_refused(published):
    arrays, folder = files.openai_arrays(11, 12, 3, 16), published / "huggingface"
    other = {"lm_head.weight": arrays["tokens"] + 1}
    files.write_huggingface(folder, arrays, 4, extra=other)
    message = refusal(published, "huggingface")
    assert "lm_head.weight: expected tokens_embed.weight again (tied), found other" in message
    files.write_huggingface(folder, arrays, 4, tie_word_embeddings=False)
    assert "lm_head.weight: expected by config.json" in refusal(published, "huggingface")


@pytest.mark.parametrize("change", [{"n_head": 3}, {"n_embd": "16"}, {"n_layer": None}])
def test_a_config_of_no_gpt_1_is_refused_where_no_settings_are_given(published, change):
    config(**change)(published / "huggingface")
    message = refusal(published, "huggingface", model=None)
    assert "config.json: n_positions 12 and {" in message and "not the shape of a GPT-1" in message
