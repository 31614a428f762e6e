"""The rules `fetch` and `examples` from a stand-in hub, then offline; and who may ask a network."""

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from tasks import TASKS as ALL_TASKS
from tasks import task
from tasks.common.arrow import read_split
from tasks.fetch import source_named
from tests.hub.conftest import revision
from tests.tasks.both_layouts import TEXTS
from tests.tasks.hub_files import PIN
from tests.workflow.configs import ROOT, changed, shipped
from tests.workflow.running import planned, snakemake, write

TASKS = [each.name for each in (*ALL_TASKS, task("dprd")) if each.hub.repo]
OTHER = "fedcba9876543210fedcba9876543210fedcba98"
# Several unlabelled splits, one, none; rows in groups; a revision of the config's.
RUN = ("mnli", "mrpc", "race", "dprd")


def config() -> dict[str, Any]:
    """The paper's experiment with all its data from the hub, which has only a few rows."""
    found = shipped("paper") | {"results": "out", "runtime": {}}
    experiment = found["experiment"]
    experiment["corpus"] = {
        **{"source": "wikitext103", "heldout": "official"},
        "min_rows": {"train": 1, "test": 1},
    }
    experiment["tokenizer"] = {"merges": 100}
    entries = {
        name: {"source": "hub", "min_rows": {split: 1 for split in task(name).rows}}
        for name in TASKS
    }
    dprd = entries.pop("dprd") | {"revision": PIN}
    experiment["tasks"] = entries
    experiment["zero_shot"] = {"tasks": {"dprd": dprd}}
    return found


def manifest(name: str) -> str:
    """Where the manifest of a task or a corpus of the hub lies."""
    return f"out/raw/{name}/{revision(source_named(name))}/manifest.json"


def test_every_task_of_the_hub_is_fetched_and_read_by_a_job(tmp_path):
    path = write(tmp_path / "config.yaml", config())
    examples = [f"out/examples/{name}.json" for name in TASKS]
    plan = planned(ROOT, "--directory", str(tmp_path), "--configfile", path, "--", *examples)
    assert plan == {"fetch": len(TASKS), "examples": len(TASKS)}


def test_the_rules_fetch_and_read_tasks_and_do_so_again_offline(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    options = ("--directory", str(tmp_path), "--configfile")
    path = write(tmp_path / "config.yaml", config())
    examples = [f"out/examples/{name}.json" for name in RUN]
    snakemake(ROOT, *options, path, "--", *examples, "out/corpus/documents.json")
    documents = json.loads((tmp_path / "out/corpus/documents.json").read_text())
    assert documents["source"] == "wikitext103"
    for name in RUN:
        source = source_named(name)
        facts = json.loads((tmp_path / f"out/examples/{name}.json").read_text())
        assert facts["origin"]["repo"] == source.repo
        assert facts["origin"]["revision"] == revision(source)
        assert re.search(r"train: \d+ of [\d,]+ rows", facts["note"])
        files = json.loads((tmp_path / manifest(name)).read_text())["files"]
        assert set(files) <= set(hub.fetched())
    splits = ("mnli/test_matched", "mnli/test_mismatched", "mnli/ax", "mrpc/test")
    for name, split in (split.split("/") for split in splits):
        rows = read_split(tmp_path / "out" / "examples" / name, split)
        assert rows["guid"].to_pylist() == [f"{name}/{split}/{k}" for k in range(len(TEXTS))]
        assert set(rows["label"].to_pylist()) == {-1}
    before = {path: (tmp_path / path).read_text() for path in examples}

    hub.heal()
    hub.down = True
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    forced = [manifest(name) for name in (*RUN, "wikitext103")]
    said = snakemake(ROOT, *options, path, "--forcerun", *forced, "--", *examples, forced[-1])
    assert len(re.findall(r"^Job \d+: fetch ", said, re.MULTILINE)) == len(forced)
    assert len(re.findall(r"^Job \d+: examples ", said, re.MULTILINE)) == len(examples)
    assert {path: (tmp_path / path).read_text() for path in examples} == before

    changed_pin = changed(config(), "experiment.tasks.mrpc.revision", OTHER)
    other = write(tmp_path / "other.yaml", changed_pin)
    said = snakemake(ROOT, *options, other, "--", "out/examples/mrpc.json", code=1)
    assert f"error: nyu-mll/glue at {OTHER} is incomplete in out/raw/mrpc/{OTHER} and " in said
    assert hub.requests == []


@pytest.mark.parametrize(("given", "passed"), [(None, "0"), ("1", "1")])
def test_fetch_alone_may_ask_the_network_and_only_if_the_user_may(given, passed, tmp_path):
    rule = (ROOT / "workflow" / "rules" / "data.smk").read_text(encoding="utf-8")
    assert 'HF_HUB_OFFLINE="$FETCH_OFFLINE" python -m tasks fetch' in rule
    snakefile = tmp_path / "Snakefile"
    snakefile.write_text(
        f"include: {str(ROOT / 'workflow/Snakefile')!r}\n"
        'rule echo:\n output: "echo.txt"\n'
        " shell: 'echo \"$HF_HUB_OFFLINE $FETCH_OFFLINE\" > {output}'\n"
    )
    environment = {key: value for key, value in os.environ.items() if key != "HF_HUB_OFFLINE"}
    environment.pop("FETCH_OFFLINE", None)
    environment |= {"PYTHONPATH": str(ROOT)} | ({"HF_HUB_OFFLINE": given} if given else {})
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "echo.txt"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert (tmp_path / "echo.txt").read_text().split() == ["1", passed]
