"""What is kept of a finished run."""

import pytest

from bench import keep
from tasks.common.errors import InputError


def test_tables_cells_rows_and_the_last_checkpoint_of_each_model_are_kept(tmp_path):
    results, out = tmp_path / "results", tmp_path / "kept"
    seed = "pretrain/lstm/seed-3"
    kept = {
        *("index.html", "config.yaml", "claims.csv", "studies/lr.md", "cells/full/rte.json"),
        *("predictions/full/rte.parquet", "tokenizer/encoder.json", f"{seed}/update-16.json"),
        *(f"{seed}/update-16.safetensors", f"{seed}/log.csv"),
    }
    left = {
        "pretrain/lstm/seed-4/state",
        f"{seed}/update-8.json",
        f"{seed}/update-8.safetensors",
        "corpus/corpus.json",
    }
    for name in kept | left:
        path = results / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    keep.main([str(results), str(out)])
    found = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert found == kept
    (results / "index.html").unlink()
    with pytest.raises(InputError, match="no finished run, its index.html is missing"):
        keep.keep(results, out)
