"""The commands of jobs: of cells and cloze items, and those that damaged files' errors give."""

import json
import re
import shlex
from pathlib import Path

import pytest

from gpt1.settings import JobSettings
from gpt1.text.tokens import open_tokens
from gpt1.weights.checkpoint import read_facts
from tasks.common.arrow import read_split
from tasks.common.errors import InputError
from tasks.world import is_made
from tests.workflow.configs import ROOT, changed, faults, raw_data, shipped, small
from tests.workflow.running import copy_project, planned, snakemake, with_config, write
from tests.world.test_world import TINY, make_world
from workflow.configuration import paths
from workflow.configuration.read import parse
from workflow.plan import Plan


def command(tmp_path, config, program, *targets):
    """The one command of a program that the targets need."""
    said = snakemake(ROOT, "-n", "--printshellcmds", *with_config(tmp_path, config), *targets)
    found = [line.strip() for line in said.splitlines() if f" -m {program} " in line]
    assert len(found) == 1, found
    return found[0]


def test_cells_start_from_the_last_checkpoint_of_every_seed_with_settings_of_their_own(tmp_path):
    config = changed(small(), "experiment.seeds", {"pretrain": [4, 2], "finetune": [7, 1, 3]})
    target = "results/cells/arch-lstm+finetune.lm_coef-0/rte.json"
    said, own = command(tmp_path, config, "gpt1 finetune", target), parse(config)
    last = own.updates()[-1]
    weights = [f"results/pretrain/lstm/seed-{seed}/update-{last}.safetensors" for seed in (4, 2)]
    assert f"--checkpoints {' '.join(weights)} --settings" in said
    assert "--seeds 7 1 3 " in said
    assert "--encoded results/encoded/rte " in said
    assert "--baselines results/baselines/rte.json " in said
    given = JobSettings.parse(said.partition("--settings '")[2].partition("'")[0]).variants
    assert given == {name: Plan(own).config(name).finetune("rte") for name in given}
    assert given["arch-lstm+finetune.lm_coef-0"].lm_coef == 0 < given["arch-lstm"].lm_coef


def test_embeddings_are_permuted_in_the_checkpoint_of_the_books_and_the_same_seed(tmp_path):
    config = changed(small(), "experiment.seeds", {"pretrain": [4, 2], "finetune": [7, 1]})
    folder, last = "results/pretrain/transformer", f"seed-2/update-{parse(config).updates()[-1]}"
    target = f"{folder}-permuted-embeddings/{last}.safetensors"
    said = command(tmp_path, config, "gpt1 permute", target)
    assert f"gpt1 permute {folder}/{last}.safetensors --corpus results/corpus/corpus.json " in said
    assert f"--out {target} " in said


def test_word_vectors_are_of_the_books_tokens_alone_and_as_wide_as_the_embeddings(tmp_path):
    line = {"n_transfer": 0, "finetune.embeddings": "vectors", "model.transformer.n_layer": 3}
    lines = {"mine": line, "of other books": line | {"pretrain.shuffled": "words"}}
    config = changed(small(), "experiment.studies.ablation.lines", lines)
    for folder in ("results", "results/variants/pretrain.shuffled-words"):
        target = f"{folder}/vectors/width-48.safetensors"
        said = command(tmp_path, config, "gpt1 vectors", target)
        assert f"gpt1 vectors {folder}/corpus/corpus.json --width 48 " in said
        assert f"--out {target} " in said
    name = "finetune.embeddings-vectors+model.transformer.n_layer-3+n_transfer-0"
    said = command(tmp_path, config, "gpt1 finetune", f"results/cells/{name}/rte.json")
    assert "--checkpoints --settings" in " ".join(said.split())
    assert "--vectors results/vectors/width-48.safetensors " in said


def test_a_language_model_is_pre_trained_from_its_own_seed(tmp_path):
    config = changed(small(), "experiment.seeds", {"pretrain": [4, 2], "finetune": [7]})
    target = "results/pretrain/transformer/seed-2/update-0.safetensors"
    said, own = command(tmp_path, config, "gpt1 pretrain", target), parse(config)
    assert f"--settings '{own.pretrain('transformer', 2).to_json()}'" in said
    assert own.pretrain("transformer", 2).seed == 2
    assert re.search(r"--corpus \S*results/corpus/corpus\.json ", said)


def with_data(folder):
    """A config on data of one's own."""
    config = changed(small(), "experiment.world", ...) | {"data": str(folder)}
    raw_data(folder, config)
    return config


def test_cloze_items_are_the_worlds_own_or_those_that_the_config_names(tmp_path):
    manifest, mine = "results/world/manifest.json", "/elsewhere/mine.jsonl"
    config = with_data(tmp_path)
    for given, value, items, read in (
        (small(), None, "results/world/Cloze/items.jsonl", manifest),
        (small(), mine, mine, mine),
        (config, mine, mine, mine),
        (config, "mine.jsonl", f"{tmp_path}/mine.jsonl", f"{tmp_path}/mine.jsonl"),
    ):
        found = parse(changed(given, "experiment.cloze", value))
        assert (paths.cloze_file(found), paths.raw_cloze(found)) == (items, [read])
    assert paths.cloze_file(parse(config)) is None
    named = changed(config, "experiment.cloze", "mine.jsonl")
    (line,) = faults(named)
    assert line.startswith(f"experiment.cloze: no file {tmp_path}/mine.jsonl; put it there")
    (tmp_path / "mine.jsonl").write_text("")
    assert faults(named) == []


def test_every_language_model_is_scored_in_a_job_of_its_own(tmp_path):
    config = changed(small(), "experiment.seeds", {"pretrain": [0, 3], "finetune": [0, 1]})
    line = {"pretrain.shuffled": "words", "seeds.pretrain": [0]}
    config = changed(config, "experiment.studies.ablation", {"lines": {"shuffled": line}})
    plan = planned(ROOT, *with_config(tmp_path, config), "results/figures/cloze.png")
    assert plan["pretrain"] == plan["cloze"] == 4 + 1
    assert plan["tables_cloze"] == plan["world"] == 1
    assert not {"encode", "tables_layer_transfer", "zero_shot"} & set(plan)


@pytest.mark.parametrize("name", ["novels", "laptop"])
def test_a_run_without_cloze_items_has_no_table_of_them(name, tmp_path):
    config = shipped(name) | {"data": str(tmp_path / "data")}
    raw_data(tmp_path / "data", config)
    without = planned(ROOT, *with_config(tmp_path, config), "all")
    assert not {"cloze", "tables_cloze"} & set(without)
    (tmp_path / "data" / "mine.jsonl").write_text("")
    given = changed(config, "experiment.cloze", "mine.jsonl")
    plan = planned(ROOT, *with_config(tmp_path, given), "all")
    archs = 1 if name == "laptop" else 2
    n_seeds = len(parse(given).experiment.seeds.pretrain)
    assert plan == without | {"cloze": archs * n_seeds, "tables_cloze": 1}


def remedy(error: InputError) -> list[str]:
    """The options of the command that an error ends with."""
    return shlex.split(re.search(r"; make it again: snakemake --cores 1 (.*)$", str(error))[1])


def test_the_command_of_an_error_plans_the_job_that_makes_the_file(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = Path("made")
    make_world(TINY, results / "world")
    (results / "world" / "books" / "book000.txt").unlink()
    (results / "corpus").mkdir()
    splits = {"train": {"file": "train.bin", "tokens": 9, "sha256": ""}}
    facts = {"splits": splits, "tokenizer": "", "n_vocab": 9, "corpus": "books", "documents": ""}
    (results / "corpus" / "corpus.json").write_text(json.dumps(facts))
    (results / "corpus" / "train.bin").write_bytes(b"cut")
    examples = results / "examples" / "rte" / "train"
    examples.mkdir(parents=True)
    (examples / "state.json").write_text('{"_data_files": [{"filename": "data.arrow"}]}')
    config = small() | {"results": str(results)}
    update = parse(config).updates()[-1]
    checkpoint = results / "pretrain" / "lstm" / "seed-0" / f"update-{update}.safetensors"
    checkpoint.parent.mkdir(parents=True)
    checkpoint.with_suffix(".json").write_text("{}")
    monkeypatch.setenv("RUN_OPTIONS", f"--configfile {write(tmp_path / 'c.yaml', config)}")
    for read, rule in (
        (lambda: is_made(results / "world" / "books"), "world"),
        (lambda: open_tokens(results / "corpus" / "corpus.json", "train"), "tokens"),
        (lambda: read_split(examples.parent, "train"), "examples"),
        (lambda: read_facts(checkpoint), "pretrain"),
    ):
        with pytest.raises(InputError) as error:
            read()
        assert planned(ROOT, "-d", str(tmp_path), *remedy(error.value))[rule] == 1, error.value


GIVEN = """
import json
(rule,) = (one for one in workflow.rules if one.name == "finetune_ablation_from_scratch")
given = sorted(str(param) for param in rule.params if not callable(param))
Path("given.json").write_text(json.dumps(given))
"""


def test_lists_of_seeds_that_change_places_are_other_params(tmp_path):
    """Of models from scratch nothing else differs, and Snakemake compares params without order."""
    copy_project(tmp_path)
    with open(tmp_path / "Snakefile", "a", encoding="utf-8") as file:
        file.write(GIVEN)
    given = []
    for seeds in ({"pretrain": [2], "finetune": [3]}, {"pretrain": [3], "finetune": [2]}):
        config = changed(small(), "experiment.seeds", seeds)
        snakemake(tmp_path, "--list-rules", *with_config(tmp_path, config))
        given.append((tmp_path / "given.json").read_text())
    assert given[0] != given[1]
