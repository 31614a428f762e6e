"""The bars on whole programs: two default runs, a cell's start, a plan."""

import subprocess
from dataclasses import replace

import numpy as np
import pytest
import torch

from bench import machine, program_bars, whole_run
from bench.commit import COMMIT
from gpt1.training.encoded import load
from gpt1.weights.checkpoint import CheckpointFacts, build, save_checkpoint
from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json
from tests.bench.conftest import TINY
from tests.gpt1.examples import write_tokenizer
from tests.gpt1.test_cells import write_task
from tests.support.programs import call


@pytest.fixture
def timed(monkeypatch, tmp_path):
    """Two default runs that are pretended: 1,300 s, an eighth of it outside, against 1,000."""
    path = tmp_path / "whole_run.json"
    seconds = {COMMIT: 1000.0, machine.head(): 1300.0}

    def default_run(commit, _cores, tables=None):
        if tables is not None:
            tables.mkdir()
            (tables / "cost.csv").write_text("job_seconds,train_seconds\n80,70\n")
        return seconds[commit]

    monkeypatch.setattr(whole_run, "file", lambda: path)
    same = machine.head()  # as it is without edits
    monkeypatch.setattr(machine, "has_programs_of", lambda commit, _: commit == same)
    monkeypatch.setattr(whole_run, "default_run", default_run)
    return path


def test_two_default_runs_have_two_rows(bench, timed):
    with pytest.raises(InputError, match="not timed here; time it by python -m bench.whole_run"):
        [*program_bars.default_run(bench)]
    assert call(whole_run.main).returncode == 0
    times, outside = program_bars.default_run(bench)
    assert (times.ours, times.other, times.ratio, times.met) == (1300, 1000, 1.3, "yes")
    assert (outside.ours, outside.wanted, outside.met) == (12.5, "<= 20", "yes")
    assert all(machine.head()[:7] in row.note for row in (times, outside))


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("cores", 4, "timed on 4 cores, the bar is for 2"),
        ("machine", "an abacus", r"another machine \(an abacus\)"),
        ("commit", "0" * 40, "the programs are no longer those of 0000000"),
        ("commit", None, "does not say of what it is"),
    ],
)
def test_runs_of_something_else_are_refused(bench, timed, key, value, said):
    call(whole_run.main)
    values = read_json(timed) | {key: value}
    if value is None:
        del values[key]
    write_json(timed, values)
    with pytest.raises(InputError, match=said):
        [*program_bars.default_run(bench)]


def test_edited_programs_are_no_longer_those_of_a_commit(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "ROOT", tmp_path)
    assert machine.head() == ""  # no repository
    author = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    (tmp_path / "gpt1").mkdir()
    for name in ("gpt1/model.py", "README.md"):
        (tmp_path / name).write_text("first\n")
    for words in (("init", "-q"), ("add", "."), (*author, "commit", "-q", "-m", "first")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    first = machine.head()
    assert len(first) == 40
    (tmp_path / "README.md").write_text("second\n")
    assert machine.has_programs_of(first, ("gpt1",))
    (tmp_path / "gpt1" / "model.py").write_text("second\n")
    assert not machine.has_programs_of(first, ("gpt1",))


def test_the_share_outside_of_training_is_read_from_the_costs(tmp_path):
    path = tmp_path / "cost.csv"
    path.write_text("stage,train_seconds,job_seconds\na,60,\na,15,\na,,80\nb,,20\n")
    assert whole_run.outside(path) == 0.25


def test_a_cells_process_is_timed_to_its_first_step(bench):
    small = replace(bench, scale=replace(TINY, config="workflow/config/smoke.yaml"))
    world = bench.world
    n_vocab = write_tokenizer(world / "tokenizer")
    write_task(world)
    scores = {split: {"accuracy": 50.0} for split in ("train", "select", "dev")}
    facts = {"task": "rte", "majority": scores, "bag_of_words": scores}
    (world / "baselines").mkdir()
    write_json(world / "baselines" / "rte.json", facts)
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
