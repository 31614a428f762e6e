"""The locks pin what pyproject.toml requires and the project imports, by hashes; conda the same."""

import ast
import re
import sys
import tomllib
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tests.workflow.configs import ROOT

CONDA = {"pytorch": "torch"}
MODULES = {  # where the import has another name
    **{"sklearn": "scikit-learn", "yaml": "pyyaml", "markdown_it": "markdown-it-py"},
    "pydantic_core": "pydantic",  # its other half, which it pins
}
EXTRAS = ("slurm", "mutation")  # with a lock of their own
USERS = ("requirements.lock", "requirements-torch.lock")
LOCKS = (*USERS, "requirements-dev.lock")
LOCKS += tuple(f"requirements-{extra}.lock" for extra in EXTRAS)
OURS = {"tasks", "gpt1", "workflow", "tests", "bench"}
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def required(extra: str | None = None) -> dict[str, Requirement]:
    """What users need, or what an extra adds."""
    own = project()
    lines = own["dependencies"] if extra is None else own["optional-dependencies"][extra]
    return {canonical(line.name): line for line in map(Requirement, lines)}


def requirements(file: str) -> list[str]:
    """The requirements of a lock, each with its hashes on one line."""
    lines = (ROOT / file).read_text().replace("\\\n", "").splitlines()
    return [line for line in lines if not line.startswith("#")]


def lock(files: tuple[str, ...] = LOCKS) -> dict[str, str]:
    pins = [line.split()[0].split("==") for file in files for line in requirements(file)]
    return {canonical(name.partition("[")[0]): version for name, version in pins}


def conda() -> dict[str, str]:
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = [line.split("=") for line in lines if "=" in line]
    pins += [line.split("==") for part in lines if isinstance(part, dict) for line in part["pip"]]
    return {CONDA.get(n, canonical(n)): version for n, version in pins if n != "python"}


def test_conda_pins_what_the_lock_of_users_does():
    locked = lock(USERS)
    assert conda() == {name: locked[name] for name in required()}


@pytest.mark.parametrize("extra", [None, "dev"])
def test_the_lock_holds_every_direct_pin(extra):
    locked = lock(USERS if extra is None else LOCKS)
    for name, requirement in required(extra).items():
        assert requirement.specifier.contains(locked[name]), requirement


def test_users_need_no_tool_of_developers():
    both = lock(USERS).keys() & lock(("requirements-dev.lock",)).keys()
    assert not both and not required().keys() & required("dev").keys()


def test_every_requirement_has_hashes_but_pytorch_whose_builds_differ():
    hashed = re.compile(r"[\w.-]+(\[\w+\])?==[\w.]+( +--hash=sha256:[0-9a-f]{64})+")
    for file in set(LOCKS) - {"requirements-torch.lock"}:
        assert [line for line in requirements(file) if not hashed.fullmatch(line)] == []
    (torch,) = requirements("requirements-torch.lock")
    assert re.fullmatch(r"torch==[\d.]+", torch)  # no local build


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_lock_of_an_extra_begins_with_its_package(extra):
    ((package, requirement),) = required(extra).items()
    first, version = requirements(f"requirements-{extra}.lock")[0].split()[0].split("==")
    assert first == package and requirement.specifier.contains(version)


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
    pinned = {name for extra in (None, "dev", *EXTRAS) for name in required(extra)}
    missing = {name for name in foreign if canonical(MODULES.get(name, name)) not in pinned}
    assert not missing
