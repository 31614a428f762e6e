"""A wrong config is refused before the first job: each key on one line, with what was found."""

import math
import os
import subprocess
from pathlib import Path

import pytest

from tests.workflow.configs import ROOT, changed, complete, faults, shipped, small
from workflow.configuration.read import ConfigError, parse, read
from workflow.results_folder import CODE

UPDATES = complete().experiment.pretrain.updates

# A key, a wrong value, and words of the line that begins with this key or one below it.
VALUES = [
    ("bogus", 1, "unknown key"),
    ("experiment.finetune.epoch", 3, "unknown key; did you mean epochs?"),
    ("experiment.finetune", 3, "dictionary"),
    ("experiment.pretrain.updates", 40.0, "integer, found 40.0"),
    ("experiment.pretrain.updates", 0, "greater than or equal to 1"),
    ("experiment.pretrain.lr.lstm", "fast", "number, found 'fast'"),
    ("experiment.seeds.pretrain", [2**63], "less than"),
    ("experiment.seeds.finetune", [1, 1], "only once"),
    ("experiment.seeds.finetune", [*range(20_000)], "at most 1000 items"),
    ("experiment.grid.aux", [True], "'on' or 'off'"),
    ("experiment.grid.arch", ["gru"], "'transformer' or 'lstm'"),
    ("experiment.grid.layers.lstm", ["some"], "integer or Input should be 'none'"),
    ("experiment.corpus.heldout", "some", "'official'"),
    ("experiment.tasks.riddles", {"folder": "R"}, "'snli', 'mnli'"),
    ("experiment.tasks.rte", None, "found null"),
    ("experiment.tasks.rte.report_on", [], "at least 1 item"),
    ("experiment.tasks.rte.revision", "main", "pattern"),
    ("experiment.submission", "yes", "boolean"),
    ("experiment.keep", ["rte"], "not a cell"),
    ("runtime.device", "gpu", "pattern"),
    ("runtime.pretrain_threads", 10**9, "less than or equal to 16384"),
    ("data", 3, "string"),
    ("results", "my\nresults", "pattern"),
    ("results", "-r", "pattern"),
    ("results", "r" * 300, "at most 250 characters"),
    ("experiment.studies", {"Bad-name": {"heading": "A", "tasks": ["rte"]}}, "pattern"),
]
# Beyond all sense: they would end in a traceback hours later, or in no training at all.
SENSELESS = {
    "pretrain.lr.lstm": (1e7, 5e-324),
    "finetune.lr.transformer": (1e7, 5e-324),
    "tasks.rte.lr.lstm": (1e7, 5e-324),
    "finetune.lm_coef": (1e4,),
    "tasks.rte.batch": (10**9,),
    "optimizer.l2": (1e4, math.nan, math.inf),
    "optimizer.eps": (2.0, 1e-40),
    "optimizer.max_grad_norm": (1e7, 1e-30, -1.0),
    "model.init_std": (1e38, 1e-300),
    "model.transformer.n_embd": (10**12,),
    "pretrain.checkpoints": (10**9,),
    "world.scale": (1e9,),
    "zero_shot.normalise.cola.best": (1e9,),
}
# Keys that do not fit each other.
UNFIT = [
    ("experiment.grid.layers.transformer", ["none", 13], "13, but the transformer has 12 layers"),
    ("experiment.grid.layers.lstm", [0, 2], "2, but the lstm has 1 layers"),
    ("experiment.finetune.method", {"skip_layer": 13}, "13, but the transformer has 12 layers"),
    ("experiment.finetune.checkpoint", 7, "7 has no checkpoint; give one of 0, "),
    ("experiment.finetune.multi_task", ["rte"], "give two tasks or more"),
    ("experiment.model.transformer.n_head", 7, "n_embd 48 is not a multiple of n_head 7"),
    ("experiment.model.transformer", {"block": "modern", "n_embd": 3, "n_head": 1}, "even width"),
    ("experiment.pretrain.warmup", UPDATES, "leave none"),
    ("experiment.pretrain", None, "give both, or experiment.pretrained"),
    ("experiment.corpus.heldout", 80, "80 of 80 books leave none"),
    ("experiment.tokenizer", {"merges": 5, "folder": "bpe"}, "give either merges or folder"),
    ("experiment.tokenizer", {}, "give either merges or folder"),
    ("experiment.tasks.rte", {"train_from": "dev", "report_on": ["dev"]}, "training rows"),
    ("experiment.tasks.rte", {"folder": "RTE", "source": "hub"}, "both folder and source"),
    ("experiment.tasks.rte", {"folder": "RTE", "revision": "f" * 40}, "no effect on a folder"),
    ("experiment.tasks.sst2", {"own": True}, "your own rows need a folder; give its absolute"),
    ("experiment.tasks.sst2", {"folder": "/r", "own": True, "min_rows": {"dev": 9}}, "remove it"),
    ("experiment.tasks.sst2", {"folder": "/no/rows", "own": True}, "no folder /no/rows; give that"),
    ("experiment.tasks.story_cloze", {"source": "hub"}, "not on the hub; fill in the form"),
    ("experiment.zero_shot.tasks.dprd", {"source": "hub"}, "no commit of community-datasets"),
    ("experiment.zero_shot.tasks.cola", {"folder": "CoLA"}, "write {}"),
    ("experiment.zero_shot.normalise", {"cola": {"random": 5, "best": 5}}, "above random"),
    ("experiment.corpus", {"source": "lm1b", "heldout": 4}, "give 'official'"),
    ("experiment.corpus", {"heldout": "official"}, "else a number"),
    ("experiment.corpus", {"source": "bookcorpus_text", "heldout": 1}, "no commit of rojagtap"),
    ("runtime", {"pretrain_processes": 2, "device": "cuda:1"}, "cannot share the device"),
    ("data", "nowhere", "no folder 'nowhere'"),
]


@pytest.mark.parametrize(("path", "value", "words"), [*VALUES, *UNFIT])
def test_a_wrong_value_is_one_line_with_its_key(path, value, words):
    found = faults(changed(shipped(), path, value))
    section = path.rpartition(".")[0]
    begins = (path, section) if "n_head" in path else (path,)
    assert any(line.startswith(begins) and words in line for line in found), found
    assert all("\n" not in line for line in found)


@pytest.mark.parametrize("key", SENSELESS)
def test_a_number_beyond_all_sense_is_refused(key):
    for value in SENSELESS[key]:
        (line,) = faults(changed(shipped(), f"experiment.{key}", value))
        assert line.startswith(f"experiment.{key}: ") and line.endswith(f"found {value}")


@pytest.mark.parametrize("old", ["most", "beside", "asks", "without", "left_out", "together"])
def test_a_key_that_was_renamed_is_told_with_its_new_name(old):
    (line,) = faults(shipped() | {old: 1})
    assert line.startswith(f"{old}: unknown key; {old} is now ")


@pytest.mark.parametrize(
    ("path", "value"),
    [("experiment.grid.aux", ["off"]), ("experiment.grid.layers.transformer", ["none", 3])],
)
def test_what_is_submitted_must_be_in_the_grid(path, value):
    config = changed(changed(small(), "experiment.submission", True), path, value)
    (fault,) = faults(config)
    assert fault.startswith(
        "experiment.submission: is of the transformer with 12 layers and aux on"
    )
    assert faults(changed(config, "experiment.submission", False)) == []


def test_only_a_cell_of_the_grid_can_be_kept():
    known = "lstm/cola/aux-off/layers-1"
    assert faults(changed(small(), "experiment.keep", [known])) == []
    for name in ("transformer/rte/aux-on/layers-3", "transformer/rte/aux-on/layers-05"):
        (line,) = faults(changed(small(), "experiment.keep", [name]))
        assert line.startswith("experiment.keep") and "not a cell" in line
    assert "only once" in faults(changed(small(), "experiment.keep", [known] * 2))[0]


def test_a_negative_control_needs_the_full_transformer_and_its_seeds_need_the_control():
    for path, value in (("grid.aux", ["off"]), ("grid.arch", ["lstm"])):
        found = faults(changed(shipped(), f"experiment.{path}", value))
        assert any(line.startswith("experiment.grid.shuffled: ") for line in found)
    config = changed(shipped(), "experiment.seeds.shuffled", [0])
    assert faults(config) == []
    for shuffled in ([], ["embeddings"]):
        (line,) = faults(changed(config, "experiment.grid.shuffled", shuffled))
        assert line.startswith("experiment.seeds.shuffled: no effect")


RESULTS = {
    **{name: "is in gpt1/, a part of the project" for name in ("gpt1/", "gpt1/text", "./gpt1")},
    **{name: f"is in {name}/, a part of the project" for name in (".git", "workflow", "docs")},
    **{
        name: "is your home folder, or holds"
        for name in (".", "..", "../..", "/", str(Path.home()))
    },
    "Snakefile": f"cannot be written: {ROOT}/Snakefile is closed, a file, or on a",
    "Snakefile/results": f"cannot be written: {ROOT}/Snakefile is closed, a file, or on a",
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_where_nothing_should_or_can_be_written_are_one_line(name, monkeypatch):
    monkeypatch.chdir(ROOT)
    (line,) = faults(shipped() | {"results": name})
    assert line.startswith(f"results: {os.path.normpath(name)!r} {RESULTS[name]}")
    assert line.endswith("; name a folder of its own, as results/mine")


def test_links_to_the_project_and_to_the_home_folder_are_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "link").symlink_to(ROOT / "gpt1")
    (tmp_path / "own").mkdir()
    (tmp_path / "home").symlink_to("own")
    for name, why in (("link/new", "is in gpt1/"), ("..", "is your home"), ("own", "is your home")):
        (line,) = faults(shipped() | {"results": name})
        assert line.startswith(f"results: {name!r} {why}")
    for name in ("gpt1", ".", "../beside", str(tmp_path), str(ROOT / "results/x"), "/scratch/me"):
        assert faults(shipped() | {"results": name}) == []


def test_the_folders_of_the_code_are_all_that_git_knows():
    command = ["git", "ls-files", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode or not listed.stdout:
        pytest.skip("not a clone")
    folders = {name.partition("/")[0] for name in listed.stdout.split("\0") if "/" in name}
    assert {name for name in folders if not name.startswith(".")} - {"results"} == set(CODE)


FILES = {  # a text, and words of the line
    b"results: [a\n": "expected ',' or ']', but got",
    b"results: a\n\truntime: {}\n": "line 2, column 1",
    b"results: a\nresults: b\n": "the key results is given twice",
    b"experiment:\n  seeds: &s {}\n  grid: *s\n": "an alias; write it out",
    b"results: !!python/name:os.system x\n": "could not determine a constructor",
    b"results: !!int x\n": "take tags out",
    b"results: !!map x\n": "take tags out",
    b"results: " + b"[" * 2000: "recursion",
    b"- results\n": "is no section",
    b"__use_yte__: true\n": "lets the file run code",
    "results: é".encode("latin-1"): "position 9",
}


@pytest.mark.parametrize("text", FILES)
def test_a_file_that_is_no_config_is_one_line_with_its_place(text, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(text)
    with pytest.raises(ConfigError) as error:
        read([path])
    (line,) = error.value.faults
    assert line.startswith(f"{path}: ") and FILES[text] in line


@pytest.mark.parametrize("number", ["0x" + "f" * 5000, "9" * 5000])
def test_a_number_without_end_is_one_line(number, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(f"experiment: {{pretrain: {{updates: {number}}}}}")
    with pytest.raises(ConfigError, match=r"experiment\.pretrain\.updates: Input should be a"):
        parse(read([path]))


@pytest.mark.parametrize(("name", "why"), [(".", "Is a directory"), ("none", "No such file")])
def test_a_config_file_that_cannot_be_read_is_one_line(name, why, tmp_path):
    with pytest.raises(ConfigError, match=f"{tmp_path}.*{why}"):
        read([tmp_path / name])


def test_later_files_take_precedence_section_by_section_and_the_command_line_over_all(tmp_path):
    first, second = tmp_path / "1.yaml", tmp_path / "2.yaml"
    first.write_text("experiment: {seeds: {pretrain: [1], finetune: [1, 2]}}")
    second.write_text("experiment: {seeds: {finetune: [3]}, grid: {aux: [on]}}\nresults: here")
    given = ["experiment={seeds: {pretrain: [5]}, optimizer: {l2: 1e-4}}", "results=there"]
    merged = parse(read([first, second], given))
    assert merged.experiment.seeds.finetune == [3] and merged.experiment.seeds.pretrain == [5]
    assert merged.experiment.grid.aux == ["on"] and merged.experiment.optimizer.l2 == 1e-4
    assert merged.results == "there"
