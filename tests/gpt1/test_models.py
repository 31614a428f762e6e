"""The two language models: initial values, transfer, causality, the LM loss."""

import math

import pytest
import torch
import torch.nn.functional as F

from gpt1.model.lstm import LSTM
from gpt1.model.transformer import Transformer, parameter_count

N_VOCAB, N_CTX = 50, 16


def transformer(seed=0, n_layer=12, **options):
    model = Transformer(N_VOCAB, N_CTX, n_layer, n_embd=16, n_head=4, n_ff=32, **options)
    model.reset(torch.Generator().manual_seed(seed))
    return model.eval()


def lstm(seed=0, n_layer=1, **options):
    model = LSTM(N_VOCAB, N_CTX, n_layer, n_embd=8, n_hidden=12, **options)
    model.reset(torch.Generator().manual_seed(seed))
    return model.eval()


def tensors(model):
    return {name: p.detach().clone() for name, p in model.named_parameters()}


MODELS = {"transformer": transformer, "lstm": lstm, "lstm2": lambda **k: lstm(n_layer=2, **k)}


@pytest.mark.parametrize("n_transfer", range(-1, 13))
def test_transfer_of_k_layers_copies_just_those_and_all_else_keeps_its_initial_values(n_transfer):
    source, own = transformer(seed=1), transformer(seed=2)
    before = tensors(own)
    copied = own.transfer(tensors(source), n_transfer)
    after = tensors(own)
    assert len(copied) == (0 if n_transfer < 0 else 1 + 12 * n_transfer)
    assert len(set(copied)) == len(copied)
    for name, tensor in after.items():
        layer = int(name.split(".")[1]) if name.startswith("h.") else None
        if name == "embed":
            rows = torch.ones(len(tensor), dtype=torch.bool)
            rows[N_VOCAB : N_VOCAB + 3] = False  # start, delimiter, classify stay fresh
            expected = before[name].clone()
            if n_transfer >= 0:
                expected[rows] = tensors(source)[name][rows]
            assert torch.equal(tensor, expected)
        elif layer < n_transfer:
            assert name in copied and torch.equal(tensor, tensors(source)[name])
        else:
            assert name not in copied and torch.equal(tensor, before[name])


@pytest.mark.parametrize("n_layer", [1, 2])
def test_the_lstm_transfers_its_embeddings_its_lowest_layers_and_the_output_map_with_the_top(
    n_layer,
):
    source = tensors(lstm(seed=1, n_layer=n_layer))
    for n_transfer in range(-1, n_layer + 1):
        own = lstm(seed=2, n_layer=n_layer)
        before = tensors(own)
        copied = own.transfer(source, n_transfer)
        whole = n_transfer == n_layer
        assert len(copied) == (0 if n_transfer < 0 else 1 + 4 * n_transfer + 2 * whole)
        for name, tensor in tensors(own).items():
            if name != "embed":
                assert torch.equal(tensor, (source if name in copied else before)[name])
        special = slice(N_VOCAB, N_VOCAB + 3)
        assert torch.equal(own.embed[special], before["embed"][special])


@pytest.mark.parametrize("kind", MODELS)
def test_transfer_refuses_layers_that_do_not_exist_and_tensors_that_do_not_fit(kind):
    model = MODELS[kind]()
    with pytest.raises(ValueError, match="layers"):
        model.transfer(tensors(model), model.n_layer + 1)
    source = tensors(model)
    source["embed"] = source["embed"][:-1]
    with pytest.raises(ValueError, match="embed: shape"):
        model.transfer(source, 0)
    del source["embed"]
    with pytest.raises(ValueError, match="embed: not in the source"):
        model.transfer(source, 0)


@pytest.mark.parametrize("kind", MODELS)
def test_a_later_token_never_changes_an_earlier_logit(kind):
    model = MODELS[kind]()
    ids = torch.randint(0, N_VOCAB, (3, N_CTX), generator=torch.Generator().manual_seed(5))
    changed = ids.clone()
    changed[:, 9:] = (changed[:, 9:] + 7) % N_VOCAB
    we = model.step_embedding()
    one, two = (model.lm_logits(model(x, we), we) for x in (ids, changed))
    assert torch.equal(one[:, :9], two[:, :9])
    assert not torch.allclose(one[:, 9:], two[:, 9:])


def test_initial_values_of_the_transformer():
    model = Transformer(2000, 64, 2, n_embd=64, n_head=4, n_ff=256)
    model.reset(torch.Generator().manual_seed(0))
    for name, p in model.named_parameters():
        if p.ndim > 1:
            assert abs(float(p.detach().mean())) < 1e-3, name
            assert float(p.detach().std()) == pytest.approx(0.02, rel=0.05), name
        elif ".ln_" in name and name.endswith("weight"):
            assert torch.equal(p.detach(), torch.ones_like(p)), name
        else:
            assert torch.equal(p.detach(), torch.zeros_like(p)), name


def test_initial_values_of_the_lstm():
    model = lstm()
    bias = dict(model.named_parameters())["h.0.bias_ih_l0"].detach()
    assert torch.equal(bias[12:24], torch.ones(12))
    assert float(bias.sum()) == 12
    assert float(dict(model.named_parameters())["h.0.bias_hh_l0"].detach().abs().sum()) == 0


def test_gpt1_has_the_released_number_of_parameters():
    assert parameter_count(40478, 512, 12, 768, 3072) == 116_534_784
    with torch.device("meta"):
        model = Transformer(40478, 512, 12, 768, 12, 3072)
    assert sum(p.numel() for p in model.parameters()) == 116_534_784 + 3 * 768
    names = [name for name, _ in model.named_parameters()]
    assert len(names) == 1 + 12 * 12


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("softmax", ["all_rows", "tokens_only"])
def test_the_lm_loss_is_the_mean_over_sequences_of_each_mean_over_its_real_targets(kind, softmax):
    model = MODELS[kind](lm_softmax=softmax)
    ids = torch.randint(0, N_VOCAB, (3, 10), generator=torch.Generator().manual_seed(1))
    ids[:, 0], ids[0, 4] = model.start_id, model.classify_id
    lengths = torch.tensor([5, 10, 2])
    we = model.step_embedding()
    hidden = model(ids, we)
    rows = we.size(0) if softmax == "all_rows" else N_VOCAB + 3
    expected = 0.0
    for row, length in enumerate(lengths.tolist()):
        logits = model.lm_features(hidden[row, : length - 1]) @ we[:rows].T
        expected += float(F.cross_entropy(logits, ids[row, 1:length])) / 3
    assert float(model.lm_loss(hidden, ids, lengths, we)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_pads_change_neither_hidden_states_nor_the_lm_loss(kind):
    model = MODELS[kind]()
    ids = torch.randint(1, N_VOCAB, (2, 12), generator=torch.Generator().manual_seed(2))
    lengths = torch.tensor([7, 12])
    other = ids.clone()
    other[0, 7:] = 0
    we = model.step_embedding()
    one, two = model(ids, we), model(other, we)
    assert torch.equal(one[0, :7], two[0, :7])
    loss_one = model.lm_loss(one, ids, lengths, we)
    assert torch.equal(loss_one, model.lm_loss(two, other, lengths, we))


def test_dropout_on_the_matrix_has_one_mask_for_input_and_softmax_and_on_the_sum_spares_it():
    model = transformer().train()
    model.rates = {"embd": 0.5, "attn": 0.0, "resid": 0.0}
    torch.manual_seed(0)
    we = model.step_embedding()
    dropped = we == 0
    assert 0.4 < float(dropped.float().mean()) < 0.6
    assert torch.allclose(we[~dropped], model.embed[~dropped] * 2)
    model.embd_dropout = "sum"
    assert model.step_embedding() is model.embed
    ids = torch.zeros(1, 4, dtype=torch.int64)
    assert not torch.equal(model(ids, model.embed), model(ids, model.embed))
    model.eval()
    assert torch.equal(model(ids, model.embed), model(ids, model.embed))


@pytest.mark.parametrize("rate", ["embd", "attn", "resid"])
def test_every_dropout_rate_acts_in_training_and_only_there(rate):
    model = transformer(n_layer=2)
    ids = torch.arange(8)[None]
    plain = model(ids, model.step_embedding())
    model.rates = {"embd": 0.0, "attn": 0.0, "resid": 0.0, rate: 0.3}
    assert torch.equal(model(ids, model.step_embedding()), plain)
    model.train()
    torch.manual_seed(0)
    assert not torch.allclose(model(ids, model.step_embedding()), plain)


def test_an_untrained_model_knows_nothing():
    model = transformer()
    ids = torch.randint(0, N_VOCAB, (8, N_CTX), generator=torch.Generator().manual_seed(3))
    we = model.step_embedding()
    loss = float(model.lm_loss(model(ids, we), ids, torch.full((8,), N_CTX), we))
    assert loss == pytest.approx(math.log(N_VOCAB + 3 + N_CTX), abs=0.1)
