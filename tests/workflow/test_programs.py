"""The command lines of the programs: what each is for, and what it cannot do without."""

import importlib
import re

import pytest

from tests.workflow.configs import ROOT

RESULTS = "--results, --grid, --out"
PROGRAMS = {  # and their commands: the arguments that must be given
    "gpt1.contamination": "tasks, --corpus, --documents, --examples, --encoded, --out",
    "gpt1.convert": "command",
    "gpt1.convert import": "--format, --from, --tokenizer, --out",
    "gpt1.convert export": "--format, --checkpoint, --out",
    "gpt1.corpus": "command",
    "gpt1.corpus documents": "--out, --folder, --settings",
    "gpt1.corpus shard": "--out, --folder, --settings, --shard",
    "gpt1.corpus tokens": "--out, --documents, --tokenizer",
    "gpt1.encode": "task, --examples, --tokenizer, --out, --facts",
    "gpt1.generate": "checkpoint, --prompt",
    "gpt1.longest_match": "tasks, --documents, --examples, --out",
    "gpt1.finetune": "cells, --encoded, --baselines, --checkpoints, --settings, --seeds, --cache",
    "gpt1.predict": "cell",
    "gpt1.pretrain": "arch, --corpus, --settings, --work, --out",
    "gpt1.probes": "arch, --probes, --tokenizer, --checkpoints, --settings, --out",
    "gpt1.text.tokenizer": "{train}",
    "gpt1.text.tokenizer train": "--documents, --merges, --out",
    "gpt1.zero_shot": "arch, --encoded, --tokenizer, --checkpoints, --settings, --results",
    "tasks.baselines": "task, --examples, --out",
    "tasks.fetch": "name, --folder",
    "tasks.prepare": "task, --folder, --out, --facts",
    "tasks.world": "--out",
    "tasks.world.planting": "tasks, --counts, --books, --documents, --examples, --out",
    "workflow.analysis.cards": f"{RESULTS}, --n-ctx",
    "workflow.analysis.collect": RESULTS,
    "workflow.analysis.cost": "--configfile",
    "workflow.analysis.figures": "name, --tables, --grid, --out",
    "workflow.analysis.page": f"{RESULTS}, --tables, --figures",
    "workflow.analysis.studies": f"{RESULTS}, --study",
    "workflow.analysis.submission": RESULTS,
    "workflow.analysis.tables": f"{RESULTS}, name",
    "workflow.config": "command",
    "workflow.config show": "FILE",
    "workflow.show": None,  # none
}


def said(program: str, arguments: list[str], monkeypatch, capsys) -> tuple[int, str]:
    """The exit code and words of a program whose command line is told or refused."""
    name, *command = program.split()
    monkeypatch.setattr("sys.argv", ["program", *command, *arguments])
    monkeypatch.setenv("COLUMNS", "1000")  # no line is broken
    module = importlib.import_module(name)
    if not callable(getattr(module, "main", None)):  # a table is called main as well
        module = importlib.import_module(f"{name}.__main__")
    with pytest.raises(SystemExit) as end:
        module.main()
    out, errors = capsys.readouterr()
    return end.value.code, " ".join((out + errors).split())


def modules(text: str) -> set[str]:
    """The modules with such a text, as `python -m` takes them."""
    files = [file for top in ("gpt1", "tasks", "workflow") for file in (ROOT / top).rglob("*.py")]
    found = [file for file in files if text in file.read_text(encoding="utf-8")]
    names = (".".join(file.relative_to(ROOT).with_suffix("").parts) for file in found)
    return {name.removesuffix(".__main__") for name in names}


def test_every_program_is_tried():
    found = modules("ArgumentParser(") | modules("analysis.program import parser")
    assert found - {"workflow.analysis.program"} == {name.split()[0] for name in PROGRAMS}


@pytest.mark.parametrize("program", [name for name in PROGRAMS if PROGRAMS[name]])
def test_a_program_names_all_that_it_cannot_do_without(program, monkeypatch, capsys):
    code, text = said(program, [], monkeypatch, capsys)
    wanted = f"error: the following arguments are required: {PROGRAMS[program]}"
    assert code == 2 and text.endswith(wanted)


@pytest.mark.parametrize("module", sorted(modules("(description=__doc__")))
def test_a_program_says_what_it_is_for_in_the_first_line_of_its_module(module, monkeypatch, capsys):
    code, text = said(module, ["--help"], monkeypatch, capsys)
    first = importlib.import_module(module).__doc__.splitlines()[0]
    before = re.split("positional arguments:|options:", text)[0].strip()
    assert code == 0 and before.startswith("usage: ") and before.endswith(first)
