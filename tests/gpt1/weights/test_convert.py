"""Published weights in and out, bit for bit; files that do not fit are refused in one line."""

import json
import shutil

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCard
from safetensors.torch import load_file, save_file

from gpt1 import convert
from gpt1.convert import export_checkpoint
from gpt1.settings import LSTMShape, TransformerShape
from gpt1.streams import torch_seed
from gpt1.text.tokenizer import Tokenizer
from gpt1.weights.checkpoint import build, read_facts, save_checkpoint, sidecar
from gpt1.weights.published import SPECIAL_SEED, import_weights
from tasks.common.errors import InputError
from tests.gpt1 import toy
from tests.gpt1.cell_jobs import write_checkpoint
from tests.gpt1.examples import write_tokenizer
from tests.gpt1.weights import published_files as files
from tests.gpt1.weights.published_files import SMALL as MODEL
from tests.gpt1.weights.published_files import bring_in
from tests.support.programs import call, refusal, refused


@pytest.fixture
def published(tmp_path):
    """A folder with random weights and a tokenizer of 11 pieces."""
    return files.write_small(tmp_path)


@pytest.fixture
def vocabulary(published):
    """The folder of its tokenizer."""
    return published / "vocabulary"


def test_the_special_rows_of_an_import_are_fresh(published):
    seed = torch_seed("special tokens of published weights", SPECIAL_SEED)
    expected = torch.empty(3, 16).normal_(std=0.02, generator=torch.Generator().manual_seed(seed))
    assert torch.equal(bring_in(published)["embed"][11:14], expected)


def test_a_round_trip_through_the_suite_gives_the_published_files_again(published, vocabulary):
    bring_in(published)
    facts = read_facts(published / "in.safetensors")
    assert facts.n_vocab == 11 and facts.update == 0 and facts.tokens is None
    assert set(facts.source["sha256"]) == {"config.json", "model.safetensors"}
    out, hub = published / "out", published / "weights"
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
    import_weights(out, out, back)
    one, two = load_file(path), load_file(back)
    special = slice(11, 14)
    assert not torch.equal(one["embed"][special], two["embed"][special])
    two["embed"][special] = one["embed"][special]
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert read_facts(back).model == MODEL and read_facts(back).tokenizer == digest


def test_a_smaller_context_keeps_the_first_positions(published):
    whole = bring_in(published)
    short = bring_in(published, MODEL.model_copy(update={"n_ctx": 5}), "short")
    assert torch.equal(short["embed"], whole["embed"][: 14 + 5])


def test_a_head_and_its_prefix_and_the_hubs_masks_are_understood(published):
    expected = bring_in(published)
    arrays = files.arrays_of(11, 12, 3, 16)
    mask = np.tril(np.ones((1, 1, 12, 12), dtype=np.float32))
    extra = {f"transformer.h.{i}.attn.bias": mask for i in range(3)}
    extra["lm_head.weight"] = arrays["tokens_embed.weight"]
    folder = published / "weights"
    files.write_weights(folder, arrays, 4, "transformer.", extra, tie_word_embeddings=False)
    found = bring_in(published)
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
    into = ["import", "--from", published / "weights", "--tokenizer", vocabulary]
    done = call(convert.main, *into, "--out", checkpoint)
    assert "10,208 released values" in done.stdout and sidecar(checkpoint).is_file()
    done = call(convert.main, "export", checkpoint, "--out", out)
    assert done.stdout == f"{out}: to share it, run hf upload NAME/out {out}\n"
    assert sorted(p.name for p in out.iterdir()) == [
        "README.md",
        "config.json",
        "model.safetensors",
    ]
    card = (out / "README.md").read_text()
    data = ModelCard(card).data
    assert (data.library_name, data.pipeline_tag) == ("transformers", "text-generation")
    assert data.eval_results is None and "'format': 'huggingface'" in card
    assert f"--out {out}: has files" in refused(convert.main, "export", checkpoint, "--out", out)
    done = call(convert.main, "export", checkpoint, "--out", out, "--overwrite")
    assert done.returncode == 0, done.stderr
    said = refused(convert.main, *into, "--out", checkpoint, "--settings", "{}")  # GPT-1's own size
    assert "config.json: n_layer: expected 12, found 3" in said


@pytest.mark.parametrize("bits", [1.25, None])
def test_a_card_has_what_is_known_of_held_out_text(bits, tmp_path, monkeypatch):
    shape = {"n_layer": 2, "n_embd": 16, "n_head": 4, "n_ff": 64}
    monkeypatch.setitem(toy.SHAPES, "transformer", TransformerShape(**shape))
    write_tokenizer(tmp_path / "tokenizer")
    known = {"heldout_perplexity": 20.0, "heldout_bits_per_byte": bits}
    for made in (False, True):
        write_checkpoint(tmp_path, "of-books", made=made, **known)
        export_checkpoint(tmp_path / "of-books.safetensors", tmp_path / f"out-{made}")
        card = (tmp_path / f"out-{made}" / "README.md").read_text()
        said = "perplexity 20.000, bits_per_byte 1.250." if bits else "perplexity 20.000."
        assert f"On held-out text: {said}" in card
        results = ModelCard(card).data.eval_results or []  # of made text there are none
        found = {of.metric_type: of.metric_value for of in results}
        told = {name.removeprefix("heldout_"): value for name, value in known.items() if value}
        assert found == ({} if made else told)


def refused_import(folder, model=MODEL):
    """The one line of a refused import; nothing may have been written."""
    said = refusal(bring_in, folder, model, "refused")
    assert not list(folder.glob("refused*"))
    return said


def truncate(name):
    """A change that cuts a file in half."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:50])


def config(**changes):
    """A change of the keys of `config.json`."""

    def apply(folder):
        path = folder / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return apply


def tensors(change):
    """A change of the tensors of `model.safetensors`."""

    def apply(folder):
        path = folder / "model.safetensors"
        found = load_file(path)
        change(found)
        save_file(found, path)

    return apply


FAULTS = [
    (config(afn="relu"), "config.json: afn: expected 'gelu', found 'relu'"),
    (config(n_layer=2), "config.json: n_layer: expected 3, found 2"),
    (config(vocab_size=13), "vocab_size: expected 11, found 13"),
    (config(vocab_size=40481), "vocab_size: expected 11, found 40481"),
    (lambda f: (f / "config.json").write_text("[]"), "expected a JSON object, found []"),
    (lambda f: (f / "model.safetensors").unlink(), "model.safetensors: no such file; expected"),
    (truncate("model.safetensors"), "model.safetensors: not a whole"),
    (
        tensors(lambda t: t["h.1.ln_1.bias"].fill_(np.nan)),
        "h.1.ln_1.bias: expected finite values, found NaN",
    ),
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


@pytest.mark.parametrize(("change", "told"), FAULTS)
def test_a_fault_in_published_files_is_told_with_file_expected_and_found(published, change, told):
    change(published / "weights")
    assert told in refused_import(published)


def test_a_vocabulary_of_another_size_is_refused(published, vocabulary):
    shutil.rmtree(vocabulary)
    assert files.write_tokenizer(vocabulary, 3, 5) == 13
    assert "expected" in (message := refused_import(published)) and "13" in message


@pytest.mark.parametrize("change", [{"n_head": 3}, {"n_embd": "16"}, {"n_layer": None}])
def test_a_config_of_no_gpt_1_is_refused_where_no_settings_are_given(published, change):
    config(**change)(published / "weights")
    message = refused_import(published, model=None)
    assert "config.json: n_positions 12 and {" in message and "not the shape of a GPT-1" in message


def test_settings_of_an_lstm_are_refused(published):
    lstm = MODEL.model_copy(update={"shape": LSTMShape()})
    assert "give the shape of a transformer" in refused_import(published, lstm)
