"""Where the raw files of a run lie, and on which of them a job depends."""

import os
from pathlib import Path

from tests.workflow.configs import changed, shipped, small
from workflow.configuration import paths
from workflow.configuration.read import parse


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


def test_a_published_tokenizer_is_taken_from_the_data():
    config = changed(small(), "experiment.tokenizer", {"folder": "bpe"}) | {"data": "data"}
    assert paths.tokenizer_files(parse(config))[0] == "data/bpe/encoder_bpe_40000.json"
    assert paths.tokenizer_files(parse(small()))[0] == "results/tokenizer/encoder.json"


def test_a_diagnostic_file_beside_mnlis_folder_is_watched(tmp_path):
    config = changed(shipped("smoke"), "experiment.world", ...) | {"data": str(tmp_path)}
    test, diagnostic = (
        tmp_path / "MNLI" / "test_matched.tsv",
        tmp_path / "diagnostic/diagnostic.tsv",
    )
    for path in (test, diagnostic):
        path.parent.mkdir()
        path.write_text("")
    found = paths.raw_files(parse(config), "mnli")
    assert [Path(path).resolve() for path in found] == [test, diagnostic]
    without = parse(changed(config, "experiment.submission", False))
    assert paths.raw_files(without, "mnli") == [str(test)]


def test_a_data_set_of_the_hub_lies_in_a_folder_of_its_commit_below_the_results():
    config = changed(small(), "experiment.tasks.rte", {"source": "hub"})
    commit = "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c"
    assert paths.data_sets(parse(config))["rte"].folder == f"results/raw/rte/{commit}"
    other = "0123456789abcdef0123456789abcdef01234567"
    pinned = changed(config, "experiment.tasks.rte.revision", other)
    assert paths.data_sets(parse(pinned))["rte"].folder == f"results/raw/rte/{other}"
    assert paths.raw_files(parse(pinned), "rte") == [f"results/raw/rte/{other}/manifest.json"]
    assert paths.data_sets(parse(config))["cola"].folder == "results/world/CoLA"


def test_a_task_lies_in_its_own_folder_or_in_the_one_that_is_named():
    config = changed(small(), "experiment.tasks.rte", {"folder": "My RTE"}) | {"data": "data"}
    found = parse(changed(config, "experiment.world", ...))
    assert paths.data_sets(found)["rte"].folder == "data/My RTE"
    assert paths.data_sets(found)["cola"].folder == "data/CoLA"
    assert paths.data_sets(found)["corpus"].folder == "data/books"
