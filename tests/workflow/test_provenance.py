"""Results that were made with another config or other code and have no record with Snakemake."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.workflow.configs import changed, small
from tests.workflow.running import copy_project, snakemake
from workflow.configuration.read import parse, read
from workflow.provenance import Provenance

PROGRAM = """
import sys
from pathlib import Path
out = Path(sys.argv[sys.argv.index("--out") + 1])
out.mkdir(parents=True, exist_ok=True)
(out / "manifest.json").write_text(sys.argv[sys.argv.index("--settings") + 1])
main = lambda: None
"""
MADE = "world/manifest.json"
SEED = "experiment={world: {seed: 9}}"
UNCHANGING = ("runtime={shards: 3}", "experiment={keep: [full/rte]}")
PROGRAM_FILE, RULES_FILE = "tasks/world/make.py", "workflow/rules/data.smk"
# What becomes of a run; where the next one is started, and its results; the code that is edited.
PLACES = {
    "renamed": (lambda run: (run / "results").rename(run / "new"), ".", "new", PROGRAM_FILE),
    "copied": (lambda run: shutil.copytree(run / "results", run / "new"), ".", "new", RULES_FILE),
    "linked": (lambda run: (run / "new").symlink_to("results"), ".", "new", PROGRAM_FILE),
    "from elsewhere": (lambda run: (run / "b").mkdir(), "b", "../results", RULES_FILE),
    "without records": (lambda run: shutil.rmtree(run / ".snakemake"), ".", "results", RULES_FILE),
    "mounted": (
        lambda run: shutil.copytree(run / "results", run / "b/results"),
        "b",
        "results",
        PROGRAM_FILE,
    ),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A copy of the project with a finished run of one job, by a stand-in for its program."""
    project = tmp_path_factory.mktemp("finished")
    copy_project(project)
    (project / PROGRAM_FILE).write_text(PROGRAM)
    snakemake(project, f"results/{MADE}")
    return project


@pytest.fixture
def project(finished, tmp_path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "project", symlinks=True))


def last(said: str) -> str:
    return said.strip().splitlines()[-1]


@pytest.mark.parametrize("place", PLACES)
def test_results_made_otherwise_and_without_a_record_are_refused(place, project):
    move, folder, results, edited = PLACES[place]
    move(project)
    target = f"{results}/{MADE}"
    options = ("-d", str(project / folder), "--config", f"results={results}")
    text = (project / folder / target).read_text()
    assert "Nothing to be done" in snakemake(project, *options, *UNCHANGING, "--", target)
    line = last(snakemake(project, *options, SEED, "--", target, code=1))
    made = f"error: results: {target} was made with another config"
    assert line.startswith(f"{made} (experiment.world.seed) or other code, and Snakemake has no")
    for remedy in ("--forceall", "results=FOLDER", "start in the folder that has the records"):
        assert remedy in line
    with open(project / edited, "a") as code:
        code.write("\n# edited\n")
    assert last(snakemake(project, *options, "--", target, code=1)).startswith(made)
    assert (project / folder / target).read_text() == text


def test_a_backup_is_not_the_file_that_snakemake_has_a_record_of(project):
    shutil.copytree(project / "results", project / "backup")
    options = ("--config", SEED, "--", f"results/{MADE}")
    snakemake(project, *options)
    shutil.rmtree(project / "results")
    (project / "backup").rename(project / "results")
    fault = last(snakemake(project, *options, code=1))
    assert fault.startswith(f"error: results: results/{MADE} was made with another config")
    plan = last(snakemake(project, "--dry-run", *options))
    assert plan == f"This is a plan only; a run would stop at once. {fault}"
    snakemake(project, "--forceall", *options)
    assert '"seed": 9' in (project / "results" / MADE).read_text()
    assert "Nothing to be done" in snakemake(project, *options)


def test_a_run_that_failed_goes_on_without_records(project):
    options = ("--config", SEED, "--", f"results/{MADE}")
    documents = "results/corpus/documents.json"
    snakemake(project, *options[:-1], documents, code=1)  # the stand-in writes no books
    assert parse(read([project / "results" / "config.yaml"])).experiment.world.seed == 43
    shutil.rmtree(project / ".snakemake")
    assert "Nothing to be done" in snakemake(project, *options)


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_damaged_list_tells_nothing_until_all_is_made_anew(text, project):
    shutil.rmtree(project / ".snakemake")
    (project / "results" / "provenance.json").write_text(text)
    fault = last(snakemake(project, f"results/{MADE}", code=1))
    assert fault.startswith("error: results: nothing in results/provenance.json tells with which")
    snakemake(project, "--forceall", f"results/{MADE}")
    shutil.rmtree(project / ".snakemake")
    assert "Nothing to be done" in snakemake(project, f"results/{MADE}")


def test_another_lock_of_the_packages_is_told_until_all_is_made_anew(project):
    (project / "requirements.lock").write_text("torch==1\n")
    told = f"another requirements*.lock: 1 of its files, results/{MADE} among them, stay as"
    for _ in range(2):
        said = snakemake(project, f"results/{MADE}")
        assert told in said and "Nothing to be done" in said
    snakemake(project, "--forceall", f"results/{MADE}")
    assert "requirements*.lock" not in snakemake(project, f"results/{MADE}")


def test_the_config_beside_the_results_is_that_of_the_tables(project):
    config, table = project / "results" / "config.yaml", project / "results" / "main.csv"
    before = config.read_text()
    table.touch()
    snakemake(project, "--config", SEED, "--", "results/corpus/documents.json", code=1)
    said = snakemake(project, "--config", SEED, "--force", f"results/{MADE}")
    assert "results was made with another config, which differs in experiment.world.seed." in said
    assert config.read_text() == before  # after a run that failed, and one of another part
    table.unlink()
    snakemake(project, "--config", SEED, "--force", f"results/{MADE}")
    assert parse(read([config])).experiment.world.seed == 9
    assert "another config" not in snakemake(
        project, "--config", SEED, "--force", f"results/{MADE}"
    )


def test_a_file_is_listed_anew_when_its_run_has_ended(tmp_path):
    job = SimpleNamespace(output=[str(tmp_path / "study.csv")], params={"study": "one"})

    def provenance(seed: int, time: float | None = None) -> Provenance:
        config = changed(small(), "experiment.world.seed", seed) | {"results": str(tmp_path)}
        return Provenance(parse(config), ["code"], lambda file: time)

    provenance(1).begin([job])
    Path(job.output[0]).touch()
    assert not provenance(1).refusal([job]) and provenance(2).refusal([job])
    provenance(2).begin([job])  # and killed
    assert provenance(1).refusal([job]) and provenance(2).refusal([job])
    assert provenance(2, time=1.0).refusal([job])  # a record of another file of its name
    time = os.path.getmtime(job.output[0])
    assert not provenance(2, time).refusal([job])
    provenance(2, time).end([], [job])
    assert not provenance(2).refusal([job])
    job.params["study"] = "another"
    assert provenance(2).refusal([job])


def test_files_of_the_hub_may_be_copied_without_a_list(tmp_path):
    files = {name: tmp_path / name / "rte.json" for name in ("raw", "examples")}
    for file in files.values():
        file.parent.mkdir()
        file.touch()
    made = Provenance(parse(small() | {"results": str(tmp_path)}), ["code"], lambda file: None)
    jobs = {name: SimpleNamespace(output=[str(path)], params={}) for name, path in files.items()}
    assert not made.refusal([jobs["raw"]]) and made.refusal([jobs["examples"]])
