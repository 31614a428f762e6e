"""A digest of the code that a program runs, for Snakemake does not see edits in imported modules.

The imports are followed in the source, from the program's module through the project's packages,
so that an edit reruns exactly the rules whose programs use the edited module. `from tasks.x import
y` counts `tasks/x.py`; `from tasks import TASKS` counts `tasks/__init__.py`, and through it every
task. A data file that a module names and that lies beside it counts as well.
"""

import ast
import functools
import hashlib
import re
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("tasks", "gpt1", "workflow")
DATA_FILE = re.compile(r"[\w-]+\.\w+")


@functools.cache
def digest(program: str, root: Path = ROOT) -> str:
    """Twelve hex digits over the sources that the module `program` uses; `missing` without it."""
    sources = sorted(used_files(program, root))
    if not sources:
        return "missing"
    total = hashlib.sha256()
    for path in sources:
        total.update(path.relative_to(root).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:12]


def used_files(program: str, root: Path = ROOT) -> set[Path]:
    """Source and data files of `program` and of all that it imports from the project."""
    found: set[Path] = set()
    waiting = [program]
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        path = _file_of(module, root)
        if module in seen or path is None:
            continue
        seen.add(module)
        found.add(path)
        names, data = _uses(path, module, root)
        found |= data
        waiting += names
    return found


def constant(module: str, name: str, root: Path = ROOT) -> Any:
    """The literal that a module assigns to `name`, read without importing the module.

    The workflow is planned by such constants; pandas and SciPy would be imported with them. Raises
    KeyError if there is none.
    """
    path = root.joinpath(*module.split(".")).with_suffix(".py")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == name:
            return ast.literal_eval(node.value)
    raise KeyError(f"{path}: no {name}")


@functools.cache
def _file_of(module: str, root: Path) -> Path | None:
    if module.split(".")[0] not in PACKAGES:
        return None
    path = root.joinpath(*module.split("."))
    for candidate in (path.with_suffix(".py"), path / "__init__.py", path / "__main__.py"):
        if candidate.is_file():
            return candidate
    return None


def _uses(path: Path, module: str, root: Path) -> tuple[list[str], set[Path]]:
    """Modules that a source file imports, and the data files beside it that it names."""
    package = module if path.name.startswith("__") else module.rpartition(".")[0]
    imports, files = _parsed(path.read_text(encoding="utf-8"), package)
    names = []
    for base, name in imports:
        is_module = _file_of(f"{base}.{name}", root) is not None
        names += [f"{base}.{name}"] if is_module else []
        if not is_module or _binds(base, name, root):
            names.append(base)
    if path.name == "__init__.py" and (path.parent / "__main__.py").is_file():
        names.append(f"{module}.__main__")
    return names, {path.parent / name for name in files if (path.parent / name).is_file()}


def _binds(package: str, name: str, root: Path) -> bool:
    """Whether a package defines a name itself, whatever module of that name it has."""
    path = _file_of(package, root)
    tree = ast.parse(path.read_text(encoding="utf-8")) if path else ast.Module([], [])
    return any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body)


@functools.cache  # most modules are used by many programs
def _parsed(source: str, package: str) -> tuple[list[tuple[str, str]], set[str]]:
    """What a source imports, as (module, name or empty), and its strings that may name files."""
    imports: list[tuple[str, str]] = []
    files: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imports += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            imports += [(base, alias.name) for alias in node.names]
        elif isinstance(node, ast.Constant) and DATA_FILE.fullmatch(str(node.value)):
            files.add(str(node.value))
    return imports, files
