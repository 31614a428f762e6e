"""Values of the config beyond all sense, and results in a folder that is not theirs: one line."""

import os
import subprocess
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from tasks.common.settings import unique
from tests.workflow.configs import ROOT, changed, faults, shipped
from workflow.folder_checks import CODE

TOO_MUCH = [
    ("pretrain.lr.lstm", 1e7, "peak learning rate, such as 6.25e-5 (at most 1000000.0)"),
    ("finetune.lr.transformer", 1e7, "peak learning rate, such as 6.25e-5 (at most 1000000.0)"),
    ("finetune.lm_coef", 1e4, "weight of the auxiliary LM loss where aux is on (at most 1000.0)"),
    ("tasks.rte.lm_coef", 1e4, "this task's weight of the auxiliary LM loss (at most 1000.0)"),
    ("tasks.rte.epochs", 10**9, "this task's passes over its rows (at most 10000)"),
    ("tasks.rte.batch", 10**9, "this task's rows per update (at most 65536)"),
    ("optimizer.l2", 1e4, "weight decay (at most 1000.0)"),
    ("optimizer.eps", 2.0, "added to the root of the second moment (at most 1.0)"),
    ("optimizer.eps", 1e-40, "added to the root of the second moment (at least 1e-38)"),
    (
        "optimizer.max_grad_norm",
        1e7,
        "clip the global gradient norm to this (0: never) (at most 1000000.0)",
    ),
    ("pretrain.warmup", 2**41, "updates of linear warm-up (at most 1099511627776)"),
    ("pretrain.batch", 10**9, "windows of n_ctx tokens per update (at most 65536)"),
    (
        "pretrain.checkpoints",
        10**9,
        "number of log-spaced checkpoints after the untrained one (at most 1000)",
    ),
    ("finetune.epochs", 10**9, "passes over the training rows (at most 10000)"),
    ("finetune.batch", 10**9, "rows per update (at most 65536)"),
    ("tokenizer.merges", 10**6, "number of BPE merges to learn from the corpus (at most 65536)"),
    (
        "world.words",
        10**12,
        "approximate number of words of the corpus, spread evenly over books (at most 1000000000)",
    ),
    ("world.books", 10**9, "number of books (at most 10000)"),
    ("world.scale", 1e9, "factor on the rows of every training split (at most 10.0)"),
    ("world.report", 10**9, "rows of each reported split (at most 10000)"),
    (
        "seeds.finetune",
        [*range(20_000)],
        "seeds of fine-tuning; the i-th starts from the i-th seed of pretrain, beginning again "
        "after the last (length at most 1000)",
    ),
    (
        "zero_shot.normalise.cola",
        {"random": 0, "best": 1e9},
        "score of the state of the art, 0 to 100 (at most 100.0)",
    ),
]


@pytest.mark.parametrize(("key", "value", "expected"), TOO_MUCH)
def test_a_number_beyond_all_sense_is_one_line_with_the_bound(key, value, expected):
    (line,) = faults(changed(shipped(), f"experiment.{key}", value))
    assert line.startswith(f"experiment.{key}") and line.endswith(f"; expected: {expected}")


@pytest.mark.parametrize("key", ["pretrain_threads", "finetune_threads", "pretrain_processes"])
def test_more_threads_or_processes_than_any_machine_has_are_refused(key):
    (line,) = faults(changed(shipped(), f"runtime.{key}", 10**9))
    assert line.startswith(f"runtime.{key}: 1000000000 is invalid; ") and "at most 16384" in line


RESULTS = {
    **{name: "is in gpt1/, a part of the project" for name in ("gpt1/", "gpt1/text", "./gpt1")},
    **{name: f"is in {name}/, a part of the project" for name in (".git", "workflow", "docs")},
    **{name: "holds the project or the folder of this run" for name in (".", "..", "../..", "/")},
    **{name: "is a folder of the system" for name in ("/etc", "/usr/share/x", "/bin")},
    "Snakefile": "is a file",
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_in_a_folder_of_the_project_or_the_system_are_one_line(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    line = f"results: {os.path.normpath(name)!r} {RESULTS[name]}; name a folder of its own, such "
    assert faults(shipped() | {"results": name}) == [f"{line}as results/mine"]


def test_results_behind_a_link_to_the_project_are_refused_and_elsewhere_allowed(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(ROOT / "gpt1")
    (line,) = faults(shipped() | {"results": "link/new"})
    assert line.startswith("results: 'link/new' is in gpt1/, a part of the project; ")
    (line,) = faults(shipped() | {"results": ".."})
    assert line.startswith("results: '..' holds the project or the folder of this run; ")
    for name in ("gpt1", ".", "../beside", str(tmp_path), str(ROOT / "results/x"), "/scratch/me"):
        assert faults(shipped() | {"results": name}) == []


def test_the_folders_of_the_code_are_all_that_git_knows():
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode or not listed.stdout:
        pytest.skip("not a clone")
    folders = {name.partition("/")[0] for name in listed.stdout.split("\0") if "/" in name}
    assert {name for name in folders if not name.startswith(".")} - {"results"} == set(CODE)


def test_values_that_repeat_are_found_in_a_list_of_any_length():
    """In a time that grows with its length alone: this would take hours otherwise."""
    kind = TypeAdapter(Annotated[list[int], unique])
    assert len(kind.validate_python([*range(10**6)])) == 10**6
    with pytest.raises(ValidationError, match="each value may occur only once"):
        kind.validate_python([*range(10**6), 7])
