"""Whatever stands in a config file, or on the command line, is a config or is refused in lines."""

import json

import pytest
import yaml
from hypothesis import strategies as st

from gpt1.settings import CellSettings, CorpusSettings, ModelSettings, PretrainSettings
from tasks.settings import PrepareSettings
from tasks.world.settings import WorldSettings
from tests.fuzz.mutations import anything, fuzz, only_our_errors, repeat
from tests.workflow.configs import ROOT, changed, shipped
from workflow.configuration.read import _Loader, as_yaml, parse, read
from workflow.results_folder import changes, keep_config

SETTINGS = [
    *(ModelSettings, PretrainSettings, CellSettings),
    *(CorpusSettings, PrepareSettings, WorldSettings),
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.parametrize("name", ["smoke", "laptop"])
def test_damaged_config_files(tmp_path, name):
    path = tmp_path / f"{name}.yaml"
    path.write_bytes((ROOT / "workflow" / "config" / path.name).read_bytes())
    fuzz(tmp_path, lambda: parse(read([path])))


def test_values_of_any_type_in_place_of_a_key():
    complete = parse({}).model_dump(mode="json")

    def places(section, path=()):
        for key, value in section.items():
            yield (*path, key)
            yield from places(value, (*path, key)) if isinstance(value, dict) else ()

    def test(place, value):
        for key in reversed(place):
            value = {key: value}
        with only_our_errors():
            parse(value)

    def pair(both):
        test(*both)

    repeat(pair, st.tuples(st.sampled_from(list(places(complete))), VALUES))


def test_texts_given_by_the_command_line():
    def test(text):
        with only_our_errors():
            parse(read([], [f"experiment={text}"]))

    texts = anything(b"{a: [1, 2.5e3, 'x'], b: {c: null}}").map(lambda b: b.decode("latin-1"))
    repeat(test, texts)


@pytest.mark.parametrize("kind", SETTINGS, ids=lambda kind: kind.__name__)
def test_settings_of_a_program(kind):
    whole = {name: field.get_default() for name, field in kind.model_fields.items()}
    text = json.dumps(whole, default=lambda value: getattr(value, "value", None) or str(value))

    def test(content):
        with only_our_errors():
            kind.parse(content.decode("utf-8", "replace"))

    repeat(test, anything(text.encode()))


def test_a_text_that_looks_like_another_value_is_kept_and_read_as_it_is(tmp_path):
    rules = [of for every in _Loader.yaml_implicit_resolvers.values() for of in every]
    like = [st.from_regex(pattern, fullmatch=True) for _, pattern in rules]
    texts = st.one_of(*like, st.sampled_from(["08", "2e3", "on", "1_0", "2020-01-01", "="]))
    base = shipped("smoke") | {"results": str(tmp_path)}

    def test(drawn):
        title, label, other = drawn
        own = {"kind": "pair", "files": "x.csv", "labels": [label, other], "title": title}
        config = changed(base, "experiment.tasks.mine", own)
        lines = {title if title.strip() else "~": {"n_transfer": 1}}
        study = {"heading": title, "question": label, "tasks": ["rte"], "lines": lines}
        found = parse(changed(config, "experiment.studies.mine", study))
        keep_config(found, set(), [])
        assert parse(read([tmp_path / "config.yaml"])) == found and changes(found) == []
        assert parse(yaml.safe_load(as_yaml(found))) == found  # by YAML 1.1's rules, too

    repeat(test, st.lists(texts, min_size=3, max_size=3, unique=True))
