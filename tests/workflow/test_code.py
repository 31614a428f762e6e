"""The digest of a program's code changes with what the program uses, and with nothing else."""

import re
from pathlib import Path

import pytest

from tests.workflow.configs import ROOT
from workflow.code import _content, digest, used_files

RULES = "".join(p.read_text() for p in sorted((ROOT / "workflow" / "rules").glob("*.smk")))
PROGRAMS = sorted(set(re.findall(r'"((?:tasks|gpt1|workflow)\.[\w.]+)"', RULES)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A made project: a program, a module it uses, one it does not, and a data file."""
    sources = {
        "gpt1/__init__.py": "",
        "gpt1/program.py": "from gpt1 import used\nfrom tasks.common.files import x\nimport json",
        "gpt1/used.py": "def f():\n    from . import late\n    return 'numbers.csv'",
        "gpt1/late.py": "",
        "gpt1/numbers.csv": "1",
        "gpt1/unused.py": "import gpt1.program",
        "tasks/__init__.py": "from tasks.cola import COLA",
        "tasks/cola.py": "COLA = 1",
        "tasks/common/files.py": "x = 1",
        "tasks/all.py": "from tasks import COLA",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def names(program: str, project: Path) -> set[str]:
    return {path.relative_to(project).as_posix() for path in used_files(program, project)}


def test_imports_are_followed_through_packages_functions_and_data_files(project):
    expected = {"__init__.py", "program.py", "used.py", "late.py", "numbers.csv"}
    assert names("gpt1.program", project) == {f"gpt1/{n}" for n in expected} | {
        "tasks/common/files.py"
    }


def test_a_package_counts_only_where_names_are_taken_from_it(project):
    assert "tasks/cola.py" not in names("gpt1.program", project)
    assert names("tasks.all", project) == {"tasks/all.py", "tasks/__init__.py", "tasks/cola.py"}


@pytest.mark.parametrize(
    ("name", "is_used"),
    [
        *((f"gpt1/{name}", True) for name in ("program.py", "late.py", "numbers.csv")),
        *((name, False) for name in ("gpt1/unused.py", "tasks/cola.py")),
    ],
)
def test_an_edit_changes_the_digest_of_what_uses_the_file_alone(project, name, is_used):
    before = digest.__wrapped__("gpt1.program", root=project)
    (project / name).write_text("edited = True")
    _content.cache_clear()  # which each start of Snakemake fills anew
    assert (digest.__wrapped__("gpt1.program", root=project) != before) == is_used


def test_every_program_of_the_graph_is_there_and_uses_no_test():
    for program in PROGRAMS:
        used = names(program, ROOT)
        assert used and not [path for path in used if path.startswith("tests/")], program


READERS = {"tasks/__init__.py", "tasks/layouts.py", "tasks/read.py", "tasks/paper.py"}
USED = {  # what a program uses among others, and what it does not
    "tasks.prepare": (READERS, {"gpt1/encode.py"}),
    "tasks.read": ({"tasks/common/files.py"}, {*READERS, "tasks/task.py", "tasks/hub.py"}),
    "gpt1.zero_shot": (set(), {*READERS, "gpt1/encode.py"}),
    "gpt1.pretrain": (
        {"gpt1/model/transformer.py", "gpt1/training/optim.py"},
        {"gpt1/training/finetuning.py"},
    ),
}


@pytest.mark.parametrize("program", USED)
def test_a_program_depends_on_what_it_uses_alone(program):
    uses, not_uses = USED[program]
    used = names(program, ROOT)
    assert uses <= used and not used & (not_uses - {f"{program.replace('.', '/')}.py"})


@pytest.mark.parametrize("program", ["gpt1.finetune", "gpt1.pretrain"])
def test_training_depends_on_no_reader_and_no_text(program):
    used, readers = names(program, ROOT), names("tasks.prepare", ROOT)
    shared = {p for p in readers if p.startswith("tasks/common/")} | {"tasks/spec.py"}
    assert not used & (readers - shared)
    assert not used & {"tasks/common/hf_datasets.py", "gpt1/encode.py", "gpt1/corpus.py"}
    text = {path for path in used if path.startswith("gpt1/text/")}
    if program == "gpt1.pretrain":  # fine-tuning puts a tokenizer beside kept weights
        assert text <= {"gpt1/text/__init__.py", "gpt1/text/tokens.py"}  # the format of token files
