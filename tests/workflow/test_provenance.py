"""Results that were made with another config or other code and have no record with Snakemake."""

import os
import shutil
from pathlib import Path

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
TARGET = f"results/{MADE}"
SEED = ("--config", "experiment={world: {seed: 9}}", "--")
UNCHANGING = ("runtime={shards: 3}", "experiment={keep: [full/rte]}")
PROGRAM_FILE, RULES_FILE = "tasks/world/make.py", "workflow/rules/data.smk"
# What becomes of a run; where the next one is started, and its results; the code that is edited.
PLACES = {
    "linked": (lambda run: (run / "new").symlink_to("results"), ".", "new", PROGRAM_FILE),
    "from elsewhere": (lambda run: (run / "b").mkdir(), "b", "../results", RULES_FILE),
    "mounted": (
        lambda run: shutil.copytree(run / "results", run / "b/results"),
        *("b", "results", PROGRAM_FILE),
    ),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Path:
    """A copy of the project with a finished run of one job, by a stand-in for its program."""
    project = tmp_path_factory.mktemp("finished")
    copy_project(project)
    (project / PROGRAM_FILE).write_text(PROGRAM)
    snakemake(project, TARGET)
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
    line = last(snakemake(project, *options, *SEED[1:], target, code=1))
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
    options = (*SEED, TARGET)
    snakemake(project, *options)
    shutil.rmtree(project / "results")
    (project / "backup").rename(project / "results")
    fault = last(snakemake(project, *options, code=1))
    assert fault.startswith(f"error: results: {TARGET} was made with another config")
    plan = last(snakemake(project, "--dry-run", *options))
    assert plan == f"This is a plan only; a run would stop at once. {fault}"
    snakemake(project, "--forceall", *options)
    assert '"seed": 9' in (project / TARGET).read_text()
    assert "Nothing to be done" in snakemake(project, *options)


DOCUMENTS = "results/corpus/documents.json"  # which fails: the stand-in writes no books


def test_a_run_that_failed_goes_on_without_records(project):
    snakemake(project, *SEED, DOCUMENTS, code=1)
    assert parse(read([project / "results" / "config.yaml"])).experiment.world.seed == 467
    shutil.rmtree(project / ".snakemake")
    assert "Nothing to be done" in snakemake(project, *SEED, TARGET)


def test_files_that_a_failed_run_did_not_make_are_not_its_own(project):
    snakemake(project, DOCUMENTS, code=1)
    (project / "results" / "corpus" / "documents").mkdir(parents=True)
    for name in ("documents.json", "words.tsv"):
        (project / "results" / "corpus" / name).write_text("{}")
    line = last(snakemake(project, DOCUMENTS, code=1))
    assert line.startswith("error: results: nothing in results/provenance.json tells with which")


def test_another_lock_of_the_packages_is_told_until_all_is_made_anew(project):
    (project / "requirements.lock").write_text("torch==1\n")
    told = f"another requirements*.lock or packages: 1 of its files, {TARGET} among them, stay as"
    for _ in range(2):
        said = snakemake(project, TARGET)
        assert told in said and "Nothing to be done" in said
    snakemake(project, "--forceall", TARGET)
    assert "requirements*.lock" not in snakemake(project, TARGET)


def test_the_config_beside_the_results_is_that_of_the_tables(project):
    config, table = project / "results" / "config.yaml", project / "results" / "main.csv"
    before, again = config.read_text(), ("--force", *SEED, TARGET)
    table.touch()
    told = "results was made with another config, which differs in experiment.world.seed."
    assert last(snakemake(project, "-n", *SEED, TARGET)).startswith(told)
    seeds = "experiment={seeds: {finetune: [0, 1, 2, 3, 4, 5]}}"
    more = snakemake(project, "-n", "--config", seeds, "--force", TARGET)
    assert "is made anew in its place, except runs of the same seeds; to keep both" in more
    snakemake(project, *SEED, DOCUMENTS, code=1)
    assert told in snakemake(project, *again)
    assert config.read_text() == before  # after a run that failed, and one of another part
    table.unlink()
    snakemake(project, *again)
    assert parse(read([config])).experiment.world.seed == 9
    assert "another config" not in snakemake(project, *again)


UNCHECKED = {"--touch": (), "--rerun-triggers": ("mtime",)}


@pytest.mark.parametrize("option", UNCHECKED)
def test_a_run_that_compares_nothing_takes_no_file_of_another_config(option, project):
    listed = (project / "results" / "provenance.json").read_text()
    options = (option, *UNCHECKED[option])
    line = last(snakemake(project, *options, *SEED, TARGET, code=1))
    assert f"(experiment.world.seed) or other code, and {option} takes it as it is; leave" in line
    assert (project / "results" / "provenance.json").read_text() == listed
    snakemake(project, *options, "--", TARGET)  # the config that it was made with
    assert "Nothing to be done" in snakemake(project, TARGET)


def test_some_rules_alone_are_refused_because_the_files_of_others_are_not_checked(project):
    line = last(snakemake(project, "--allowed-rules", "world", "--", TARGET, code=1))
    assert line.startswith("error: --allowed-rules takes the files of other rules as they are")


def test_each_lock_of_the_packages_alone_tells_of_other_packages(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.provenance.PROJECT", tmp_path)
    locks = [tmp_path / name for name in ("requirements.lock", "requirements-torch.lock")]
    for lock in locks:
        lock.write_text("one")
    file = tmp_path / "results" / "study.csv"
    file.parent.mkdir()
    file.touch()
    job = Job(file)
    provenance(tmp_path / "results", 1).end([job], [])
    for lock in locks:
        assert not provenance(tmp_path / "results", 1).with_other("packages", [job])
        lock.write_text("two")
        assert provenance(tmp_path / "results", 1).with_other("packages", [job]) == job.output
        lock.write_text("one")


class Job:
    def __init__(self, *output: Path, **params: str) -> None:
        self.output, self.params = [*map(str, output)], params


def provenance(folder: Path, seed: int, time: float | None = None, option: str = "") -> Provenance:
    config = changed(small(), "experiment.world.seed", seed) | {"results": str(folder)}
    return Provenance(parse(config), ["code"], lambda file: time, option)


def test_a_file_is_listed_with_its_content_when_it_has_been_made(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow.provenance.SAVE_SECONDS", 0)
    file, weights = tmp_path / "study.csv", tmp_path / "kept" / "weights"
    weights.parent.mkdir()
    for path in (file, weights):
        path.write_text("one")
    job = Job(file, weights.parent, study="one")
    assert "nothing in" in provenance(tmp_path, 1).refusal([job])
    provenance(tmp_path, 1).add(job)  # and the run is killed
    assert not provenance(tmp_path, 1).refusal([job]) and provenance(tmp_path, 2).refusal([job])
    for path in (file, weights):
        path.write_text("two")  # of another run
        assert "is not what its job made" in provenance(tmp_path, 1).refusal([job])
        other = path.with_name("other")
        other.write_text("one")
        other.replace(path)
        assert not provenance(tmp_path, 1).refusal([job])
    provenance(tmp_path, 1).end([], [job])
    monkeypatch.setattr("workflow.provenance._described", None)  # what is as it was is not read
    assert not provenance(tmp_path, 1).refusal([job])
    assert provenance(tmp_path, 2).with_other("config", [job]) == job.output
    assert not provenance(tmp_path, 1).with_other("config", [job])
    for name in ("study", "page", "grid"):  # which a part of the config determines
        assert provenance(tmp_path, 1).refusal([Job(file, **{"study": "one", name: "another"})])


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"study.csv": "0123 4567"}', '{"study.csv": {"code": ""}}']
)
def test_a_list_that_is_damaged_or_of_an_earlier_version_tells_nothing(text, tmp_path):
    (tmp_path / "study.csv").touch()
    (tmp_path / "provenance.json").write_text(text)
    made = provenance(tmp_path, 1)
    assert "nothing in" in made.refusal([Job(tmp_path / "study.csv")])


def test_a_file_is_listed_anew_when_its_run_has_ended(tmp_path):
    file = tmp_path / "study.csv"
    job = Job(file)
    file.touch()
    provenance(tmp_path, 1).end([job], [])
    file.write_text("two")  # by a run that was killed before it could list it
    assert provenance(tmp_path, 1).refusal([job]) and provenance(tmp_path, 2).refusal([job])
    assert provenance(tmp_path, 2, time=1.0).refusal([job])  # a record of another file of its name
    time = os.path.getmtime(file)
    assert not provenance(tmp_path, 2, time).refusal([job])
    for option in UNCHECKED:  # which ask for an entry
        assert provenance(tmp_path, 2, time, option).refusal([job])
        provenance(tmp_path, 2, time, option).end([], [job])
        assert provenance(tmp_path, 2).refusal([job])
    provenance(tmp_path, 2, time).end([], [job])
    assert not provenance(tmp_path, 2).refusal([job])


def test_files_of_the_hub_may_be_copied_without_a_list(tmp_path):
    files = {name: tmp_path / name / "rte.json" for name in ("raw", "examples")}
    for file in files.values():
        file.parent.mkdir()
        file.touch()
    made = Provenance(parse(small() | {"results": str(tmp_path)}), ["code"], lambda file: None)
    jobs = {name: Job(path) for name, path in files.items()}
    assert not made.refusal([jobs["raw"]]) and made.refusal([jobs["examples"]])
