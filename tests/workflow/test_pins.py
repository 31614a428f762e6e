"""The three places that pin packages say the same, and pin all that the project imports."""

import ast
import re
import sys
import tomllib

import yaml

from tests.workflow.configs import ROOT

CONDA = {"pytorch": "torch"}
MODULES = {
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
    "markdown_it": "markdown-it-py",
    "pydantic_core": "pydantic",  # its other half, which it pins
}  # where the import has another name
OURS = {"tasks", "gpt1", "workflow", "tests", "bench"}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pyproject() -> dict[str, str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    return {canonical(name): version for name, version in (line.split("==") for line in lines)}


def lock() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text().splitlines()
    pins = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonical(name): version for name, version in pins}


def conda() -> dict[str, str]:
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pins = dict(line.split("=") for line in lines)
    return {
        CONDA.get(name, canonical(name)): version
        for name, version in pins.items()
        if name != "python"
    }


def test_conda_and_pyproject_pin_the_same():
    assert conda() == pyproject()


def test_the_lock_holds_every_direct_pin():
    locked = lock()
    assert {name: locked.get(name) for name in pyproject()} == pyproject()


def test_the_lock_names_no_host_and_no_local_build():
    text = (ROOT / "requirements.lock").read_text()
    assert "://" not in text and "+" not in text and "@" not in text


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
    missing = {name for name in foreign if canonical(MODULES.get(name, name)) not in pyproject()}
    assert not missing
