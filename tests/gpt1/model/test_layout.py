"""Which tokens are computed and predicted, and prefixes shared without a trace."""

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
