"""Keys of a config that do not fit each other are one line, with what to change."""

import pytest

from tests.workflow.configs import (
    changed,
    check_fault,
    complete,
    each_fault,
    faults,
    shipped,
    small,
)

UPDATES = complete().experiment.pretrain.updates

WRONG = [
    (
        "experiment.zero_shot",
        {"tasks": {"cola": {}}, "normalise": {"race": {"random": 25, "best": 50}}},
        "experiment.zero_shot.normalise.race: no effect, the task is not in "
        "experiment.zero_shot.tasks; remove it",
    ),
    (
        "experiment.grid.layers.transformer",
        ["none", 13],
        "experiment.grid.layers.transformer: 13 layers cannot be transferred, the model has 12; "
        "give none or 0 to 12",
    ),
    (
        "experiment.grid.layers.lstm",
        [0, 2],
        "experiment.grid.layers.lstm: 2 layers cannot be transferred, the model has 1; "
        "give none or 0 to 1",
    ),
    (
        "experiment.grid.aux",
        ["off"],
        'experiment.grid.intermediate_aux: "on" is not in experiment.grid.aux; add it there, or '
        "remove it",
    ),
    (
        "experiment.grid.aux",
        ["off"],
        "experiment.grid.shuffled: the control is a transformer with aux on, which "
        "experiment.grid does not have; add it, or give false",
    ),
    (
        "experiment.grid.arch",
        ["lstm"],
        "experiment.grid.shuffled: the control is a transformer with aux on, which "
        "experiment.grid does not have; add it, or give false",
    ),
    (
        "experiment.model.transformer.n_head",
        7,
        "experiment.model.transformer: n_embd 48 is not a multiple of n_head 7; change one of them",
    ),
    (
        "experiment.pretrain.warmup",
        UPDATES,
        f"experiment.pretrain.warmup: {UPDATES} updates of warm-up leave none of {UPDATES}; give "
        "fewer than experiment.pretrain.updates",
    ),
    (
        "experiment.corpus.heldout",
        80,
        "experiment.corpus.heldout: 80 of 80 books leave none to train on; give fewer",
    ),
    (
        "experiment.tokenizer",
        {"merges": 5, "folder": "bpe"},
        "experiment.tokenizer: both merges and folder are given; remove one of them",
    ),
    (
        "experiment.tokenizer",
        {},
        "experiment.tokenizer: neither merges nor folder is given; give {merges: 40000} or "
        "{folder: NAME}",
    ),
    (
        "experiment.tasks.rte",
        {"folder": "RTE", "train_from": "dev", "report_on": ["dev"]},
        "experiment.tasks.rte.report_on: split 'dev' holds training rows and cannot be reported; "
        "name others of train, dev, or divide its rows, such as carve: {train: 0.8, dev: 0.2}",
    ),
    (
        "experiment.tasks.rte",
        {"folder": "RTE", "min_rows": {"dev": 9}},
        "experiment.tasks.rte.min_rows: no effect on the embedded world, whose rows are made; "
        "remove it",
    ),
    (
        "experiment.zero_shot.tasks.cola",
        {"folder": "CoLA"},
        "experiment.zero_shot.tasks.cola.folder: no effect, experiment.tasks.cola states it "
        "already; write {}",
    ),
    (
        "experiment.zero_shot.normalise.cola",
        {"random": 5, "best": 5},
        "experiment.zero_shot.normalise.cola: random and best are both 5; give two "
        "different scores",
    ),
    (
        "runtime",
        {"pretrain_processes": 2, "device": "cuda:1"},
        "runtime.pretrain_processes: 2 cannot share the device cuda:1; give 1, or the device cuda "
        "or cpu",
    ),
]


@each_fault(WRONG)
def test_a_fault_is_one_line(path, value, line):
    check_fault(path, value, line)


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("experiment.grid.aux", ["off"], "submits the transformer with aux on"),
        ("experiment.grid.layers.transformer", ["none", 3], "add 12 to experiment.grid.layers"),
    ],
)
def test_what_is_submitted_must_be_in_the_grid(path, value, told):
    config = changed(changed(small(), "experiment.submission", True), path, value)
    (fault,) = faults(config)
    assert fault.startswith("experiment.submission: ") and told in fault
    assert faults(changed(config, "experiment.submission", False)) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "transformer/rte/aux-on/layers-4",
            "experiment.keep: transformer/rte/aux-on/layers-4 is not a cell of experiment.grid, "
            "nor one that a study trains on its task alone; add it there, or remove it",
        ),
        (
            "transformer+prompted-true/rte/aux-off/layers-12",
            "experiment.keep: transformer+prompted-true/rte/aux-off/layers-12 is not a cell of "
            "experiment.grid, nor one that a study trains on its task alone; add it there, or "
            "remove it",
        ),
        (
            "rte",
            "experiment.keep.0: 'rte' is invalid; expected: cells of the grid or of a study whose "
            "fine-tuned weights are kept, all seeds, such as transformer/sst2/aux-on/layers-12",
        ),
        (
            "transformer/rte/aux-on/layers-05",
            "experiment.keep.0: 'transformer/rte/aux-on/layers-05' is invalid; expected: cells of "
            "the grid or of a study whose fine-tuned weights are kept, all seeds, such as "
            "transformer/sst2/aux-on/layers-12",
        ),
    ],
)
def test_only_a_cell_of_the_grid_or_of_a_study_can_be_kept(name, told):
    study = {"heading": "Mine", "tasks": ["rte"], "lines": {"highest": {"transfer": "highest"}}}
    study |= {"axis": "n_transfer", "values": [5]}
    asked = {"heading": "Asked", "tasks": ["rte"], "lines": {"a": {"prompted": True, "aux": "off"}}}
    config = changed(small(), "experiment.studies", {"mine": study, "asked": asked})
    own = "transformer+transfer-highest/rte/aux-on/layers-5"
    assert faults(changed(config, "experiment.keep", [own])) == []
    assert faults(changed(small(), "experiment.keep", [own])) == [
        f"experiment.keep: {own} is not a cell of experiment.grid, nor one that a study trains on "
        "its task alone; add it there, or remove it"
    ]
    assert name == "rte" or faults(changed(config, "experiment.keep", [name])) == [told]
    assert faults(changed(small(), "experiment.keep", ["lstm/cola/aux-off/layers-none"])) == []
    assert faults(changed(small(), "experiment.keep", [name])) == [told]
    twice = changed(small(), "experiment.keep", ["lstm/cola/aux-off/layers-none"] * 2)
    assert faults(twice)[0].endswith("(each only once)")
    without = changed(
        changed(small(), "experiment.keep", ["lstm/cola/aux-on/layers-1"]),
        "experiment.pretrain",
        None,
    )
    assert faults(without)[0].startswith("experiment.pretrain: null")


def test_seeds_of_a_control_that_is_not_run_are_reported():
    config = changed(shipped(), "experiment.seeds.shuffled", [0])
    assert faults(config) == []
    assert faults(changed(config, "experiment.grid.shuffled", False)) == [
        "experiment.seeds.shuffled: no effect, experiment.grid.shuffled is false; remove it"
    ]
