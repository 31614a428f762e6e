"""The grid: its cells, how they are cut into jobs, and when checkpoints are taken."""

import pytest

from tests.workflow.configs import changed, complete, shipped
from workflow.config_faults import parse
from workflow.grid import checkpoint_updates, jobs


def test_the_default_grid_has_336_transformer_and_72_lstm_cells():
    cells = complete().grid().cells()
    assert sum(cell.arch == "transformer" for cell in cells) == 336
    assert sum(cell.arch == "lstm" for cell in cells) == 72
    paths = {str(cell.path("results")) for cell in cells}
    assert len(paths) == 408 and "results/cells/lstm/rte/aux-off/layers-none.json" in paths


def test_the_smoke_grid_has_168_cells():
    assert len(complete("smoke").grid().cells()) == 168


def test_the_default_seeds_are_three_for_table_5():
    seeds = complete().grid().seeds
    assert len(seeds.endpoints) >= 3 and len(seeds.intermediate) >= 1


@pytest.mark.parametrize("shards", [1, 2, 3, 11, 40])
def test_however_the_jobs_are_cut_every_cell_is_made_once(shards):
    grid = complete().grid()
    made = [
        str(cell.path("results")).format(task=task, aux=aux)
        for job in jobs(grid, shards)
        for cell in job.cells
        for task in grid.tasks
        for aux in ("on", "off")
    ]
    assert sorted(made) == sorted(str(cell.path("results")) for cell in grid.cells())
    names = [job.name for job in jobs(grid, shards)]
    assert len(names) == len(set(names))


def test_endpoints_are_nothing_and_everything_transferred():
    endpoints = {j.arch: j.layers for j in jobs(complete().grid(), 1) if j.part == "endpoints"}
    assert endpoints == {"transformer": ("none", 12), "lstm": ("none", 1)}


def test_the_endpoints_of_every_sweep_hold_table_5():
    grid = complete().grid()
    endpoints = [cell for cell in grid.cells() if grid.is_endpoint(cell)]
    assert len(endpoints) == len(set(endpoints)) == 2 * 2 * 2 * 12
    assert {(c.arch, c.aux, c.n_transfer) for c in endpoints} >= {
        ("transformer", "on", 12),
        ("transformer", "on", "none"),
        ("transformer", "off", 12),
        ("lstm", "on", 1),
    }
    assert {grid.is_full(cell) for cell in grid.full_transformer()} == {True}


@pytest.mark.parametrize(
    ("layers", "shards", "expected"),
    [([1, 2, 3, 4, 5], 2, [(1, 2), (3, 4, 5)]), ([1], 4, [(1,)]), (["none"], 4, [])],
)
def test_shards_are_neighbours_of_even_size(layers, shards, expected):
    config = changed(shipped(), "experiment.grid.layers.transformer", layers)
    found = jobs(parse(config).grid(), shards)
    assert [
        j.layers for j in found if (j.arch, j.part) == ("transformer", "intermediate")
    ] == expected


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
