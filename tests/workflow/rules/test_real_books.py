"""A study whose lines read other novels, or mixtures of them, from real files to its table."""

import json
import tarfile
import warnings

import pytest

import gpt1
from tests.support.realdata import realdata
from tests.workflow.configs import ROOT, merge, shipped
from tests.workflow.running import snakemake, with_config

LINES = {
    "late": {"corpus.folder": "novels/late"},
    "mixed": {"corpus.folder": "novels", "corpus.shares": {"early": 1, "late": 3}},
}
CHANGES = {
    "data": "data",
    "results": "results/made",
    "experiment": {
        "corpus": {"folder": "novels/early", "heldout": 1},
        "tokenizer": {"merges": 300},
        "model": {
            "n_ctx": 32,
            "transformer": {"n_embd": 16, "n_head": 2, "n_ff": 64},
        },
        "pretrain": {"updates": 20, "warmup": 2, "checkpoints": 2, "heldout_tokens": 2000},
        "finetune": {"epochs": 1},
        "seeds": {"pretrain": [0], "finetune": [0]},
        "only": ["rte"],
        "tasks": {"rte": {"limit_train": 24, "limit_report": 24}},
        "studies": {
            "books": {"heading": "Books", "tasks": ["rte"], "lines": {"full": {}, **LINES}}
        },
    },
}


@pytest.mark.slow
def test_lines_of_other_novels_and_of_a_mixture_are_trained_and_stand_in_one_table(tmp_path):
    data = tmp_path / "data"
    with tarfile.open(realdata("novels.tar.xz")) as archive:
        books = [one for one in archive if one.name.endswith(".txt")][:6]
        for i, member in enumerate(books):
            path = data / "novels" / ("early" if i < 3 else "late") / member.name.split("/")[-1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.extractfile(member).read()[:200_000].rpartition(b"\n")[0])
    (data / "RTE").symlink_to(realdata("RTE"))
    config = merge(shipped("novels"), CHANGES)
    snakemake(ROOT, *with_config(tmp_path, config), "results/made/studies/books.csv")
    results = tmp_path / "results" / "made"
    with warnings.catch_warnings(action="error"):  # all cells are those of the config
        frame = gpt1.results(results)["studies/books"].set_index("line")
    assert frame["bits_per_byte"].between(1, 8).all() and frame["bits_per_byte"].nunique() == 3
    (mixed,) = results.glob("variants/*shares*/corpus/documents.json")
    trained = [d for d in json.loads(mixed.read_text())["documents"] if not d["heldout"]]
    bytes_of = {
        part: sum(d["source_bytes"] for d in trained if d["name"].startswith(part))
        for part in ("early", "late")
    }
    assert bytes_of["late"] >= 2 * bytes_of["early"] > 0
