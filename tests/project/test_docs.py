"""The documents name what there is: tests, files of the project, other pages."""

import re
from types import SimpleNamespace

import jinja2
import pytest

import tasks
from tasks.world.make import write_book
from tests.workflow.configs import ROOT, complete, shipped
from tests.workflow.running import copy_project, snakemake

PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("[cr]*/README.md")]
NAMED = r"`((?:gpt1|tasks|workflow|tests|docs|bench)/(?![\w/]*/?test_\w+[`:])[\w/.-]*\w)`"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_and_every_file_that_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(((?!http)[^)#]+)", text)
    named = [name for name in re.findall(NAMED, text) if "NAME" not in name]
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in named if not (ROOT / name).exists()]
    assert missing == []


def test_every_test_that_the_page_of_testing_names_is_there():
    text = (ROOT / "docs/testing.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+/test_\w+)(?:::(\w+))?`", text)
    assert len(named) > 25
    for module, name in named:
        path = ROOT / "tests" / f"{module}.py"
        assert path.is_file(), module
        assert not name or f"def {name}(" in path.read_text(encoding="utf-8"), f"{module}::{name}"


def test_the_page_of_the_hub_has_each_tasks_repository_commit_and_columns():
    rows = re.findall(
        r"^\| ([\w, ]+) \| (\S+), (.*) \| (.*) \|$", (ROOT / "docs/hub.md").read_text(), re.M
    )
    told = {name: row for names, *row in rows for name in names.split(", ")}
    for task in (*tasks.TASKS, tasks.task("dprd")):
        if task.hub.repo:
            repo, commit, columns = told.pop(task.name)
            assert (repo, columns) == (task.hub.repo, ", ".join(task.hub.columns))
            assert commit == task.hub.revision[:7] if task.hub.revision else "`revision:`" in commit
    assert not told


@pytest.mark.parametrize("config", ["quick", "world"])
def test_the_examples_of_the_library_have_words_of_the_world_that_make_makes(config):
    page = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")
    blocks = [block for block in page.split("```") if "Everyone was" in block]
    texts = re.findall(r'"([A-Z][a-z ]+)\.?"', " ".join(blocks))
    settings = complete(config).experiment.world
    book = write_book(settings.model_copy(update={"words": 100_000, "books": 1}), 0, set())
    words = {*re.findall("[a-z]+", book.lower())}
    assert len(blocks) == 2 and len(texts) == 10
    assert {*re.findall("[a-z]+", " ".join(texts).lower())} <= words


def test_the_reports_caption_of_a_study_is_its_question():
    config, job = shipped("world"), SimpleNamespace(study="lm_coef")
    text = (ROOT / "workflow/report/study.rst").read_text(encoding="utf-8")
    caption = jinja2.Template(text).render(snakemake=SimpleNamespace(config=config, wildcards=job))
    question = config["experiment"]["studies"]["lm_coef"]["question"]
    assert caption.startswith(" ".join(question.split()))


def test_the_reports_captions_know_the_config_of_a_default_run(tmp_path):
    """workflow.rst says of the synthetic world that its scores do not compare with the paper's."""
    copy_project(tmp_path)
    with open(tmp_path / "Snakefile", "a", encoding="utf-8") as file:
        file.write("\nPath('sections').write_text(' '.join(config['experiment']))\n")
    snakemake(tmp_path, "--list-rules")
    sections = (tmp_path / "sections").read_text().split()
    assert "world" in sections and "pretrained" not in sections
