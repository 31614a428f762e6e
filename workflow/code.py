"""A digest of the code that a program runs, as Snakemake does not see edits to imported modules.

Imports are followed in the source, from the program's module through the project's packages, so
that an edit reruns exactly the rules whose programs use the edited module. `from tasks.x import y`
counts `tasks/x.py`; `from tasks import TASKS` counts `tasks/__init__.py` and, through it, every
task. A data file counts as well if it lies beside a module that names it.
"""

import ast
import functools
import hashlib
import re
from importlib.util import resolve_name
from pathlib import Path

from tasks.common.programs import PACKAGES

ROOT = Path(__file__).resolve().parent.parent
DATA_FILE = re.compile(r"[\w-]+\.\w+")


@functools.cache
def digest(*programs: str, root: Path = ROOT) -> str:
    """Twelve hex digits over the files that some modules use; `missing` if there are none."""
    sources = sorted(set().union(*(used_files(program, root) for program in programs)))
    if not sources:
        return "missing"
    total = hashlib.sha256()
    for path in sources:
        total.update(path.relative_to(root).as_posix().encode() + b"\0")
        total.update(_content(path))
    return total.hexdigest()[:12]


@functools.cache  # most files are used by many programs, here and below
def _content(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()


def used_files(program: str, root: Path = ROOT) -> set[Path]:
    """Source and data files of `program` and of everything it imports from the project."""
    found: set[Path] = set()
    waiting = [program]
    while waiting:
        path = _file_of(waiting.pop(), root)
        if path is not None and path not in found:
            modules, data = _uses(path, root)
            found |= {path, *data}
            waiting += modules
    return found


@functools.cache
def _file_of(module: str, root: Path) -> Path | None:
    path = root.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@functools.cache
def _uses(path: Path, root: Path) -> tuple[list[str], set[Path]]:
    """Modules that a source file may import, and the data files beside it that it names."""
    package = ".".join(path.parent.relative_to(root).parts)
    modules: list[str] = []
    files: set[Path] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            modules += [base, *(f"{base}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and DATA_FILE.fullmatch(str(node.value)):
            files |= {file for file in [path.with_name(str(node.value))] if file.is_file()}
    return [name for name in modules if name.split(".")[0] in PACKAGES], files
