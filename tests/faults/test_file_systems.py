"""A quota that is used up, and a file system without locks, under the whole workflow.

Neither can be had on every machine: what the system answers is changed on its way to the programs.
"""

from pathlib import Path

import pytest

from tests.faults.disks import mounted, remount
from tests.faults.runs import (
    RESULTS,
    ended,
    failed_rules,
    finished,
    leftovers,
    new_project,
    start_tables,
    tables,
)

pytestmark = pytest.mark.faults
SHARES = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)  # of the space that the whole run takes


def preloaded(library: Path, folder: Path) -> dict[str, str]:
    """The environment of programs to which the system refuses something."""
    return {"LD_PRELOAD": str(library), "REFUSED": str(folder / "refused")}


@pytest.mark.usefixtures("mounts")
def test_a_quota_that_is_used_up_is_told_and_a_larger_one_goes_on(refusing, whole, tmp_path):
    disk, project = tmp_path / "disk", new_project(tmp_path / "project")
    environment = preloaded(refusing, tmp_path) | {"REFUSING": "quota"}
    failed = []
    with mounted(disk, f"size={int(SHARES[0] * whole.size)}"):
        (project / RESULTS).symlink_to(disk)
        for share in SHARES:
            remount(disk, f"size={int(share * whole.size)}")
            code, said = ended(start_tables(project, **environment))
            assert code and "Disk quota exceeded" in said, said
            assert not leftovers(disk), said
            failed.append(failed_rules(said))
        remount(disk, f"size={4 * whole.size}")
        finished(start_tables(project, **environment))
        assert tables(project) == whole.tables
    assert all(failed) and len(set.union(*failed)) > 2, failed


def test_the_whole_workflow_needs_no_locks_below_its_folder(refusing, whole, tmp_path):
    """The temporary folder, on this machine's own disk, has them."""
    project = new_project(tmp_path / "project")
    environment = preloaded(refusing, tmp_path)
    without = {"REFUSING": "locks", "BELOW": str(project.resolve())}
    finished(start_tables(project, **environment, **without))
    assert Path(environment["REFUSED"]).read_text().startswith("lock\n")
    assert tables(project) == whole.tables and not leftovers(project / RESULTS)
