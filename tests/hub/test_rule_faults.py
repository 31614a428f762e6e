"""The rule `fetch` where the hub fails: one line, no manifest, and all right once it is healed."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tasks.fetch import source_named
from tests.hub.repositories import revision
from tests.hub.runs import OTHER, config, manifest
from tests.hub.standin import Hub
from tests.workflow.configs import ROOT, changed
from tests.workflow.running import snakemake, write

LINES = {
    "rte": f"nyu-mll/glue: no commit {OTHER}; look it up on the hub and set `revision`",
    "snli": "stanfordnlp/snli: no such data set on the hub, or a private one; get its files in ",
    "scitail": "allenai/scitail: gated; ask for access on its page of the hub, then give a token",
    "race": "ehovy/race: gated; ask for access on its page of the hub, then give a token",
    "cola": "nyu-mll/glue at {commit}: the hub does not answer as expected (OSError: Consistency",
    "sst2": "{folder}/{file}: what was downloaded is not the file that nyu-mll/glue lists",
    "stsb": "nyu-mll/glue at {commit}: the hub does not answer as expected (",
}
FILE = "{name}/train-00000-of-00001.parquet"
RIGHT = "mrpc"


def place(name: str) -> str:
    """The manifest of a task; RTE's is of a commit that the hub does not have."""
    found = manifest(name)
    return found.replace(revision(source_named(name)), OTHER) if name == "rte" else found


@dataclass
class Run:
    """What was there after the jobs that failed, and after those that followed the cure."""

    said: str
    logs: dict[str, str]
    manifests: set[str]
    healed: set[str]
    fetched: list[str]  # when healed


@pytest.fixture(scope="module")
def run(one_hub: Hub, tmp_path_factory) -> Run:
    """One run with a fault for each task, one in whose middle the hub goes down, one without."""
    hub, folder = one_hub, tmp_path_factory.mktemp("faults")
    broken = changed(config(), "experiment.tasks.rte.revision", OTHER)
    options = ["--directory", str(folder), "--keep-going", "--configfile"]
    options += [write(folder / "broken.yaml", broken), "--"]
    names = [name for name in LINES if name != "stsb"]
    all_repositories = hub.repositories
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_ENDPOINT", hub.url)
        hub.heal()
        hub.gated.add("allenai/scitail")
        hub.closed.add("ehovy/race")
        hub.short = FILE.format(name="cola")
        hub.served[FILE.format(name="sst2")] = bytes(100)
        hub.repositories = {
            name: files for name, files in all_repositories.items() if name != "stanfordnlp/snli"
        }
        said = snakemake(ROOT, *options, *map(place, [RIGHT, *names]), code=1)
        hub.heal()
        hub.repositories = all_repositories
        hub.cut = FILE.format(name="stsb")
        said += snakemake(ROOT, *options, place("stsb"), code=1)
        logs = {
            name: (
                folder
                / place(name).replace("/raw/", "/logs/fetch/").replace("/manifest.json", ".log")
            ).read_text()
            for name in LINES
        }
        manifests = there(folder)
        hub.heal()
        # The commit that nobody has is given up for the right one.
        options[-2] = write(folder / "right.yaml", config())
        snakemake(ROOT, *options, *(manifest(name) for name in LINES))
        fetched = hub.fetched()
        hub.heal()
    return Run(said, logs, manifests, there(folder), fetched)


def there(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("manifest.json")}


@pytest.mark.parametrize("name", LINES)
def test_a_fault_ends_the_job_with_one_line_and_no_manifest(name, run):
    facts = {"folder": str(Path(place(name)).parent), "file": FILE.format(name=name)}
    expected = LINES[name].format(commit=revision(source_named(name)), **facts)
    *before, last = run.logs[name].splitlines()
    assert last.startswith(f"error: {expected}") and last in run.said
    # Where the hub goes down, the library says by itself that it tries again.
    assert bool(before) == (name == "stsb")
    assert not [line for line in before if line.startswith(("error", "Traceback"))]
    assert place(name) not in run.manifests and manifest(name) in run.healed


def test_a_fault_stops_no_other_job_and_nothing_right_is_fetched_again(run):
    assert manifest(RIGHT) in run.manifests and "Traceback" not in run.said
    assert not re.search(rf"{RIGHT}/", " ".join(run.fetched))
    assert FILE.format(name="cola") in run.fetched and FILE.format(name="sst2") in run.fetched
    others = [f"sst2/{split}-00000-of-00001.parquet" for split in ("test", "validation")]
    assert not set(others) <= set(run.fetched)
