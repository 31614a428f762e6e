"""The sizes of the shipped default config are ordered as those of the published sets."""

from pathlib import Path

import pytest
import yaml

from tasks.world.__main__ import make_world
from tasks.world.settings import WorldSettings

CONFIG = Path(__file__).parents[2] / "workflow" / "config" / "world.yaml"


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    settings = yaml.safe_load(CONFIG.read_text())["experiment"]["world"]
    small = WorldSettings(**{**settings, "words": 100, "books": 1, "report": 10, "probes": 10})
    manifest = make_world(small, tmp_path_factory.mktemp("world"))
    return {
        name: sum(n for s, n in parts.items() if s in ("train", "val"))
        for name, parts in manifest["rows"].items()
    }


def test_rte_is_the_smallest_and_snli_mnli_and_qqp_are_the_largest(rows):
    sizes = {name: n for name, n in rows.items() if name != "dprd"}
    assert min(sizes, key=sizes.get) == "rte"
    assert set(sorted(sizes, key=sizes.get)[-3:]) == {"snli", "mnli", "qqp"}
