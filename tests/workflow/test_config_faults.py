"""Each fault of a config is one line: the key's path, what was found, and the remedy."""

import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpt1.text.vocabulary import PUBLISHED_FILES
from tests.workflow.configs import NAMES, changed, complete, faults, raw_data, shipped, small
from workflow.config_faults import ConfigError, parse, read


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_config_is_valid_where_its_data_is(name, tmp_path):
    config = shipped(name)
    if not complete(name).experiment.world:
        raw_data(tmp_path, config)
        config["data"] = str(tmp_path)
    assert faults(config) == []


UPDATES = complete().experiment.pretrain.updates

WRONG = [
    (
        "experiment.pretrain.updates",
        40.0,
        "experiment.pretrain.updates: 40.0 is not a whole number; expected: number of updates",
    ),
    (
        "experiment.finetune.eval_train",
        2**41,
        "experiment.finetune.eval_train: 2199023255552 is invalid; expected: training rows over "
        "which the train score is taken (at most 1099511627776)",
    ),
    (
        "experiment.seeds.pretrain",
        [2**63],
        "experiment.seeds.pretrain.0: 9223372036854775808 is invalid; expected: seeds of "
        "pre-training (weights, windows and dropout), one model each (less than "
        "9223372036854775808)",
    ),
    (
        "experiment.pretrain.seed",
        0,
        "experiment.pretrain.seed: unknown key; known here: updates, warmup, batch, dropout, "
        "heldout_tokens, lr, checkpoints",
    ),
    (
        "experiment.seeds.shuffled",
        [],
        "experiment.seeds.shuffled: [] is invalid; expected: seeds of pre-training on the shuffled "
        "books (null: those of pretrain) (length at least 1)",
    ),
    *(
        (
            "experiment.optimizer.l2",
            value,
            f"experiment.optimizer.l2: {value} is not a finite number; expected: weight decay",
        )
        for value in (math.nan, math.inf, -math.inf)
    ),
    (
        "experiment.finetune",
        3,
        "experiment.finetune: 3 is not a section of keys; expected: how a cell is fine-tuned on "
        "its task",
    ),
    (
        "experiment.zero_shot.tasks",
        {"rte": {}},
        "experiment.zero_shot.tasks.rte: unknown task; known here: sst2, cola, race, dprd",
    ),
    (
        "experiment.zero_shot",
        {"tasks": {"cola": {}}, "normalise": {"race": {"random": 25, "best": 50}}},
        "experiment.zero_shot.normalise.race: no effect, the task is not in "
        "experiment.zero_shot.tasks; remove it",
    ),
    (
        "experiment.grid.layers.lstm",
        ["some"],
        "experiment.grid.layers.lstm.0: 'some' is invalid; expected: the same for the LSTM",
    ),
    (
        "experiment.corpus.heldout",
        "some",
        "experiment.corpus.heldout: 'some' is invalid; expected: what the perplexity is measured "
        "on: a number of documents (chosen by the digest of their names), a list of file names, or "
        "official, the split that the publisher of the source set apart",
    ),
    (
        "experiment.model.transformer.n_embd",
        10**12,
        "experiment.model.transformer.n_embd: 1000000000000 is invalid; expected: width of the "
        "hidden states; divisible by n_head (at most 65536)",
    ),
    (
        "experiment.model.init_std",
        1e38,
        "experiment.model.init_std: 1e+38 is invalid; expected: standard deviation of the initial "
        "weights (at most 100.0)",
    ),
    (
        "data",
        3,
        "data: 3 is not text or null; expected: the folder of the raw data (null: the embedded "
        "world)",
    ),
    *(
        (
            "results",
            value,
            f"results: {value!r} is invalid; expected: the folder that everything is written to, "
            "a path of letters, digits and _ . / - alone",
        )
        for value in ("my\nresults", "results\n", "")
    ),
    (
        "experiment.finetune.epoch",
        3,
        "experiment.finetune.epoch: unknown key; did you mean epochs?",
    ),
    ("bogus", 1, "bogus: unknown key; known here: results, data, experiment, runtime"),
    (
        "experiment.pretrain.lr.transformer",
        "1e-4",
        "experiment.pretrain.lr.transformer: '1e-4' is not a number (it is text to YAML; write "
        "1.0e-4); expected: peak learning rate, such as 6.25e-5",
    ),
    (
        "experiment.pretrain.updates",
        2.5,
        "experiment.pretrain.updates: 2.5 is not a whole number; expected: number of updates",
    ),
    (
        "experiment.pretrain.updates",
        0,
        "experiment.pretrain.updates: 0 is invalid; expected: number of updates (at least 1)",
    ),
    (
        "experiment.tasks.wnli",
        {"folder": "WNLI"},
        "experiment.tasks.wnli: unknown task; did you mean snli?",
    ),
    (
        "experiment.world.rows",
        {"wnli": 60},
        "experiment.world.rows.wnli: unknown task; did you mean snli?",
    ),
    (
        "experiment.submission",
        "yes",
        "experiment.submission: 'yes' is not true or false; expected: whether GLUE's unlabelled "
        "test rows are predicted as well, for glue_submission.zip",
    ),
    (
        "experiment.grid.layers.transformer",
        ["none", 13],
        "experiment.grid.layers.transformer: 13 layers cannot be transferred, the model has 12; "
        "give none or 0 to 12",
    ),
    (
        "experiment.grid.layers.lstm",
        [0, 2],
        "experiment.grid.layers.lstm: 2 layers cannot be transferred, the model has 1; "
        "give none or 0 to 1",
    ),
    (
        "experiment.grid.aux",
        [True],
        'experiment.grid.aux.0: True is invalid; expected: a list of "on" and "off", with and '
        "without the auxiliary LM loss; in quotes, since YAML reads a bare on as true (on, off)",
    ),
    (
        "experiment.grid.arch",
        ["gru"],
        "experiment.grid.arch.0: 'gru' is invalid; expected: a list of transformer and lstm "
        "(transformer, lstm)",
    ),
    (
        "experiment.seeds.finetune",
        [1, 1],
        "experiment.seeds.finetune: [1, 1] is invalid; expected: seeds of fine-tuning; the i-th "
        "starts from the i-th seed of pretrain, beginning again after the last (each only once)",
    ),
    (
        "experiment.grid.aux",
        ["off"],
        'experiment.grid.intermediate_aux: "on" is not in experiment.grid.aux; add it there, or '
        "remove it",
    ),
    (
        "experiment.grid.aux",
        ["off"],
        "experiment.grid.shuffled: the control is a transformer with aux on, which "
        "experiment.grid does not have; add it, or give false",
    ),
    (
        "experiment.grid.arch",
        ["lstm"],
        "experiment.grid.shuffled: the control is a transformer with aux on, which "
        "experiment.grid does not have; add it, or give false",
    ),
    (
        "experiment.model.transformer.n_head",
        7,
        "experiment.model.transformer: n_embd 48 is not a multiple of n_head 7; change one of them",
    ),
    (
        "experiment.pretrain.warmup",
        UPDATES,
        f"experiment.pretrain.warmup: {UPDATES} updates of warm-up leave none of {UPDATES}; give "
        "fewer than experiment.pretrain.updates",
    ),
    (
        "experiment.corpus.heldout",
        80,
        "experiment.corpus.heldout: 80 of 80 books leave none to train on; give fewer",
    ),
    (
        "experiment.tokenizer",
        {"merges": 5, "folder": "bpe"},
        "experiment.tokenizer: both merges and folder are given; remove one of them",
    ),
    (
        "experiment.tokenizer",
        {},
        "experiment.tokenizer: neither merges nor folder is given; give {merges: 40000} or "
        "{folder: NAME}",
    ),
    (
        "experiment.tasks.rte",
        {"folder": "RTE", "train_from": "dev", "report_on": ["dev"]},
        "experiment.tasks.rte.report_on: split 'dev' holds training rows and cannot be reported; "
        "name others of train, dev, or divide its rows, such as carve: {train: 0.8, dev: 0.2}",
    ),
    (
        "experiment.tasks.rte",
        {"folder": "RTE", "min_rows": {"dev": 9}},
        "experiment.tasks.rte.min_rows: no effect on the embedded world, whose rows are made; "
        "remove it",
    ),
    (
        "experiment.tasks.rte.min_rows",
        {"dev": 0},
        "experiment.tasks.rte.min_rows.dev: 0 is invalid; expected: where the files are a subset "
        "of the published ones, the least number of rows of a split, such as {test: 9818} (at "
        "least 1)",
    ),
    (
        "experiment.zero_shot.tasks.cola",
        {"folder": "CoLA"},
        "experiment.zero_shot.tasks.cola.folder: no effect, experiment.tasks.cola states it "
        "already; write {}",
    ),
    (
        "experiment.zero_shot.normalise.cola",
        {"random": 5, "best": 5},
        "experiment.zero_shot.normalise.cola: random and best are both 5; give two "
        "different scores",
    ),
    (
        "runtime.device",
        "gpu",
        "runtime.device: 'gpu' is invalid; expected: cpu, cuda, cuda:0 or mps",
    ),
    (
        "experiment.world",
        ...,
        "data: missing; give the folder that holds books/, SNLI/, MNLI/, QNLI/, RTE/, SciTail/, "
        "RACE/, StoryCloze/, MRPC/, QQP/, STS-B/, SST-2/, CoLA/, DPRD/ in their original layouts, "
        "with --config data=FOLDER",
    ),
    (
        "results",
        "my {results}",
        "results: 'my {results}' is invalid; expected: the folder that everything is written to, "
        "a path of letters, digits and _ . / - alone",
    ),
    (
        "experiment.tasks.rte.report_on",
        [],
        "experiment.tasks.rte.report_on: [] is invalid; expected: the official splits that are "
        "reported (default: the task's own) (length at least 1)",
    ),
    (
        "experiment.tasks.rte",
        None,
        "experiment.tasks.rte: null is not a section of keys; expected: a task of the grid: where "
        "its data is, its limits, and its own training settings",
    ),
    (
        "results",
        "-r",
        "results: '-r' is invalid; expected: the folder that everything is written to, a path of "
        "letters, digits and _ . / - alone",
    ),
    (
        "experiment.corpus",
        {"source": "lm1b", "heldout": 4},
        "experiment.corpus.heldout: 4, but lm1b has a published held-out split; use 'official'",
    ),
    (
        "experiment.corpus",
        {"heldout": "official"},
        "experiment.corpus.heldout: 'official', but this corpus has no published held-out split; "
        "give a number",
    ),
    (
        "runtime.corpus_shards",
        10**7,
        "runtime.corpus_shards: 10000000 is invalid; expected: number of jobs that normalising the "
        "corpus is cut into; the tokens stay the same, changing it repeats the merge (at most "
        "10000)",
    ),
    (
        "experiment.tasks.rte",
        {"source": "hub", "revision": "main"},
        "experiment.tasks.rte.revision: 'main' is invalid; expected: the commit of the hub's "
        "repository, 40 hexadecimal digits (default: the one that the task names)",
    ),
    (
        "experiment.tasks.rte",
        {"source": "hub", "revision": "bcdcba7"},
        "experiment.tasks.rte.revision: 'bcdcba7' is invalid; expected: the commit of the hub's "
        "repository, 40 hexadecimal digits (default: the one that the task names)",
    ),
    (
        "experiment.tasks.rte",
        {"source": "the web"},
        "experiment.tasks.rte.source: 'the web' is invalid; expected: in place of folder: hub, "
        "the Hugging Face hub (hub)",
    ),
    (
        "experiment.tasks.rte",
        {"folder": "RTE", "source": "hub"},
        "experiment.tasks.rte: both folder and source are given; remove one of them",
    ),
    (
        "experiment.tasks.rte",
        {"folder": "RTE", "revision": "f" * 40},
        "experiment.tasks.rte.revision: no effect on a folder; remove it, or give {source: hub} "
        "instead",
    ),
    (
        "experiment.tasks.story_cloze",
        {"source": "hub"},
        "experiment.tasks.story_cloze.source: story_cloze is not on the hub; fill in the form at "
        "cs.rochester.edu/nlp/rocstories, and put the two CSV files of spring 2016 whose links "
        "come by e-mail into StoryCloze/ of the data folder, named `cloze_test_val__spring2016 - "
        "cloze_test_ALL_val.csv` and `cloze_test_test__spring2016 - cloze_test_ALL_test.csv`, then "
        "set {folder: StoryCloze}",
    ),
    (
        "experiment.zero_shot.tasks.dprd",
        {"source": "hub"},
        "experiment.zero_shot.tasks.dprd.source: no commit of "
        "community-datasets/definite_pronoun_resolution is known here (the commit begins with "
        "0fdf659); look it up on the hub and give revision: with its 40 hexadecimal digits",
    ),
    (
        "experiment.corpus",
        {"source": "bookcorpus_text", "heldout": 1},
        "experiment.corpus.source: no commit of rojagtap/bookcorpus is known here (the commit "
        "begins with 7600e0b); look it up on the hub and give revision: with its 40 hexadecimal "
        "digits",
    ),
    (
        "experiment.corpus",
        {"folder": "books", "heldout": 1, "min_rows": {"train": 9}},
        "experiment.corpus.min_rows: no effect on a folder of books, which has any number; remove "
        "it",
    ),
    (
        "runtime",
        {"pretrain_processes": 2, "device": "cuda:1"},
        "runtime.pretrain_processes: 2 cannot share the device cuda:1; give 1, or the device cuda "
        "or cpu",
    ),
    (
        "data",
        "nowhere",
        "experiment.world: no effect where data is given; take a config without it, such as "
        "workflow/config/novels.yaml",
    ),
]


@pytest.mark.parametrize(("path", "value", "line"), WRONG, ids=[wrong[2][:60] for wrong in WRONG])
def test_a_fault_is_one_line(path, value, line):
    found = faults(changed(shipped(), path, value))
    assert line in found
    assert all("\n" not in fault for fault in found)


def test_missing_raw_data_is_reported_before_the_graph_is_built(tmp_path):
    config = changed(small(), "experiment.world", ...) | {"data": str(tmp_path)}
    raw_data(tmp_path, config)
    assert faults(config) == []
    shutil.rmtree(tmp_path / "RTE")
    (tmp_path / "books" / "train.txt").unlink()
    assert faults(config) == [
        f"experiment.tasks.rte.folder: no folder {tmp_path}/RTE; put the files there, or name "
        "another folder",
        f"experiment.corpus.folder: no .txt file in {tmp_path}/books; put the books there",
    ]
    assert faults(config | {"data": f"{tmp_path}/no"}) == [
        f"data: no folder '{tmp_path}/no'; give the folder of the raw data"
    ]


def test_books_may_lie_in_folders_and_no_file_may_have_braces(tmp_path):
    config = changed(small(), "experiment.world", ...) | {"data": str(tmp_path)}
    raw_data(tmp_path, config)
    books = tmp_path / "books"
    (books / "genre").mkdir()
    (books / "train.txt").rename(books / "genre" / "a.txt")
    assert faults(config) == []
    (books / "genre" / "a.txt").rename(books / "genre" / "a{1}.txt")
    (tmp_path / "RTE" / "dev}.tsv").write_text("")
    assert faults(config) == [
        f"experiment.corpus.folder: {books}/genre/a{{1}}.txt has braces in its name; rename it",
        f"experiment.tasks.rte.folder: {tmp_path}/RTE/dev}}.tsv has braces in its name; rename it",
    ]


def test_a_published_tokenizer_must_be_there(tmp_path):
    config = changed(small(), "experiment.world", ...) | {"data": str(tmp_path)}
    config = changed(config, "experiment.tokenizer", {"folder": "bpe"})
    raw_data(tmp_path, config)
    assert faults(config) == []
    for name in PUBLISHED_FILES:
        (tmp_path / "bpe" / name).unlink()
    assert faults(config) == [
        f"experiment.tokenizer.folder: no file {tmp_path}/bpe/{name}; put it there, or give merges"
        for name in PUBLISHED_FILES
    ]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("experiment.grid.aux", ["off"], "submits the transformer with aux on"),
        ("experiment.grid.layers.transformer", ["none", 3], "add 12 to experiment.grid.layers"),
    ],
)
def test_what_is_submitted_must_be_in_the_grid(path, value, told):
    config = changed(changed(small(), "experiment.submission", True), path, value)
    (fault,) = faults(config)
    assert fault.startswith("experiment.submission: ") and told in fault
    assert faults(changed(config, "experiment.submission", False)) == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "transformer/rte/aux-on/layers-4",
            "experiment.keep: transformer/rte/aux-on/layers-4 is not a cell of experiment.grid, "
            "nor one that a study trains on its task alone; add it there, or remove it",
        ),
        (
            "transformer+prompted-true/rte/aux-off/layers-12",
            "experiment.keep: transformer+prompted-true/rte/aux-off/layers-12 is not a cell of "
            "experiment.grid, nor one that a study trains on its task alone; add it there, or "
            "remove it",
        ),
        (
            "rte",
            "experiment.keep.0: 'rte' is invalid; expected: cells of the grid or of a study whose "
            "fine-tuned weights are kept, all seeds, such as transformer/sst2/aux-on/layers-12",
        ),
        (
            "transformer/rte/aux-on/layers-05",
            "experiment.keep.0: 'transformer/rte/aux-on/layers-05' is invalid; expected: cells of "
            "the grid or of a study whose fine-tuned weights are kept, all seeds, such as "
            "transformer/sst2/aux-on/layers-12",
        ),
    ],
)
def test_only_a_cell_of_the_grid_or_of_a_study_can_be_kept(name, told):
    study = {"heading": "Mine", "tasks": ["rte"], "lines": {"highest": {"transfer": "highest"}}}
    study |= {"axis": "n_transfer", "values": [5]}
    asked = {"heading": "Asked", "tasks": ["rte"], "lines": {"a": {"prompted": True, "aux": "off"}}}
    config = changed(small(), "experiment.studies", {"mine": study, "asked": asked})
    own = "transformer+transfer-highest/rte/aux-on/layers-5"
    assert faults(changed(config, "experiment.keep", [own])) == []
    assert faults(changed(small(), "experiment.keep", [own])) == [
        f"experiment.keep: {own} is not a cell of experiment.grid, nor one that a study trains on "
        "its task alone; add it there, or remove it"
    ]
    assert name == "rte" or faults(changed(config, "experiment.keep", [name])) == [told]
    assert faults(changed(small(), "experiment.keep", ["lstm/cola/aux-off/layers-none"])) == []
    assert faults(changed(small(), "experiment.keep", [name])) == [told]
    twice = changed(small(), "experiment.keep", ["lstm/cola/aux-off/layers-none"] * 2)
    assert faults(twice)[0].endswith("(each only once)")
    without = changed(
        changed(small(), "experiment.keep", ["lstm/cola/aux-on/layers-1"]),
        "experiment.pretrain",
        None,
    )
    assert faults(without)[0].startswith("experiment.pretrain: null")


def test_seeds_of_a_control_that_is_not_run_are_reported():
    config = changed(shipped(), "experiment.seeds.shuffled", [0])
    assert faults(config) == []
    assert faults(changed(config, "experiment.grid.shuffled", False)) == [
        "experiment.seeds.shuffled: no effect, experiment.grid.shuffled is false; remove it"
    ]


def test_a_missing_file_of_unlabelled_rows_is_reported_before_anything_runs(tmp_path):
    config = changed(small(), "experiment.submission", True)
    del config["experiment"]["world"]
    config["data"] = str(tmp_path)
    raw_data(tmp_path, config)
    assert faults(config) == []
    (tmp_path / "CoLA" / "test.tsv").unlink()
    assert faults(config) == [
        f"experiment.submission: {tmp_path}/CoLA lacks test.tsv, the unlabelled rows to predict; "
        "put it there, or give false"
    ]


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


def test_the_path_of_the_results_is_normalised():
    assert parse(shipped() | {"results": "a//b/../made/"}).results == "a/made"


def test_a_key_that_is_no_text_is_unknown():
    assert faults(shipped() | {1: 2}) == [
        "1: unknown key; known here: results, data, experiment, runtime"
    ]


def test_every_fault_is_reported_at_once():
    config = changed(small(), "experiment.finetune.epochs", "3")
    config = changed(config, "runtime.devise", "cpu")
    assert faults(config) == [
        "experiment.finetune.epochs: '3' is not a whole number (it is text to YAML; write 3); "
        "expected: passes over the training rows",
        "runtime.devise: unknown key; did you mean device?",
    ]


def test_a_task_that_is_left_out_of_the_grid_takes_its_own_folder_for_zero_shot(tmp_path):
    config = changed(small(), "experiment.zero_shot", {"tasks": {"cola": {}, "dprd": {}}})
    config = changed(config, "experiment.world", ...) | {"data": str(tmp_path)}
    raw_data(tmp_path, config)
    assert faults(config) == []
    shutil.rmtree(tmp_path / "DPRD")
    (fault,) = faults(config)
    assert fault.startswith("experiment.zero_shot.tasks.dprd.folder: no folder ")


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


FILES = {
    "runtime:\n  shards: 2\n  shards: 3\n": "line 3: the key shards is given twice; remove one",
    "results: a\n\truntime: {}\n": "line 2: a tab; YAML needs spaces",
    "results: [a\n": "line 2: expected ',' or ']', but got '<stream end>'",
    "- results\n": "['results'] is not a section; give keys such as results",
}


@pytest.mark.parametrize("text", FILES)
def test_a_file_that_is_not_a_config_is_one_line_with_its_place(text, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as error:
        read([path])
    assert error.value.faults == [f"{path}: {FILES[text]}"]


def test_a_config_file_is_utf_8_and_there(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes("results: é".encode("latin-1"))
    for file, fault in ((path, "not UTF-8 at byte 9; save it as UTF-8"), (tmp_path, "")):
        with pytest.raises(ConfigError) as error:
            read([file])
        assert error.value.faults[0].startswith(f"{file}: {fault}")
    with pytest.raises(ConfigError, match="none.yaml: No such file or directory"):
        read([tmp_path / "none.yaml"])


def test_later_files_take_precedence_section_by_section(tmp_path):
    texts = (
        "experiment: {seeds: {finetune: [1, 2]}}",
        "experiment: {seeds: {finetune: [3]}}",
        "",
    )
    paths = [tmp_path / f"{i}.yaml" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    world = Path("workflow/config/world.yaml")
    merged = parse(read([world, *paths]))
    assert merged.experiment.seeds.finetune == [3]
    assert merged.experiment.world == complete().experiment.world


def every_value(section: Any, path: str = "") -> dict[str, Any]:
    if not isinstance(section, dict) or not section:
        return {path: section}
    parts = [every_value(value, f"{path}.{key}".lstrip(".")) for key, value in section.items()]
    return {key: value for part in parts for key, value in part.items()}


@pytest.mark.parametrize("wrong", [object(), b"x", {"unknown": 1}, [[]], "\n", -1, math.nan, 2**70])
def test_no_value_of_any_key_ends_in_anything_but_lines(wrong):
    config = yaml.safe_load(yaml.safe_dump(complete("smoke").model_dump(mode="json")))
    for key in every_value(config):
        try:
            parse(changed(config, key, wrong))
        except ConfigError as error:
            assert all("\n" not in fault and fault.partition(":")[0] for fault in error.faults)


def test_no_number_of_a_config_may_be_nan_or_infinite():
    config = yaml.safe_load(yaml.safe_dump(complete("smoke").model_dump(mode="json")))
    numbers = [key for key, value in every_value(config).items() if isinstance(value, float)]
    assert len(numbers) > 20
    for key in numbers:
        for value in (math.nan, math.inf, -math.inf):
            (line,) = faults(changed(config, key, value))
            assert line.startswith(f"{key}: {value} is not a finite number"), line
