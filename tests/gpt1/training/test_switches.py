"""The switches of the sweep at step 0 and those of the runtime: each changes what it should.

Two runs that differ in one switch of the sweep start from the same recorded weights; `SWITCHES` has
the tensors that then differ, with `embed` as three: tokens, special tokens, positions. A table in
docs/fidelity.md has a row for each switch. The first update changes no weight (the schedule begins
at 0), so its gradients are still those of step 0.

Every switch of the runtime leaves the losses of the first updates as they are without it, without
dropout, whose masks may differ. Float32 agrees to 1e-5 of a loss, bfloat16 to 0.2 % at this size.
Learning rates are high, so that the updates change a loss by far more than rounding does, and a
wrong gradient shows in the losses that follow.
"""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
import torch

from gpt1.pretrain import Pretraining
from gpt1.settings import Dropout, OptimizerSettings
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import build
from tasks import task
from tasks.common.files import read_json
from tests.gpt1 import toy
from tests.gpt1.reference_runs import draw, each_path, parameters

N_VOCAB = toy.N_VOCAB + 20  # so that no sequence holds the last twenty

FIDELITY = Path(__file__).parents[3] / "docs/fidelity.md"

ROWS = {"embed.tokens": slice(N_VOCAB), "embed.special": slice(N_VOCAB, N_VOCAB + 3)}

ROWS["embed.positions"] = slice(N_VOCAB + 3, None)


def start(arch="transformer", aux=True, skip_pads=False, **options):
    """A run at step 0 of a model with two layers, from recorded weights that all differ."""
    model = toy.model(arch, shape=toy.SHAPES[arch].model_copy(update={"n_layer": 2}))
    source = build(arch, model, N_VOCAB)
    draw(source)
    options |= {"model": model, "epochs": 1, "eval_train": 4, "lm_coef": 0.5 if aux else 0.0}
    sizes, runtime = {"train": 8, "select": 4, "dev": 4}, Runtime(skip_pads=skip_pads)
    given = {"sizes": sizes, "runtime": runtime, "start_from": toy.checkpoint(source)}
    return toy.start(arch=arch, **given, **options)


def tensors(run):
    """Copies of all tensors by name."""
    named = {n: p.detach().clone() for n, p in parameters(run.model).items()}
    embed = named.pop("embed")
    return named | {n: embed[rows] for n, rows in ROWS.items() if len(embed[rows])}


def layer(own, number):
    """Tensors of a layer; the LSTM's output map goes with the top one."""
    proj = {n for n in own if n.startswith("proj.")} if number == 1 else set()
    return {n for n in own if n.startswith(f"h.{number}.")} | proj


def copied_rows(own):
    """Rows of the embedding that a transfer copies."""
    return {"embed.tokens", "embed.positions"} & own.keys()


def drawn(own, names):
    """Those that the seed draws: biases and gains start at 0 and 1 whatever it is."""
    return {n for n in names if own[n].ndim > 1}


NEW = {"embed.special", "clf.weight"}  # never transferred

# One run, the other, and the names that differ between them.
SWITCHES = {
    "nothing": ({}, {}, lambda own: set()),
    "aux": ({}, {"aux": False}, lambda own: set()),
    "layers 2, 1": ({}, {"n_transfer": 1}, lambda own: layer(own, 1)),
    "layers 1, 0": ({"n_transfer": 1}, {"n_transfer": 0}, lambda own: layer(own, 0)),
    "layers 0, none": ({"n_transfer": 0}, {"n_transfer": "none"}, copied_rows),
    "pre-trained or not": (
        *({}, {"n_transfer": "none"}),
        lambda own: copied_rows(own) | layer(own, 0) | layer(own, 1),
    ),
    "seed, layers 2": ({}, {"seed": 1}, lambda own: NEW),
    "seed, layers 1": (
        *({"n_transfer": 1}, {"n_transfer": 1, "seed": 1}),
        lambda own: NEW | drawn(own, layer(own, 1)),
    ),
    "seed, layers none": (
        *({"n_transfer": "none"}, {"n_transfer": "none", "seed": 1}),
        lambda own: drawn(own, own),
    ),
}


each_switch = pytest.mark.parametrize("switch", SWITCHES)


each_arch = pytest.mark.parametrize("arch", toy.ARCHS)


@each_arch
@each_switch
def test_a_switch_changes_just_the_tensors_of_step_0_that_it_should(switch, arch):
    one, other, expected = SWITCHES[switch]
    a, b = tensors(start(arch, **one)), tensors(start(arch, **other))
    assert a.keys() == b.keys()
    assert {n for n in a if not torch.equal(a[n], b[n])} == expected(a)


def first_update(run):
    """Total and classification loss of the first update, and whether the LM head ran.

    It ran if it was called and the softmax reached rows that no sequence holds.
    """
    model = run.model.language_model
    calls, features, before = [], model.lm_features, tensors(run)
    model.lm_features = lambda hidden: calls.append(1) or features(hidden)
    run.update(np.arange(8))
    assert all(torch.equal(tensor, before[name]) for name, tensor in tensors(run).items())
    unseen = slice(toy.N_VOCAB, N_VOCAB)
    assert not np.isin(np.arange(N_VOCAB)[unseen], run.splits["train"].ids).any()
    reached = bool((model.embed.grad[unseen] != 0).any(1).all())
    assert reached == bool(calls)
    return *run.history[0], reached


@each_path
@each_switch
def test_aux_alone_decides_which_loss_terms_there_are_and_whether_the_lm_head_runs(
    switch, arch, skip_pads
):
    found = []
    for given in SWITCHES[switch][:2]:
        run = start(arch, skip_pads=skip_pads, **given)
        total, clf, lm_head_ran = first_update(run)
        assert (total != clf) == lm_head_ran == given.get("aux", True)
        found.append((total, clf))
    if switch == "aux":
        assert found[0][1] == found[1][1] == found[1][0] < found[0][0]
    elif switch == "nothing":
        assert found[0] == found[1]
    else:
        assert found[0][0] != found[1][0] and found[0][1] != found[1][1]


@pytest.mark.parametrize("name", ["sst2", "mrpc", "stsb", "race", "story_cloze"])
@each_path
def test_aux_changes_neither_the_classification_loss_nor_its_dropout_in_any_family(
    arch, skip_pads, name
):
    given = {"dropout": toy.DROPOUT, "skip_pads": skip_pads}
    runs = [start(arch, aux, name=name, **given) for aux in (True, False)]
    (total, clf, ran), alone = (first_update(run) for run in runs)
    assert alone == (clf, clf, False) and ran and total > clf


@each_switch
def test_the_seed_alone_decides_the_order_of_the_rows(switch, monkeypatch):
    one, other, _ = SWITCHES[switch]
    orders = []
    for given in (one, other):
        run, seen = start(**given), []
        update = run.update
        monkeypatch.setattr(run, "update", lambda rows, u=update, s=seen: u(rows) or s.append(rows))
        run.train()
        assert len(seen) == 2
        orders.append(np.concatenate(seen).tolist())
    assert (orders[0] == orders[1]) == (not switch.startswith("seed"))


@pytest.mark.parametrize("n_transfer", ["none", 0, 1, 2])
def test_arch_changes_the_model_and_leaves_sequences_losses_and_head_alone(n_transfer):
    one, other = (start(arch, n_transfer=n_transfer) for arch in toy.ARCHS)
    k = n_transfer
    assert len(one.copied) == (0 if k == "none" else 1 + 12 * k)
    assert len(other.copied) == (0 if k == "none" else 1 + 4 * k + 2 * (k == 2))
    shared = tensors(one).keys() & tensors(other).keys()
    assert shared == {"embed.tokens", "embed.special", "clf.weight", "clf.bias"}
    for run in (one, other):
        assert run.model.classifier.weight.shape == (run.model.language_model.n_hidden, 2)
        total, clf, lm_head_ran = first_update(run)
        assert lm_head_ran and total > clf
    assert one.tokens == other.tokens and one.updates == other.updates
    for name, split in one.splits.items():
        assert np.array_equal(split.ids, other.splits[name].ids)


def leaves(section, path=""):
    """The values of settings by their dotted keys."""
    if not isinstance(section, dict):
        return {path: section}
    return {k: v for n, part in section.items() for k, v in leaves(part, f"{path}.{n}").items()}


def another(value):
    """Another value of a key."""
    words = {"matrix": "sum", "all_rows": "tokens_only", "top": 0, None: 0.5}
    if isinstance(value, list):  # of checkpoints
        return [0, *value[2:]]
    if isinstance(value, bool):
        return not value
    if value in words:
        return words[value]
    return value / 2 if isinstance(value, float) else 2 * value + (value == 0)


def with_another(settings, key):
    """The settings with another value of a key, by its dotted name."""
    given = settings.model_dump()
    *path, last = key.split(".")[1:]
    section = given
    for name in path:
        section = section[name]
    section[last] = another(section[last])
    return type(settings).model_validate(given)


# What an LSTM does not have, or the checks of a config refuse for it.
LSTM_LACKS = {".dropout.attn", ".model.lm_softmax", ".method.read_layer"}

LACKING = {"lstm": LSTM_LACKS, "transformer": set()}

TRAINED = {"batch": 4, "optimizer": OptimizerSettings(b1=0.4, b2=0.4, eps=1e-3, max_grad_norm=0.1)}

MATRIX, RATES = {"init_std": 0.2}, toy.DROPOUT


@each_arch
def test_another_value_of_any_key_is_another_fine_tuning(arch):
    model = toy.model(arch, **MATRIX)
    given = {"model": model, "warmup": 0.3, "epochs": 1, "eval_train": 3, **TRAINED}
    base = toy.cell_settings(arch, "none", RATES, **given)
    encoded = toy.encoded(task("race"), train=24, select=4, dev=4)

    def trained(settings):
        blank = toy.checkpoint(build(arch, settings.model, toy.N_VOCAB))
        run = toy.tuning(encoded, blank, settings)
        record = run.train()
        return run.history, record.scores, record.rows, run.optimizer.flat.tolist()

    first, keys = trained(base), leaves(base.model_dump()).keys() - LACKING[arch]
    keys -= {".n_transfer", ".corpus"}  # what it starts from
    keys -= {".model.n_ctx"} if arch == "lstm" else set()  # no row is as long
    same = [key for key in keys if trained(with_another(base, key)) == first]
    assert not same and trained(base) == first


@each_arch
def test_another_value_of_any_key_is_another_pre_training(arch, tmp_path):
    given = {"model": toy.model(arch, **MATRIX), "updates": 5, "checkpoints": [0, 3, 5], **TRAINED}
    base, corpus = toy.pretrain_settings(arch, **given), toy.corpus(tmp_path)

    def trained(settings):
        run = Pretraining(arch, corpus, settings, Runtime(), Path(mkdtemp(dir=tmp_path)))
        run.train()
        paths = sorted(run.work.checkpoint(0).parent.glob("update-*.json"))
        heldout = [(path.name, read_json(path)["heldout_loss"]) for path in paths]
        return heldout, run.log.rows[-1].loss

    first, keys = trained(base), leaves(base.model_dump()).keys() - LACKING[arch]
    same = [key for key in keys if trained(with_another(base, key)) == first]
    assert not same and trained(base) == first


def test_the_page_has_a_row_for_every_switch():
    rows = [line.split("|")[1].strip() for line in FIDELITY.read_text().splitlines() if "|" in line]
    assert {*SWITCHES, "arch"} <= {*rows, "nothing"}


ROUNDING = 1e-5

UPDATES = 4

LR = {"transformer": 3e-3, "lstm": 3e-2}

VALUES = {  # by field of Runtime: values that are compared with the default one
    "device": ["cuda"],
    "precision": ["bfloat16"],
    "micro_batch": [1, 3],
    "skip_pads": [True],
    "shared_prefix": [False],
    "compile": [True],
    "threads": [2],
    "tensorboard": [True],
}

MARKS = {
    "device": pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
    "compile": pytest.mark.slow,
}

FINETUNING = set(VALUES)

PRETRAINING = set(VALUES) - {"skip_pads", "shared_prefix"}  # whole windows of the corpus


@pytest.fixture(autouse=True)
def one_thread():
    """Runtime.start sets the threads of the whole process."""
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(1)


def each(names):
    """Tests with every value of these switches."""
    cases = [
        pytest.param({name: value}, marks=MARKS.get(name, ()), id=f"{name}={value}")
        for name in sorted(names)
        for value in VALUES[name]
    ]
    return pytest.mark.parametrize("switch", cases)


def agree(found, expected, runtime, arch):
    """Losses of every update, `[UPDATES, ...]`, are equal but for rounding."""
    expected = np.array(expected)
    assert len(expected) == UPDATES
    assert (abs(expected[-1] / expected[0] - 1) > 100 * ROUNDING).all()
    tolerance = ROUNDING
    if runtime.device == "cuda" and arch == "lstm":
        tolerance = 1e-3  # cuDNN's LSTM multiplies in TF32
    if runtime.precision == "bfloat16":
        assert not np.array_equal(found, expected)
        tolerance = 2e-3
    assert np.array(found) == pytest.approx(expected, rel=tolerance)


def test_every_switch_is_compared():
    assert VALUES.keys() == Runtime.model_fields.keys() == FINETUNING | PRETRAINING
    assert all(VALUES.values())


def finetuned(name, arch, runtime):
    """Total and classification loss of each update, `[UPDATES, 2]`, in nats."""
    runtime.start()
    run = toy.start(name, arch, runtime=runtime, lr=LR[arch])
    assert (run.model.language_model.compiled_trunk is not None) == runtime.compile
    for rows in np.random.default_rng(0).permuted(np.tile(np.arange(8), (UPDATES, 1)), axis=1):
        run.update(rows[:7])  # which no micro-batch divides
    return run.history


@each(FINETUNING)
@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("name", ["race", "stsb"])
def test_a_switch_changes_the_losses_of_fine_tuning_by_rounding_only(name, arch, switch):
    runtime = Runtime(**switch)
    agree(finetuned(name, arch, runtime), finetuned(name, arch, Runtime()), runtime, arch)


def pretrained(arch, runtime, folder):
    """The training loss of each update, `[UPDATES]`, in nats."""
    given = {"updates": UPDATES, "checkpoints": [UPDATES], "lr": LR[arch]}
    given["dropout"] = Dropout(embd=0, attn=0, resid=0)
    books, settings = toy.corpus(folder), toy.pretrain_settings(arch, **given)
    runtime.start()
    run = Pretraining(arch, books, settings, runtime, folder / "work")
    assert (run.model.compiled_trunk is not None) == runtime.compile
    run.train()
    return [row.loss for row in run.log.rows]


@each(PRETRAINING)
@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_switch_changes_the_losses_of_pre_training_by_rounding_only(arch, switch, tmp_path):
    runtime = Runtime(**switch)
    expected = pretrained(arch, Runtime(), tmp_path / "default")
    agree(pretrained(arch, runtime, tmp_path / "switched"), expected, runtime, arch)
