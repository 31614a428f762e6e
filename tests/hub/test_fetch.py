"""Fetching from a stand-in hub: the right commit, every fault in one line, nothing half-fetched."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks import task
from tasks.common.files import read_json, sha256_file
from tasks.fetch import fetch
from tasks.hub import pinned
from tasks.prepare import prepare
from tasks.settings import OwnTask, PrepareSettings
from tests.hub.conftest import OLDER, OTHERS, SOURCES, revision
from tests.hub.standin import Hub
from tests.support.programs import refusal
from tests.tasks.hub_files import PIN

ROOT = Path(__file__).parents[2]
GLUE = pinned(task("rte").hub)
RTE = [f"rte/{s}-0000{k}-of-00002.parquet" for s in ("test", "train", "validation") for k in (0, 1)]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    """The library waits for seconds before it asks again."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def refused(hub: Hub, folder: Path, name: str = "rte", commit: str | None = None) -> str:
    """What a fetch that fails says; it leaves no manifest, so no job takes the folder for whole."""
    return refusal(fetch, name, commit, folder, hub.url)


def program(hub: Hub, folder: Path, commit: str = GLUE, **environment: str) -> subprocess.Popen:
    """`python -m tasks fetch rte` in a process of its own."""
    command = [sys.executable, "-m", "tasks", "fetch", "rte", "--revision", commit]
    return subprocess.Popen(
        [*command, "--folder", str(folder)],
        cwd=ROOT,
        env={**os.environ, "HF_ENDPOINT": hub.url, **environment},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_folder_of_something_else_is_left_alone(hub, tmp_path):
    (tmp_path / "README.md").write_text("my own")
    assert "exists and is no earlier output of this program" in refused(hub, tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["my own"]


@pytest.mark.parametrize("each", SOURCES, ids=lambda each: each.name)
def test_every_source_is_fetched_at_its_commit_and_then_needs_no_network(each, hub, tmp_path):
    manifest = fetch(each.name, revision(each), tmp_path, hub.url)
    assert manifest == read_json(tmp_path / "manifest.json")
    assert (manifest["repo"], manifest["revision"]) == (each.repo, revision(each))
    assert manifest["licence"] == each.licence
    commit = hub.repositories[each.repo][revision(each)]
    own = "books_large" if each.name == "bookcorpus_text" else each.config.split(" ")[0]
    assert any(path.startswith(("data/", own)) for path in manifest["files"])
    for path, said in manifest["files"].items():
        assert (tmp_path / path).read_bytes() == commit[path]
        assert said == {"bytes": len(commit[path]), "sha256": sha256_file(tmp_path / path)}
    assert OTHERS.get(each.repo) not in manifest["files"]
    assert hub.fetched() == sorted(manifest["files"])
    hub.heal()
    hub.down = True
    assert fetch(each.name, revision(each), tmp_path, hub.url) == manifest
    assert hub.requests == []


def test_a_repository_of_ones_own_is_fetched_and_read_by_its_columns(hub, tmp_path):
    files = {"train": "rte/train-*.parquet", "dev": "rte/validation-*.parquet"}
    given = {"kind": "pair", "repo": "nyu-mll/glue", "files": files, "labels": {0: "yes", 1: "no"}}
    given |= {"columns": {"text": "sentence1", "second": "sentence2"}}
    own = OwnTask.model_validate(given)
    manifest = fetch("mine", GLUE, tmp_path, hub.url, own)
    assert sorted(manifest["files"]) == ["README.md", *RTE[2:]]
    settings = PrepareSettings(own=own, source="hub", revision=GLUE, published=False)
    splits, facts = prepare(task("mine", own), tmp_path, settings)
    assert [len(rows) for rows in splits.values()] == [8, 2, 10]
    assert splits["dev"][1].first == 'hedev said "no' and splits["dev"][1].label == 1
    assert facts["origin"]["repo"] == "nyu-mll/glue"


def test_a_lost_commit_and_a_gated_or_lost_repository_have_a_remedy_each(
    hub, tmp_path, monkeypatch
):
    said = refused(hub, tmp_path, commit=PIN)
    assert "RevisionNotFoundError: " in said and said.endswith(
        "give another as revision:, or a folder"
    )
    hub.gated.add("nyu-mll/glue")
    said = refused(hub, tmp_path)
    assert "Cannot access gated repo for url" in said and said.endswith("and set HF_TOKEN")
    hub.heal()
    hub.closed.add("nyu-mll/glue")  # lists its files, and does not give them
    assert "Cannot access gated repo for url" in refused(hub, tmp_path)
    hub.heal()
    others = {name: files for name, files in hub.repositories.items() if name != "nyu-mll/glue"}
    monkeypatch.setattr(hub, "repositories", others)
    said = refused(hub, tmp_path)
    assert "RepositoryNotFoundError: " in said and said.endswith("give HF_TOKEN, or a folder")
    assert not (tmp_path / "manifest.json").exists() and hub.fetched() == []


@pytest.mark.parametrize("name", ["main", "bcdcba7"])
def test_a_branch_and_a_short_hash_are_refused_before_the_hub_is_asked(name, hub, tmp_path):
    assert f"{name!r} is not a commit" in refused(hub, tmp_path, commit=name)
    assert hub.requests == []


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("shorter", "what was downloaded is not the file that nyu-mll/glue lists; it was removed"),
        ("changed", "what was downloaded is not the file that nyu-mll/glue lists; it was removed"),
        ("ends early", "(OSError: Consistency check failed: file should be of size"),
        ("goes down", "is incomplete, downloaded files are kept"),
    ],
)
def test_a_file_that_comes_wrong_is_told_and_what_came_right_is_kept(fault, said, hub, tmp_path):
    wrong = RTE[1]
    right = hub.repositories["nyu-mll/glue"][GLUE][wrong]
    if fault == "ends early":
        hub.short = wrong
    elif fault == "goes down":
        hub.cut = wrong
    else:
        hub.served[wrong] = right[:-9] + (bytes(9) if fault == "changed" else b"")
    assert said in refused(hub, tmp_path)
    assert not (tmp_path / "manifest.json").exists() and not (tmp_path / wrong).exists()
    there = {path for path in RTE if (tmp_path / path).exists()}
    hub.heal()
    manifest = fetch("rte", None, tmp_path, hub.url)
    assert wrong in hub.fetched() and not there & set(hub.fetched())
    assert sorted(manifest["files"]) == ["README.md", *RTE]
    assert (tmp_path / wrong).read_bytes() == right


def test_a_damaged_file_is_no_stand_in_and_is_fetched_anew(hub, tmp_path):
    manifest = fetch("rte", None, tmp_path, hub.url)
    right = (tmp_path / RTE[0]).read_bytes()
    (tmp_path / RTE[0]).write_bytes(right[:-1])
    hub.heal()
    hub.down = True
    assert "not as expected" in refused(hub, tmp_path)
    hub.heal()
    assert fetch("rte", None, tmp_path, hub.url) == manifest
    assert hub.fetched() == [RTE[0]] and (tmp_path / RTE[0]).read_bytes() == right


def test_another_commit_at_hand_never_stands_in(hub, tmp_path):
    older, newer = tmp_path / OLDER, tmp_path / GLUE
    fetch("rte", OLDER, older, hub.url)
    assert (older / "README.md").read_text() == "an older card\n"
    assert refused(hub, older, commit=GLUE) == (
        f"{older}/manifest.json: revision is {OLDER!r}, expected {GLUE!r}; delete the folder and "
        "fetch it again"
    )
    hub.down = True
    assert f"{newer} is incomplete" in refused(hub, newer, commit=GLUE)
    with program(hub, newer, HF_HUB_OFFLINE="1") as offline:
        out, said = offline.communicate()
    assert (offline.returncode, out) == (1, "")
    assert said == (
        f"error: nyu-mll/glue at {GLUE} is incomplete in {newer} and HF_HUB_OFFLINE is set; unset "
        "it, or copy the folder from another machine\n"
    )
    assert not list(newer.rglob("*.parquet"))


def test_an_unknown_layout_of_a_repository_is_refused(hub, tmp_path, monkeypatch):
    files = {"README.md": b"", "data/rte.json": b"[]"}
    monkeypatch.setattr(hub, "repositories", {"nyu-mll/glue": {GLUE: files}})
    assert refused(hub, tmp_path) == (
        f"nyu-mll/glue at {GLUE}: no file rte/train-*.parquet; the layout of this commit is "
        "unknown: use another revision"
    )


ENTRY = {"type": "file", "oid": "0" * 40, "size": 0, "path": "rte/train-0.parquet"}


@pytest.mark.parametrize(
    ("listing", "said"),
    [
        (b"<html>Please log in.</html>", "JSONDecodeError: "),
        (b"[null]", "TypeError: "),
    ],
    ids=["login page", "null entry"],
)
def test_an_answer_that_is_no_listing_is_one_line(listing, said, hub, tmp_path):
    hub.listing = listing
    expected = f"nyu-mll/glue at {GLUE}: not as expected ({said}"
    assert refused(hub, tmp_path).startswith(expected)
    assert hub.fetched() == []


@pytest.mark.parametrize("name", ["rte/train-x/../../../kept.parquet", "/rte/train-x.parquet"])
def test_a_listed_name_that_leaves_the_folder_is_refused_and_nothing_is_removed(
    name, hub, tmp_path
):
    kept = tmp_path / "kept.parquet"
    kept.write_bytes(b"of another job")
    hub.listing = json.dumps([ENTRY | {"path": name}]).encode()
    assert refused(hub, tmp_path / "a" / "b").startswith(f"nyu-mll/glue at {GLUE}: ")
    assert kept.read_bytes() == b"of another job" and hub.fetched() == []


def test_a_wrong_listing_is_not_kept(hub, tmp_path):
    hub.listing = json.dumps([ENTRY | {"path": RTE[1]}]).encode()
    refused(hub, tmp_path)
    hub.heal()
    with program(hub, tmp_path) as again:
        assert again.wait() == 0, again.stderr.read()


def test_a_hub_that_never_answers_is_given_up(hub, tmp_path, monkeypatch):
    monkeypatch.setattr("tasks.fetch.SILENCE_SECONDS", 0.1)
    hub.silent = True
    assert "timed out" in refused(hub, tmp_path)
