"""The files of a run, what they are called, and the random numbers of a seed."""

import itertools
import json
from typing import get_args

import pytest

from gpt1.cell import Cell
from gpt1.pretrain import Pretraining
from gpt1.records import CellRecord, ZeroShotScore
from gpt1.streams import Purpose, stream, torch_seed
from gpt1.training.runtime import Runtime
from gpt1.weights.checkpoint import load_checkpoint
from tasks import task
from tasks.common.errors import InputError
from tasks.common.files import read_json, write_json
from tests.facts import SCORED
from tests.gpt1 import toy
from tests.support.programs import refusal
from tests.workflow.running import ROOT


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": "0"}, "seed: found '0'; input should be a valid integer"),
        ({"score": float("nan")}, "score: found nan; input should be a finite number"),
        ({"score": 101}, "score: found 101"),
        ({"seed": 1}, "'seed' is 1, its path says 0; delete the file and run its job again"),
    ],
)
def test_a_record_of_another_type_value_or_place_is_refused(tmp_path, changed, message):
    place = {"arch": "lstm", "task": "rte", "metric": "accuracy", "split": "dev", "seed": 0}
    path = tmp_path / "scores.json"
    path.write_text(json.dumps({**SCORED, **place, "score": 50.0, **changed}))
    assert message in refusal(lambda: ZeroShotScore.read(path, seed=0))


def test_a_cell_of_an_earlier_version_is_read_with_that(tmp_path):
    given, path = read_json(ROOT / "bench/default_run/cells/full/rte.json"), tmp_path / "rte.json"
    write_json(path, {"line": given.pop("variant"), **given})
    said = refusal(CellRecord.read, path)
    assert said == f"{path}: an earlier version wrote it; compare or read it with that version"
    write_json(path, given)
    assert "variant: missing; delete the file and" in refusal(CellRecord.read, path)


def test_path_and_name_are_those_of_a_cell_or_refused():
    found = Cell.parse("results/x/cells/arch-lstm+finetune.lm_coef-0/story_cloze.json")
    assert found == Cell("arch-lstm+finetune.lm_coef-0", "story_cloze")
    assert Cell.parse(found.path("results/x")) == found == Cell.named(found.name)
    wrong = ("x", "full/rte.json", "cells/full/rte", "cells/full/rte/0.json", "xcells/a/b.json")
    for other in wrong:
        with pytest.raises(
            InputError, match=f"{other}: not the path of a cell; give .*cells/VARIANT"
        ):
            Cell.parse(other)
    for other in ("rte", "full/rte/0", "cells/full/rte", "x/cells/full/rte", "full/rte\n"):
        with pytest.raises(InputError, match=f"{other}: not a cell; give VARIANT/TASK, such as"):
            Cell.named(other)


def test_streams_of_all_purposes_seeds_and_places_differ():
    places = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 0, 0), ("0",), ("1", "0")]
    streams = list(itertools.product(get_args(Purpose), places))
    assert len({stream(purpose, *of).integers(2**62) for purpose, of in streams}) == len(streams)
    assert len({torch_seed(purpose, *of) % 2**32 for purpose, of in streams}) == len(streams)


@pytest.mark.parametrize("arch", toy.ARCHS)
@pytest.mark.parametrize("n_transfer", ["none", 0, 1])
def test_a_fresh_tensor_of_a_seed_is_none_that_pre_training_with_that_seed_began_with(
    tmp_path, arch, n_transfer
):
    model = toy.model(arch)
    settings = toy.pretrain_settings(arch, model=model)
    training = Pretraining(arch, toy.corpus(tmp_path / "c"), settings, Runtime(), tmp_path / "w")
    training.train()
    own = toy.cell_settings(arch, n_transfer, model=model)
    encoded = toy.encoded(task("rte"), train=8, select=8, dev=8)
    for update in settings.checkpoints:
        source = load_checkpoint(training.work.checkpoint(update), arch, model, "t" * 64)
        run = toy.tuning(encoded, source, own, settings.seed)
        for name, tensor in run.model.language_model.named_parameters():
            special = slice(toy.N_VOCAB, toy.N_VOCAB + 3)
            fresh = special if name in run.copied else slice(None)
            if tensor.ndim > 1 and (name == "embed" or name not in run.copied):
                assert not (tensor[fresh] == source.tensors[name][fresh]).any(), (name, update)
