"""Pre-training: pure functions of (seed, update), exact restarts, held-out loss, bad input."""

import csv
import math
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gpt1 import pretrain
from gpt1.pretrain import Pretraining
from gpt1.settings import Dropout
from gpt1.training.runtime import Runtime
from gpt1.training.windows import accumulate, heldout_loss, heldout_windows, windows
from gpt1.weights.checkpoint import load_checkpoint, read_tensors, save_checkpoint, sidecar
from tasks.common.errors import InputError
from tasks.common.files import read_json, sha256_file, this_machine, write_json
from tests.gpt1 import toy
from tests.gpt1.toy import corpus, pretrain_settings
from tests.support.events import Events
from tests.support.programs import call, refused


def run(tmp_path, arch, name="a", runtime=None, code="", **options):
    """Pre-train to the end; returns the folder of the declared outputs."""
    settings, folder = pretrain_settings(arch, **options), tmp_path / name
    given = (
        corpus(tmp_path / "corpus", made=True),
        settings,
        runtime or Runtime(),
        folder / "work",
        code,
    )
    training = Pretraining(arch, *given)
    training.train()
    training.publish(folder / "out")
    return folder / "out"


def test_windows_are_contiguous_and_a_pure_function_of_seed_and_update():
    tokens = np.arange(1000, dtype=np.uint16)
    one = windows(tokens, 16, 8, seed=3, update=5)
    assert one.shape == (8, 16) and (np.diff(one, axis=1) == 1).all()
    assert np.array_equal(one, windows(tokens, 16, 8, seed=3, update=5))
    assert not np.array_equal(one, windows(tokens, 16, 8, seed=3, update=6))
    assert not np.array_equal(one, windows(tokens, 16, 8, seed=4, update=5))


def test_every_window_of_the_corpus_can_be_drawn():
    for n in (20, 21):
        seen = {int(w[0]) for i in range(200) for w in windows(np.arange(n), 16, 4, 0, i)}
        assert seen == set(range(n - 15))
    assert windows(np.arange(16), 16, 1, 0, 0).tolist() == [list(range(16))]


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_run_writes_its_checkpoints_their_facts_and_a_log(tmp_path, arch):
    out = run(tmp_path, arch)
    for update in (0, 3, 8):
        meta = read_json(out / f"update-{update}.json")
        assert meta["update"] == update and meta["tokens"] == update * 4 * toy.N_CTX
        assert (meta["corpus"], meta["seed"], meta["made"]) == ("books", 0, True)
        assert meta["cpu"].endswith(f", {torch.backends.cpu.get_cpu_capability()}")
        assert meta["heldout_perplexity"] == pytest.approx(math.exp(meta["heldout_loss"]))
        bits = meta["heldout_loss"] / math.log(2)  # a token, each of three bytes
        assert meta["heldout_bits_per_byte"] == pytest.approx(bits / 3)
        load_checkpoint(out / f"update-{update}.safetensors", arch, toy.model(arch), "t" * 64)
    rows = list(csv.DictReader((out / "log.csv").read_text().splitlines()))
    assert [int(r["update"]) for r in rows] == list(range(1, 9))
    assert float(rows[0]["lr"]) == 0.0 and float(rows[2]["lr"]) == pytest.approx(1e-2)
    assert float(rows[-1]["loss"]) < float(rows[0]["loss"])


def test_other_settings_or_books_do_not_resume_from_an_old_state(tmp_path):
    for options in ({}, {"lr": 1e-3}):
        run(tmp_path, "lstm", **options)
    books, work = corpus(tmp_path / "other", train=1900), tmp_path / "a" / "work"
    Pretraining("lstm", books, pretrain_settings("lstm"), Runtime(), work)
    assert len(list(work.iterdir())) == 3


def test_another_number_of_heldout_tokens_scores_the_same_weights_again(tmp_path, monkeypatch):
    expected = run(tmp_path, "lstm", "fresh", heldout_tokens=60)
    run(tmp_path, "lstm")
    monkeypatch.setattr(Pretraining, "update", None)  # nothing is trained
    out = run(tmp_path, "lstm", heldout_tokens=60)
    for update in (0, 3, 8):
        one, other = (read_json(folder / f"update-{update}.json") for folder in (out, expected))
        scores = ("heldout_loss", "heldout_perplexity", "heldout_tokens", "settings", "sha256")
        assert [one[key] for key in scores] == [other[key] for key in scores]


@pytest.mark.parametrize("change", ["code", "precision", "torch", "numpy"])
def test_other_code_precision_or_versions_start_anew_and_say_so(
    tmp_path, change, capsys, monkeypatch
):
    run(tmp_path, "lstm")
    run(tmp_path, "lstm")
    assert "starting" not in capsys.readouterr().out
    found = {"torch": torch.__version__, "numpy": np.__version__}
    if change in found:
        monkeypatch.setattr(pretrain, "library_versions", lambda: {**found, change: "0.1"})
    runtime = Runtime(precision="bfloat16" if change == "precision" else "float32")
    run(tmp_path, "lstm", runtime=runtime, code="new" if change == "code" else "")
    said = capsys.readouterr().out
    assert "starting from update 0: what is saved of this run was made by other code, in" in said
    assert "resuming" not in said and len(list((tmp_path / "a" / "work").iterdir())) == 2


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_held_out_loss_is_the_mean_without_dropout_over_windows_that_do_not_overlap(arch):
    rates = Dropout(embd=0.5, attn=0.5, resid=0.5)
    model = toy.random_model(arch, rates=rates, init_std=0.2).train()
    tokens = np.random.default_rng(0).integers(0, toy.N_VOCAB, 101)
    rows = heldout_windows(tokens, 24, 101)
    assert rows.shape == (4, 24)
    found = heldout_loss(model, rows, Runtime())
    shares = [heldout_loss(model, rows, Runtime(), share=s) for s in (range(3), range(3, 4))]
    assert sum(shares) == pytest.approx(found) and model.training
    model.eval()
    expected = []
    with torch.no_grad():
        for start in (0, 24, 48, 72):
            ids = torch.tensor(tokens[start : start + 24])[None]
            logits = model.logits(model(ids)[0])[0, :-1].log_softmax(-1)
            expected += [-float(logits[i, t]) for i, t in enumerate(ids[0, 1:])]
    assert found == pytest.approx(np.mean(expected), rel=1e-5)


def test_held_out_windows_are_spread_over_all_books_and_do_not_overlap():
    rows = heldout_windows(np.arange(1000), 10, 120)
    assert rows.shape == (12, 10) and rows[0, 0] == 0 and rows[-1, -1] == 999
    gaps = np.diff(rows[:, 0])
    assert gaps.min() >= 10 and gaps.max() - gaps.min() <= 1
    assert heldout_windows(np.arange(7), 10, 120).tolist() == [list(range(7))]


def saved_states(tmp_path):
    """The last state of the run `a`, at update 8, and the one before it, at update 3."""
    (folder,) = (tmp_path / "a" / "work").iterdir()
    return folder / "state.safetensors", folder / "older-state.safetensors"


def cut(path):
    path.write_bytes(path.read_bytes()[:100])


@pytest.mark.parametrize(
    ("damage", "ends"),
    [
        ((cut,), ["trying the state before it", "resuming from update 3"]),
        ((cut, cut), ["trying the state before it", "starting again from update 0"]),
        ((Path.unlink,), ["resuming from update 3"]),  # killed while it replaced its state
    ],
)
def test_a_run_goes_on_from_the_newest_whole_state_and_says_so(tmp_path, damage, ends, capsys):
    whole = {path.name: path.read_bytes() for path in run(tmp_path, "lstm").glob("*.safetensors")}
    states = saved_states(tmp_path)
    updates = [int(read_tensors(path, of=path.parent.name)["updates"]) for path in states]
    assert updates == [8, 3]
    for change, path in zip(damage, states[: len(damage)], strict=True):
        change(path)
    out = run(tmp_path, "lstm")
    said = capsys.readouterr().out.splitlines()
    assert all(line.endswith(end) for line, end in zip(said, ends, strict=True))
    for path, line in zip(states[: len(said)], said, strict=True):
        assert line.startswith(f"warning: {path}: ") == path.with_suffix(".damaged").exists()
    assert {path.name: path.read_bytes() for path in out.glob("*.safetensors")} == whole


def test_damaged_published_checkpoints_are_published_again_without_training(tmp_path, monkeypatch):
    out = run(tmp_path, "lstm")
    whole = {path.name: _without_peak(path) for path in out.iterdir()}
    for name in whole:
        cut(out / name)
    monkeypatch.delattr(Pretraining, "update")
    run(tmp_path, "lstm")
    assert {path.name: _without_peak(path) for path in out.iterdir()} == whole


def _without_peak(path: Path) -> bytes:
    """A file but for the peak of memory, which grows with each run in a process."""
    return re.sub(rb'"(peak_mb|checksum)": [^,]*', b"", path.read_bytes())


def test_what_a_killed_run_with_other_settings_left_is_swept(tmp_path):
    run(tmp_path, "lstm", seed=1)
    (folder,) = (tmp_path / "a" / "work").iterdir()
    left = folder / f".state.safetensors.{this_machine()}-99999999"
    left.write_bytes(b"half")
    run(tmp_path, "lstm")
    assert not left.exists() and len(list(folder.parent.iterdir())) == 2


def test_a_corpus_shorter_than_n_ctx_is_refused(tmp_path):
    path = corpus(tmp_path / "corpus", train=20)
    with pytest.raises(InputError, match="20 training tokens are fewer than n_ctx 24"):
        Pretraining("lstm", path, pretrain_settings("lstm"), Runtime(), tmp_path / "w")
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_learning_rate_of_a_million_ends_in_one_line_with_the_remedy(tmp_path, arch):
    settings = pretrain_settings(arch, lr=1e6, warmup=0)
    given = ("--corpus", corpus(tmp_path / "corpus"), "--settings", settings.to_json())
    given = (*given, "--work", tmp_path / "work", "--out", tmp_path / "out")
    line = r"error: update \d+: the (held-out )?loss is .*; lower experiment\.pretrain\.lr\n"
    assert re.fullmatch(line, refused(pretrain.main, arch, *given))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("is_installed", [True, False])
def test_event_files_have_the_log_or_the_missing_package_is_named(
    tmp_path, monkeypatch, is_installed
):
    module = SimpleNamespace(SummaryWriter=Events) if is_installed else None
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    out = tmp_path / "out"
    given = ["--corpus", corpus(tmp_path / "corpus"), "--work", tmp_path / "work", "--out", out]
    given += ["--settings", pretrain_settings("transformer").to_json()]
    done = call(pretrain.main, "transformer", *given, "--runtime", '{"tensorboard": true}')
    if not is_installed:
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        assert "pip install tensorboard" in done.stderr and not out.exists()
        return
    events = Events.made.pop()
    assert (events.folder, events.first) == (str(out), 1)
    with open(out / "log.csv") as file:
        rows = [(int(row["update"]), float(row["loss"])) for row in csv.DictReader(file)]
    assert [(update, value) for name, update, value in events.scalars if name == "loss"] == rows
    assert [update for name, update, _ in events.scalars if name == "heldout_loss"] == [0, 3, 8]
    assert read_json(out / "update-8.json")["runtime"].keys().isdisjoint({"tensorboard"})


WIDER = toy.SHAPES["lstm"].model_copy(update={"n_hidden": 50})


@pytest.mark.parametrize(
    ("needed", "damage", "told"),
    [
        ({"tokenizer": "u" * 64}, None, "its tokenizer is"),
        ({"arch": "transformer"}, None, "its arch is 'lstm', but 'transformer' is needed"),
        ({"settings": toy.model("lstm", shape=WIDER)}, None, "its shape is"),
        ({"settings": toy.model("lstm", n_ctx=25)}, None, "its n_ctx is"),
        ({}, cut, "not a whole safetensors file"),
        ({}, lambda path: path.with_name("update-3.safetensors").replace(path), "its sha256 is"),
        ({}, lambda path: sidecar(path).unlink(), "no such file"),
    ],
)
def test_a_checkpoint_that_is_damaged_or_not_the_one_needed_is_refused(
    tmp_path, needed, damage, told
):
    path = tmp_path / "update-8.safetensors"
    for update in (3, 8):
        model, facts = toy.random_model("lstm", update), {"tokenizer": "t" * 64, "update": update}
        save_checkpoint(tmp_path / f"update-{update}.safetensors", model, **facts)
    if damage:
        damage(path)
    own = {"arch": "lstm", "settings": toy.model("lstm"), "tokenizer": "t" * 64}
    with pytest.raises(InputError, match=told):
        load_checkpoint(path, **own | needed)


def test_a_missing_gpu_is_reported():
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(InputError, match="torch sees no such device; use cpu"):
        Runtime(device="cuda").start()


def test_the_held_out_perplexity_is_of_the_held_out_books_at_that_update(tmp_path):
    path = corpus(tmp_path / "corpus")
    tokens = np.random.default_rng(0).integers(0, toy.N_VOCAB, 200)
    heldout = path.with_name("heldout.bin")
    tokens.astype("<u2").tofile(heldout)
    facts = read_json(path)
    facts["splits"]["heldout"]["sha256"] = sha256_file(heldout)
    write_json(path, facts)
    training = Pretraining("lstm", path, pretrain_settings("lstm"), Runtime(), tmp_path / "work")
    training.train()
    found = read_json(sidecar(training.work.checkpoint(8)))["heldout_loss"]
    other, own = (
        heldout_loss(training.model, heldout_windows(of, toy.N_CTX, 150), Runtime())
        for of in (training.train_tokens, tokens)
    )
    assert found == pytest.approx(own) and abs(own - other) > 0.01


def test_every_update_and_seed_has_dropout_masks_of_its_own():
    rates = Dropout(embd=0.5, attn=0.5, resid=0.5)
    model = toy.random_model("transformer", rates=rates, init_std=0.2)
    ids, losses = torch.arange(48).view(2, 24) % toy.N_VOCAB, []
    for seed, update in ((0, 0), (0, 0), (0, 1), (1, 0)):
        losses.append(float(accumulate(model.train(), ids, range(2), Runtime(), seed, update)))
    assert losses[0] == losses[1] and len(set(losses)) == 3
