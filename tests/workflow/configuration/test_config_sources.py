"""Where a config's data comes from: folders, the hub, the synthetic world; what is missing."""

import shutil

import pytest

from tests.workflow.configs import changed, faults, raw_data, shipped, small
from workflow.configuration.read import parse
from workflow.plan import Plan


@pytest.mark.parametrize("entry", [{"source": "hub"}, {"folder": "/data/RTE"}])
def test_eleven_tasks_of_the_world_stay_made_data_beside_one_of_the_hub_or_a_folder(entry):
    config = parse(changed(shipped(), "experiment.tasks.rte", entry))
    grid, world = Plan(config).grid(), Plan(parse(shipped())).grid()
    assert world.synthetic == world.examples
    assert grid.synthetic == [name for name in world.examples if name != "rte"]
    assert [config.prepare(name).published for name in ("rte", "cola")] == [True, False]
    assert "the synthetic world" in grid.scale


def test_missing_raw_data_is_reported_before_the_graph_is_built(tmp_path):
    config = changed(small(), "experiment.world", ...) | {"data": str(tmp_path)}
    raw_data(tmp_path, config)
    assert faults(config) == []
    shutil.rmtree(tmp_path / "RTE")
    (tmp_path / "books" / "train.txt").unlink()
    assert faults(config) == [
        f"experiment.corpus: no .txt file in {tmp_path}/books; put books there, each a .txt file, "
        "or give a corpus of the hub with source",
        f"experiment.tasks.rte: {tmp_path}/RTE: no such folder; download it from "
        "gluebenchmark.com/tasks and unpack it there, or give source: hub",
    ]
    assert faults(config | {"data": f"{tmp_path}/no"}) == [
        f"data: no folder '{tmp_path}/no'; give the folder of the raw data"
    ]


def test_a_missing_folder_beside_the_world_is_reported_before_anything_runs(tmp_path):
    config = changed(shipped(), "experiment.tasks.rte", {"folder": f"{tmp_path}/mine"})
    (fault,) = faults(config)
    assert fault.startswith(f"experiment.tasks.rte: {tmp_path}/mine: no such folder")


def test_books_may_lie_in_folders(tmp_path):
    config = changed(small(), "experiment.world", ...) | {"data": str(tmp_path)}
    raw_data(tmp_path, config)
    books = tmp_path / "books"
    (books / "genre").mkdir()
    (books / "train.txt").rename(books / "genre" / "a.txt")
    assert faults(config) == []


def test_a_missing_file_of_unlabelled_rows_is_reported_before_anything_runs(tmp_path):
    config = changed(small(), "experiment.submission", True)
    del config["experiment"]["world"]
    config["data"] = str(tmp_path)
    raw_data(tmp_path, config)
    assert faults(config) == []
    (tmp_path / "CoLA" / "test.tsv").unlink()
    assert faults(config) == [
        f"experiment.tasks.cola: {tmp_path}/CoLA lacks test.tsv, the unlabelled rows to predict; "
        "put it there, or give experiment.submission: false"
    ]


def test_every_missing_split_and_unknown_name_is_told_at_once_before_anything_runs(tmp_path):
    config = small() | {"data": str(tmp_path)}
    del config["experiment"]["world"]
    raw_data(tmp_path, config)
    (tmp_path / "RTE" / "dev.tsv").unlink()
    (tmp_path / "RTE" / "train.tsv").unlink()
    (tmp_path / "CoLA" / "dev.tsv").unlink()
    assert [fault.partition("; ")[0] for fault in faults(config)] == [
        f"experiment.tasks.rte: {tmp_path}/RTE: no file train.tsv",
        f"experiment.tasks.rte: {tmp_path}/RTE: no file dev.tsv",
        f"experiment.tasks.cola: {tmp_path}/CoLA: no file dev.tsv",
    ]
    config["experiment"]["tasks"] = {
        "rte": {"train_from": "development"},
        "cola": {"min_rows": {"test": 1}, "carve": {"train": 0.5}},
    }
    assert [fault.partition(";")[0] for fault in faults(config)] == [
        "experiment.tasks.rte.train_from: no labelled split 'development'",
        "experiment.tasks.cola.min_rows: no labelled split 'test'",
        "experiment.tasks.cola.carve: the shares of train",
    ]


def test_a_task_that_is_left_out_of_the_grid_takes_its_own_folder_for_zero_shot(tmp_path):
    config = changed(small(), "experiment.zero_shot", {"tasks": {"cola": {}, "dprd": {}}})
    config = changed(config, "experiment.world", ...) | {"data": str(tmp_path)}
    raw_data(tmp_path, config)
    assert faults(config) == []
    shutil.rmtree(tmp_path / "DPRD")
    (fault,) = faults(config)
    assert fault.startswith(f"experiment.zero_shot.tasks.dprd: {tmp_path}/DPRD: no such folder; ")


def all_from_the_hub():
    config = changed(small(), "experiment.corpus", {"source": "lm1b", "heldout": "official"})
    return changed(
        config, "experiment.tasks", {name: {"source": "hub"} for name in ("rte", "cola")}
    )


def test_a_config_that_takes_all_from_the_hub_needs_neither_data_nor_a_world():
    config = all_from_the_hub()
    assert faults(config) == [
        "experiment.world: no effect, no data set is taken from a folder; remove it"
    ]
    assert faults(changed(config, "experiment.world", ...)) == []


def test_a_source_without_a_known_commit_is_valid_once_the_config_pins_it():
    config = changed(all_from_the_hub(), "experiment.world", ...)
    pinned = {"source": "hub", "revision": "0123456789abcdef0123456789abcdef01234567"}
    config["experiment"]["zero_shot"]["tasks"]["dprd"] = pinned
    assert faults(config) == []
