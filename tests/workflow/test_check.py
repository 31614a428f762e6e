"""A wrong config is told in one line each, with the key's path and the remedy."""

import pytest

from tests.workflow.configs import NAMES, changed, raw_data, shipped, small, without_lstm
from workflow.check import faults
from workflow.plan import PUBLISHED_BPE


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_config_is_right_where_its_data_is(name, tmp_path):
    config = shipped(name)
    if "world" not in config["experiment"]:
        raw_data(tmp_path, config)
        config["data"] = str(tmp_path)
    assert faults(config) == []


WIDTH = shipped()["experiment"]["model"]["transformer"]["n_embd"]
UPDATES = shipped()["experiment"]["pretrain"]["updates"]

WRONG = [
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
        "1.0e-4); expected: a peak learning rate, such as 6.25e-5",
    ),
    (
        "experiment.pretrain.updates",
        2.5,
        "experiment.pretrain.updates: 2.5 is not a whole number; expected: number of updates",
    ),
    (
        "experiment.pretrain.updates",
        0,
        "experiment.pretrain.updates: 0 does not fit; expected: number of updates (at least 1)",
    ),
    (
        "experiment.finetune.lm_coef",
        ...,
        "experiment.finetune.lm_coef: missing; it is weight of the auxiliary LM "
        "loss where aux is on",
    ),
    (
        "experiment.tasks.wnli",
        {"folder": "WNLI"},
        "experiment.tasks.wnli: unknown task; did you mean snli?",
    ),
    (
        "experiment.tasks.rte",
        {},
        "experiment.tasks.rte: neither folder nor source is given; give {folder: NAME} or "
        "{source: hub}",
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
        "experiment.grid.aux.0: True does not fit; expected: in quotes, since YAML reads a bare "
        "on as true (on, off)",
    ),
    (
        "experiment.grid.arch",
        ["gru"],
        "experiment.grid.arch.0: 'gru' does not fit; expected: an architecture (transformer, lstm)",
    ),
    (
        "experiment.seeds.ends",
        [1, 1],
        "experiment.seeds.ends: [1, 1] does not fit; expected: a list such as [0, 1, 2], "
        "for the cells with nothing or everything transferred (each only once)",
    ),
    (
        "experiment.model.transformer.n_head",
        7,
        f"experiment.model.transformer.n_embd: {WIDTH} is not divisible by n_head 7; change one "
        "of them",
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
        "experiment.tokenizer: {'merges': 5, 'folder': 'bpe'} does not fit; expected: "
        "either merges (train a BPE on the corpus) or folder (load a published one) (at most 1)",
    ),
    (
        "experiment.tasks.rte",
        {"folder": "RTE", "train_from": "dev", "report_on": ["dev"]},
        "experiment.tasks.rte.report_on: dev is trained on (train_from); report another split",
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
        "experiment.tasks.rte.min_rows.dev: 0 does not fit; expected: a number of rows "
        "(at least 1)",
    ),
    (
        "experiment.zero_shot.tasks.dprd",
        {},
        "experiment.zero_shot.tasks.dprd: no source; give {folder: NAME} or {source: hub}, the "
        "task is not in experiment.tasks",
    ),
    (
        "experiment.zero_shot.tasks.cola",
        {"folder": "CoLA"},
        "experiment.zero_shot.tasks.cola.folder: no effect, experiment.tasks.cola says it already; "
        "write {}",
    ),
    (
        "experiment.zero_shot.normalise.race",
        ...,
        "experiment.zero_shot.normalise.race: missing; give {random: .., best: ..}",
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
        "runtime.device: 'gpu' does not fit; expected: cpu, cuda, cuda:0 or mps",
    ),
    (
        "experiment.world",
        ...,
        "data: missing; give the folder that holds books/, DPRD/, SNLI/, MNLI/, QNLI/, RTE/, "
        "SciTail/, RACE/, StoryCloze/, MRPC/, QQP/, STS-B/, SST-2/, CoLA/ in their original "
        "layouts, with --config data=FOLDER (see README.md)",
    ),
    (
        "results",
        "my {results}",
        "results: 'my {results}' does not fit; expected: the folder that everything is written to, "
        "a path of letters, digits and _ . / - alone",
    ),
    (
        "experiment.tasks.rte",
        {"source": "hub", "revision": "main"},
        "experiment.tasks.rte.revision: 'main' does not fit; expected: optional: the commit of the "
        "hub's repository to fetch, 40 hexadecimal digits (a branch moves, and a short hash may "
        "not be unique)",
    ),
    (
        "experiment.tasks.rte",
        {"source": "hub", "revision": "bcdcba7"},
        "experiment.tasks.rte.revision: 'bcdcba7' does not fit; expected: optional: the commit of "
        "the hub's repository to fetch, 40 hexadecimal digits (a branch moves, and a short hash "
        "may not be unique)",
    ),
    (
        "experiment.tasks.rte",
        {"source": "the web"},
        "experiment.tasks.rte.source: 'the web' does not fit; expected: in place of folder: hub, "
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
        "give {folder: StoryCloze}",
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
        "experiment.corpus",
        {"heldout": 1},
        "experiment.corpus: neither folder nor source is given; give {folder: NAME} or "
        "{source: wikitext103}",
    ),
    *(
        (
            f"experiment.{section}.lstm",
            ...,
            f"experiment.{section}.lstm: missing, experiment.grid.arch has lstm; give it as for "
            "the transformer",
        )
        for section in ("model", "pretrain.lr", "finetune.lr", "grid.layers")
    ),
    (
        "experiment.tasks.rte",
        {"folder": "RTE", "lr": {"transformer": 1e-4}},
        "experiment.tasks.rte.lr.lstm: missing, experiment.grid.arch has lstm; give it as for the "
        "transformer",
    ),
    (
        "data",
        "nowhere",
        "experiment.world: no effect where data is given; take a config without it, such as "
        "workflow/config/novels.yaml",
    ),
]


@pytest.mark.parametrize(("path", "value", "line"), WRONG, ids=[wrong[2][:60] for wrong in WRONG])
def test_a_wrong_config_is_told_in_one_line(path, value, line):
    found = faults(changed(shipped(), path, value))
    assert line in found
    assert all("\n" not in fault for fault in found)


def test_raw_data_that_is_not_there_is_told_before_the_graph_is_built(tmp_path):
    config = changed(small(), "experiment.world", ...) | {"data": str(tmp_path)}
    raw_data(tmp_path, config)
    assert faults(config) == []
    (tmp_path / "RTE" / "train.txt").unlink()
    (tmp_path / "RTE").rmdir()
    (tmp_path / "books" / "train.txt").unlink()
    assert faults(config) == [
        f"experiment.tasks.rte.folder: no folder {tmp_path}/RTE; put the files there, or name "
        "another folder",
        f"experiment.corpus.folder: no .txt file in {tmp_path}/books; put the books there",
    ]
    assert faults(config | {"data": f"{tmp_path}/no"}) == [
        f"data: no folder '{tmp_path}/no'; give the folder of the raw data"
    ]


def test_keys_of_an_lstm_that_the_grid_does_not_have_are_refused_one_line_each():
    config = changed(small(), "experiment.grid.arch", ["transformer"])
    sections = ("model", "pretrain.lr", "finetune.lr", "grid.layers")
    assert faults(config) == [
        f"experiment.{section}.lstm: no effect, experiment.grid.arch has no lstm; remove it"
        for section in sections
    ]
    assert faults(without_lstm(config)) == []


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
    for name in PUBLISHED_BPE:
        (tmp_path / "bpe" / name).unlink()
    assert faults(config) == [
        f"experiment.tokenizer.folder: no file {tmp_path}/bpe/{name}; put it there, or give merges"
        for name in PUBLISHED_BPE
    ]


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("experiment.grid.aux", ["off"], "hands in the transformer with aux on"),
        ("experiment.grid.layers.transformer", ["none", 3], "add 12 to experiment.grid.layers"),
    ],
)
def test_what_is_handed_in_must_be_in_the_grid(path, value, told):
    config = changed(changed(small(), "experiment.submission", True), path, value)
    (fault,) = faults(config)
    assert fault.startswith("experiment.submission: ") and told in fault
    assert faults(changed(config, "experiment.submission", False)) == []


def test_a_missing_file_of_rows_to_hand_in_is_told_before_anything_runs(tmp_path):
    config = changed(small(), "experiment.submission", True)
    del config["experiment"]["world"]
    config["data"] = str(tmp_path)
    raw_data(tmp_path, config)
    assert faults(config) == []
    (tmp_path / "CoLA" / "test.tsv").unlink()
    assert faults(config) == [
        f"experiment.submission: {tmp_path}/CoLA lacks test.tsv, the rows to hand in; put it "
        "there, or give false"
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


def test_what_has_no_commit_in_the_catalogue_is_right_once_the_config_pins_it():
    config = changed(all_from_the_hub(), "experiment.world", ...)
    pinned = {"source": "hub", "revision": "0123456789abcdef0123456789abcdef01234567"}
    config["experiment"]["zero_shot"]["tasks"]["dprd"] = pinned
    config["experiment"]["zero_shot"]["normalise"]["dprd"] = {"random": 50, "best": 76.4}
    assert faults(config) == []
