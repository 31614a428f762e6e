"""A variant and its name are one and the same; a name that says nothing or too much is refused."""

import pytest

from gpt1.cell import Cell, PretrainedModel
from gpt1.settings import FinetuneMethod
from gpt1.variant import Variant
from tasks.common.errors import InputError

NAMES = {
    "": {},
    "lm_coef-0.25": {"lm_coef": 0.25},
    "lm_coef-2": {"lm_coef": 2},
    "lr-1e-05": {"lr": 1e-5},
    "lr-0.0006251234": {"lr": 0.0006251234},
    "train_share-0.0625": {"train_share": 0.0625},
    "frozen-true+read_layer-0": {"read_layer": 0, "frozen": True},
    "n_hidden-263+update-0": {"update": 0, "n_hidden": 263},
    "decay-l2+schedule-cosine": {"schedule": "cosine", "decay": "l2"},
    "block-modern": {"block": "modern"},
    "l2-0": {"l2": 0},
    "decay-adamw+l2-1": {"decay": "adamw", "l2": 1},
    "lr-0.5+together-mnli.rte": {"together": ["rte", "mnli"], "lr": 0.5},
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_and_its_variant_are_one_and_the_same(name):
    variant = Variant(**NAMES[name])
    assert variant.name == name and Variant.named(name) == variant


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("lm_coef-0.250", "its name is 'lm_coef-0.25'"),
        ("frozen-false", "its name is ''"),
        ("update-1+lr-0.1", "its name is 'lr-0.1\\+update-1'"),
        ("colour-red", "colour: found"),
        ("lm_coef-much", "lm_coef: found 'much'"),
        ("lm_coef-NaN", "lm_coef: found"),
        ("train_share-2", "train_share: found 2"),
        ("frozen", "frozen: found ''"),
        ("together-rte.mnli", "its name is 'together-mnli.rte'"),
        ("together-rte", "together: found .*give two tasks or more, each once"),
        ("together-rte.rte", "together: found .*give two tasks or more, each once"),
        ("block-old", "block: found 'old'"),
    ],
)
def test_a_name_of_no_variant_is_refused(name, reason):
    with pytest.raises(InputError, match=reason):
        Variant.named(name)


def test_a_variant_has_a_part_of_the_language_model_and_a_part_of_the_method():
    variant = Variant(n_hidden=9, update=3, lm_coef=0.1, schedule="constant", block="modern")
    assert variant.model == Variant(n_hidden=9, block="modern")
    variant = variant.model_copy(update={"block": "gpt1"})
    assert variant.method == FinetuneMethod(schedule="constant")
    assert type(variant.method) is FinetuneMethod


def test_the_paths_of_a_variant_name_it_and_those_of_the_grid_do_not():
    cell = Cell("transformer", "rte", "on", 12, variant="decay-l2+lm_coef-0.25")
    path = cell.path("results").as_posix()
    assert path == "results/cells/transformer+decay-l2+lm_coef-0.25/rte/aux-on/layers-12.json"
    assert Cell.parse(path) == cell and cell.facts()["variant"] == cell.variant
    control = Cell("transformer", "rte", "on", 12, "shuffled", "lm_coef-1")
    assert Cell.parse(control.path("r")) == control
    assert "variant" not in Cell("transformer", "rte", "on", 12).facts()
    model = PretrainedModel("lstm", 1, variant="n_hidden-263")
    assert model.folder("results").as_posix() == "results/pretrain/lstm+n_hidden-263/seed-1"
