"""A wrong config is refused before the first job: each key on one line, with what was found."""

import os
import re
from pathlib import Path

import pytest

from tests.workflow.configs import ROOT, changed, complete, faults, shipped, small
from tests.workflow.running import write
from workflow.configuration.read import ConfigError, lost_results, parse, read

SMOKE = ROOT / "workflow" / "config" / "smoke.yaml"
UPDATES = complete().experiment.pretrain.updates

LINE, STUDY = "experiment.studies.ablation.lines.mine", "experiment.studies.mine"
FIGURE_2, TASK = "experiment.studies.layer_transfer", "experiment.tasks.mine"
OWN = {"kind": "pair", "files": "x.csv", "labels": ["a", "b"]}
# A key, a wrong value, and words of the line that begins with this key or one below it.
VALUES = [
    ("bogus", 1, "unknown key"),
    ("experiment.finetune.epoch", 3, "unknown key; did you mean epochs?"),
    ("finetune", {"epochs": 2}, "unknown key; did you mean experiment.finetune?"),
    ("experiment.finetune.dropout", {"clf.x": 0}, "{finetune: {dropout: {clf: {x: 0}}}}?"),
    ("experiment.tasks", {"rte.epochs": 3}, "mean experiment: {tasks: {rte: {epochs: 3}}}?"),
    ("experiment.finetune", "epochs:3", "(a blank comes after a colon), found 'epochs:3'"),
    ("experiment.finetune", {"epochs:3": None}, "unknown key; give a blank after its colon"),
    ("experiment.pretrain.updates", "1,000", "give a number without marks in it, 1000, found"),
    ("experiment.pretrain.updates", "1'000'000", "without marks in it, 1000000, found"),
    ("experiment.finetune.lm_coef", "0,5", "give a number without marks in it, 0.5, found"),
    ("experiment.pretrain", {"updates": 1, 0.0: None}, "1000 for 1,000, or 0.5 for 0,5, found 0.0"),
    ("experiment.optimizer.beta2", 0.99, "unknown key; did you mean b2?"),
    ("experiment.optimizer.clip", 1, "give one of b1, b2, eps, l2, vector_l2, max_grad_norm"),
    ("experiment.pretrain.updates", 40.0, "should be a whole number, found 40.0"),
    ("experiment.seeds.finetune", [1, 1], "only once"),
    ("experiment.n_transfer", "some", "a whole number or 'none' or 'all', found 'some'"),
    ("experiment.all", [], "at least 1 item"),
    ("experiment.tasks.riddles", {"folder": "R"}, "no such task; there are snli, mnli"),
    ("experiment.tasks.sst", {}, "did you mean sst2; one of your own needs kind, files and"),
    ("experiment.tasks", {"rte": None}, "at least 1 item"),
    ("experiment.only", ["ret"], "no task ret; there are snli"),
    ("experiment.zero_shot.normalise", {"rite": {"random": 5, "best": 9}}, "no task rite"),
    ("experiment.tasks.rte", {"labels": ["a", "b"]}, "give its kind as well"),
    *(
        (TASK, OWN | keys, said)
        for keys, said in (
            ({"files": {"test": "x.csv"}}, "files: none to train on"),
            ({"labels": ["a"]}, "labels: fewer than two"),
            ({"labels": ["a", "b", "c"], "metric": "f1"}, "f1 is of two labels"),
            ({"metric": "pearson"}, "pearson is of scores from 0 to 5"),
            ({"kind": "multiple_choice"}, "choices are those of multiple_choice"),
            ({"prompt": "{text} {label}"}, "no column 'label' is read; give {text}, {second}"),
            ({"prompt": "{text}, so"}, "a column touches a word"),
            ({"choices": ["x", "y"]}, "choices: give a prompt and 2 of them"),
            ({"min_rows": {"train": 9}}, "no effect on rows of your own; remove it"),
            ({"source": "hub"}, "give repo"),
            ({}, "no file x.csv; give its path in files"),
        )
    ),
    ("experiment.tasks.rte", OWN, "give your own another name"),
    (LINE, 3, "a section of keys, such as {key: value}"),
    ("experiment.keep", ["rte"], "not a cell"),
    ("experiment.keep", ["fullx/rte"], "did you mean full/rte?"),
    ("experiment.optimizer.l2", float("nan"), "found nan"),
    ("runtime.device", "gpu", "should be: the device: cpu, cuda, cuda:0 or mps, found 'gpu'"),
    ("experiment.corpus.revision", "main", "40 hexadecimal digits"),
    ("experiment.studies", {"Bad-name": {"tasks": ["rte"]}}, "of a-z, 0-9 and _ alone, found"),
    *(
        (LINE, {key: "x"}, "a line may change data and exper")
        for key in ("runtime.device", "results")
    ),
    (LINE, {"dropout": 0.3}, "did you mean pretrain.dropout or finetune.dropout?"),
    (
        STUDY,
        {"axis": "finetune.dropout", "values": [0.3]},
        "a section of the keys embd, attn, resid",
    ),
    ("experiment.all", "ablation", "give a list, [ablation]"),
    (STUDY, {"axis": "finetune.l2", "values": 0.3}, "give a list, [0.3]"),
    ("experiment.studies.ablation.predicted", {"a": ["rte"]}, "say it in expected"),
    ("experiment.seeds.shuffled", [3], "give pretrain.shuffled"),
    # Words of the shell, and ways out of the data folder.
    *(
        ("results", name, "a path of letters, digits and _ . / - alone, found")
        for name in ("my\nresults", "a b", "a;b", "$(a)", "`a`", "-a", "{a}")
    ),
    *(
        (f"experiment.{key}", value, "leads out of the data folder")
        for key, value in (
            ("corpus.folder", "a/../../b"),
            ("tasks.rte.folder", ".."),
            ("tokenizer", {"folder": "../bpe"}),
            ("pretrained", {"path": "../bpe", "updates": 1}),
            ("cloze", "../bpe"),
        )
    ),
    # Keys that do not fit each other.
    ("experiment.tasks.corpus", OWN, "is the name of the books; give your own task another"),
    *(
        (f"experiment.tasks.{mean}", OWN, "is the name of a mean over tasks; give your own task an")
        for mean in ("mean", "avg", "avg_all")
    ),
    *(
        (key, value, f"'{text}' begins like a formula of a spreadsheet; begin with a letter")
        for text in ("=1+1", "@A1", "-B2", " =HYPERLINK(A1)", "-2+3", "+1+cmd|x")
        for key, value in (
            (TASK, OWN | {"title": text}),
            (TASK, OWN | {"labels": ["0", text]}),
            ("experiment.studies.ablation", {"lines": {text: {"n_transfer": 1}}}),
            ("experiment.studies.ablation", {"question": text}),
        )
    ),
    ("runtime.gpu_model", "rtx-5000", "in letters, digits, _ and . alone, because Snakemake's"),
    (TASK, OWN | {"title": "RTE"}, "'RTE' is that of rte; give another"),
    (TASK, OWN | {"title": "DPRD"}, "'DPRD' is that of dprd; give another"),
    ("experiment.n_transfer", 13, "13, but the transformer has 12 layers"),
    (f"{FIGURE_2}.lines.LSTM w/ aux LM", {"values": [2]}, "2, but the lstm has 1 layers"),
    ("experiment.all", ["ablations"], "ablations is no study; give some of ablation, layer_tran"),
    ("experiment.all", ["layer_transfer"], "without ablation, whose first line all else is com"),
    ("experiment.studies.ablation.lines.Transformer w/ aux LM (full)", None, "keep it as it is"),
    ("experiment.studies.ablation.lines.LSTM w/ aux loss", None, "did you mean 'LSTM w/ aux LM'?"),
    ("experiment.studies.ablation.lines.xyz", None, "there is no such line to remove; give one of"),
    ("experiment.studies.lm_coef.references.xyz", None, "there is no such line to remove; give"),
    ("experiment.studies.ablaton", {"lines": {"a": {"n_transfer": 3}}}, "did you mean ablation?"),
    ("experiment.arch", "lstm", "give it in a line of a study"),
    ("experiment.n_transfer", "none", "give it in a line of a study"),
    ("experiment.finetune.lm_coef", 0, "give it in a line of a study"),
    ("experiment.tasks.rte.lm_coef", 0, "greater than 0"),
    ("experiment.grid", {"aux": ["on"]}, "unknown key; give lines in experiment.studies"),
    (LINE, {"aux": "off"}, "give finetune.lm_coef: 0 in a li"),
    *(
        (LINE, keys, "changes none of its cells; remove it")
        for keys in (
            {"n_transfer": "none", "pretrain.updates": 2000},
            {"n_transfer": "none", "pretrain.shuffled": "words"},
            {"n_transfer": "none", "finetune.checkpoint": 0},
            {"world.cloze": 50},
        )
    ),
    ("experiment.studies.ablation.lines.LSTM w/ aux LM", {"arch": "transformer"}, "the paper's sc"),
    *(
        (LINE, keys, "other tasks than the run; remove what")
        for keys in ({"only": ["rte"]}, {"tasks": {"rte": None}})
    ),
    ("experiment.pretrain.shuffled", "words", "give it in a line of a study"),
    ("experiment.finetune.embeddings", "permuted", "give it in a line of a study"),
    (
        "experiment.studies.ablation.lines.Word vectors",
        {"finetune.embeddings": "vectors", "n_transfer": "none"},
        "give n_transfer: 0",
    ),
    ("experiment.finetune.checkpoint", 7, "7 has no checkpoint; give one of 0, "),
    ("experiment.model.transformer.n_head", 7, "n_embd 48 is not a multiple of n_head 7"),
    ("experiment.pretrain.warmup", UPDATES, "leave none"),
    ("experiment.pretrain", None, "give both, or experiment.pretrained"),
    ("experiment.corpus.heldout", 80, "80 of 80 books leave none"),
    ("experiment.tokenizer", {"merges": 5, "folder": "bpe"}, "give either merges or folder"),
    ("experiment.tokenizer", {}, "give either merges or folder"),
    ("experiment.tasks.rte", {"train_from": "dev", "report_on": ["dev"]}, "training rows"),
    ("experiment.tasks.rte", {"folder": "RTE", "source": "hub"}, "both folder and source"),
    ("experiment.tasks.rte", {"folder": "RTE", "revision": "f" * 40}, "no effect on a folder"),
    ("experiment.tasks.story_cloze", {"source": "hub"}, "not on the hub; fill in the form"),
    ("experiment.zero_shot.tasks.dprd", {"source": "hub"}, "no commit of community-datasets"),
    ("experiment.zero_shot.tasks.cola", {"folder": "CoLA"}, "write {}"),
    ("experiment.zero_shot.normalise", {"cola": {"random": 5, "best": 5}}, "above random"),
    ("experiment.corpus", {"source": "lm1b", "heldout": 4}, "give 'official'"),
    ("experiment.corpus", {"heldout": "official"}, "else a number"),
    (
        "experiment.corpus",
        {"source": "wikitext103", "heldout": "official", "shares": {"a": 1}},
        "corpus.shares: of folders with your own books; leave it out",
    ),
    ("experiment.corpus", {"source": "bookcorpus_text", "heldout": 1}, "no commit of rojagtap"),
    ("runtime", {"pretrain_processes": 2, "device": "cuda:1"}, "cannot share the device"),
    ("data", "nowhere", "no folder 'nowhere'"),
    ("data", "x" * 5000, "no folder 'xxx"),
    ("experiment.tasks.sst2", {"folder": f"/{'x' * 5000}"}, "no such folder"),
    ("experiment.corpus", {"folder": f"/{'x' * 5000}", "heldout": 1}, "no .txt file in /xxx"),
    ("experiment.tokenizer", {"folder": f"/{'x' * 5000}"}, "no file /xxx"),
]


@pytest.mark.parametrize(("path", "value", "words"), VALUES)
def test_a_wrong_value_is_one_line_with_its_key(path, value, words):
    found = faults(changed(shipped(), path, value))
    section = path.rpartition(".")[0]
    begins = (path, section) if "n_head" in path else (path,)
    begins = ("experiment.studies.ablation",) if "ablation" in path else begins
    assert any(line.startswith(begins) and words in line for line in found), found
    assert all("\n" not in line for line in found)


def test_unknown_tasks_are_named_in_the_order_that_they_are_given():
    names = ["zebra", "ape", "yak", "bear", "cow"]
    found = faults(changed(shipped(), "experiment.only", names))
    assert [line.split("no task ")[1].split(";")[0] for line in found] == names


def test_null_drops_only_a_task_that_there_is(tmp_path):
    own = {"mine": {"kind": "pair", "files": "rows.csv", "labels": ["no", "yes"]}}
    paths = [
        write(tmp_path / f"{i}.yaml", {"experiment": {"tasks": tasks}})
        for i, tasks in enumerate([own, {"mine": None, "rte": None}])
    ]
    assert read(paths)["experiment"]["tasks"] == dict.fromkeys(["mine", "rte"])
    with pytest.raises(ConfigError, match=r"tasks.mnlii: null drops no task; did you mean mnli\?"):
        read(paths, ["experiment={tasks: {mnlii: null}}"])


def test_two_tasks_of_ones_own_have_different_titles_and_none_is_asked_without_a_prompt():
    config = changed(shipped(), "experiment.tasks.first", OWN | {"title": "Mine"})
    found = faults(changed(config, "experiment.tasks.second", OWN | {"title": "Mine"}))
    assert found == ["experiment.tasks.second.title: 'Mine' is that of first; give another"]
    (line,) = faults(changed(config, "experiment.zero_shot.tasks", {"first": {}}))
    key = "experiment.zero_shot.tasks.first"
    assert line == f"{key}: it has no prompt; give it one, or remove it"


def test_only_a_cell_of_a_study_can_be_kept():
    known, by_name = "arch-lstm+finetune.lm_coef-0/cola", "finetune.lm_coef-0.25/cola"
    assert faults(changed(small(), "experiment.keep", [known, by_name])) == []
    for name in ("n_transfer-3/rte", "full/mine"):
        (line,) = faults(changed(small(), "experiment.keep", [name]))
        assert line.startswith("experiment.keep") and "not a cell" in line
    assert "only once" in faults(changed(small(), "experiment.keep", [known] * 2))[0]


HOLDS, CLOSED = "is your home folder, or holds", f"cannot be written: {ROOT}/Snakefile is closed"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((name, HOLDS) for name in (".", "..", "../..", "/", str(Path.home()))),
        *((name, CLOSED) for name in ("Snakefile", "Snakefile/results")),
    ],
)
def test_results_where_nothing_should_or_can_be_written_are_one_line(name, why, monkeypatch):
    monkeypatch.chdir(ROOT)
    (line,) = faults(shipped() | {"results": name})
    assert line.startswith(f"results: {os.path.normpath(name)!r} {why}")
    assert line.endswith("; name a folder of its own, as results/mine")


def test_links_to_the_project_and_to_the_home_folder_are_followed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "link").symlink_to(ROOT)
    (tmp_path / "own").mkdir()
    (tmp_path / "home").symlink_to("own")
    for name in ("link", "..", "own"):
        (line,) = faults(shipped() | {"results": name})
        assert line.startswith(f"results: {name!r} is your home")
    for name in ("gpt1", ".", "../beside", str(tmp_path), str(ROOT / "results/x"), "/scratch/me"):
        assert faults(shipped() | {"results": name}) == []


TEXTS = {  # of a file, and words of the line in their order
    b"results: a\nresults: b\n": ("the key results is given twice",),
    b"experiment:\n  seeds: &s {}\n  world: *s\n": ("an alias; write it out",),
    b"results: !!python/name:os.system x\n": ("could not determine a constructor",),
    b"results: !!int x\n": ("take tags out",),
    b"results: !!map x\n": ("take tags out",),
    b"results: " + b"[" * 2000: ("recursion",),
    b"- results\n": ("is no section",),
    b"__use_yte__: true\n": ("lets the file run code",),
    "results: \u00e9".encode("latin-1"): ("position 9",),
    b"data: x\nexperiment:\n\tonly: [rte]": ("line 3, column 1: only: [rte]; ", "blanks, not tabs"),
    b"a: {b} All in all": ("line 1, column 8: a: {b} All in all; ", "quote a text that begins"),
    b"a: {b: {c} All in all}": ("line 1, column 12: a: {b: {c} All", "; quote a text that begins"),
    b"a: 'b' c": ("line 1, column 8: a: 'b' c; ", "quote a text that begins"),
    b"a: %b": ("line 1, column 4: a: %b; ", "quote a text that begins with a mark"),
    b"a: Films: all": ("line 1, column 9: a: Films: all; ", "quote a text that has ': ' in it"),
    b"a: {b: 1\n": ("line 1, column 4: a: {b: 1; ", "close the bracket or quotation mark"),
    b"a: 'b": ("line 1, column 4: a: 'b; ", "close the bracket or quotation mark"),
    b"a:\n   b: 1\n  c: 2": ("line 3, column 3: c: 2; ", "indent the keys of a section alike"),
    b"a: {b: 1 c: 2}": ("expected ',' or '}', but got", "line 1, column 11: a: {b: 1 c: 2}; "),
}


@pytest.mark.parametrize("text", TEXTS)
def test_a_file_that_is_no_config_is_one_line_with_its_place_and_a_remedy(text, tmp_path):
    path = tmp_path / "config.yaml"
    path.write_bytes(text)
    with pytest.raises(ConfigError) as error:
        read([path])
    (line,) = error.value.faults
    assert line.startswith(f"{path}: ")
    assert re.search(".*".join(map(re.escape, TEXTS[text])), line), line


def test_what_is_no_file_or_divided_by_the_shell_is_one_line(tmp_path):
    for name, why in ((".", "Is a directory"), ("none", "No such file")):
        with pytest.raises(ConfigError, match=f"{tmp_path}.*{why}"):
            read([tmp_path / name])
    with pytest.raises(ConfigError, match="; give it in single quotes, as --config 'experiment="):
        read([], ["experiment={keep:", "[full/sst2]}"])


def test_later_files_take_precedence_section_by_section_and_the_command_line_over_all(tmp_path):
    first, second = tmp_path / "1.yaml", tmp_path / "2.yaml"
    first.write_text("experiment: {seeds: {pretrain: [1], finetune: [1, 2]}}")
    second.write_text("experiment: {seeds: {finetune: [3]}, n_transfer: none}\nresults: here")
    given = ["experiment={seeds: {pretrain: [5]}, optimizer: {l2: 1e-4}}", "results=there"]
    merged = parse(read([first, second], given))
    assert merged.experiment.seeds.finetune == [3] and merged.experiment.seeds.pretrain == [5]
    assert merged.experiment.n_transfer == "none" and merged.experiment.optimizer.l2 == 1e-4
    assert merged.results == "there"


def test_a_config_that_changes_another_and_stands_before_it_is_told(tmp_path):
    short, long = tmp_path / "mine.yaml", ROOT / "workflow" / "config" / "quick.yaml"
    short.write_text("results: results/mine\nexperiment: {finetune: {epochs: 5}}\n")
    note = f"results: results/quick is of {long}, which comes after {short}; the last file counts"
    assert lost_results([short, long]).startswith(note)
    short_alone = tmp_path / "keys.yaml"
    short_alone.write_text("experiment: {finetune: {epochs: 5}}\n")
    for files in ([long, short], [long], [short_alone, long], []):
        assert lost_results(files) == ""


@pytest.mark.parametrize(
    ("given", "nested"),
    [
        ("finetune.epochs=3", "experiment: {finetune: {epochs: 3}}"),
        ("experiment.finetune.epochs=3", "experiment: {finetune: {epochs: 3}}"),
        ("experiment={finetune.lr: {lstm: 1}}", 'experiment: {finetune: {lr: {"lstm": 1}}}'),
        ("runtime.shards=2", "runtime: {shards: 2}"),
    ],
)
def test_a_key_with_dots_is_shown_as_nested_sections(given, nested):
    with pytest.raises(ConfigError) as error:
        parse(read([SMOKE], [given]))
    assert error.value.faults[0].endswith(f"unknown key; did you mean {nested}?")
    assert parse(read([SMOKE], [nested.replace(": ", "=", 1)]))
