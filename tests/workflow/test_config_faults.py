"""The faults of a config are lines, all at once, whatever its files hold."""

import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.workflow.configs import NAMES, changed, complete, faults, raw_data, shipped, small
from workflow.config_faults import ConfigError, parse, read


@pytest.mark.parametrize("name", NAMES)
def test_every_shipped_config_is_valid_where_its_data_is(name, tmp_path):
    config = shipped(name)
    if not complete(name).experiment.world:
        raw_data(tmp_path, config)
        config["data"] = str(tmp_path)
    assert faults(config) == []


def test_every_fault_is_reported_at_once():
    config = changed(small(), "experiment.finetune.epochs", "3")
    config = changed(config, "runtime.devise", "cpu")
    assert faults(config) == [
        "experiment.finetune.epochs: '3' is not a whole number (it is text to YAML; write 3); "
        "expected: passes over the training rows",
        "runtime.devise: unknown key; did you mean device?",
    ]


def test_a_key_that_is_no_text_is_unknown():
    assert faults(shipped() | {1: 2}) == [
        "1: unknown key; known here: results, data, experiment, runtime"
    ]


def test_the_path_of_the_results_is_normalised():
    assert parse(shipped() | {"results": "a//b/../made/"}).results == "a/made"


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
