"""The bars on whole programs: a cell's start, a plan."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from bench import program_bars
from gpt1.training.encoded import load
from gpt1.weights.checkpoint import CheckpointFacts, build, save_checkpoint
from tasks.common.errors import InputError
from tests.bench.conftest import TINY
from tests.gpt1.examples import write_tokenizer
from tests.gpt1.kept_cells import write_task


def test_a_cells_process_is_timed_to_its_first_step(bench):
    small = replace(bench, scale=replace(TINY, config="workflow/config/smoke.yaml"))
    world = bench.world
    n_vocab = write_tokenizer(world / "tokenizer")
    write_task(world, "rte")
    settings = small.config().finetune("transformer", "rte", "on").model
    model = build("transformer", settings, n_vocab)
    model.reset(torch.Generator().manual_seed(0))
    tokenizer = load(world / "encoded" / "rte").tokenizer
    facts = CheckpointFacts(model=settings, tokenizer=tokenizer, update=1)
    folder = world / "pretrain" / "transformer" / "seed-0"
    folder.mkdir(parents=True)
    save_checkpoint(folder / "update-1.safetensors", model, facts)
    (row,) = program_bars.first_step(small)
    assert row.bar == 8 and 0.1 < row.ours < 600 and row.met
    assert not [*bench.out.glob("cells/**/*.json")]  # it stopped there


def test_a_plan_is_timed_and_its_own_memory_taken(bench):
    small = replace(bench, scale=replace(TINY, planned="workflow/config/smoke.yaml"))
    ballast = np.ones(100_000_000)  # which a process that is started would inherit in ru_maxrss
    seconds, peak = program_bars.planning(small)
    del ballast
    assert (seconds.unit, peak.unit) == ("s", "MB") and seconds.ours > 0.5
    assert 50 < peak.ours < 750 and "VmHWM" in peak.note
    with pytest.raises(InputError, match="the plan failed"):
        [*program_bars.planning(replace(bench, scale=replace(TINY, planned="no.yaml")))]
