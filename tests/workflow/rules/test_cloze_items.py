"""Where the cloze items come from, and which runs have a table of them."""

import pytest

from tests.workflow.configs import ROOT, changed, faults, raw_data, shipped, small
from tests.workflow.running import planned, write
from workflow.configuration import paths
from workflow.configuration.read import parse


def with_data(folder):
    """A config on data of one's own."""
    config = changed(small(), "experiment.world", ...) | {"data": str(folder)}
    raw_data(folder, config)
    return config


def test_the_world_has_its_own_cloze_items():
    config = parse(small())
    assert paths.cloze_file(config) == "results/world/Cloze/items.jsonl"
    assert paths.raw_cloze(config) == ["results/world/manifest.json"]


def test_other_data_has_those_that_the_config_names(tmp_path):
    config = with_data(tmp_path)
    assert paths.cloze_file(parse(config)) is None
    given = changed(config, "experiment.cloze", "mine.jsonl")
    assert paths.cloze_file(parse(given)) == f"{tmp_path}/mine.jsonl"
    assert paths.raw_cloze(parse(given)) == [f"{tmp_path}/mine.jsonl"]
    absolute = changed(config, "experiment.cloze", "/elsewhere/mine.jsonl")
    assert paths.cloze_file(parse(absolute)) == "/elsewhere/mine.jsonl"
    of_world = changed(small(), "experiment.cloze", "/elsewhere/mine.jsonl")
    assert paths.cloze_file(parse(of_world)) == "/elsewhere/mine.jsonl"


def test_a_file_of_cloze_items_that_is_not_there_is_one_line(tmp_path):
    config = changed(with_data(tmp_path), "experiment.cloze", "mine.jsonl")
    (line,) = faults(config)
    assert line.startswith(f"experiment.cloze: no file {tmp_path}/mine.jsonl; put it there")
    (tmp_path / "mine.jsonl").write_text("")
    assert faults(config) == []


def test_every_language_model_is_scored_in_a_job_of_its_own(tmp_path):
    config = changed(small(), "experiment.seeds", {"pretrain": [0, 3], "finetune": [0, 1]})
    line = {"pretrain.shuffled": "words", "seeds.pretrain": [0]}
    config = changed(config, "experiment.studies.ablation", {"lines": {"shuffled": line}})
    options = ("--directory", str(tmp_path), "--configfile", write(tmp_path / "c.yaml", config))
    plan = planned(ROOT, *options, "--", "results/figures/cloze.png")
    assert plan["pretrain"] == plan["cloze"] == 4 + 1
    assert plan["tables_cloze"] == plan["world"] == 1
    assert not {"encode", "tables_layer_transfer", "zero_shot"} & set(plan)


@pytest.mark.parametrize("name", ["novels", "laptop"])
def test_a_run_without_cloze_items_has_no_table_of_them(name, tmp_path):
    config = shipped(name) | {"data": str(tmp_path / "data")}
    raw_data(tmp_path / "data", config)
    options = ["--directory", str(tmp_path)]
    without = planned(ROOT, *options, "--configfile", write(tmp_path / "a.yaml", config), "all")
    assert not {"cloze", "tables_cloze"} & set(without)
    (tmp_path / "data" / "mine.jsonl").write_text("")
    given = changed(config, "experiment.cloze", "mine.jsonl")
    plan = planned(ROOT, *options, "--configfile", write(tmp_path / "b.yaml", given), "all")
    archs = 1 if name == "laptop" else 2
    n_seeds = len(parse(given).experiment.seeds.pretrain)
    assert plan == without | {"cloze": archs * n_seeds, "tables_cloze": 1}
