"""What is kept of a finished run."""

from pathlib import Path

import pytest

import gpt1
from bench import keep
from tasks.common.errors import InputError
from workflow.analysis.compare import SAME

KEPT = Path(keep.__file__).parent


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


@pytest.mark.parametrize("name", ["default_run", "first_look"])
def test_a_kept_run_is_read_compared_and_continued_as_one_of_ones_own_is(name):
    run = KEPT / name
    claims = gpt1.results(run)["claims"]
    assert {"holds", "equal", "does not hold"} <= {*claims["verdict"]}
    found = gpt1.compare(run, run).frame
    assert {*found["verdict"]} == {SAME} and found["diff_by_seed"].map(len).eq(5).all()
    for arch in ("transformer", "lstm"):
        (last, *_) = (run / "pretrain" / arch / "seed-4").glob("*.safetensors")
        good, bad = gpt1.load(last).score(["Everyone was happy.", "Everyone were happy."])[
            "log_probability"
        ]
        assert good > bad
