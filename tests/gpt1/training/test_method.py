"""Each change of the fine-tuning that a study may ask for does what it says, and nothing else."""

from collections import Counter

import numpy as np
import pytest
import torch

from gpt1.settings import FinetuneMethod
from tests.gpt1 import toy
from tests.gpt1.toy import start

torch.set_num_threads(1)


def method(**changes):
    return {"method": FinetuneMethod(**changes)}


def weights(run):
    return {name: p.detach().clone() for name, p in run.model.named_parameters()}


def moved(run, before):
    """The names of the tensors that training has changed."""
    return {name for name, tensor in weights(run).items() if not torch.equal(tensor, before[name])}


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_the_classifier_reads_the_states_of_the_layer_that_is_asked_for(layer):
    whole, run = start(lm_coef=0.0), start(lm_coef=0.0, **method(read_layer=layer))
    ids, lengths = run.data.splits["train"].take(np.arange(4))
    states = []
    for block in whole.model.language_model.h:
        block.register_forward_hook(lambda _, __, out: states.append(out))
    block = whole.model.language_model.h[0]
    block.register_forward_pre_hook(lambda _, inputs: states.append(inputs[0]))
    for one in (whole, run):
        one.model.eval()
    whole.model(ids, lengths)
    logits, _ = run.model(ids, lengths)
    batch = whole.model.language_model.lay_out(ids, lengths)
    expected = run.model.classifier(states[layer][batch.ends].view(*lengths.shape, -1))
    assert torch.equal(logits, expected)
    with torch.no_grad():
        torch.testing.assert_close(run.model(ids, lengths)[0], logits, rtol=0, atol=1e-6)
    assert run.copied == whole.copied  # the layers above are taken away after the transfer


@pytest.mark.parametrize("arch", toy.ARCHS)
def test_a_frozen_body_keeps_every_bit_and_the_classifier_learns(arch):
    run = start(
        arch=arch, lm_coef=0.0, lr=0.1, epochs=20, dropout=toy.DROPOUT, **method(frozen=True)
    )
    before = weights(run)
    record = run.train()
    assert moved(run, before) == {"classifier.weight", "classifier.bias"}
    assert record.clf_loss_end < record.clf_loss_start


def test_a_frozen_body_drops_nothing_but_the_classifier_does():
    run = start(lm_coef=0.0, dropout=toy.DROPOUT, **method(frozen=True))
    run.update(np.arange(4))
    assert not run.model.language_model.training and run.model.classifier.training


def test_a_share_of_the_training_rows_is_drawn_by_the_seed_and_smaller_ones_are_part_of_larger():
    sizes = {"train": 64, "select": 8, "dev": 8}

    def rows(share, seed=0):
        run = start(sizes=sizes, seed=seed, **method(train_share=share))
        whole = start(sizes=sizes).data.splits["train"].ids.tolist()
        found = [whole.index(ids) for ids in run.data.splits["train"].ids.tolist()]
        assert run.train().train_rows == len(set(found)) == round(64 * share)
        assert len(run.data.splits["select"]) == len(run.data.splits["dev"]) == 8
        return set(found)

    assert rows(1 / 8) < rows(1 / 2) < rows(1.0) == set(range(64))
    assert rows(1 / 8) != rows(1 / 8, seed=1)


@pytest.mark.parametrize("share", [1 / 16, 0.3, 1.0])
def test_a_share_is_repeated_to_as_many_updates_as_all_rows_have(share):
    run = start(sizes={"train": 66, "select": 8, "dev": 8}, **method(train_share=share))
    ids = [tuple(row.ravel()) for row in run.data.splits["train"].ids]
    times = Counter(ids).values()
    assert sum(times) == 66 and len(times) == round(66 * share)
    assert max(times) - min(times) <= 1
    record = run.train()
    assert record.steps == run.updates == 66 // 4 * 2
    assert record.rows["train"] == min(8, round(66 * share))
