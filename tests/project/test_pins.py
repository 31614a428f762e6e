"""The places that pin packages say the same, and pin all that the project imports, by hashes."""

import ast
import re
import sys
import tomllib
from typing import Any

import pytest
import yaml

from tests.workflow.configs import ROOT

CONDA = {"pytorch": "torch"}
MODULES = {
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "markdown_it": "markdown-it-py",
    "pydantic_core": "pydantic",  # its other half, which it pins
}  # where the import has another name
EXTRAS = ("slurm", "mutation")  # with a lock of their own
LOCKS = ("requirements.lock", "requirements-torch.lock")
LOCKS += tuple(f"requirements-{extra}.lock" for extra in EXTRAS)
OURS = {"tasks", "gpt1", "workflow", "tests", "bench"}
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def pyproject() -> dict[str, str]:
    lines = [*project()["dependencies"], *project()["optional-dependencies"]["dev"]]
    return {canonical(name): version for name, version in (line.split("==") for line in lines)}


def requirements(file: str) -> list[str]:
    """The requirements of a lock, each with its hashes on one line."""
    lines = (ROOT / file).read_text().replace("\\\n", "").splitlines()
    return [line for line in lines if not line.startswith("#")]


def lock() -> dict[str, str]:
    pins = [line.split()[0].split("==") for file in LOCKS for line in requirements(file)]
    return {canonical(name.partition("[")[0]): version for name, version in pins}


def conda() -> dict[str, str]:
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = [line.split("=") for line in lines if "=" in line]
    pins += [line.split("==") for part in lines if isinstance(part, dict) for line in part["pip"]]
    return {CONDA.get(n, canonical(n)): version for n, version in pins if n != "python"}


def test_conda_and_pyproject_pin_the_same():
    assert conda() == pyproject()


def test_the_lock_holds_every_direct_pin():
    locked = lock()
    assert {name: locked.get(name) for name in pyproject()} == pyproject()


def test_the_lock_names_no_host_and_no_local_build():
    for file in LOCKS:
        text = (ROOT / file).read_text()
        assert "://" not in text and "+" not in text and "@" not in text


def test_every_requirement_has_hashes_but_pytorch_whose_builds_differ():
    hashed = re.compile(r"[\w.-]+(\[\w+\])?==[\w.]+( +--hash=sha256:[0-9a-f]{64})+")
    for file in set(LOCKS) - {"requirements-torch.lock"}:
        assert [line for line in requirements(file) if not hashed.fullmatch(line)] == []
    assert requirements("requirements-torch.lock") == [f"torch=={pyproject()['torch']}"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_lock_of_an_extra_begins_with_its_package(extra):
    (package,) = project()["optional-dependencies"][extra]
    lines = requirements(f"requirements-{extra}.lock")
    assert [line.split()[0] for line in lines][:1] == [package]


def test_actions_are_pinned_by_commit_and_images_by_digest():
    text = "".join(path.read_text() for path in [*WORKFLOWS, ROOT / "Dockerfile"])
    actions, images = re.findall(r"uses: (.*)", text), re.findall(r"(?:image:|FROM) (.*)", text)
    assert len(actions) >= 4 and len(images) == 3
    assert [one for one in actions if not re.fullmatch(r"\S+@[0-9a-f]{40} # v[\d.]+", one)] == []
    assert [one for one in images if not re.fullmatch(r"\S+@sha256:[0-9a-f]{64}", one)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_runs_targets_and_files_that_there_are(path):
    flow = yaml.load(path.read_text(), yaml.BaseLoader)
    run = [step.get("run", "") for job in flow["jobs"].values() for step in job["steps"]]
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {*re.findall(r"\bmake ([\w-]+)", " ".join(run))} <= {*targets}
    files = re.findall(r"[\w./-]+/[\w-]+\.ya?ml|\.ci/\w+", " ".join(run))
    assert [name for name in files if not (ROOT / name).is_file()] == []


def test_every_import_of_the_project_is_pinned():
    imported = set()
    for folder in ("tasks", "gpt1", "workflow", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    imported.add(node.module.split(".")[0])
    foreign = imported - sys.stdlib_module_names - OURS
    extras = [project()["optional-dependencies"][extra][0] for extra in EXTRAS]
    pinned = {*pyproject(), *(canonical(one.partition("==")[0]) for one in extras)}
    missing = {name for name in foreign if canonical(MODULES.get(name, name)) not in pinned}
    assert not missing
