"""Results where nothing can be written are refused in one line while a run is planned."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.workflow.configs import shipped
from tests.workflow.running import ROOT, snakemake, write
from workflow.configuration import checks
from workflow.configuration.read import parse


def test_results_where_nothing_can_be_written_are_one_line(tmp_path, monkeypatch):
    """For root as well, to whom no folder is closed."""
    config = parse(shipped() | {"results": str(tmp_path / "new/results")})
    assert not [*checks.unwritable_results(config)]

    def access(path, mode):
        return Path(path) != tmp_path

    monkeypatch.setattr(checks.os, "access", access)
    start, end = (
        f"results: '{tmp_path}/new/results': ",
        f" in {tmp_path}; name a folder of your own",
    )
    assert [*checks.unwritable_results(config)] == [f"{start}Permission denied{end}"]
    disk = SimpleNamespace(f_flag=os.ST_RDONLY)
    monkeypatch.setattr(checks.os, "statvfs", lambda path: disk)
    assert [*checks.unwritable_results(config)] == [f"{start}Read-only file system{end}"]


@pytest.mark.skipif(os.geteuid() == 0, reason="to root no folder is closed")
def test_results_in_a_closed_folder_are_refused(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o000)
    config = parse(shipped() | {"results": str(tmp_path / "closed" / "results")})
    (line,) = checks.unwritable_results(config)
    assert f"Permission denied in {tmp_path / 'closed'}; " in line


def test_a_run_with_such_results_ends_while_it_is_planned(tmp_path):
    (tmp_path / "made").write_text("")  # a file where a folder is needed
    config = write(tmp_path / "c.yaml", shipped("smoke") | {"results": "made/results"})
    options = ("--dry-run", "--directory", str(tmp_path), "--configfile", config)
    said = snakemake(ROOT, *options, code=1)
    assert "error: config: results: 'made/results': Not a directory in " in said


def test_the_home_folder_behind_a_link_and_a_path_too_long_for_the_system_are_refused(
    tmp_path, monkeypatch
):
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("home")
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    for results, said in (
        (tmp_path / "home", "is your home folder"),
        (tmp_path / "/".join(["folder"] * 800), "characters, at most 1,000"),
    ):
        (line,) = checks.dangerous_results(
            parse(shipped()).model_copy(update={"results": str(results)})
        )
        assert said in line
