"""Which tokens are computed: the layouts by hand, and prefixes shared without a trace."""

import numpy as np
import pytest
import torch

from gpt1.model import layout
from gpt1.training.runtime import Runtime
from tests.gpt1.reference_runs import tuning
from tests.gpt1.toy import start

torch.set_num_threads(1)

# One example of two sequences that share three tokens, and one whose sequences share none.
IDS = np.array([[[7, 1, 2, 3, 9], [7, 1, 2, 9, 0]], [[7, 4, 9, 0, 0], [8, 4, 5, 9, 0]]])
LENGTHS = np.array([[5, 4], [3, 4]])


def test_a_shared_prefix_is_what_all_sequences_begin_with_but_never_the_classify_token():
    assert layout.common_prefix(IDS, LENGTHS).tolist() == [3, 0]
    assert layout.computed(IDS, LENGTHS).tolist() == [6, 7]
    same = np.array([[[7, 1, 9, 0], [7, 1, 9, 0]]])
    assert layout.common_prefix(same, np.array([[3, 3]])).tolist() == [2]
    longer = np.array([[[7, 1, 9, 0], [7, 1, 9, 9]]])
    assert layout.common_prefix(longer, np.array([[3, 4]])).tolist() == [2]


def test_a_shared_layout_by_hand():
    found = layout.layout_of(
        IDS, LENGTHS, torch.empty(0), skip_pads=True, shared_prefix=True, with_targets=True
    )
    assert found.tokens.tolist() == [7, 1, 2, 3, 9, 9, 7, 4, 9, 8, 4, 5, 9]
    assert found.places.tolist() == [0, 1, 2, 3, 4, 3, 0, 1, 2, 0, 1, 2, 3]
    assert found.ends.tolist() == [4, 5, 8, 12]
    assert found.shape == (2, 7) and found.real.tolist() == [0, 1, 2, 3, 4, 5, *range(7, 14)]
    targets = found.targets
    assert targets.state.tolist() == [0, 1, 2, 3, 2, 6, 7, 9, 10, 11]
    assert targets.token.tolist() == [1, 2, 3, 9, 9, 4, 9, 4, 5, 9]
    a, b, c, d = 1 / 16, 1 / 12, 1 / 8, 1 / 12  # a target of each sequence: 1 / (targets * 4)
    expected = [a + b, a + b, a, a, b, c, c, d, d, d]
    assert targets.weight.tolist() == pytest.approx(expected)
    seen = found.mask[0, 0].int().tolist()
    assert seen[:6] == [
        [1, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0],
        [1, 1, 1, 0, 0, 0, 0],
        [1, 1, 1, 1, 0, 0, 0],
        [1, 1, 1, 1, 1, 0, 0],
        [1, 1, 1, 0, 0, 1, 0],
    ]
    assert found.mask[1, 0].int().tolist()[4] == [0, 0, 0, 1, 1, 0, 0]


@pytest.mark.parametrize("skip_pads", [False, True], ids=["with pads", "without pads"])
@pytest.mark.parametrize("shared_prefix", [False, True], ids=["separate", "shared"])
def test_every_target_is_predicted_from_the_token_before_it(skip_pads, shared_prefix):
    found = layout.layout_of(
        IDS,
        LENGTHS,
        torch.empty(0),
        skip_pads=skip_pads,
        shared_prefix=shared_prefix,
        with_targets=True,
    )
    tokens, places = found.tokens.tolist(), found.places.tolist()
    states, wanted = found.targets.state.tolist(), found.targets.token.tolist()
    pairs = {(tokens[i], places[i], t) for i, t in zip(states, wanted, strict=True)}
    rows = [row[:n].tolist() for row, n in zip(IDS.reshape(4, 5), LENGTHS.flat, strict=True)]
    assert pairs == {(row[i], i, row[i + 1]) for row in rows for i in range(len(row) - 1)}
    assert float(found.targets.weight.sum()) == pytest.approx(1.0)
    assert found.tokens[found.ends].tolist() == [9] * 4
    grid = found.pad(found.tokens)
    assert found.unpad(grid).tolist() == tokens


def separate_and_shared(name, dtype, skip_pads=True):
    """Loss and gradients of six examples, some truncated, computed both ways."""
    run, found = tuning(name, "transformer", dtype, skip_pads=skip_pads), []
    split = run.data.splits["train"]
    split.ids[2, 0, 0] += 1  # an example whose choices share nothing
    split.ids[3, 1], split.lengths[3, 1] = split.ids[3, 0], split.lengths[3, 0]  # equal choices
    shared = layout.common_prefix(split.ids, split.lengths)
    assert split.truncated > 0 and shared[2] == 0 and shared.max() > 5
    assert run.model.shared_prefix
    for shared_prefix in (False, True):
        run.model.shared_prefix = shared_prefix
        loss, _ = run.losses(np.arange(6), split)
        found.append((loss.detach(), *torch.autograd.grad(loss, list(run.model.parameters()))))
    return found


@pytest.mark.parametrize("skip_pads", [False, True], ids=["with pads", "without pads"])
@pytest.mark.parametrize("name", ["race", "story_cloze"])
def test_a_shared_prefix_gives_the_loss_and_gradients_of_separate_sequences(name, skip_pads):
    for one, other in zip(*separate_and_shared(name, torch.float64, skip_pads), strict=True):
        assert torch.allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("name", "shares"), [("race", True), ("mrpc", False), ("rte", False)])
def test_choices_alone_share_their_prefix_and_it_is_computed_once(name, shares):
    run = start(name, runtime=Runtime(skip_pads=True))
    rows, split, seen = np.arange(8), run.data.splits["train"], []
    run.model.language_model.h[0].mlp.register_forward_pre_hook(
        lambda _, inputs: seen.append(len(inputs[0]))
    )
    run.update(rows)
    every = int(split.lengths[rows].sum())
    assert seen == [int(layout.computed(split.ids, split.lengths)[rows].sum()) if shares else every]
    assert (seen[0] < every) == shares and run.tokens == every


def test_predictions_are_the_same_with_a_shared_prefix():
    run = start("race", sizes={"train": 8, "select": 8, "dev": 40})
    for _ in range(3):
        run.update(np.arange(8))
    dev = run.data.splits["dev"]
    shared = run.predict(dev)
    run.model.shared_prefix = False
    assert np.array_equal(run.predict(dev), shared) and len(set(shared)) > 1
