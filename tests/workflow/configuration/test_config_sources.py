"""Where a config's data comes from: folders, the hub, the synthetic world; what is missing."""

import os
import shutil
from pathlib import Path

import pytest

from tests.workflow.configs import changed, faults, raw_data, shipped, small
from workflow.configuration import paths
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


@pytest.fixture
def config(tmp_path):
    """Two tasks, both with rows to predict, a task for zero-shot alone and books in a folder."""
    config = changed(small(), "experiment.world", ...) | {"data": str(tmp_path)}
    config = changed(config, "experiment.zero_shot", {"tasks": {"cola": {}, "dprd": {}}})
    config["experiment"]["submission"] = True
    raw_data(tmp_path, config)
    assert faults(config) == []
    return config


MISSING = {  # what is removed, and how the lines begin that say so
    "RTE books/train.txt": [
        "corpus: no .txt file in {0}/books; put books there, each a .txt file, or give a corpus of",
        "tasks.rte: {0}/RTE: no such folder; download it from gluebenchmark.com/tasks and unpack",
    ],
    "CoLA/test.tsv": ["tasks.cola: {0}/CoLA lacks test.tsv, the unlabelled rows to predict; put"],
    "DPRD": ["zero_shot.tasks.dprd: {0}/DPRD: no such folder; "],
    "RTE/dev.tsv RTE/train.tsv CoLA/dev.tsv": [
        "tasks.rte: {0}/RTE: no file train.tsv; ",
        "tasks.rte: {0}/RTE: no file dev.tsv; ",
        "tasks.cola: {0}/CoLA: no file dev.tsv; ",
    ],
}


@pytest.mark.parametrize("removed", MISSING)
def test_all_missing_raw_data_is_reported_before_the_graph_is_built(removed, config, tmp_path):
    for path in (tmp_path / name for name in removed.split()):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for line, begins in zip(faults(config), MISSING[removed], strict=True):
        assert line.startswith(f"experiment.{begins.format(tmp_path)}")
    nowhere = f"data: no folder '{tmp_path}/no'; give the folder of the raw data"
    assert faults(config | {"data": f"{tmp_path}/no"}) == [nowhere]


def test_books_may_lie_in_folders(config, tmp_path):
    books = tmp_path / "books"
    (books / "genre").mkdir()
    (books / "train.txt").rename(books / "genre" / "a.txt")
    assert faults(config) == []
    beside = changed(shipped(), "experiment.tasks.rte", {"folder": f"{tmp_path}/mine"})
    (fault,) = faults(beside)  # of the world
    assert fault.startswith(f"experiment.tasks.rte: {tmp_path}/mine: no such folder")


def test_every_unknown_split_is_told_at_once_before_anything_runs(config):
    config["experiment"]["tasks"] = {
        "rte": {"train_from": "development"},
        "cola": {"min_rows": {"test": 1}, "carve": {"train": 0.5}},
    }
    assert [fault.partition(";")[0] for fault in faults(config)] == [
        "experiment.tasks.rte.train_from: no labelled split 'development'",
        "experiment.tasks.cola.min_rows: no labelled split 'test'",
        "experiment.tasks.cola.carve: the shares of train",
    ]


def test_a_config_that_takes_all_from_the_hub_needs_no_world_and_may_pin_a_commit():
    tasks = {name: {"source": "hub"} for name in ("rte", "cola")}
    config = changed(small(), "experiment.corpus", {"source": "lm1b", "heldout": "official"})
    config = changed(config, "experiment.tasks", tasks)
    assert faults(config) == [
        "experiment.world: no effect, no data set is taken from a folder; remove it"
    ]
    config = changed(config, "experiment.world", ...)
    assert faults(config) == []
    pinned = {"source": "hub", "revision": "0123456789abcdef0123456789abcdef01234567"}
    assert faults(changed(config, "experiment.zero_shot.tasks.dprd", pinned)) == []


def test_a_folder_of_many_files_is_watched_by_its_folders(tmp_path: Path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.txt").write_text("")
    (tmp_path / ".dotfile").write_text("")
    assert paths.files_below(str(tmp_path)) == [str(tmp_path / "a" / "1.txt")]
    for i in range(paths.MANY_FILES):
        (tmp_path / "a" / f"x{i}.txt").write_text("")
    assert paths.files_below(str(tmp_path)) == [str(tmp_path), str(tmp_path / "a")]


def test_files_are_read_again_only_where_their_state_has_changed(tmp_path, monkeypatch):
    files, known = [tmp_path / "a" / name for name in ("1.txt", "2.txt")], f"{tmp_path}/known"
    files[0].parent.mkdir()
    for path in files:
        path.write_text("one")
    read, sha256 = [], paths.sha256_file
    monkeypatch.setattr(paths, "sha256_file", lambda path: (read.append(path), sha256(path))[1])

    def digest() -> str:
        read.clear()
        return paths.content.__wrapped__((str(files[0].parent),), known)

    first = digest()
    assert read == [str(path) for path in files]
    assert digest() == first and read == []
    os.utime(files[1])  # the same content at another time
    assert digest() == first and read == [str(files[1])]
    stat = files[0].stat()
    files[0].write_text("two")  # of the same size, in place, at what claims to be the same time
    os.utime(files[0], ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert digest() != first and read == [str(files[0])]
    for damaged in ("damaged", "[]", f'{{"{files[0]}": {{"a": 1}}}}'):
        Path(known).write_text(damaged)
        assert digest() != first and len(read) == 2


def test_a_diagnostic_file_beside_mnlis_folder_is_watched(tmp_path):
    config = changed(shipped("smoke"), "experiment.world", ...) | {"data": str(tmp_path)}
    named = [tmp_path / "MNLI" / "test_matched.tsv", tmp_path / "diagnostic" / "diagnostic.tsv"]
    for path in named:
        path.parent.mkdir()
        path.write_text("")
    found = paths.raw_files(parse(config), "mnli")
    assert [Path(path).resolve() for path in found] == named
    without = parse(changed(config, "experiment.submission", False))
    assert paths.raw_files(without, "mnli") == [str(named[0])]


OTHER = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("entry", "folder"),
    [
        ({"source": "hub"}, "raw/rte/bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c"),
        ({"source": "hub", "revision": OTHER}, f"raw/rte/{OTHER}"),
        ({}, "world/RTE"),
    ],
)
def test_a_data_set_of_the_hub_lies_in_a_folder_of_its_commit_below_the_results(entry, folder):
    config = parse(changed(small(), "experiment.tasks.rte", entry))
    sets, own = paths.data_sets(config), f"results/{folder}"
    assert (sets["rte"].folder, sets["cola"].folder) == (own, "results/world/CoLA")
    manifest = own if entry else "results/world"
    assert paths.raw_files(config, "rte") == [f"{manifest}/manifest.json"]


def test_a_task_and_a_tokenizer_lie_in_their_own_folder_or_in_the_one_that_is_named():
    config = changed(small(), "experiment.tasks.rte", {"folder": "My RTE"}) | {"data": "data"}
    config = changed(config, "experiment.tokenizer", {"folder": "bpe"})
    given = parse(changed(config, "experiment.world", ...))
    assert paths.tokenizer_files(given)[0] == "data/bpe/encoder_bpe_40000.json"
    assert paths.tokenizer_files(parse(small()))[0] == "results/tokenizer/encoder.json"
    sets = paths.data_sets(given)
    named = {"rte": "My RTE", "cola": "CoLA", "corpus": "books"}
    assert {name: sets[name].folder for name in named} == {k: f"data/{v}" for k, v in named.items()}
