"""A corpus made by several jobs: what is planned, and that the files are those of one job."""

import re

import pytest

from tests.workflow.configs import ROOT, changed, raw_data, shipped
from tests.workflow.running import planned, snakemake, write

FILES = ("words.tsv", "documents.json", "train.bin", "heldout.bin", "corpus.json")


def options(folder, shards):
    config = shipped("smoke")
    config["experiment"]["world"] |= {"words": 2000, "books": 4}
    config["experiment"]["corpus"]["heldout"] = 1
    config["results"] = "made"
    config["runtime"] = {"corpus_shards": shards}
    folder.mkdir()
    path = write(folder / "config.yaml", config)
    return ("--directory", str(folder), "--configfile", path, "--", "made/corpus/corpus.json")


def test_one_shard_is_no_job_of_its_own(tmp_path):
    one = {"world": 1, "documents": 1, "tokenizer": 1, "tokens": 1}
    assert planned(ROOT, *options(tmp_path / "one", 1)) == one
    assert planned(ROOT, *options(tmp_path / "five", 5)) == {**one, "shard": 5}


@pytest.mark.slow
def test_shards_change_nothing_in_the_corpus(tmp_path):
    one, two = options(tmp_path / "one", 1), options(tmp_path / "two", 2)
    snakemake(ROOT, *one)
    snakemake(ROOT, *two)
    for name in FILES:
        found = [tmp_path / folder / "made" / "corpus" / name for folder in ("one", "two")]
        assert found[0].read_bytes() == found[1].read_bytes(), name
    left = tmp_path / "two" / "made" / "corpus"
    assert sorted(path.name for path in left.iterdir()) == sorted((*FILES, "documents"))
    assert planned(ROOT, *two) == {}


def test_a_shard_that_cannot_read_its_book_fails_and_is_not_taken_for_done(tmp_path):
    config, data = changed(shipped("smoke"), "experiment.world", ...), tmp_path / "data"
    config = changed(config, "runtime.corpus_shards", 2) | {"results": "made", "data": str(data)}
    raw_data(data, config)
    for name in ("train.txt", "a.txt", "b.txt", "c.txt"):
        (data / "books" / name).write_text("Café.\n", "latin-1" if name == "c.txt" else "utf-8")
    given = ("--directory", str(tmp_path), "--configfile", write(tmp_path / "c.yaml", config))
    targets = ("--", "made/corpus/documents.json")
    said = snakemake(ROOT, *given, "--keep-going", *targets, code=1)
    assert re.match(r"made/logs/shard/[12]\.log: error: .*c\.txt: not UTF-8", last_line(said)), said
    assert not (tmp_path / "made/corpus/documents.json").exists()
    (data / "books" / "c.txt").write_text("Café.\n", "utf-8")
    snakemake(ROOT, *given, *targets)


def last_line(said: str) -> str:
    return said.rstrip().rpartition("\n")[2]
