"""What a damaged or missing file's error tells one to do makes it again."""

import json
import re
import shlex
from pathlib import Path

import pytest

from gpt1.text.tokens import open_tokens
from gpt1.weights.checkpoint import read_facts
from tasks.common.arrow import read_split
from tasks.common.errors import InputError
from tasks.world import is_made
from tests.workflow.configs import small
from tests.workflow.running import ROOT, planned, write
from tests.world.test_world import TINY, make_world
from workflow.configuration.read import parse


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
    path = write(tmp_path / "c.yaml", config)
    monkeypatch.setenv("RUN_OPTIONS", f"--configfile {path}")
    for read, rule in (
        (lambda: is_made(results / "world" / "books"), "world"),
        (lambda: open_tokens(results / "corpus" / "corpus.json", "train"), "tokens"),
        (lambda: read_split(examples.parent, "train"), "examples"),
        (lambda: read_facts(checkpoint), "pretrain"),
    ):
        with pytest.raises(InputError) as error:
            read()
        assert planned(ROOT, "-d", str(tmp_path), *remedy(error.value))[rule] == 1, error.value
