"""A stand-in hub with a small repository for every task and corpus, built like the real ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from datasets import Dataset

from tasks import TASKS, task
from tasks.hub import CORPORA, HubSource
from tests.hub.standin import Hub, Repositories
from tests.tasks.both_layouts import hub_rows
from tests.tasks.hub_files import PIN, snapshot

OLDER = "89abcdef0123456789abcdef0123456789abcdef"  # of GLUE
# Beside the files of a source lie others, which are not fetched.
OTHERS = {
    "nyu-mll/glue": "other/train-00000-of-00001.parquet",
    "allenai/scitail": "tsv_format/train-00000-of-00001.parquet",
    "Salesforce/wikitext": "wikitext-103-v1/train-00000-of-00001.parquet",
    "roneneldan/TinyStories": "TinyStories-train.txt",
}
SOURCES = [
    source for source in (*(each.hub for each in (*TASKS, task("dprd"))), *CORPORA) if source.repo
]


def revision(each: HubSource) -> str:
    """The source's commit, or one that a config would have to give."""
    return each.revision or PIN


def _put_corpus(folder: Path, each: HubSource) -> None:
    """A dozen rows in each file, of which BookCorpus has two."""
    for pattern in each.patterns:
        for part in range(2 if each.name == "bookcorpus" else 1):
            path = folder / pattern.replace("*", f"{part:05d}")
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = [f"sentence {path.name} {k}\n" for k in range(12)]
            if path.suffix == ".txt":
                path.write_text("".join(rows))
            else:
                Dataset.from_dict({"text": rows}).to_parquet(path)


def write(folder: Path) -> Repositories:
    """All repositories at their commits; files are made in `folder`."""
    made: Repositories = {}
    for each in SOURCES:
        home = folder / each.name
        if each in CORPORA:
            _put_corpus(home, each)
        else:
            snapshot(home, each.name, {split: hub_rows(each.name, split) for split in each.files})
        commit = made.setdefault(each.repo, {}).setdefault(revision(each), {})
        commit |= {
            path.relative_to(home).as_posix(): path.read_bytes()
            for path in sorted(home.rglob("*.*"))
            if path.suffix in (".parquet", ".txt")
        }
        if each.name != "lm1b":  # a branch of converted files has no card
            commit["README.md"] = f"---\nlicense: {each.licence}\n---\n".encode()
        if each.repo in OTHERS:
            commit[OTHERS[each.repo]] = b"not fetched"
    glue = made["nyu-mll/glue"]
    glue[OLDER] = next(iter(glue.values())) | {"README.md": b"an older card\n"}
    return made


@pytest.fixture(scope="session")
def one_hub(tmp_path_factory) -> Iterator[Hub]:
    hub = Hub(write(tmp_path_factory.mktemp("hub")))
    yield hub
    hub.close()


@pytest.fixture
def hub(one_hub: Hub) -> Hub:
    """The hub without faults, and without requests of earlier tests."""
    one_hub.heal()
    return one_hub
