"""The rule `fetch` where the hub fails: one line, no manifest, and all right once it is healed."""

from pathlib import Path

from tasks.fetch import source_named
from tests.hub.repositories import revision
from tests.hub.runs import OTHER, config, manifest
from tests.workflow.configs import ROOT, changed
from tests.workflow.running import snakemake, write

FILE = "cola/train-00000-of-00001.parquet"


def there(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("manifest.json")}


def test_a_fault_ends_its_job_alone_and_nothing_right_is_fetched_again(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    broken = changed(config(), "experiment.tasks.rte.revision", OTHER)
    options = ["--directory", str(tmp_path), "--keep-going", "--configfile"]
    nobody_has = manifest("rte").replace(revision(source_named("rte")), OTHER)
    wanted = [manifest("mrpc"), manifest("cola"), nobody_has]
    hub.short = FILE
    said = snakemake(ROOT, *options, write(tmp_path / "a.yaml", broken), "--", *wanted, code=1)
    for path, line in (
        (nobody_has, f"nyu-mll/glue at {OTHER}: not as expected (RevisionNotFoundError: "),
        (manifest("cola"), "(OSError: Consistency check failed"),
    ):
        log = tmp_path / path.replace("/raw/", "/logs/fetch/").replace("/manifest.json", ".log")
        (only,) = log.read_text().splitlines()
        assert only.startswith("error: ") and line in only and only in said
    assert there(tmp_path) == {manifest("mrpc")} and "Traceback" not in said

    hub.heal()
    right = [manifest(name) for name in ("mrpc", "cola", "rte")]
    snakemake(ROOT, *options, write(tmp_path / "b.yaml", config()), "--", *right)
    assert there(tmp_path) == set(right)
    assert FILE in hub.fetched() and not [path for path in hub.fetched() if "mrpc/" in path]
