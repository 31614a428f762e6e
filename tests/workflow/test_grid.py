"""The grid: its cells, how they are cut into jobs, and when checkpoints are taken."""

from pathlib import Path

import pytest

from gpt1.cell import PretrainedModel
from tests.workflow.configs import changed, complete, full, shipped
from workflow.configuration.read import parse
from workflow.grid import Seeds, checkpoint_updates, jobs


def test_the_papers_grid_has_336_transformer_and_72_lstm_cells():
    cells = complete("paper").grid().cells()
    assert sum(cell.arch == "transformer" for cell in cells) == 336
    assert sum(cell.arch == "lstm" for cell in cells) == 72
    paths = {str(cell.path("results")) for cell in cells}
    assert len(paths) == 408 and "results/cells/lstm/rte/aux-off/layers-none.json" in paths


@pytest.mark.parametrize("corpus", ["shuffled", "sentences-shuffled", "permuted-embeddings"])
def test_a_control_is_the_fully_transferred_transformer_with_aux_on(corpus):
    grid = parse(full()).grid()
    control = [cell for cell in grid.cells() if cell.corpus == corpus]
    assert [cell.task for cell in control] == grid.tasks
    assert {(c.arch, c.aux, c.n_transfer) for c in control} == {("transformer", "on", 12)}
    assert set(control) <= set(grid.parts()["transformer_controls"])
    assert sorted(sum(grid.parts().values(), []), key=str) == sorted(grid.cells(), key=str)
    assert {cell.corpus for cell in grid.full_transformer()} == {"books"}


def test_a_fine_tuning_seed_starts_from_the_pre_training_seed_at_its_place_modulo_their_number():
    seeds = Seeds(pretrain=[7, 8], finetune=[3, 1, 2], shuffled=[9])
    assert [seeds.source(seed) for seed in seeds.finetune] == [7, 8, 7]
    assert [seeds.source(seed, "shuffled") for seed in seeds.finetune] == [9, 9, 9]
    assert seeds.of("permuted-embeddings") == [7, 8]  # which cost no training
    both = Seeds(pretrain=[7, 8], finetune=[3, 1])
    assert [both.source(seed, "shuffled") for seed in both.finetune] == [7, 8]


def test_a_job_starts_from_every_model_of_its_architecture_that_a_seed_needs():
    config = changed(full(), "experiment.seeds", {"pretrain": [5, 6, 7], "finetune": [0, 1]})
    sources = {job.name: job.sources for job in jobs(parse(config).grid(), 1)}
    assert sources["finetune_lstm_endpoints"] == (
        PretrainedModel("lstm", 5),
        PretrainedModel("lstm", 6),
    )
    shuffled = sources["finetune_transformer_sentences_shuffled"]
    assert shuffled[0] == PretrainedModel("transformer", 5, "sentences-shuffled")
    path = shuffled[1].checkpoint("results", 8)
    folder = "results/pretrain/transformer-sentences-shuffled/seed-6"
    assert path == Path(folder, "update-8.safetensors")


@pytest.mark.parametrize("shards", [1, 2, 3, 11, 40])
def test_however_the_jobs_are_cut_every_cell_is_made_once(shards):
    grid = complete("smoke").grid()
    found = {job.name: job for job in jobs(grid, shards)}
    made = [
        str(cell.path("results")).format(task=task, aux=aux)
        for name, job in found.items()
        for cell in job.cells()
        for task in grid.tasks
        for aux in ("on", "off")
        if "further" not in name and (cell.corpus == "books" or aux == "on")
    ]
    assert sorted(made) == sorted(str(cell.path("results")) for cell in grid.cells())
    further = [job.layers for name, job in found.items() if "further" in name]
    left = [n for n in range(13) if n not in grid.layers["transformer"]]
    assert further == [*((n,) for n in left), (0,)]  # and the LSTM's
    assert found["finetune_transformer_endpoints"].layers == ("none", 12)
    assert found["finetune_lstm_endpoints"].layers == ("none", 1)
    assert found["finetune_transformer_shuffled"].layers == (12,)


@pytest.mark.parametrize(
    ("without", "endpoints", "intermediate"),
    [
        (None, ("none", 12), (0, 3, 6, 9)),
        ([], ("none", 12), (0, 3, 6, 9)),
        ([0, 6], ("none", 0, 6, 12), (3, 9)),
    ],
)
def test_no_layer_is_trained_without_the_auxiliary_loss_that_is_not_asked_for(
    without, endpoints, intermediate
):
    layers = {"transformer": ["none", 0, 3, 6, 9, 12]}
    config = changed(shipped(), "experiment.grid.layers", layers)
    grid = parse(changed(config, "experiment.grid.layers_without_aux", without)).grid()
    found = {job.name: job.layers for job in jobs(grid, 1)}
    assert found["finetune_transformer_endpoints"] == endpoints
    assert found["finetune_transformer_intermediate_1"] == intermediate
    off = {
        cell.n_transfer for cell in grid.cells() if (cell.arch, cell.aux) == ("transformer", "off")
    }
    assert off == {"none", 12, *((0, 3, 6, 9) if without is None else without)}
    grid = grid.model_copy(update={"aux": ["on"]})
    assert {cell.n_transfer for cell in grid.cells() if cell.arch == "transformer"} > {0, 3, 6, 9}
    assert not [cell for cell in grid.cells() if cell.aux == "off"]


@pytest.mark.parametrize(
    ("layers", "shards", "expected"),
    [([1, 2, 3, 4, 5], 2, [(1, 2), (3, 4, 5)]), ([1], 4, [(1,)]), (["none"], 4, [])],
)
def test_shards_are_neighbours_of_even_size(layers, shards, expected):
    config = changed(shipped(), "experiment.grid.layers.transformer", layers)
    found = jobs(parse(config).grid(), shards)
    assert [j.layers for j in found if "transformer_intermediate" in j.name] == expected


@pytest.mark.parametrize(
    ("updates", "n", "expected"),
    [
        (3000, 9, [0, 30, 53, 95, 169, 300, 533, 949, 1687, 3000]),
        (1_000_000, 3, [0, 10_000, 100_000, 1_000_000]),
        (5, 1, [0, 5]),
        (3, 9, [0, 1, 2, 3]),
        (1, 2, [0, 1]),
    ],
)
def test_checkpoints_are_log_spaced_from_one_percent_to_the_last_update(updates, n, expected):
    assert checkpoint_updates(updates, n) == expected


def test_unlabelled_rows_are_those_of_all_glue_tasks():
    glue = ["mnli", "qnli", "rte", "mrpc", "qqp", "stsb", "sst2", "cola"]
    assert complete("smoke").grid().unlabelled == glue
    without = changed(shipped("smoke"), "experiment.submission", False)
    assert parse(without).grid().unlabelled == []
