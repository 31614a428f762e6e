"""The grid: its cells, how they are cut into jobs, and where their files lie."""

from pathlib import Path

import pytest

from tests.workflow.configs import changed, shipped, small
from workflow import plan


def test_the_default_grid_has_336_transformer_and_72_lstm_cells():
    cells = plan.cells(shipped())
    assert sum(cell.arch == "transformer" for cell in cells) == 336
    assert sum(cell.arch == "lstm" for cell in cells) == 72
    assert len({cell.path("results") for cell in cells}) == 408
    assert "results/cells/lstm/rte/aux-off/layers-none.json" in {c.path("results") for c in cells}


def test_the_smoke_grid_has_168_cells():
    assert len(plan.cells(shipped("smoke"))) == 168


def test_the_default_seeds_are_three_for_table_5():
    seeds = shipped()["experiment"]["seeds"]
    assert len(seeds["ends"]) >= 3 and len(seeds["between"]) >= 1


@pytest.mark.parametrize("shards", [1, 2, 3, 11, 40])
def test_however_the_jobs_are_cut_every_cell_is_made_once(shards):
    config = changed(shipped(), "runtime.shards", shards)
    made = [
        path.format(task=task, aux=aux)
        for job in plan.jobs(config)
        for path in (cell.path("results") for cell in job.cells)
        for task in config["experiment"]["tasks"]
        for aux in ("on", "off")
    ]
    assert sorted(made) == sorted(cell.path("results") for cell in plan.cells(config))
    names = [job.name for job in plan.jobs(config)]
    assert len(names) == len(set(names))


def test_ends_are_nothing_and_everything_transferred():
    ends = {job.arch: job.layers for job in plan.jobs(shipped()) if job.part == "ends"}
    assert ends == {"transformer": ("none", "12"), "lstm": ("none", "1")}


def test_the_ablation_table_needs_both_ends_of_every_sweep_and_with_them_table_5():
    ends = plan.ends(shipped())
    assert len(ends) == len(set(ends)) == 2 * 2 * 2 * 12
    assert {(c.arch, c.aux, c.n_transfer) for c in ends} >= {
        ("transformer", "on", "12"),
        ("transformer", "on", "none"),
        ("transformer", "off", "12"),
        ("lstm", "on", "1"),
    }


def test_shards_are_neighbours_of_even_size():
    assert plan.shards(["a", "b", "c", "d", "e"], 2) == [("a", "b"), ("c", "d", "e")]
    assert plan.shards(["a"], 4) == [("a",)]
    assert plan.shards([], 4) == []


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
    assert plan.checkpoint_updates(updates, n) == expected


def test_a_folder_of_many_files_is_watched_by_its_folders(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.txt").write_text("")
    (tmp_path / ".hidden").write_text("")
    assert plan.raw_files(str(tmp_path)) == [str(tmp_path / "a" / "1.txt")]
    for i in range(plan.MANY_FILES):
        (tmp_path / "a" / f"x{i}.txt").write_text("")
    assert plan.raw_files(str(tmp_path)) == [str(tmp_path), str(tmp_path / "a")]


def test_a_published_tokenizer_is_taken_from_the_data():
    config = changed(small(), "experiment.tokenizer", {"folder": "bpe"}) | {"data": "data"}
    assert plan.tokenizer_files(config)[0] == "data/bpe/encoder_bpe_40000.json"
    assert plan.tokenizer_files(small())[0] == "results/tokenizer/encoder.json"


def test_hidden_rows_are_those_of_all_glue_tasks():
    config = shipped("smoke")
    glue = ["mnli", "qnli", "rte", "mrpc", "qqp", "stsb", "sst2", "cola"]
    assert plan.hidden_tasks(config) == glue
    assert plan.hidden_tasks(changed(config, "experiment.submission", False)) == []


def test_a_diagnostic_file_beside_mnlis_folder_is_watched(tmp_path):
    config = shipped("smoke") | {"data": str(tmp_path)}
    assert plan.hidden_elsewhere(config, "mnli") == []
    path = tmp_path / "diagnostic" / "diagnostic.tsv"
    for each in (path, tmp_path / "MNLI" / "test_matched.tsv"):
        each.parent.mkdir()
        each.write_text("")
    (found,) = plan.hidden_elsewhere(config, "mnli")
    assert Path(found).samefile(path)


def test_a_data_set_of_the_hub_lies_in_a_folder_of_its_commit_below_the_results():
    rte = {"source": "hub"}
    commit = "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c"
    config = changed(small(), "experiment.tasks.rte", rte)
    assert plan.data_folder(config, "rte", rte) == f"results/raw/rte/{commit}"
    other = "0123456789abcdef0123456789abcdef01234567"
    assert plan.data_folder(config, "rte", rte | {"revision": other}) == f"results/raw/rte/{other}"
    assert "experiment.tasks.rte.folder" not in plan.raw_folders(config)
    assert plan.raw_folders(config)["experiment.tasks.cola.folder"] == "results/world/CoLA"
